"""The page in the browser: play, review, learn from one's own games, and watch every step of a search."""
