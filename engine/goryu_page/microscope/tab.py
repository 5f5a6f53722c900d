"""Answers the microscope and the textbook in a browser tab, where this Python runs without a server.

The messages are those of `views/microscope.py` and one more, `textbook.run`. They come from this tab's own
JavaScript, so only what a person types is checked.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import speaking, tr
from goryu.games.state import Move, State
from goryu.search.evaluator import Evaluator
from goryu.table.positions import GAMES, parse_position
from goryu_page.microscope.editing import Editing, Printed, line_of, message_of
from goryu_page.microscope.networks import open_evaluator
from goryu_page.microscope.observed import make_observer
from goryu_page.microscope.picture import board_elements, element_as_json
from goryu_page.microscope.search import Search, catalogue, shown_step
from goryu_page.microscope.view import Extent

MOST_BOARDS = 100
"""The boards that a run shows."""

Message = Mapping[str, Any]


class Tab:
    """The searches of a tab. send(text): takes each message for the page, as JSON."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._search: Search | None = None
        self.editing = Editing()

    def receive(self, text: str) -> None:
        """Handles a message of the page: a request, of which each gets a reply.

        The reply has "ok" and "value", or "error" and "line": of the reader's code, 0 if the error comes from
        elsewhere.
        """
        message = json.loads(text)
        self._tell("reply", id=message.get("id"), **self._answer(message))

    def _tell(self, kind: str, **content: Any) -> None:
        self._send(json.dumps({"type": kind, **content}))

    def _answer(self, message: Message) -> dict[str, Any]:
        answers = {
            "microscope.catalogue": self._catalogue,
            "microscope.state": lambda _: None,
            "microscope.new": self._new,
            "microscope.show": self._show,
            "microscope.move": self._move,
            "textbook.run": self._run,
        }
        with speaking(message["language"]):
            try:
                return {"ok": True, "value": answers[message["type"]](message)}
            except Exception as error:  # The reader's code raises anything.
                return {"ok": False, "error": message_of(error), "line": line_of(error)}

    def _catalogue(self, _message: Message) -> dict[str, Any]:
        return catalogue()

    def _new(self, form: Message) -> dict[str, Any]:
        game, name = form["game"], form["algorithm"]
        state, evaluator = _position(game, form["position"], form["network"])
        observer = make_observer(name, state, evaluator, form["values"])
        self._search = Search(game, name, state, observer, dict(form))
        return {"steps": len(observer.recording)}

    def _show(self, message: Message) -> dict[str, Any]:
        search, step, playout = self._begun(), message.get("step"), message.get("playout", 0)
        search.run(step, playout, self._report, lambda: False)
        extent = Extent(message["depth"], message["width"])
        return shown_step(search, step, playout, extent, message["node"])

    def _report(self, playouts: int) -> None:
        self._tell("microscope.progress", playouts=playouts)

    def _move(self, message: Message) -> dict[str, Any]:
        search = self._begun()
        search.move_root(Move(message["move"]))
        return {"steps": len(search.observer.recording)}

    def _begun(self) -> Search:
        if self._search is None:
            raise InputError(tr("no search has begun"))
        return self._search

    def _run(self, message: Message) -> dict[str, Any]:
        """Runs the code of a chapter as the reader has it; returns what it prints and its boards."""
        game, printed = GAMES[message["game"]], Printed()
        boards: list[Any] = []
        state, evaluator = _position(game.name, message["position"], message["network"])

        def show(shown: State) -> None:
            if len(boards) == MOST_BOARDS:
                raise InputError(tr("the code shows more than {count} boards", count=MOST_BOARDS))
            boards.append(element_as_json(board_elements(game.board(shown), 1.0, 1.0, 100.0)))

        given = {"state": state, "evaluator": evaluator, "show": show}
        self.editing.run(message["module"], message["owner"], message["text"], given, printed)
        return {"printed": printed.getvalue(), "boards": boards}


def _position(game: str, text: str, network: str) -> tuple[State, Evaluator]:
    state = parse_position(game, text)
    return state, open_evaluator(game, state, network)
