"""The views of the page and their parts: what a tab may ask, and what it is told. `views.py` lists the views.

docs/page.md says how to add one.
"""
