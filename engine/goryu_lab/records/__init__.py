"""Training games and positions on disk.

Reads and writes the project's own format, which keeps whole games, dlshogi's HCPE and HCPE3, and YaneuraOu's
PackedSfenValue: `training_files.py` chooses by the suffix. Begin with `game_records.py`, our format;
`packed_position.py` reads the positions of the others. `selection.py`, `game_lists.py`, `statistics.py` and
`opening_tree.py` choose and describe game records before they become training games.
"""
