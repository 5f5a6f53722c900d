"""Learning from one's own games: the games, the problems made from them, and when each is due."""
