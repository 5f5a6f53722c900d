"""Trains networks: from games of a teacher, from self-play, or from nothing as in the AlphaZero tutorials.

docs/training.md is the guide.
"""
