"""The terminal that a game is shown on: what it can show, and how."""

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, TextIO

from goryu.base.language import tr
from goryu.commands.terminal.game_display import GameDisplay, Names
from goryu.games.state import State

if TYPE_CHECKING:
    from rich.text import Text

BOARDS = ("auto", "kanji", "letters")
"""The values of --board."""


class Screen:
    """Shows lines and boards.

    board: one of BOARDS; auto shows kanji on a terminal whose encoding has them, unless TERM is dumb.
    """

    def __init__(self, out: TextIO, board: str, display: GameDisplay) -> None:
        from rich.console import Console

        self._out = out
        self._display = display
        self._console = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._has_colour = self._console.color_system is not None and not self._console.no_color
        can_show = self._console.is_terminal and not self._console.is_dumb_terminal and _has_kanji(out)
        self.shows_kanji = board == "kanji" or (board == "auto" and can_show)

    @property
    def is_terminal(self) -> bool:
        """Is a person at a terminal, who may want to go on after the end of the game?"""
        return self._console.is_terminal and sys.stdin is not None and sys.stdin.isatty()

    def picture(self, state: State, names: Names) -> "str | Text":
        """Returns the board as this terminal shows it best."""
        draw = self._display.picture
        if draw is None or not self.shows_kanji or (self._display.needs_colour and not self._has_colour):
            return self._display.board(state)
        return draw(state, names, self._has_colour)

    def show(self, item: "str | Text") -> None:
        """Prints a line or a board."""
        if isinstance(item, str):
            self._out.write(item + "\n")
            self._out.flush()
        else:
            self._console.print(item)

    def show_all(self, items: "Iterable[str | Text]", is_slow: bool) -> None:
        """Prints lines and boards as they come.

        is_slow: may the opponent think for seconds? Then a terminal shows that it thinks.
        """
        items = iter(items)
        while True:
            with self._console.status(tr("thinking ...")) if is_slow and self.is_terminal else nullcontext():
                item = next(items, None)
            if item is None:
                return
            self.show(item)


def _has_kanji(out: TextIO) -> bool:
    """Can the encoding of a stream write kanji?"""
    try:
        "▲７六歩".encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
