"""The limits of a search, and how much time a move gets."""
