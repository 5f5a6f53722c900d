"""Programs for people at a terminal: `goryu play` and `goryu doctor`."""
