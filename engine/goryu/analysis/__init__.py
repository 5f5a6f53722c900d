"""The analysis of positions, for people and for programs.

A review searches and judges every move of a game and keeps the results in a database: start with `review.py`;
`judgement.py` has the thresholds and formulas. `engine.py` answers the queries of programs. Both search with
`searchers.py`.
"""
