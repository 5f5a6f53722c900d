"""Reads CSA, the format of computer shogi, with the comments of floodgate: ratings, scores, summary.

Sources: http://www2.computer-shogi.org/protocol/record_v22.html, and the files of shogi-server.
"""

import re
from collections.abc import Sequence

from goryu.base.language import tr
from goryu.games.shogi import START_SFEN, parse_sfen
from goryu.games.shogi.pieces import GOLD, HAND_KINDS, PROMOTED, WHITE_PIECE
from goryu.games.shogi.sfen import PIECE_TOTALS, SfenFields
from goryu.kifu.builder import GameBuilder
from goryu.kifu.endings import readable
from goryu.kifu.notation import CSA_NAMES, parse_move
from goryu.kifu.record import Ending, GameRecord, RecordError

ENDINGS = readable("csa")
"""CSA's words after %."""

SUMMARIES = readable("summary")
"""shogi-server's reasons in its `'summary:REASON:BLACK win:WHITE lose`."""

HEADERS = {
    "EVENT": "棋戦",
    "SITE": "場所",
    "START_TIME": "開始日時",
    "END_TIME": "終了日時",
    "TIME_LIMIT": "持ち時間",
    "TIME": "持ち時間",
    "OPENING": "戦型",
    "NOTE": "備考",
}
"""The KIF names of CSA's headers; others keep their own."""

_MOVE = re.compile(r"[+-][0-9]{4}[A-Z]{2}")
_TIME = re.compile(r"T([0-9]+(\.[0-9]*)?)")
_RATING = re.compile(r"'(black|white)_rate:.*:\s*([0-9]{1,6}(\.[0-9]+)?)\s*$")
_SQUARE_PIECE = re.compile(r"(00|[1-9]{2})([A-Z]{2})")


def clock_in_kif(limit: str) -> str:
    """Returns a TIME_LIMIT as KIF has it.

    >>> clock_in_kif("01:30+60"), clock_in_kif("00:10+00"), clock_in_kif("?")
    ('90分+60秒', '10分', '?')
    """
    if not (found := re.fullmatch(r"([0-9]{1,4}):([0-9]{2})\+([0-9]{1,4})", limit)):
        return limit
    hours, minutes, byoyomi = map(int, found.groups())
    return f"{60 * hours + minutes}分" + (f"+{byoyomi}秒" if byoyomi else "")


def clock_in_csa(clock: str) -> str | None:
    """Returns a 持ち時間 as a TIME_LIMIT, or None if that cannot say it.

    >>> clock_in_csa("90分+60秒"), clock_in_csa("10分 加算5秒")
    ('01:30+60', None)
    """
    if not (found := re.fullmatch(r"([0-9]{1,4})分(?:\+([0-9]{1,4})秒)?", clock)):
        return None
    return f"{int(found[1]) // 60:02}:{int(found[1]) % 60:02}+{int(found[2] or 0):02}"


def read_csa(lines: Sequence[str], name: str = "", first_line: int = 1) -> GameRecord:
    """Returns the game of the lines of one CSA game; raises RecordError.

    first_line: the number of the first of the lines in its file.
    """
    return _CsaReader(name, first_line).read(lines)


class _CsaReader:
    def __init__(self, name: str, first_line: int) -> None:
        self._name, self._number = name, first_line
        self._names, self._headers = ["", ""], dict[str, str]()
        self._ratings: list[float | None] = [None, None]
        self._comments: list[str] = []
        self._pieces: list[int] = [0] * 81
        self._hands = [[0] * 7, [0] * 7]
        self._has_position = False
        self._rest_of_set: int | None = None  # The side whose hand takes all other pieces (AL).
        self._game: GameBuilder | None = None
        self._has_ended = False
        self._illegal: RecordError | None = None

    def read(self, lines: Sequence[str]) -> GameRecord:
        """Returns the game."""
        for number, line in enumerate(lines, self._number):
            self._number = number
            if self._game is not None:
                self._game.line_number = self._number
            if line.startswith("'"):
                self._comment(line.rstrip())
                continue
            # Version 2.2 separates statements by commas, but a header may contain one.
            is_header = line.startswith(("$", "N+", "N-"))
            for statement in [line] if is_header else line.split(","):
                if statement.strip():
                    self._statement(statement.strip("\r\n") if is_header else statement.rstrip())
        if self._illegal is not None:
            raise self._illegal
        return self._started(None).finish(
            (self._names[0], self._names[1]), (self._ratings[0], self._ratings[1]), self._headers
        )

    def _error(self, problem: str) -> RecordError:
        return RecordError(problem, self._name, self._number)

    def _statement(self, text: str) -> None:
        text = text if text[0] == "P" else text.strip()
        if _MOVE.fullmatch(text):
            self._move(text)
        elif text[0] == "T" and (match := _TIME.fullmatch(text)):
            self._time(float(match[1]))
        elif text[0] == "%":
            self._end(text[1:])
        elif text in ("+", "-"):
            self._started("+-".index(text))
        elif self._game is None and text[0] == "P":
            self._position(text)
        elif text[:2] in ("N+", "N-"):
            self._names["+-".index(text[1])] = text[2:].strip()
        elif text[0] == "$":
            self._header(text[1:])
        elif not re.fullmatch(r"V[0-9.]+|PI.*", text):
            raise self._error(
                tr("expected a CSA statement such as +7776FU, received {text!r}", text=text[:60])
            )

    def _header(self, text: str) -> None:
        key, _, value = text.partition(":")
        value = value.strip()
        self._headers[HEADERS.get(key, key)] = clock_in_kif(value) if key == "TIME_LIMIT" else value

    def _time(self, seconds: float) -> None:
        if self._game is not None:
            self._game.seconds(seconds, is_of_end=self._has_ended or self._illegal is not None)

    def _comment(self, line: str) -> None:
        if match := _RATING.match(line):
            self._ratings[("black", "white").index(match[1])] = float(match[2])
        elif line.startswith("'summary:"):
            self._summary(line)
        elif line.startswith("'$"):  # shogi-server adds END_TIME so.
            self._header(line[2:])
        elif self._game is None:
            self._comments.append(line[1:].removeprefix("*"))
        else:
            self._game.comment(line[1:].removeprefix("*"))

    def _move(self, text: str) -> None:
        game = self._started(None)
        if self._has_ended or self._illegal is not None:
            raise self._illegal or self._error(_after_the_end(text))
        try:
            game.play(lambda board: parse_move(board, text))
        except RecordError as error:
            self._illegal = error  # No fault of the file if the game ends by it.
            game.comment(f"反則手：{text}")

    def _end(self, word: str) -> None:
        game = self._started(None)
        if word not in ENDINGS:
            known = ", ".join(f"%{ending}" for ending in ENDINGS)
            raise self._error(
                tr("expected one of {known}, received {text!r}", known=known, text=f"%{word[:30]}")
            )
        if self._has_ended:
            raise self._error(_after_the_end(f"%{word}"))
        ending = ENDINGS[word]
        if self._illegal is not None and ending is Ending.ILLEGAL_MOVE:
            self._illegal = None
        winner = {"+ILLEGAL_ACTION": 1, "-ILLEGAL_ACTION": 0}.get(word)
        game.end(ending, winner)
        self._has_ended = True

    def _summary(self, line: str) -> None:
        """Takes shogi-server's result: it knows perpetual check, and endings without a word of CSA."""
        game = self._started(None)
        fields = [field.strip() for field in line.split(":")]
        ending = SUMMARIES.get(fields[1])
        if self._illegal is not None and ending is Ending.ILLEGAL_MOVE:
            self._illegal = None
        winner = next((side for side, field in enumerate(fields[2:4]) if field.endswith(" win")), None)
        if ending is not None and (game.ending is Ending.UNKNOWN or ending is not Ending.INTERRUPTED):
            game.ending = ending
        if winner is not None or fields[-1].endswith(" draw"):
            game.winner = winner
        self._has_ended = True

    def _started(self, turn: int | None) -> GameBuilder:
        """Returns the game, which begins at the line with the side to move."""
        if self._game is None:
            start = START_SFEN
            if self._has_position:
                self._deal_rest()
                black, white = map(tuple, self._hands)
                start = str(SfenFields(tuple(self._pieces), turn or 0, (black, white), 1))
            elif turn == 1:
                start = START_SFEN.replace(" b ", " w ")
            self._game = GameBuilder(start, self._name, self._number)
            for text in self._comments:
                self._game.comment(text)
        return self._game

    def _position(self, text: str) -> None:
        """Takes a line PI, P1 to P9, P+ or P-."""
        kind, rest = text[1:2], text[2:].rstrip()
        is_second, self._has_position = self._has_position, True
        if kind == "I" and not is_second:
            self._pieces = list(parse_sfen(START_SFEN).pieces)
            for square, _ in self._squares(rest):
                self._pieces[square] = 0
        elif kind and kind in "123456789":
            self._rank(int(kind) - 1, text[2:])
        elif kind and kind in "+-":
            self._add("+-".index(kind), rest)
        else:
            raise self._error(tr("expected P1 to P9, P+, P- or first PI, received {text!r}", text=text[:60]))

    def _squares(self, text: str) -> list[tuple[int, int]]:
        """Returns the squares (-1: the hand) and kinds (0: AL) of a text such as 82HI22KA."""
        text = text.replace(" ", "")
        found = [pair for pair in _SQUARE_PIECE.findall(text) if pair[1] in (*CSA_NAMES, "AL")]
        if 4 * len(found) != len(text):
            raise self._error(
                tr("expected squares and pieces such as 82HI22KA, received {text!r}", text=text[:60])
            )
        squares = []
        for digits, piece in found:
            square = -1 if digits == "00" else 9 * (int(digits[0]) - 1) + int(digits[1]) - 1
            squares.append((square, 0 if piece == "AL" else CSA_NAMES.index(piece)))
        return squares

    def _rank(self, rank: int, text: str) -> None:
        squares = [text[i : i + 3] for i in range(0, 27, 3)]
        for column, square in enumerate(squares):
            plain = square.strip()
            if plain in ("", "*"):
                continue
            if plain[0] not in "+-" or plain[1:] not in CSA_NAMES[1:]:
                raise self._error(tr("expected * or a piece such as -KY, received {text!r}", text=square))
            kind = CSA_NAMES.index(plain[1:]) + (WHITE_PIECE if plain[0] == "-" else 0)
            self._pieces[9 * (8 - column) + rank] = kind

    def _add(self, side: int, text: str) -> None:
        for square, kind in self._squares(text):
            if kind == 0:
                self._rest_of_set = side
            elif square >= 0:
                self._pieces[square] = kind + WHITE_PIECE * side
            elif kind in HAND_KINDS:
                self._hands[side][HAND_KINDS.index(kind)] += 1
            else:
                raise self._error(tr("{piece} cannot be in a hand", piece=CSA_NAMES[kind]))

    def _deal_rest(self) -> None:
        """Puts all pieces that are nowhere yet into the hand that AL names."""
        if self._rest_of_set is None:
            return
        kinds = [piece % WHITE_PIECE for piece in self._pieces]
        for place, (kind, total) in enumerate(zip(HAND_KINDS, PIECE_TOTALS, strict=True)):
            placed = sum(kinds.count(found) for found in {kind, kind + PROMOTED if kind != GOLD else kind})
            rest = total - placed - self._hands[0][place] - self._hands[1][place]
            self._hands[self._rest_of_set][place] += max(0, rest)


def _after_the_end(text: str) -> str:
    return tr("expected nothing after the end of the game, received {text!r}", text=text[:30])
