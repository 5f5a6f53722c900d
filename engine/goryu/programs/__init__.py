"""The programs for matches, measurements, records and training.

Each is a command of goryu (`goryu match`) and a script of a checkout (`python tools/match.py`). They
need extras of the package, and import those only when they run.
"""
