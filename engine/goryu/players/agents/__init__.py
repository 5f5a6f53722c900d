"""Agents: every algorithm plays every game, and games between agents."""
