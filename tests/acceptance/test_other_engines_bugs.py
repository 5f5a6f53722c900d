"""Bugs that other engines have or had, as facts that hold here: those of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine

pytest.importorskip("cshogi")

BOOK = """\
#YANEURAOU-DB2016 1.00
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
3g3f 3c3d 60 20 1
"""

MATE_IN_ONE = "sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1"
DECLARABLE = "sfen 1K1+R1+R3/PPPPPPPPP/1S1B1B3/9/9/9/9/9/4k4 b G 100"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "定跡 1.db"
    path.write_text(BOOK)
    return path


@pytest.fixture(scope="module")
def mode() -> tuple[str, str]:
    """As built: which implementation of the rules the engine has makes no difference here."""
    return "", "unread"


@pytest.mark.parametrize("position", [MATE_IN_ONE, DECLARABLE, "startpos"])
@pytest.mark.parametrize("go", ["go infinite", "go ponder btime 0 wtime 0 byoyomi 100"])
def test_an_open_search_does_not_answer_with_a_mate_a_declaration_or_a_book_move(
    ready: Engine, book: Path, position: str, go: str
) -> None:
    """dlshogi and nshogi answer before `stop` if there is a mate, a won declaration or a book move."""
    ready.send(f"setoption name BookFile value {book}\nisready")
    ready.expect("readyok")
    ready.send(f"position {position}\n{go}")
    ready.expect_silence(0.3)
    ready.send("stop")
    ready.expect_within("bestmove .*", 0.0, 0.2)


def test_a_book_move_is_played_at_once_and_shown_with_its_line(ready: Engine, book: Path) -> None:
    ready.send(f"setoption name BookFile value {book}\nposition startpos\ngo btime 60000 wtime 60000")
    ready.expect(r"info string book=.*\\u5b9a\\u8de1 1\.db")
    ready.expect(r"info string book: 60 cp, depth 20, count 1")
    ready.expect(r"info .* score cp 60 pv 3g3f 3c3d")
    ready.expect_within("bestmove 3g3f ponder 3c3d", 0.0, 0.5)
    ready.send("setoption name BookFile value\ngo nodes 5")
    ready.expect(r"info depth .* nodes 5 .*")
    ready.expect("bestmove .*")


def test_a_missing_book_is_reported_and_the_engine_plays(ready: Engine, tmp_path: Path) -> None:
    ready.send(f"setoption name BookFile value {tmp_path}/none.db\nisready")
    ready.expect("info string Error! .*none.db: No such file or directory; playing without a book")
    ready.expect("readyok")
    ready.send("go nodes 5")
    ready.expect(r"bestmove [1-9P]\S+.*")


def test_a_check_option_given_false_is_false(ready: Engine) -> None:
    """nshogi may read it as true."""
    ready.send("setoption name USI_Ponder value true\nsetoption name USI_Ponder value false")
    ready.send("getoption USI_Ponder")
    ready.expect("info string USI_Ponder = false")


def test_an_option_set_after_isready_counts(ready: Engine) -> None:
    """dlshogi, nshogi, python-dlshogi and python-dlshogi2 go on with the old value."""
    ready.send("isready")
    ready.expect("readyok")
    ready.send("setoption name MultiPV value 2\nsetoption name Evaluator value uniform\ngo nodes 30")
    ready.expect(".*evaluator=uniform.*")
    ready.expect("info multipv 1 .*")
    ready.expect("info multipv 2 .*")
    ready.expect("bestmove .*")


def test_a_book_file_with_new_content_is_opened_again(ready: Engine, book: Path) -> None:
    """dlshogi goes on with the old model; test_process.py tests the same for models."""
    ready.send(f"setoption name BookFile value {book}\nisready")
    ready.expect("readyok")
    book.write_text(BOOK.replace("3g3f", "1g1f  "))
    ready.send("isready")
    ready.expect("readyok")
    ready.send("go nodes 5")
    ready.expect("bestmove 1g1f.*")


def test_the_moves_after_an_sfen_are_played(ready: Engine) -> None:
    """python-dlshogi forgets them."""
    ready.send("position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f\nd")
    ready.expect(r"info string sfen \S+/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2")


def test_a_value_may_contain_blanks(ready: Engine) -> None:
    """python-dlshogi2 cuts it at the first one."""
    ready.send("setoption name BookDir value C:/My Books/of 2026\ngetoption BookDir")
    ready.expect("info string BookDir = C:/My Books/of 2026")
