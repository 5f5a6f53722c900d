"""Self-play of shogi with records on disk: a network plays itself, or labels old games anew."""
