"""A search that is looked at: run as far as the step that is asked for, with a picture of any step.

The view of the page uses it on a server, `tab` in a browser tab. It needs no library but python-shogi.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.games.state import Move, State
from goryu.players.set_up.loading import LoadedEvaluator
from goryu.table.positions import GAMES
from goryu_page.microscope.networks import NAMES, kinds
from goryu_page.microscope.observed import OBSERVED, Observed
from goryu_page.microscope.picture import STYLE, board_elements, draw, element_as_json
from goryu_page.microscope.puct import PuctObserver
from goryu_page.microscope.recording import Observer
from goryu_page.microscope.view import Extent, node_view, view

MOST_PLAYOUTS = 2000
"""The playouts that a page may run: the recording stays in memory."""
MOST_STEPS = 10_000
FEW_PLAYOUTS = 20
"""A request that runs no more than this reports no progress."""


@dataclass(slots=True)
class Search:
    """An observed search of a tab.

    state: where it began. form: what the page sent to begin it. network: if it needs one that may be lost.
    shown: the step that the page saw last. has_ended: no playout is left.
    """

    game: str
    name: str
    state: State
    observer: Observer
    form: dict[str, Any]
    network: LoadedEvaluator | None = None
    shown: int = 0
    has_ended: bool = False

    @property
    def observed(self) -> Observed:
        """What is observed."""
        return OBSERVED[self.name]

    def can_go_on(self) -> bool:
        """May the search be run further?"""
        recording = self.observer.recording
        return not self.has_ended and recording.playouts < MOST_PLAYOUTS and len(recording) < MOST_STEPS

    def run(
        self, step: int | None, playout: int, report: Callable[[int], None], is_stopped: Callable[[], bool]
    ) -> None:
        """Runs the search as far as a step, or, where it is None, as far as the end of a playout.

        report: takes the number of playouts while many are run.
        """
        recording = self.observer.recording
        before = recording.playouts
        while not is_stopped() and self.can_go_on():
            if len(recording) > step if step is not None else recording.playouts >= playout:
                break
            self.has_ended = not self.observer.advance(MOST_PLAYOUTS - recording.playouts)
            if recording.playouts - before > FEW_PLAYOUTS:
                report(recording.playouts)
        if not recording.steps:
            raise InputError(tr("the search was stopped before its first step"))

    def move_root(self, move: Move) -> None:
        """Plays a move at the root of PUCT: its position becomes the root. Raises InputError if it cannot."""
        if not isinstance(self.observer, PuctObserver):
            raise InputError(tr("{name}: the root moves only in puct, which keeps its graph", name=self.name))
        _move_root(self.observer, move)
        self.has_ended = False


def _move_root(observer: PuctObserver, move: Move) -> None:
    root = observer.root
    assert root is not None
    if move not in root.moves:
        raise InputError(tr("move {move}: expected a legal move of the root", move=move))
    state = observer.state_at_root()
    state.push(move)
    if (outcome := state.outcome()) is not None:
        raise InputError(
            tr(
                "the game is over after this move ({reason}): it cannot become the root",
                reason=tr(outcome.reason),
            )
        )
    observer.move_root(move)


def shown_step(search: Search, step: int | None, playout: int, extent: Extent, node: str) -> dict[str, Any]:
    """Returns the picture of a step, or of the step that ended a playout, and all about one position.

    node: the position; the root if it is not known then.
    """
    recording = search.observer.recording
    last = len(recording) - 1
    at = min(step, last) if step is not None else recording.step_of_playout(playout)
    picture = view(recording, at, search.state, search.game, extent)
    search.shown = at
    about = None
    for key in (node, picture["root"]):
        about = about or node_view(recording, at, key, search.state, search.game, search.observed)
    assert about is not None
    board = board_elements(about.pop("board"), 1.0, 1.0, 150.0)
    drawn = draw(picture).as_json()
    return {
        **{key: picture[key] for key in ("step", "steps", "kind", "playouts", "root", "positions", "leaf")},
        **{key: picture[key] for key in ("value", "path", "rollout", "events")},
        "picture": drawn,
        "node": about | {"board": element_as_json(board)},
        "is_last": at == last,
        "can_move_root": search.observed.has_graph and recording.steps[last].root == picture["root"],
        "can_go_on": search.can_go_on(),
        "is_complete": getattr(search.observer, "is_complete", True),
    }


def catalogue() -> dict[str, Any]:
    """Returns the games, algorithms and evaluators to choose from, and the style of the pictures."""
    return {
        "games": {
            name: {
                "examples": [[text, tr(title)] for text, title in game.examples],
                "help": tr(game.help),
                "networks": [[kind, tr(NAMES[kind])] for kind in kinds(name)],
            }
            for name, game in GAMES.items()
        },
        "algorithms": {name: _description(each) for name, each in OBSERVED.items()},
        "style": STYLE.read_text("utf-8"),
    }


def _description(observed: Observed) -> dict[str, Any]:
    return {
        "title": tr(observed.title),
        "about": tr(observed.about),
        "file": observed.file,
        "formula": tr(observed.formula),
        "uses": observed.algorithm.uses,
        "playouts": observed.playouts,
        "whole": observed.algorithm.searches_whole_game,
        "parameters": [asdict(one) | {"about": tr(one.about)} for one in observed.parameters],
    }
