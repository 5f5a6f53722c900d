"""Players: a search, an evaluator, a book and a clock that together answer for one side of a game."""
