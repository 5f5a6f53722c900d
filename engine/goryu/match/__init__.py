"""Matches between USI engines: processes, clocks, an independent referee, statistics, records.

Read in this order: `limits`, `usi_client`, `referee`, `game`, `statistics`, `sprt`, `tournament`, `report`.
Nothing here knows Goryu's own search: every engine is a program behind a pipe, ours too.
"""
