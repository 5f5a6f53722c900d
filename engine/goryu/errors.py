"""The base class of the errors that Goryu raises for bad input: files, positions, options, engines."""


class GoryuError(Exception):
    """Something outside Goryu is wrong; the message says what was received and what was expected."""
