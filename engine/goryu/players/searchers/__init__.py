"""The searches of `goryu.search` as players: each runs until its session stops it."""
