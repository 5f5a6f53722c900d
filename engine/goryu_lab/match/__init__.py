"""Matches between USI engines: an independent referee, statistics, records.

Read in this order: `referee`, `game`, `match_statistics`, `sprt`, `tournament`, `report`. Nothing here uses
Goryu's own search: every engine is a separate process of `goryu.engines`, Goryu too.
"""
