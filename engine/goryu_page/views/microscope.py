"""The view "Microscope": a search on a small scale, step by step.

A request names a step; the search is run as far as that step, and the reply has the picture of the graph
after it. So the page can go back, jump and reload, and keeps no numbers of its own.
"""

from dataclasses import dataclass, replace
from threading import Lock
from typing import Annotated, Any

from msgspec import Meta, field
from msgspec.structs import asdict

from goryu.base.errors import InputError
from goryu.base.language import speaking, tr
from goryu.evaluators.cached import CachedEvaluator
from goryu.games.state import Move, State
from goryu.players.set_up.loading import LoadedEvaluator
from goryu.table.positions import GAMES, parse_position
from goryu_page.microscope.networks import KINDS, NAMES, open_evaluator
from goryu_page.microscope.observed import OBSERVED, Observed, make_observer
from goryu_page.microscope.picture import STYLE, board_elements, draw, element_as_json
from goryu_page.microscope.puct import PuctObserver
from goryu_page.microscope.recording import Observer
from goryu_page.microscope.view import Extent, node_view, view
from goryu_page.session.messages import Request, Spoken, one_of
from goryu_page.session.session import Job, Session, View

MOST_PLAYOUTS = 2000
"""The playouts that a page may run: the recording stays in memory."""
MOST_STEPS = 10_000
FEW_PLAYOUTS = 20
"""A request that runs no more than this reports no progress."""
MOST_POSITION = 200_000
"""Characters of a position's text."""


class NewRequest(Request):
    """A search on a position. game, algorithm, network, values: as the catalogue names them."""

    game: str
    algorithm: str
    position: Annotated[str, Meta(max_length=MOST_POSITION)] = ""
    network: str = "uniform"
    values: dict[str, float] = field(default_factory=dict)


class ShowRequest(Spoken):
    """Asks for the picture of a step, or of the step that ended a playout.

    depth, width: of the picture. node: the position that is shown beside it; "" for the root.
    """

    step: Annotated[int, Meta(ge=0, le=MOST_STEPS)] = 0
    playout: Annotated[int, Meta(ge=0, le=MOST_PLAYOUTS)] | None = None
    depth: Annotated[int, Meta(ge=0, le=60)] = 4
    width: Annotated[int, Meta(ge=1, le=600)] = 6
    node: str = ""


class MoveRequest(Request):
    """move: of the root, as the picture has it."""

    move: Annotated[int, Meta(ge=0, le=0xFFFF)]


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

    def advance(self) -> None:
        """Runs the search a little further."""
        self.has_ended = not self.observer.advance(MOST_PLAYOUTS - self.observer.recording.playouts)


class MicroscopeView(View):
    """Searches on any position of any game, and pictures of every step."""

    name = "microscope"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._search: Search | None = None
        self._lock = Lock()  # A stopped job may still read the search when the next one runs it.

    def on_catalogue(self, message: Spoken) -> dict[str, Any]:
        """Returns the games, algorithms and networks to choose from, and the style of the pictures."""
        with speaking(message.language):
            return _catalogue()

    def on_state(self, _message: Request) -> dict[str, Any] | None:
        """Returns what the page sent to begin its search and the step that it saw last; None without one."""
        return None if self._search is None else self._search.form | {"step": self._search.shown}

    async def on_new(self, message: NewRequest) -> dict[str, Any]:
        """Begins a search on a position; returns the number of steps so far."""
        one_of("game", message.game, GAMES)
        one_of("algorithm", message.algorithm, OBSERVED)
        one_of("network", message.network, KINDS[message.game])
        form = asdict(message)

        def begin(_job: Job) -> dict[str, Any]:
            return {"steps": len(self._begin(form).observer.recording)}

        return await self.session.run("microscope", begin)

    async def on_show(self, message: ShowRequest) -> dict[str, Any]:
        """Returns the picture of a step, and everything that is known of one position after it.

        The search is run so far, if it is not yet. The position is the root if it is not known then.
        """
        step, playout = message.step if message.playout is None else None, message.playout or 0
        extent = Extent(message.depth, message.width)

        def show(job: Job) -> dict[str, Any]:
            search = self._wanted()
            with self._lock:
                self._run(search, job, step, playout)
                return _shown(search, step, playout, extent, message.node)

        with speaking(message.language):
            return await self.session.run("microscope", show)

    async def on_move(self, message: MoveRequest) -> dict[str, Any]:
        """Plays a move at the root of PUCT: its position becomes the root. Returns the number of steps."""
        move = Move(message.move)

        def play(_job: Job) -> dict[str, Any]:
            search = self._wanted()
            if not isinstance(search.observer, PuctObserver):
                raise InputError(f"{search.name}: the root moves only in puct, which keeps its graph")
            with self._lock:
                _move_root(search.observer, move)
                search.has_ended = False
                return {"steps": len(search.observer.recording)}

        return await self.session.run("microscope", play)

    def _begin(self, form: dict[str, Any]) -> Search:
        """Begins the search of a form. The network of shogi is that of all tabs."""
        game, name, kind = form["game"], form["algorithm"], form["network"]
        state, network = parse_position(game, form["position"]), None
        if OBSERVED[name].algorithm.uses == "rules":
            kind = "uniform"
        if game == "shogi" and kind == "network":
            network = self.session.dojo.networks.get(replace(self.session.config.evaluator, kind=kind))
        evaluator = CachedEvaluator(network) if network else open_evaluator(game, state, kind)
        observer = make_observer(name, state, evaluator, form["values"])
        search = Search(game, name, state, observer, form, network)
        with self._lock:
            self._search = search
        return search

    def _wanted(self) -> Search:
        """Returns the search; one whose network was lost begins again with the network loaded again."""
        search = self._search
        if search is None:
            raise InputError(tr("no search has begun"))
        is_lost = search.network is not None and search.network.lost.is_set()
        return self._begin(search.form) if is_lost else search

    def _run(self, search: Search, job: Job, step: int | None, playout: int) -> None:
        recording = search.observer.recording
        before = recording.playouts
        while not job.is_stopped and search.can_go_on():
            if len(recording) > step if step is not None else recording.playouts >= playout:
                break
            search.advance()
            if recording.playouts - before > FEW_PLAYOUTS:
                job.report("microscope.progress", playouts=recording.playouts)
        if not recording.steps:
            raise InputError(tr("the search was stopped before its first step"))


def _move_root(observer: PuctObserver, move: Move) -> None:
    root = observer.root
    assert root is not None
    if move not in root.moves:
        raise InputError(f"move {move}: expected a legal move of the root")
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


def _shown(search: Search, step: int | None, playout: int, extent: Extent, node: str) -> dict[str, Any]:
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


def _catalogue() -> dict[str, Any]:
    return {
        "games": {
            name: {
                "examples": [[text, tr(title)] for text, title in game.examples],
                "help": tr(game.help),
                "networks": [[kind, tr(NAMES[kind])] for kind in KINDS[name]],
            }
            for name, game in GAMES.items()
        },
        "algorithms": {name: _description(each) for name, each in OBSERVED.items()},
        "style": STYLE.read_text("utf-8"),
        "playouts": MOST_PLAYOUTS,
    }


def _description(observed: Observed) -> dict[str, Any]:
    return {
        "title": tr(observed.title),
        "about": tr(observed.about),
        "file": observed.file,
        "formula": observed.formula,
        "uses": observed.algorithm.uses,
        "playouts": observed.playouts,
        "has_graph": observed.has_graph,
        "whole": observed.algorithm.searches_whole_game,
        "parameters": [
            {
                "name": p.name,
                "about": tr(p.about),
                "default": p.default,
                "least": p.least,
                "most": p.most,
                "is_whole": p.is_whole,
            }
            for p in observed.parameters
        ],
    }
