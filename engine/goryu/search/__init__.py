"""The search algorithms, one readable module each.

The README gives the order in which to read them. TRIED.md lists what was tried to make the search stronger.
"""
