"""Code that a reader has changed runs in place of ours, and ours comes back."""

import inspect
from textwrap import dedent
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.tictactoe import TicTacToe
from goryu.search import minimax
from goryu.search.graph import puct
from goryu_page.microscope.editing import Editing, Printed, line_of, message_of
from goryu_page.microscope.observed import make_observer

MINIMAX = inspect.getsource(minimax.negamax) + "\n\n" + inspect.getsource(minimax.best_move)


def run(editing: Editing, module: str, text: str, owner: str = "", **given: Any) -> str:
    printed = Printed()
    editing.run(f"goryu.search.{module}", owner, text, given, printed)
    return printed.getvalue()


@pytest.fixture
def editing() -> Any:
    editing = Editing()
    yield editing
    editing.take_back()


def test_a_changed_function_is_called_and_observed_until_it_is_taken_back(editing: Editing) -> None:
    state, calls = TicTacToe([4, 0, 8, 2]), "\n\nprint(negamax(state))\n"
    assert run(editing, "minimax", MINIMAX + calls, state=state) == "-0.0\n"
    steps = len(recorded(state))
    assert run(editing, "minimax", MINIMAX.replace("max(best", "min(best") + calls, state=state) == "-1.0\n"
    assert minimax.negamax(state) == -1.0
    changed = MINIMAX.replace("return best\n", "return best if state.ply < 7 else 0.0\n", 1)
    run(editing, "minimax", changed.replace("legal_moves():", "legal_moves()[:2]:", 1))
    assert 0 < len(recorded(state)) < steps
    editing.take_back()
    assert len(recorded(state)) == steps
    assert minimax.negamax(state) == 0.0
    assert not hasattr(minimax, "state")


def recorded(state: TicTacToe) -> list[Any]:
    observer = make_observer("minimax", state, UniformEvaluator())
    observer.advance()
    return observer.recording.steps


def test_a_function_that_another_module_has_imported_is_changed_there_too(editing: Editing) -> None:
    ours = vars(puct)["recompute"]
    run(editing, "graph.node_table", "def recompute(node):\n    raise KeyError('mine')\n")
    with pytest.raises(KeyError, match="mine"):
        vars(puct)["recompute"](None)
    editing.take_back()
    assert vars(puct)["recompute"] is ours


def test_a_method_is_changed_in_its_class(editing: Editing) -> None:
    ours = puct.Puct._back_up
    text = dedent(inspect.getsource(ours))
    counted = text.replace('"""\n', '"""\n    print(len(path))\n', 1) + "\n\nsearch()\n"

    def search() -> None:
        puct.Puct(UniformEvaluator()).search(TicTacToe(), lambda _: False, max_playouts=3)

    assert run(editing, "graph.puct", counted, "Puct", search=search).split() == ["1"] * 3
    editing.take_back()
    assert puct.Puct._back_up is ours


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("x = 1\nx = = 2\n", 2, "SyntaxError: invalid syntax"),
        ("def f():\n    return missing\n\n\nf()\n", 2, "NameError: name 'missing' is not defined"),
        ("import sys\nwhile True:\n    print('again')\n", 3, "the code prints more than 20000 characters"),
    ],
)
def test_an_error_names_its_line(editing: Editing, text: str, line: int, message: str) -> None:
    with pytest.raises((SyntaxError, NameError, InputError)) as caught:
        run(editing, "minimax", text)
    assert (line_of(caught.value), message_of(caught.value)) == (line, message)


def test_a_search_that_does_not_call_itself_has_no_steps(editing: Editing) -> None:
    run(editing, "minimax", "def negamax(state):\n    return 0.0\n")
    with pytest.raises(InputError, match="negamax does not call negamax"):
        make_observer("minimax", TicTacToe(), UniformEvaluator())
