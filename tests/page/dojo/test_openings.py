import pytest

from goryu.games.shogi import START_SFEN
from goryu_page.dojo.openings import opening_names, opening_of


@pytest.mark.parametrize(
    "moves, name",
    [
        ("7g7f 8c8d 6g6f 3c3d 2h6h 8d8e 8h7g 7a6b 1i1h 5a4b", "四間飛車対居飛車"),
        ("2g2f 3c3d 7g7f 5c5d 2f2e 8b5b 5i6h 5a6b 6h7h 6b7b", "居飛車対中飛車"),
        ("7g7f 3c3d 7f7e 4a3b 2h7h 8b6b 1g1f 4c4d 7h7f 1c1d", "三間飛車対右四間飛車"),
        ("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d 8e8f 8g8f 8b8f 2d3d", "横歩取り"),
        ("2g2f 8c8d 7g7f 4a3b 6i7h 8d8e 8h7g 3c3d 7i8h 2b7g+ 8h7g", "角換わり"),
        ("7g7f 3c3d 7f7e 8b3b 2h7h 5a6b 5i4h 6b7b 4h3h 7b8b", "相振り飛車"),
        ("7g7f", ""),
    ],
)  # fmt: skip
def test_openings_have_their_usual_names(moves: str, name: str) -> None:
    assert opening_names(opening_of(START_SFEN, moves.split()))["ja"] == name
