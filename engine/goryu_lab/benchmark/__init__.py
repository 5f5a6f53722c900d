"""Measurements of the search: its speed, its memory, and the bench signature."""
