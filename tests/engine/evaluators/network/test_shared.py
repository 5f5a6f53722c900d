"""Several searches on one network: their batches are joined, and their answers are those of each alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.shared import Joiner, shared
from goryu.implementation import Board, make_puct
from goryu.search.graph.config import PuctConfig
from goryu.search.result import SearchResult
from gpu.simulated_device import SimulatedDevice

SEARCHES = 6


def test_requests_that_wait_for_the_device_share_a_call() -> None:
    waiting = threading.Barrier(2)
    batches: list[list[int]] = []

    def work(batch: list[int]) -> None:
        batches.append(sorted(batch))
        if batch == [0]:
            waiting.wait(60)
            waiting.wait(60)
        if 3 in batch:
            raise RuntimeError("lost")

    joiner = Joiner(work, 5, 1)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(joiner.call, 0, 1)
        waiting.wait(60)
        others = [pool.submit(joiner.call, number, 2) for number in (1, 2, 3)]
        while len(joiner._waiting) < 3:
            pass
        waiting.wait(60)
        assert first.result() is None
        # Two of them have room in a call of five rows; the error reaches those of its call only.
        failed = [future.exception() is not None for future in others]
    assert [len(batch) for batch in batches] == [1, 2, 1]
    assert failed == [any(3 in batch and number in batch for batch in batches) for number in (1, 2, 3)]


@pytest.mark.parametrize("packs", [True, False])
def test_a_search_beside_others_finds_what_it_finds_alone(packs: bool) -> None:
    device = SimulatedDevice(call_s=1e-3, row_s=0.0, packs=packs)
    network = device.network(16)
    starts = [Board() for _ in range(SEARCHES)]
    for number, board in enumerate(starts):
        board.push(board.legal_moves()[number])

    def search(board: Board, evaluator: NetworkEvaluator) -> SearchResult:
        return make_puct(evaluator, PuctConfig(batch_size=16)).search(
            board, lambda stats: False, max_playouts=200
        )

    alone = [search(board, network) for board in starts]
    calls, device.calls = device.calls, 0
    both = shared(network, 1)
    with ThreadPoolExecutor(SEARCHES) as pool:
        together = list(pool.map(lambda board: search(board, both), starts))
    assert together == alone
    assert device.calls < calls / 2
