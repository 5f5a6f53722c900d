"""Self-play of shogi: games, new labels for old games, and the loop of champion and challenger."""
