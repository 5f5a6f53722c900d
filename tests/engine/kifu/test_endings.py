"""The words for the ends of games."""

import pytest

from goryu.kifu.endings import WORDS, Words, readable, written
from goryu.kifu.record import Ending

SHARED = {
    "kif": {Ending.PERPETUAL_CHECK: Ending.ILLEGAL_MOVE},
    "csa": {Ending.PERPETUAL_CHECK: Ending.ILLEGAL_MOVE, Ending.FORFEIT: Ending.INTERRUPTED},
    "summary": {Ending.FORFEIT: Ending.INTERRUPTED},
}
"""Endings that write the word of another one."""


@pytest.mark.parametrize("kind", Words._fields)
def test_what_is_written_is_read(kind: str) -> None:
    words = {ending: written(ending, kind) for ending in Ending}
    found = {ending: readable(kind)[word] for ending, word in words.items() if word}
    assert found == {ending: SHARED.get(kind, {}).get(ending, ending) for ending in found}


def test_records_have_a_word_for_every_ending() -> None:
    assert set(WORDS) == set(Ending) - {Ending.UNKNOWN}
    assert all(words.kif and words.csa for words in WORDS.values())
