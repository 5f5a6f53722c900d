"""Training records: games and positions on disk."""
