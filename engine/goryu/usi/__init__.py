"""Protocols: how the outside world talks to a player."""
