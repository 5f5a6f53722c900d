"""Trains networks: from games of a teacher, from self-play, or from nothing as in the AlphaZero tutorials.

`README.md` in this folder is the guide.
"""
