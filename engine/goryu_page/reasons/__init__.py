"""Why a move is a mistake: only what can be proved, as one sentence in both languages.

Modules: `exchanges.py` counts what captures win, `reasons.py` proves a reason, `sentences.py` says it.
"""
