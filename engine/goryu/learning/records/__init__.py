"""Training games and positions on disk.

Reads and writes the project's own format, which keeps whole games, and HCPE, dlshogi's format of positions.
"""
