"""The view "Microscope": a search on a small scale, step by step.

A request names a step; the search is run as far as that step, and the reply has the picture of the graph
after it. So the page can go back, jump and reload, and keeps no numbers of its own.
"""

from dataclasses import replace
from threading import Lock
from typing import Annotated, Any

from msgspec import Meta, field
from msgspec.structs import asdict

from goryu.base.errors import InputError
from goryu.base.language import speaking, tr
from goryu.evaluators.cached import CachedEvaluator
from goryu.games.state import Move
from goryu.table.positions import GAMES, parse_position
from goryu_page.microscope.networks import KINDS, open_evaluator
from goryu_page.microscope.observed import OBSERVED, make_observer
from goryu_page.microscope.search import MOST_PLAYOUTS, MOST_STEPS, Search, catalogue, shown_step
from goryu_page.microscope.view import Extent
from goryu_page.session.messages import Language, Request, one_of
from goryu_page.session.session import Job, Session, View

MOST_POSITION = 200_000
"""Characters of a position's text."""


class NewRequest(Request):
    """A search on a position. game, algorithm, network, values: as the catalogue names them."""

    game: str
    algorithm: str
    position: Annotated[str, Meta(max_length=MOST_POSITION)] = ""
    network: str = "uniform"
    values: dict[str, float] = field(default_factory=dict)


class MicroscopeView(View):
    """Searches on any position of any game, and pictures of every step."""

    name = "microscope"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._search: Search | None = None
        self._lock = Lock()  # A stopped job may still read the search when the next one runs it.

    def on_catalogue(self, language: Language = "en") -> dict[str, Any]:
        """Returns the games, algorithms and networks to choose from, and the style of the pictures."""
        with speaking(language):
            return catalogue()

    def on_state(self) -> dict[str, Any] | None:
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

    async def on_show(
        self,
        step: Annotated[int, Meta(ge=0, le=MOST_STEPS)] = 0,
        playout: Annotated[int, Meta(ge=0, le=MOST_PLAYOUTS)] | None = None,
        depth: Annotated[int, Meta(ge=0, le=60)] = 4,
        width: Annotated[int, Meta(ge=1, le=600)] = 6,
        node: str = "",
        language: Language = "en",
    ) -> dict[str, Any]:
        """Returns the picture of a step, or of the step that ended a playout, and all about one position.

        The search is run so far, if it is not yet. depth, width: of the picture. node: the position, which is
        the root for "", or if it is not known then.
        """
        wanted, extent = step if playout is None else None, Extent(depth, width)

        def show(job: Job) -> dict[str, Any]:
            def report(playouts: int) -> None:
                job.report("microscope.progress", playouts=playouts)

            search = self._wanted()
            with self._lock:
                search.run(wanted, playout or 0, report, lambda: job.is_stopped)
                return shown_step(search, wanted, playout or 0, extent, node)

        with speaking(language):
            return await self.session.run("microscope", show)

    async def on_move(self, move: Annotated[int, Meta(ge=0, le=0xFFFF)]) -> dict[str, Any]:
        """Plays a move at the root of PUCT: its position becomes the root. Returns the number of steps."""

        def play(_job: Job) -> dict[str, Any]:
            search = self._wanted()
            with self._lock:
                search.move_root(Move(move))
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
