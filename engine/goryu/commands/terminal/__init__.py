"""Games at a terminal: boards, moves, clocks, and saving."""
