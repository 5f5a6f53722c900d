"""Agents: every algorithm as a player of every game, and games between them."""
