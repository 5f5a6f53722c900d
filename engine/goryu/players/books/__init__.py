"""Opening books (定跡): the formats, one a file, and the choice among what a book knows of a position."""
