"""The search algorithms, one readable module each.

docs/search.md gives the order in which to read them, docs/tried.md lists what was tried to make the search
stronger.
"""
