"""A game between players, with its clocks, its end and its record; `goryu play` and the page only show it.

Read in this order: `clock`, `game`, `record`, `written_moves`.
"""
