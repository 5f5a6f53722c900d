"""Reads KIF and KI2, the formats of Japanese GUIs and sites.

Source: http://kakinoki.o.oo7.jp/kif_format.html (柿木義一「棋譜ファイル KIF 形式」).
"""

import re
from collections.abc import Sequence

from goryu.base.language import tr
from goryu.games.shogi.pieces import HAND_KINDS, WHITE_PIECE
from goryu.games.shogi.sfen import SfenFields
from goryu.kifu.builder import MAX_SECONDS, GameBuilder
from goryu.kifu.endings import readable
from goryu.kifu.handicaps import handicap_of_name
from goryu.kifu.notation import KIND_OF_KANJI, parse_move
from goryu.kifu.record import Ending, GameRecord, RecordError

ENDINGS = readable("kif")
"""What a line has in place of a move."""

NARROW = str.maketrans("０１２３４５６７８９（）：／＋－　．", "0123456789():/+- .")
"""Turns full-width digits and signs into ASCII."""

WON_BY_THE_SIDE_TO_MOVE = ("反則勝ち", "不戦勝")

RESULT_WORDS = {
    "反則": Ending.ILLEGAL_MOVE,
    "時間切れ": Ending.TIME,
    "切れ負け": Ending.TIME,
    "入玉": Ending.DECLARATION,
    "宣言": Ending.DECLARATION,
    "千日手": Ending.REPETITION,
    "持将棋": Ending.IMPASSE,
    "中断": Ending.INTERRUPTED,
    "不戦": Ending.FORFEIT,
    "引き分け": Ending.DRAW,
    "引分": Ending.DRAW,
    "最大手数": Ending.MAX_PLIES,
    "不詰": Ending.NO_MATE,
    "詰": Ending.CHECKMATE,
}
"""Words in a line such as まで110手で時間切れにより先手の勝ち; the first one decides."""

NAMES = {"先手": 0, "下手": 0, "後手": 1, "上手": 1}
RATINGS = {f"{name}{word}": side for name, side in NAMES.items() for word in ("レート", "レーティング", "R")}
HANDS = {f"{name}の持駒": side for name, side in NAMES.items()}
KANJI_DIGITS = "〇一二三四五六七八九"

LONGEST_MOVE = 200
"""A longer line is no move."""

_SPACES = re.compile(r"\s+")
_MOVE = re.compile(
    r"\s*(?P<number>[0-9]+)[\s.]+(?P<what>\S.*?)\s*(?P<time>\([^()]*[:/][^()]*\))?(\s+\+|(?<=\))\+)?\s*$"
)
_HEADER = re.compile(r"\s*(?P<key>[^\s：:][^：:]{0,29}?)\s*[：:](?P<value>.*)$")
_BRANCH = re.compile(r"変化\s*:?\s*(?P<ply>[0-9]+)\s*手")
_RESULT = re.compile(r"まで")
_KI2_MOVE = re.compile(r"[▲△☗☖▼▽][^▲△☗☖▼▽]*")
_SQUARE = re.compile(rf"\s?([v^ ]?)([{''.join(name for name in KIND_OF_KANJI if len(name) == 1)}・.*])")
_RANK = re.compile(r"\s*[|｜](?P<squares>.*)[|｜]")
_HELD = re.compile(r"([歩香桂銀金角飛])\s*([一二三四五六七八九十]+|[0-9]+)?")
_COUNT = re.compile(r"(?:[一二三四五六七八九]?十)?[一二三四五六七八九]?|[0-9]+")

RULERS = ("手数--", "+---", "9 8 7", "手数=", "手数＝")
"""Lines that only frame others begin with these, written in ASCII digits."""


def read_kif(lines: Sequence[str], name: str = "") -> GameRecord:
    """Returns the game of the lines of a KIF or KI2 text; raises RecordError."""
    return _KifReader(lines, name).read()


class _KifReader:
    """One reading; the first move, variation or ending sets up the board from the headers before it."""

    def __init__(self, lines: Sequence[str], name: str) -> None:
        self._lines, self._name = lines, name
        self._number = 0  # Of the current line, from 1.
        self._headers: dict[str, str] = {}
        self._names = ["", ""]
        self._ratings: list[float | None] = [None, None]
        self._hands = [(0, ""), (0, "")]  # With the numbers of their lines, for errors.
        self._ranks: list[tuple[int, str]] = []
        self._turn: int | None = None
        self._comments: list[str] = []
        self._game: GameBuilder | None = None
        self._has_ended = False
        self._offset = 0  # The number before that of the first move.

    def read(self) -> GameRecord:
        """Returns the game."""
        for number, line in enumerate(self._lines, 1):
            self._number = number
            if self._game is not None:
                self._game.line_number = self._number
            if line.strip():
                self._read_line(line)
        game = self._started()
        return game.finish(
            (self._names[0], self._names[1]), (self._ratings[0], self._ratings[1]), self._headers
        )

    def _error(self, problem: str) -> RecordError:
        return RecordError(problem, self._name, self._number)

    def _read_line(self, line: str) -> None:
        text = line.translate(NARROW).strip()
        if text[0] in "#&" or text.startswith(RULERS):
            return
        if text[0] in "*＊":
            self._comment(line.strip()[1:])
        elif rank := _RANK.match(line):
            self._ranks.append((self._number, rank["squares"].replace("　", " ")))
        elif match := _BRANCH.match(text):
            self._started().branch(int(match["ply"]) - self._offset)
        elif _RESULT.match(text):
            self._result(text)
        elif text[0] in "▲△☗☖▼▽":
            self._ki2_moves(text)
        elif len(text) <= LONGEST_MOVE and (match := _MOVE.match(_SPACES.sub(" ", text))):
            self._move(match)
        elif text in ENDINGS:
            self._end(text)
        else:
            self._header_or_text(line, text)

    def _header_or_text(self, line: str, text: str) -> None:
        if text in ("先手番", "下手番", "後手番", "上手番"):
            self._turn = NAMES[text[:2]]
        elif self._game is not None and not self._has_ended:
            raise self._error(tr("expected a move or a comment, received {text!r}", text=text[:60]))
        elif match := _HEADER.match(line):
            self._header(match["key"].strip(), match["value"].strip(" \t　"))
        else:
            self._comment(line.strip())  # Text around the game, such as a title.

    def _comment(self, text: str) -> None:
        if self._game is None:
            self._comments.append(text)
        else:
            self._game.comment(text)

    def _header(self, key: str, value: str) -> None:
        if key in NAMES:
            self._names[NAMES[key]] = value
        elif key in RATINGS:
            found = re.search(r"[0-9]{1,6}(\.[0-9]+)?", value.translate(NARROW))
            self._ratings[RATINGS[key]] = float(found[0]) if found else None
        elif key in HANDS:
            self._hands[HANDS[key]] = (self._number, value)
        elif key == "手番":
            self._turn = NAMES.get(value[:2], self._turn)
        elif value:
            self._headers[key] = value

    def _move(self, match: re.Match[str]) -> None:
        game, what = self._started(), match["what"].strip()
        if what in ENDINGS:
            self._end(what)
            self._time(match["time"], is_of_end=True)
            return
        if game.is_main and self._has_ended:
            raise self._error(
                tr("expected nothing but variations after the end, received {text!r}", text=what[:60])
            )
        number = int(match["number"][:9])
        if game.ply == 1 and game.is_main:
            self._offset = number - 1
        if number != game.ply + self._offset:
            expected = game.ply + self._offset
            raise self._error(
                tr("expected move {expected}, received move {number}", expected=expected, number=number)
            )
        self._play(what)
        self._time(match["time"], is_of_end=game.is_main and self._has_ended)

    def _time(self, text: str | None, *, is_of_end: bool) -> None:
        """Sets the time of "( 0:16/00:00:16)", whose second part is the sum."""
        if text is None:
            return
        fields = text.strip("() ").partition("/")[0].strip().split(":")
        try:
            seconds = 0.0
            for field in fields:
                seconds = 60 * seconds + float(field or 0)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < MAX_SECONDS:
            raise self._error(tr("expected a time such as ( 0:16/00:00:16), received {text!r}", text=text))
        self._started().seconds(seconds, is_of_end=is_of_end)

    def _ki2_moves(self, text: str) -> None:
        for found in _KI2_MOVE.finditer(text):
            what = found[0].strip()
            if what[1:].strip() in ENDINGS:
                self._end(what[1:].strip())
            else:
                self._play(what)

    def _play(self, what: str) -> None:
        game = self._started()
        if game.is_main and self._has_ended:
            raise self._error(
                tr("expected nothing but variations after the end, received {text!r}", text=what[:60])
            )
        try:
            game.play(lambda board: parse_move(board, what))
        except RecordError:
            if not (game.is_main and self._is_followed_by_foul()):
                raise
            game.comment(f"反則手：{what}")
            game.end(Ending.ILLEGAL_MOVE)
            self._has_ended = True

    def _is_followed_by_foul(self) -> bool:
        """Does the next line that is no comment say that the move before it broke the rules?"""
        rest = (line.strip() for line in self._lines[self._number :])
        return "反則" in next((line for line in rest if line and line[0] not in "*#&"), "")

    def _end(self, word: str) -> None:
        game = self._started()
        if game.is_main and not self._has_ended:
            game.end(ENDINGS[word], game.board.turn if word in WON_BY_THE_SIDE_TO_MOVE else None)
            self._has_ended = True

    def _result(self, text: str) -> None:
        """Takes the result of a line such as "まで110手で後手の勝ち"."""
        game = self._started()
        if not game.is_main:
            return
        if not self._has_ended:
            game.end(_ending_of_result(text) or self._plain_ending(game))
            self._has_ended = True
        winner = _winner_of_result(text)
        if winner is not None:
            game.winner = winner

    def _plain_ending(self, game: GameBuilder) -> Ending:
        """Returns the ending of a game that someone has won; KI2 writes no 投了."""
        return Ending.RESIGNATION if game.board.legal_moves() else Ending.CHECKMATE

    def _started(self) -> GameBuilder:
        """Returns the game, which begins when it is first needed."""
        if self._game is None:
            number = self._ranks[-1][0] if self._ranks else self._number
            self._game = GameBuilder(self._start(), self._name, number)
            self._game.line_number = self._number
            for text in self._comments:
                self._game.comment(text)
        return self._game

    def _start(self) -> str:
        if self._ranks:
            return self._diagram()
        name = self._headers.pop("手合割", "平手")
        handicap = handicap_of_name(name)
        if handicap is None:
            raise self._error(
                tr("手合割 {name!r}: expected a known handicap or a diagram of the board", name=name)
            )
        if self._turn is not None:
            return handicap.sfen.replace(" w " if self._turn == 0 else " b ", f" {'bw'[self._turn]} ")
        return handicap.sfen

    def _diagram(self) -> str:
        """Returns the SFEN of a diagram of nine ranks and two hands."""
        if len(self._ranks) != 9:
            problem = tr("expected 9 ranks in the diagram, found {count}", count=len(self._ranks))
            raise RecordError(problem, self._name, self._ranks[-1][0])
        pieces = [0] * 81
        for rank, (number, text) in enumerate(self._ranks):
            squares = _SQUARE.findall(text)
            if len(squares) != 9:
                problem = tr("expected 9 squares in the rank, found {count}", count=len(squares))
                raise RecordError(problem, self._name, number)
            for column, (side, kanji) in enumerate(squares):
                kind = KIND_OF_KANJI.get(kanji, 0)
                pieces[9 * (8 - column) + rank] = kind + (WHITE_PIECE if kind and side == "v" else 0)
        black, white = (self._held(number, text) for number, text in self._hands)
        name = self._headers.pop("手合割", "")
        white_begins = handicap_of_name(name) is not None and name != "平手"
        turn = self._turn if self._turn is not None else int(white_begins)
        return str(SfenFields(tuple(pieces), turn, (black, white), 1))

    def _held(self, number: int, text: str) -> tuple[int, ...]:
        counts = [0] * 7
        plain = text.translate(NARROW).strip()
        if plain in ("", "なし"):
            return tuple(counts)
        held = _HELD.findall(plain)
        if _HELD.sub("", plain).strip() or not all(_COUNT.fullmatch(count) for _, count in held):
            problem = tr("expected pieces in hand such as 角 金二 歩十七, received {text!r}", text=plain)
            raise RecordError(problem, self._name, number)
        for kanji, count in held:
            counts[HAND_KINDS.index(KIND_OF_KANJI[kanji])] += _number(count)
        if max(counts) > 18:
            problem = tr("expected at most 18 pieces of a kind, received {text!r}", text=plain)
            raise RecordError(problem, self._name, number)
        return tuple(counts)


def _number(text: str) -> int:
    """Returns the number of 十七, 二 or 17; 1 if the text is empty."""
    if not text or text.isascii():
        return int(text[:4] or 1)
    tens, ten, ones = text.rpartition("十")
    sum_of_tens = 10 * KANJI_DIGITS.index(tens[-1:] or "一") if ten else 0
    return sum_of_tens + KANJI_DIGITS.index(ones[-1:] or "〇")


def _ending_of_result(text: str) -> Ending | None:
    """Returns the ending of a line such as "まで110手で時間切れにより先手の勝ち", or None for a plain win."""
    for word, ending in RESULT_WORDS.items():
        if word in text:
            return ending
    return None if _winner_of_result(text) is not None else Ending.UNKNOWN


def _winner_of_result(text: str) -> int | None:
    """Returns who has won by a line such as "まで110手で後手の勝ち"."""
    match = re.search(r"(先手|後手|下手|上手)の?([^先後下上]*)", text.partition("手で")[2] or text)
    if match is None or not ("勝" in match[2] or "負" in match[2]):
        return None
    return NAMES[match[1]] ^ int("勝" not in match[2])
