"""Training games and positions on disk.

Reads and writes the project's own format, which keeps whole games, dlshogi's HCPE and HCPE3, and YaneuraOu's
PackedSfenValue: `training_files.py` chooses by the suffix.
"""
