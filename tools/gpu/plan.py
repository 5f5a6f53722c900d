"""What a stage of the first contact is, and on what it runs."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from goryu.base.errors import GoryuError
from goryu.evaluators.network.model_files import downloaded_model, shipped_model
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.evaluators.network.providers import open_session
from goryu_lab.benchmark.random_network import write_random_network

ELEMENTS: dict[str, dict[str, dict[str, str]]] = {
    "cuda": {"fp16": {}, "fp32": {"use_tf32": "0"}, "tf32": {}},
    "tensorrt": {"fp16": {}, "fp32": {"trt_fp16_enable": "False"}},
    "onnxruntime": {"fp16": {}, "fp32": {}},
}
"""The provider's settings by backend and element type. CUDA computes float32 networks in TF32 unless told
otherwise; TensorRT is Goryu's with 16 bits."""


NOTHING: Mapping[str, str] = MappingProxyType({})


class ContactError(GoryuError, RuntimeError):
    """A part of the first contact that cannot be done, or that found something wrong."""


@dataclass(frozen=True, slots=True)
class Contact:
    """On what the stages run.

    folder: for networks, logs of engines and results. rehearses: with the CPU in place of CUDA.
    is_quick: with tiny networks and few positions, to try the program, not the machine.
    say: takes what a long item has found so far, as an event.
    """

    folder: Path
    rehearses: bool = False
    is_quick: bool = False
    say: Callable[[Mapping[str, Any]], None] = lambda event: None

    @property
    def gpu(self) -> str:
        """The backend that is examined above all."""
        return "onnxruntime" if self.rehearses else "cuda"

    @property
    def backends(self) -> tuple[str, ...]:
        """All that are examined; TensorRT also in a rehearsal, where it is missing."""
        return (self.gpu, "tensorrt")

    @property
    def strongest(self) -> Path:
        """The downloaded network, or goryu-5x64 if there is none, or to be quick."""
        downloaded = downloaded_model()
        return downloaded if downloaded.is_file() and not self.is_quick else shipped_model()

    def elements(self, backend: str) -> tuple[str, ...]:
        """Returns the element types in which a backend computes."""
        return tuple(ELEMENTS[backend])

    def opening(self, backend: str) -> "Item":
        """Returns an item that fails if a backend does not open even a small network, for others to need."""

        def work(seconds: float) -> Found:
            open_session(
                self.random_network("dlshogi", "1x16"), "cpu" if backend == "onnxruntime" else backend
            )
            return {}

        return Item(f"opening {backend}", work)

    @property
    def threads(self) -> int:
        """CPU threads for reference answers."""
        return os.cpu_count() or 1

    def random_network(self, kind: str, size: str, *, is_half: bool = False) -> Path:
        """Returns the file of a network with random weights, which it makes if there is none."""
        path = self.folder / "networks" / f"{kind}-{size}{'-fp16' if is_half else ''}.onnx"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            blocks, channels = map(int, size.split("x"))
            part = path.with_suffix(".part")
            write_random_network(blocks, channels, part, kind=kind, is_half=is_half)
            part.replace(path)
        return path

    def open(
        self, path: Path, backend: str, element: str, more: Mapping[str, str] = NOTHING, **options: Any
    ) -> NetworkEvaluator:
        """Opens a network in an element type of `ELEMENTS`; raises BackendError if that is impossible.

        more: settings of the provider.
        """
        settings = {**ELEMENTS[backend][element], **more}
        halves = None if backend == "tensorrt" else element == "fp16"
        return NetworkEvaluator(
            path, backend=backend, halves=halves, opens=partial(open_session, settings=settings), **options
        )


Found = Mapping[str, Any]
"""What an item found, for JSON."""


class Item(NamedTuple):
    """A piece of work that takes the seconds that are meant for it.

    needs: the name of the item without which it is left out, "" for none.
    """

    name: str
    work: Callable[[float], Found]
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the first contact, made of items that fail one by one.

    minutes: its limit. items: yields them, the most important first.
    """

    name: str
    minutes: float
    items: Callable[[Contact], Iterator[Item]]
