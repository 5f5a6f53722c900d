"""Model formats: which planes a network reads, and what its outputs mean."""
