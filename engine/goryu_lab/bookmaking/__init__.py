"""Making opening books: which positions to search, and what the searches say."""
