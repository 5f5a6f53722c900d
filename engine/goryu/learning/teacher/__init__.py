"""Training games by a teacher: any USI engine plays itself from balanced openings."""
