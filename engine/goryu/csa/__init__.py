"""Games on a CSA server, such as floodgate.

Read in this order: `protocol`, `settings`, `connection`, `record_file`, `game`, `client`. The engine is a USI
process, as in a match: Goryu, too.
"""
