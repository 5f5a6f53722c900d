"""The base class of the errors that Goryu raises for bad input: files, positions, options, engines."""


class GoryuError(Exception):
    """Something outside Goryu is wrong; the message names what was received and what was expected."""

    def translated(self) -> str:
        """Returns the message in the user's language where there is a translation; see `goryu.language`."""
        return str(self)


class InputError(GoryuError, ValueError):
    """A number, a name or a file from outside that Goryu cannot use."""
