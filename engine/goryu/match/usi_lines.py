"""The lines that an engine may send: what every client that we have read understands, and nothing else.

Stricter than USI: `info` has a fixed order of words, and none that one of the clients does not know.
"""

import re

__all__ = ["ENGINE_LINE", "INFO", "MOVE"]

MOVE = r"(?:[1-9][a-i][1-9][a-i]\+?|[PLNSGBR]\*[1-9][a-i])"

INFO = re.compile(
    rf"info(?: multipv [1-9]\d*)? depth [1-9]\d* seldepth [1-9]\d* time \d+ nodes \d+ nps \d+ hashfull \d+"
    rf" score (?:cp -?\d+|mate -?[1-9]\d*) pv (?P<pv>{MOVE}(?: {MOVE})*)"
)
"""An `info` line about a line of play."""

ENGINE_LINE = re.compile(
    rf"|{INFO.pattern.replace('(?P<pv>', '(?:')}|info string .*\S|id (?:name|author) \S.*|usiok|readyok"
    rf"|option name \S+ type (?:check|spin|combo|string|filename|button)(?: (?:default|min|max|var) \S+)*"
    rf"|bestmove (?:resign|win|{MOVE}(?: ponder {MOVE})?)"
    rf"|checkmate (?:nomate|timeout|notimplemented|{MOVE}(?: {MOVE})*)"
)
"""Any line; the empty one, which says that the engine is still loading, is one too."""
