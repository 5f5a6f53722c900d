from goryu.games.shogi import START_SFEN
from goryu_page.dojo.phases import Phase, phases


def test_exchanged_bishops_are_the_opening_and_a_captured_silver_the_middlegame() -> None:
    moves = "7g7f 3c3d 8h2b+ 3a2b B*4e 1c1d 4e3d 2b3c 3d5f 3c2d 5f2c+ 1a1b 2c2d 5a6b"
    assert phases(START_SFEN, moves.split()) == [Phase.OPENING] * 13 + [Phase.MIDDLEGAME]


def test_two_pieces_beside_a_king_are_the_endgame() -> None:
    far, near = "4k4/9/9/9/4G4/4S4/9/9/4K4 b - 1", "4k4/9/4G4/4S4/9/9/9/9/4K4 b - 1"
    assert phases(far, ("5e5d", "5a6a", "5f5e", "6a5a")) == [Phase.OPENING] * 4
    assert phases(near, ("5d4c+", "5a6a")) == [Phase.OPENING, Phase.ENDGAME]
