"""Self-play of shogi with records on disk.

A network plays itself or labels old games anew, in several processes, and a loop of self-play, training and
match improves it.
"""
