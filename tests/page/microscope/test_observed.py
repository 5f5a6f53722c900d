"""The texts of the microscope's tables: no literals of `tr`, so no other test misses a translation."""

from goryu.base.language import both
from goryu.table.positions import GAMES
from goryu_page.microscope.networks import NAMES
from goryu_page.microscope.observed import OBSERVED
from goryu_page.microscope.page import LEGEND


def test_every_text_of_the_tables_is_translated() -> None:
    texts = [LEGEND, "win", "loss", "draw", "pass", *NAMES.values()]
    for game in GAMES.values():
        texts += [game.help, *(title for _, title in game.examples)]
    for observed in OBSERVED.values():
        texts += [observed.title, observed.about, *(one.about for one in observed.parameters)]
    assert [text for text in texts if both(text)["ja"] == text] == ["UCT"]
