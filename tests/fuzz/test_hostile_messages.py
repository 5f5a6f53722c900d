"""Messages of the page with all fields and hostile content: each is done or refused by a sentence."""

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import inspect

from goryu.base.errors import GoryuError
from goryu.kifu.record import GameRecord, Ply
from goryu.players.config import EngineConfig
from goryu_page.dojo.dojo import Dojo
from goryu_page.session.session import Session
from goryu_page.views.views import VIEWS

SEARCHING = (
    "play.", "microscope.", "engines.", "review.start", "review.live", "review.deepen", "review.explore",
    "review.guess", "review.threat", "train.prepare", "train.hint", "train.answer",
)  # fmt: skip
"""Begin the messages that begin a search."""

FOUND = ({"type": "review.open", "key": "9" * 30},)
"""What was once a defect."""

ROUNDS = int(os.environ.get("GORYU_FUZZ_ROUNDS", "1"))

NUMBERS = (0, 1, 2, -1, 99, 1 << 31, 1 << 62, 1 << 63, -(1 << 63), 10**30)
TEXTS = (
    "", "1", "9" * 30, "x" * 5000, "7g7f", "3c3d", "P*5e", "4k4/9/9/9/9/9/9/9/4K4 b - 1", "../../etc/passwd",
    "reversi.onnx", "mine", "shogi", "\x00", "\x1b[31m", "'; DROP TABLE games;--", "%_", "1e999", "２", "😀",
)  # fmt: skip


def content(kind: Any, rng: Random) -> Any:
    """Returns what a field may hold, in 19 of 20 cases of its type."""
    if rng.random() < 0.05:
        return rng.choice((None, True, {}, [], "x", 1.5, -1))
    match kind:
        case inspect.IntType():
            return rng.choice((kind.ge or 0, kind.le or 1 << 62, *NUMBERS))
        case inspect.FloatType():
            return rng.choice((0.5, 1e308, -1e-300))
        case inspect.BoolType():
            return rng.random() < 0.5
        case inspect.LiteralType():
            return rng.choice(kind.values)
        case inspect.UnionType():
            return content(rng.choice(kind.types), rng)
        case inspect.ListType() | inspect.VarTupleType():
            return [content(kind.item_type, rng) for _ in range(rng.choice((0, 1, 2, 3, 600)))]
        case inspect.StructType():
            wanted = [field for field in kind.fields if field.required or rng.random() < 0.5]
            return {field.encode_name: content(field.type, rng) for field in wanted}
    return rng.choice(TEXTS)


def test_a_message_is_done_or_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    defects: list[str] = []

    def refuse(_self: Session, identity: Any, error: Exception) -> None:
        if not isinstance(error, GoryuError | OSError):
            defects.append(f"{identity} {error!r}")

    monkeypatch.setattr(Session, "_reply_error", refuse)

    async def send() -> None:
        session, rng = Session(VIEWS, dojo), Random(1)
        kinds = {
            f"{view.name}.{name.removeprefix('on_')}": inspect.type_info(kind)
            for view in VIEWS.values()
            for name, kind in view.requests().items()
        }
        messages = [*FOUND]
        for _ in range(10 * ROUNDS):
            for name in (name for name in kinds if not name.startswith(SEARCHING)):
                fields = content(kinds[name], rng)
                messages.append({**(fields if isinstance(fields, dict) else {}), "type": name})
        for number, message in enumerate(messages):
            session.receive(json.dumps({**message, "id": number}))
            while session._tasks:
                await asyncio.sleep(0.001)
        session.close()

    dojo = Dojo(tmp_path / "dojo.sqlite3", EngineConfig())
    dojo.games.add(GameRecord(plies=(Ply("7g7f"),), names=("me", "you"), winner=0), "", "mine")
    with ThreadPoolExecutor(1) as pool:  # In this thread Playwright's event loop may run.
        pool.submit(asyncio.run, send()).result()
    dojo.close()
    assert defects == []
