"""`goryu` or `python -m goryu`: the USI engine, or another command if one is named."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from goryu import __version__
from goryu.base import standard_output
from goryu.base.installation import how_to_install
from goryu.base.language import either, tr

__all__ = ["main"]


class Command(NamedTuple):
    """A command.

    function: "module:name"; it is called with the arguments and returns the exit status. Its module is
        imported when the command is run: `usiok` must come before heavy modules are loaded.
    extra: the extra of the package that the command needs.
    """

    function: str
    extra: str = ""


COMMANDS = {
    "usi": Command("goryu.usi.loop:main"),
    "play": Command("goryu.commands.play:main"),
    "web": Command("goryu.commands.web:main", "web"),
    "analyze": Command("goryu.commands.analyze:main"),
    "tree": Command("goryu.commands.tree:main"),
    "options": Command("goryu.usi.console:print_options"),
    "convert": Command("goryu.commands.convert:main", "convert"),
    "check-model": Command("goryu.commands.check_model:main"),
    "download": Command("goryu.commands.download:main"),
    "doctor": Command("goryu.commands.doctor:main"),
    "match": Command("goryu.commands.match:main", "tools"),
    "openings": Command("goryu.commands.openings:main", "tools"),
    "book": Command("goryu.commands.book:main", "tools"),
    "crosstable": Command("goryu.commands.crosstable:main", "tools"),
    "bench": Command("goryu.commands.bench:main", "tools"),
    "perft": Command("goryu.commands.perft:main", "tools"),
    "records": Command("goryu.commands.records:main", "tools"),
    "teach": Command("goryu.commands.teach:main", "tools"),
    "selfplay": Command("goryu.commands.training.selfplay:main", "train"),
    "train": Command("goryu.commands.training.train:main", "train"),
    "evaluate": Command("goryu.commands.training.evaluate:main", "tools"),
    "learn": Command("goryu.commands.training.learn:main", "train"),
}

HELP = """usage: goryu [COMMAND] ...

  usi          runs the USI engine on stdin and stdout, for GUIs; the default; see goryu usi --help
  play         plays a game in the terminal; see goryu play --help
  web          opens a page in the browser: play, review games, watch searches; see goryu web --help
  analyze      reviews game records: win rates, mistakes, what was better; see goryu analyze --help
  tree         draws the tree of a search on any position; see goryu tree --help
  convert      turns a network of another program into an ONNX file; see goryu convert --help
  check-model  examines a model: format, speed, sense; see goryu check-model --help
  download     fetches a larger, stronger network; see goryu download --help
  options      lists the USI options with values, default and meaning; goryu options NAME: only that one
  doctor       checks the installation and suggests fixes

Programs for matches, measurements and training. They need more packages: {tools}
Those marked with * also need PyTorch: {train}
Each prints its options with --help.

  match       plays a match between two USI engines; Elo with its error
  openings    makes a file of openings for matches
  book        makes, shows, checks and joins opening books
  crosstable  plays all algorithms against each other
  bench       measures the search and networks
  perft       counts and times the leaves of the tree of legal moves
  records     chooses and converts game records for training
  teach       records training games of a USI engine
  selfplay    records training games of a network *
  train       trains a network on training games *
  evaluate    measures how well networks predict games
  learn       trains networks of the small games; measures the tutorials *
"""


JAPANESE_HELP = """使い方：goryu [コマンド] ...

  usi          USIエンジンを標準入出力で動かす（GUI用、既定）。goryu usi --help
  play         端末で対局する。goryu play --help
  web          ブラウザで対局、棋譜の検討、探索の観察をする。goryu web --help
  analyze      棋譜を検討し、悪手を示す。goryu analyze --help
  tree         局面の探索木を図にする。goryu tree --help
  convert      ほかのソフトのモデルをONNXに変換する。goryu convert --help
  check-model  モデルの形式、速度、答えの妥当性を調べる。goryu check-model --help
  download     より大きく強いモデルをダウンロードする。goryu download --help
  options      USIオプションの値、既定値、意味を表示する。goryu options 名前 でそのオプションだけ
  doctor       インストールを調べ、直し方を示す

対局、測定、学習のコマンド。追加パッケージが必要：{tools}
*印はPyTorchも必要：{train}
オプションはそれぞれ --help で表示される。

  match       USIエンジン同士を対局させ、レート差と誤差を求める
  openings    連続対局用の開始局面集を作る
  book        定跡を作り、表示し、検査し、結合する
  crosstable  すべてのアルゴリズムを総当たりで対局させる
  bench       探索とネットワークの速度を測る
  perft       合法手の木の末端を数え、時間を測る
  records     学習に使う棋譜を選び、変換する
  teach       USIエンジンの対局を教師データとして記録する
  selfplay    ネットワークに自己対局をさせ、教師データとして記録する *
  train       教師データからネットワークを学習する *
  evaluate    ネットワークがどれだけ指し手と勝敗を当てるかを測る
  learn       小さなゲームのネットワークを学習し、チュートリアルの結果を測る *
"""

INTERRUPTED = 130
"""The exit status that shells expect of a program that was ended by Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command in `argv`, or `usi` if there is none; returns the exit status."""
    command, *arguments = (sys.argv[1:] if argv is None else argv) or ["usi"]
    # The parent process may have closed them.
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        status = run(command, arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:  # During the import of a command; later each handles it itself.
        return INTERRUPTED
    except BrokenPipeError:  # As in `goryu options | head`.
        standard_output.discard()
        return 1
    except (ImportError, OSError) as error:
        standard_output.discard()
        advice = " (goryu doctor may show the cause)" if isinstance(error, ImportError) else ""
        print(f"goryu: {error}{advice}", file=sys.stderr)  # noqa: T201
        return 1
    return status


def run(command: str, arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit status."""
    if command == "--version":
        print(f"goryu {__version__}")  # noqa: T201
        return 0
    if {command, *(arguments if command == "options" else ())} & {"-h", "--help"}:
        extras = {extra: how_to_install(extra) for extra in ("tools", "train")}
        print(either(HELP, JAPANESE_HELP).format(**extras), end="")  # noqa: T201
        return 0
    if command not in COMMANDS:
        expected = ", ".join(COMMANDS)
        problem = tr("unknown command {name!r}; expected one of {expected}", name=command, expected=expected)
        print(f"goryu: {problem}", file=sys.stderr)  # noqa: T201
        return 2
    standard_output.accept_every_letter()
    module, function = COMMANDS[command].function.split(":")
    status: int = getattr(import_module(module), function)(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
