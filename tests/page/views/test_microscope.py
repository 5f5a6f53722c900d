"""The view "Microscope" in a real browser: its numbers are the library's."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu.evaluators.hashed import HashedEvaluator
from goryu.games.shogi import move_to_usi
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Puct
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.set_up import loading
from goryu.players.set_up.loading import LoadedEvaluator, LostError, load_evaluator
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import Formula, PuctConfig
from goryu.table.positions import SQUARES
from goryu_page.dojo.dojo import Dojo
from goryu_page.session.session import Job, Session
from goryu_page.views.microscope import MicroscopeView

expect = pytest.importorskip("playwright.sync_api").expect

PUCT = PuctConfig(Formula(c_init=1.3, fpu_reduction=0.36), Formula(c_init=1.3, fpu_reduction=0.1))


def begin(page: Any, **chosen: str) -> None:
    """Sets the form and begins; the names are those of its fields."""
    fields = page.locator(".setup form")
    names = ("game", "example", "algorithm", "network")
    for i, name in enumerate(names):
        if name in chosen:
            fields.locator("select").nth(i).select_option(chosen[name])
    if "position" in chosen:
        fields.locator("textarea").fill(chosen["position"])
    numbers = {name: value for name, value in chosen.items() if name not in (*names, "position")}
    if numbers:
        fields.locator("details summary").click()
    for name, value in numbers.items():
        fields.locator(f"input[name={name}]").fill(value)
    fields.locator("button[type=submit]").click()
    expect(page.locator(".microscope .progress")).to_contain_text("Step 0 of")


def jump(page: Any, playouts: int) -> None:
    page.fill(".playout", str(playouts))
    page.press(".playout", "Enter")
    expect(page.locator(".microscope .progress")).to_contain_text(f"· {playouts} playouts ·")


def table(page: Any) -> dict[str, dict[str, str]]:
    """Returns the table of the position, by the names of the moves."""
    head = page.locator(".terms thead th").all_text_contents()
    rows = [row.locator("td").all_text_contents() for row in page.locator(".terms tbody tr").all()]
    return {row[0].strip("▸✕✓✂ "): dict(zip(head, row, strict=True)) for row in rows}


def agrees(text: str, value: float) -> bool:
    """Is the text this value with three digits?"""
    return abs(float(text.replace("−", "-")) - value) <= 0.0005 + 1e-9


def outside(page: Any) -> int:
    """Counts the positions that are not wholly in the picture."""
    count: int = page.evaluate(
        """() => {
          const frame = document.querySelector(".graph .tree-picture").getBoundingClientRect();
          return [...document.querySelectorAll(".graph g.node")].filter((node) => {
            const box = node.getBoundingClientRect();
            return box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom;
          }).length;
        }"""
    )
    return count


@pytest.fixture
def microscope(open_page: Any) -> Any:
    page = open_page("#microscope")
    expect(page.locator(".microscope .progress")).to_contain_text("Step 0 of")
    return page


def test_puct_has_the_librarys_numbers_after_k_playouts(microscope: Any) -> None:
    for game, state, name in (
        ("shogi", Board(), move_to_usi),
        ("tictactoe", TicTacToe(), lambda move: SQUARES[move]),
    ):
        begin(microscope, game=game, algorithm="puct", network="noise")
        for playouts in (60, 25):
            jump(microscope, playouts)
            puct = Puct(HashedEvaluator(), PUCT)
            result = puct.search(state, lambda _: False, max_playouts=playouts)
            found = table(microscope)
            assert len(found) == len(result.moves)
            for move in result.moves:
                row = found[name(move.move)]
                assert row["N"] == str(move.visits)
                assert agrees(row["P"], move.prior)
                if move.visits:
                    assert agrees(row["Q"], move.value)
            expect(microscope.locator(".facts")).to_contain_text(f"N {playouts + 1}")

    microscope.fill(".playout", "60")  # A jump while a search begins waits for it.
    microscope.evaluate(
        """() => {
            document.querySelector(".microscope .setup form").requestSubmit();
            document.querySelector(".microscope .jump").requestSubmit();
        }"""
    )
    expect(microscope.locator(".microscope .progress")).to_contain_text("· 60 playouts ·")
    microscope.wait_for_timeout(200)
    expect(microscope.locator(".microscope .progress")).to_contain_text("· 60 playouts ·")

    jump(microscope, 300)
    assert outside(microscope) > 0  # The graph is wider than the picture, unless the user asks for all of it.
    microscope.locator(".graph .tree-picture").press("f")
    for _ in range(300):
        if not outside(microscope):
            return
        microscope.wait_for_timeout(100)  # The animation goes on.
    raise AssertionError("the graph is not wholly shown")


def test_an_sfen_in_the_address_is_looked_at_and_alpha_beta_draws_its_windows_and_cuts(
    open_page: Any,
) -> None:
    page = open_page("#microscope/4k4%2F9%2F9%2F9%2F9%2F9%2F9%2FR8%2F4K4%20b%20-%201")
    expect(page.locator("textarea")).to_have_value("4k4/9/9/9/9/9/9/R8/4K4 b - 1")
    expect(page.locator(".microscope .progress")).to_contain_text("Step 0 of")
    expect(page.locator(".small-board sg-pieces piece")).to_have_count(3)

    begin(page, game="tictactoe", example="4 0 8 1", algorithm="alpha-beta")
    page.locator(".graph svg.tree-picture").focus()
    page.keyboard.press("End")
    expect(page.locator(".microscope .progress")).to_contain_text("The search has ended")
    expect(page.locator(".microscope .progress")).to_contain_text("24 positions visited")
    expect(page.locator("g.stub.cut text").nth(3)).to_be_attached()
    expect(page.locator("g.node").first).to_contain_text("[−1, +1]")
    assert table(page)["c1"]["value"] == "1.000"
    expect(page.locator(".events")).to_contain_text("4 moves are cut off")


@pytest.mark.slow
def test_steps_lead_to_the_same_picture_as_a_jump(microscope: Any) -> None:
    progress = microscope.locator(".microscope .progress")
    begin(microscope, game="tictactoe", algorithm="puct", network="noise")
    jump(microscope, 12)
    jumped, nodes = table(microscope), microscope.locator("g.node").count()
    graph = microscope.locator(".graph svg.tree-picture")
    graph.focus()
    microscope.keyboard.press("Home")
    expect(progress).to_contain_text("Step 0 of")
    expect(microscope.locator("g.node")).to_have_count(1)
    for step in range(1, 13):
        microscope.keyboard.press("ArrowRight")
        expect(progress).to_contain_text(f"Step {step} of")
    microscope.keyboard.press("ArrowLeft")
    expect(progress).to_contain_text("Step 11 of")
    microscope.keyboard.press("ArrowRight")
    expect(progress).to_contain_text("Step 12 of")
    expect(microscope.locator("g.node")).to_have_count(nodes)  # The new position follows the moving dot.
    assert table(microscope) == jumped


def test_a_search_that_is_stopped_before_its_first_step_is_no_defect(in_loop: Any) -> None:
    async def run() -> None:
        session = Session({"microscope": MicroscopeView}, Dojo(None, EngineConfig()))
        asks = session.views["microscope"].handlers()
        await asks["microscope.new"]({"game": "tictactoe", "algorithm": "minimax"})

        async def run_stopped(name: str, work: Any) -> Any:
            job = Job(session)
            job.stop()
            return work(job)

        session.run = run_stopped  # type: ignore[method-assign, assignment]
        with pytest.raises(InputError, match="before its first step"):
            await asks["microscope.show"]({"playout": 5})
        session.close()

    in_loop(run())


@pytest.mark.parametrize("algorithm", ["puct", "puct-tree", "gumbel", "depth-limited"])
def test_after_a_lost_network_the_search_begins_again_with_one_that_works(
    algorithm: str,
    in_loop: Any,
    monkeypatch: pytest.MonkeyPatch,
    failing: Callable[[int, str], Evaluator],
) -> None:
    evaluators: list[Evaluator] = [HashedEvaluator(), failing(2, "the GPU has gone")]

    def load(config: EvaluatorConfig, report: Callable[[str], None]) -> LoadedEvaluator:
        return replace(load_evaluator(config, report), evaluator=evaluators.pop())

    monkeypatch.setattr(loading, "load_evaluator", load)

    async def run() -> None:
        session = Session({"microscope": MicroscopeView}, Dojo(None, EngineConfig()))
        asks = session.views["microscope"].handlers()
        chosen = {"game": "shogi", "algorithm": algorithm}
        await asks["microscope.new"]({**chosen, "network": "network"})
        with pytest.raises(LostError, match="the GPU has gone"):
            await asks["microscope.show"]({"playout": 20})
        shown = await asks["microscope.show"]({"playout": 20})
        assert not evaluators
        await asks["microscope.new"]({**chosen, "network": "noise"})
        assert shown == await asks["microscope.show"]({"playout": 20})
        session.close()

    in_loop(run())


@pytest.mark.slow
def test_bad_input_is_answered_and_the_search_stays(microscope: Any) -> None:
    begin(microscope, game="tictactoe", algorithm="uct")
    jump(microscope, 10)
    microscope.locator("textarea").fill("4 4")
    microscope.locator(".setup form button[type=submit]").click()
    expect(microscope.locator(".toast.error")).to_contain_text("expected a free square")
    assert any("free square" in problem for problem in microscope.problems)
    microscope.problems.clear()
    jump(microscope, 20)


@pytest.mark.slow
def test_a_reload_keeps_the_search_and_a_phone_shows_all_of_it(open_page: Any) -> None:
    page = open_page("#microscope", width=390, height=800, language="ja")
    expect(page.locator(".microscope .progress")).to_contain_text("0 /")
    page.fill(".playout", "30")
    page.press(".playout", "Enter")
    expect(page.locator(".microscope .progress")).to_contain_text("· 30 プレイアウト ·")
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    expect(page).to_have_url(re.compile("step%3D[1-9]"))  # The page writes it a moment later.
    page.reload()
    expect(page.locator(".microscope .progress")).to_contain_text("· 30 プレイアウト ·")
    page.click("#language")
    expect(page.locator(".microscope .progress")).to_contain_text("· 30 playouts ·")
    expect(page.locator(".about h2")).to_have_text("PUCT on a graph")
    page.locator(".microscope summary", has_text="Set up").click()
    page.locator(".microscope").get_by_label("Game", exact=True).select_option("reversi")
    expect(page).to_have_url(re.compile("game%3Dreversi"))
    page.go_back()
    expect(page.locator(".microscope .progress")).to_contain_text("· 30 playouts ·")
    assert "reversi" not in page.url


@pytest.mark.slow
def test_the_position_of_a_review_can_be_put_under_the_microscope(open_page: Any) -> None:
    page = open_page("#review")
    page.locator(".opener textarea").fill("startpos moves 7g7f 3c3d 2g2f")
    page.get_by_text("Open the text").click()
    page.get_by_text("Under the microscope").click()
    board = Board()
    sfens = [board.sfen()]
    for move in ("7g7f", "3c3d", "2g2f"):
        board.push_usi(move)
        sfens.append(board.sfen())
    expect(page.locator(".setup textarea")).to_have_value(re.compile("|".join(map(re.escape, sfens))))
    expect(page.locator(".microscope .progress")).to_contain_text("Step 0 of")
