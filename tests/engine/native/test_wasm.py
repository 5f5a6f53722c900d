"""The WebAssembly module (`tools/dev.py wasm`) computes what the native code computes, bit by bit."""

import json
import struct
from typing import Any

import numpy as np
import pytest

from goryu.evaluators.hashed import HashedEvaluator
from goryu.evaluators.kernel.kernel import INSTRUCTIONS_VARIABLE, open_kernel
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.games.shogi.move import move_from_usi, move_to_usi
from goryu.implementation import Board, Puct, perft
from goryu.players.kept_graph import graph_settings
from goryu.players.position import rules_of
from goryu.search.graph.proof import MateSolver
from goryu.search.mates.mate import MateVerdict, solve
from goryu_lab.benchmark import signature
from goryu_lab.benchmark.signature import GOLDEN, PLAYOUTS, POSITIONS, SEARCHES, digest_of
from paths import ROOT
from wasm_module import Job, module, wasm

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures(module.__name__)]

MIDDLE_GAME = dict(POSITIONS)["middle game"]


def network(name: str = "", **more: object) -> Job:
    """The job that loads a network; the hashed evaluator without a name."""
    return {"do": "network", "file": f"{name}.network" if name else "", **more}


def searched(position: str, playouts: int = PLAYOUTS) -> Job:
    return {"do": "search", "position": position, "playouts": playouts}


def packed(answer: dict[str, Any]) -> bytes:
    """What `signature.packed` makes of a search."""

    def entry(code: int, count: int, value: str) -> bytes:
        return struct.pack("<HI", code, int(count)) + bytes.fromhex(value)[::-1]

    moves = sorted(answer["moves"], key=lambda move: move["code"])
    head = entry(answer["moves"][0]["code"], answer["nodes"], answer["value"])
    return head + b"".join(entry(move["code"], move["visits"], move["value"]) for move in moves)


def signature_jobs() -> tuple[list[Job], list[int]]:
    """The searches of the bench signature as jobs, and how many answers each position has."""
    jobs: list[Job] = []
    counts = []
    for i, (_, sfen) in enumerate(POSITIONS):
        config, solver = SEARCHES[i % len(SEARCHES)]
        options = {
            "batch_size": config.batch_size, "capacity": config.capacity, "draw_value": config.draw_value,
            "lcb": config.final_move == "lcb",
        }  # fmt: skip
        if isinstance(solver, MateSolver):
            options |= {"mate_nodes": solver.nodes, "mate_nodes_per_visit": solver.nodes_per_visit}
        state = Board(sfen)
        search = Puct(HashedEvaluator(), config, solver)
        best = search.search(state, lambda stats: False, max_playouts=PLAYOUTS).moves[0].move
        state.push(best)
        jobs += [network(), {"do": "options", "options": options}, searched(f"sfen {sfen}")]
        counts.append(1 if state.outcome() is not None else 2)
        if counts[-1] == 2:
            jobs.append(searched(f"sfen {sfen} moves {move_to_usi(best)}"))
    return jobs, counts


def test_the_bench_signature_is_that_of_the_native_code() -> None:
    jobs, counts = signature_jobs()
    answers = iter([each for each in wasm.answers(jobs) if each is not None])
    golden = json.loads(GOLDEN.read_text("utf-8"))["parts"]
    for (name, _), count in zip(POSITIONS, counts, strict=True):
        data = b"".join(packed(next(answers)) for _ in range(count))
        assert digest_of(data) == golden[name], name


def test_it_counts_the_moves_of_perft() -> None:
    cases = [(sfen, 2) for _, sfen in POSITIONS]
    jobs = [{"do": "perft", "position": f"sfen {sfen}", "depth": depth} for sfen, depth in cases]
    assert wasm.answers(jobs) == [perft(Board(sfen), depth) for sfen, depth in cases]


def test_it_finds_the_mates_that_the_native_code_finds() -> None:
    jobs = [{"do": "solve", "position": f"sfen {sfen}", "nodes": 2000} for _, sfen in POSITIONS]
    verdicts = {MateVerdict.MATE: 1, MateVerdict.NO_MATE: 0, MateVerdict.UNKNOWN: -1}
    for (name, sfen), answer in zip(POSITIONS, wasm.answers(jobs), strict=True):
        found = solve(Board(sfen), 2000)
        line = " ".join(map(move_to_usi, found.moves))
        assert answer == {"verdict": verdicts[found.verdict], "line": line, "nodes": found.nodes}, name


@pytest.mark.parametrize("name", wasm.NETWORKS)
def test_a_network_answers_and_searches_as_in_the_native_code(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AMX would compute the larger one in bfloat16."""
    from goryu._native import usable_instructions

    usable = [each for each in usable_instructions() if each != "amx"]
    monkeypatch.setenv(INSTRUCTIONS_VARIABLE, usable[0])
    model = ROOT / "models" / f"{name}.onnx"
    config = wasm.engine_config(model)
    kernel = open_kernel(model)
    evaluator = NetworkEvaluator(
        model, batch_size=1, backend="winograd", threads=1, temperature=config.evaluator.temperature
    )
    evaluate = [{"do": "evaluate", "position": f"sfen {sfen}"} for _, sfen in POSITIONS]
    _, *answers, search = wasm.answers([network(name), *evaluate, searched(f"sfen {MIDDLE_GAME}", 400)])
    for (case, sfen), answer in zip(POSITIONS, answers, strict=True):
        inputs = evaluator.new_inputs(1)
        evaluator.format.fill(Board(sfen), [rows[0] for rows in inputs])
        logits, values = kernel.run(inputs)
        assert answer["logits"] == logits[0].view(np.uint32).tolist(), case
        assert answer["value"] == struct.pack(">d", values[0]).hex(), case
    board = Board(MIDDLE_GAME, rules_of(config))
    settings = graph_settings(config, board.turn, 1, 1)
    puct = Puct(evaluator, settings.config, settings.solver)
    result = puct.search(board, lambda stats: False, max_playouts=400)
    assert packed(search) == signature.packed(result)
    assert search["moves"][0]["line"] == " ".join(map(move_to_usi, result.moves[0].pv))


def test_what_is_wrong_gets_a_sentence_and_leaves_the_engine_as_it_was() -> None:
    jobs = [
        network("goryu-5x64", size=1000),
        {"do": "perft", "position": "startpos moves 7g7f 7g7f", "depth": 1},
        {"do": "perft", "position": "sfen 9/9 b - 1", "depth": 1},
        searched("startpos"),
        {"do": "options", "options": {"threads": 2}},
        {"do": "perft", "position": "startpos", "depth": 3},
    ]
    *wrong, right = wasm.answers(jobs)
    assert [each["error"] for each in wrong] == [
        "the network is damaged",
        "expected a legal move, received 7g7f",
        "expected an SFEN, received 9/9 b - 1",
        "no network is loaded",
        "no option threads with this value",
    ]
    assert right == 25470


def test_the_engine_for_shogihome_speaks_usi() -> None:
    commands = ["usi", "isready", "usinewgame", "position startpos moves 7g7f", "go nodes 50", "poll"]
    commands += ["go infinite", "stop", "position startpos moves 7g7f 7g7f", "go btime 0 wtime 0 byoyomi 100"]
    commands += ["position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "go mate infinite", "poll"]
    commands += ["position sfen 4k4/9/4G4/9/9/9/9/9/4K4 w G 2", "go nodes 10", "poll", "quit", "usi"]
    (lines,) = wasm.answers([{"do": "usi", "commands": commands}])
    manifest = json.loads((wasm.BUILD / "shogihome" / "engine.json").read_text("utf-8"))
    assert [line.split()[2] for line in lines if line.startswith("option name")] == [
        option["name"] for option in manifest["options"]
    ]
    assert {f"id name {manifest['name']}", f"id author {manifest['author']}", "usiok", "readyok"} <= {*lines}
    answers = [line for line in lines if line.startswith(("bestmove", "checkmate"))]
    board = Board()
    board.push(move_from_usi("7g7f"))
    for answer in answers[:2]:
        assert move_from_usi(answer.split()[1]) in board.legal_moves()
    assert answers[2] == "bestmove resign"
    assert "info string expected a legal move, received 7g7f" in lines
    assert answers[3] == "checkmate G*5b"
    assert lines[-1] == answers[-1]  # Nothing after `quit`.
