"""Algorithms that play: every game as agents, and shogi under a clock as searchers; games between agents."""
