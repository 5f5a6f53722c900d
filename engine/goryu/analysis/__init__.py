"""The review of games: every move searched and judged, the results kept in a database.

Start with `review.py`; `judgement.py` has the thresholds and formulas.
"""
