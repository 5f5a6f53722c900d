"""Matches between USI engines: processes, clocks, an independent referee, statistics, records.

Read in this order: `time_control`, `usi_client`, `referee`, `game`, `match_statistics`, `sprt`, `tournament`,
`report`. Nothing here uses Goryu's own search: every engine is a separate process, Goryu too.
"""
