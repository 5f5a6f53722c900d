"""Mate problems (詰将棋): exact lengths, a judge, a defender, and a generator."""
