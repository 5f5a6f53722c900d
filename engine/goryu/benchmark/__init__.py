"""Measurements of the search: its speed, where its time goes, and the bench signature."""
