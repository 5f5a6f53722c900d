"""The base class of the errors that Goryu raises for bad input: files, positions, options, engines."""


class GoryuError(Exception):
    """Something outside Goryu is wrong; the message names what was received and what was expected."""


class InputError(GoryuError, ValueError):
    """A number, a name or a file from outside that Goryu cannot use."""
