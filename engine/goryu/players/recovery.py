"""What a player does when a search fails: it searches once more, and the search that got further answers."""

import logging
from collections.abc import Callable
from dataclasses import replace

from goryu.base.errors import named
from goryu.base.language import tr
from goryu.evaluators.network.providers import RUN_ERRORS
from goryu.players.request import Answer

_log = logging.getLogger("goryu")


class InterruptedSearchError(Exception):
    """An error has ended a search before it was to end.

    answer: what it had found. left_ms: the time that is left for it; infinite if no clock ends it.
    is_lost: is the network lost, as after the loss of a GPU?
    """

    def __init__(self, answer: Answer, left_ms: float, *, is_lost: bool) -> None:
        super().__init__(answer.info_string)
        self.answer = answer
        self.left_ms = left_ms
        self.is_lost = is_lost


def with_second_try(
    search: Callable[[], Answer],
    start_again: Callable[[bool], None],
    reload_ms: Callable[[], float],
    report: Callable[[str], None],
) -> Answer:
    """Returns the answer of a search; if it fails and there is time, of a second one, if that got further.

    A search that has found nothing is repeated whatever the clock says: there is no other answer. A lost GPU
    breaks its session for good, and the CPU may work, so a network that failed is loaded again.

    start_again: drops the graph before the second search; True: loads the network again, too.
    reload_ms: returns the milliseconds that this takes. report: takes the reason of the second try.
    """
    try:
        return search()
    except InterruptedSearchError as error:
        if error.left_ms < (reload_ms() if error.is_lost else 1):
            return error.answer
        found, problem, is_lost = replace(error.answer, info_string=""), str(error), error.is_lost
    except Exception as error:
        _log.exception("the search failed")
        found, problem, is_lost = None, f"Error! {named(error)}", isinstance(error, RUN_ERRORS)
    remedy = tr("loading the evaluator again") if is_lost else tr("searching again with an empty graph")
    report(f"{problem}; {remedy}")
    try:
        start_again(is_lost)
        answer = search()
    except InterruptedSearchError as error:
        answer = error.answer
    except Exception:
        if found is None:
            raise
        _log.exception("the search failed again")
        return found
    return found if found is not None and _playouts(found) > _playouts(answer) else answer


def _playouts(answer: Answer) -> int:
    return answer.result.stats.playouts if answer.result is not None else 0
