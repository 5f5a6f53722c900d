"""Goryu (合流): a USI shogi engine whose search core also plays tic-tac-toe and reversi."""

import os

__version__ = "0.1.0"

# Nothing leaves the user's computer unasked. These libraries tell their makers about it otherwise, unless the
# environment says so before they are loaded: onnxruntime from 1.29 on, and Ray. What the user has set stays.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
