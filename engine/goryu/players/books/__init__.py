"""Opening books (定跡): the formats, one per module, and the choice among the moves of a book."""
