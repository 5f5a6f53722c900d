"""Making opening books: which positions are searched, and what the book says about them.

Start with `graph.py`.
"""
