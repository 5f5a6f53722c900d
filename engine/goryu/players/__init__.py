"""Players: a search with an evaluator, a clock and settings."""
