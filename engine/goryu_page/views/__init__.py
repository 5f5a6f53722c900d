"""The views of the page, one file each: what a tab may ask, and what it is told.

docs/page.md says how to add one.
"""
