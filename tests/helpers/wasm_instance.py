"""In place of an `Engine` of goryu.js: an instance of the WebAssembly module in this process, by wasmtime."""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from wasm_module import wasm


@cache
def _compiled() -> tuple[Any, Any]:
    from wasmtime import Engine, Module

    engine = Engine()
    return engine, Module.from_file(engine, str(wasm.MODULE))


class WasmtimeInstance:
    """What Python in the tab uses of an `Engine`, with the names that Pyodide gives it."""

    def __init__(self) -> None:
        from wasmtime import FuncType, Linker, Store, ValType, WasiConfig

        engine, module = _compiled()
        self.shouldStop: Callable[[], bool] = lambda: False
        self._store = Store(engine)
        self._store.set_wasi(WasiConfig())
        linker = Linker(engine)
        linker.define_wasi()
        asked = FuncType([], [ValType.i32()])
        linker.define_func("env", "goryu_should_stop", asked, lambda: int(self.shouldStop()))
        instance: Any = linker.instantiate(self._store, module)
        self._exports = instance.exports(self._store)
        self._exports["_initialize"](self._store)

    def call(self, name: str, *given: float | str) -> float | str:
        texts = [self._copied(each) for each in given if isinstance(each, str)]
        places = iter(texts)
        numbers = [next(places) if isinstance(each, str) else each for each in given]
        try:
            result = self._run(name, *numbers)
        finally:
            for at in texts:
                self._run("release", at)
        return self._text(int(result)) if name in ("error", "mate_line") else result

    def view(self, at: int, length: int) -> SimpleNamespace:
        """A `Uint8Array` of its memory."""
        memory = self._exports["memory"]
        return SimpleNamespace(
            to_bytes=lambda: bytes(memory.read(self._store, at, at + length)),
            assign=lambda data: memory.write(self._store, data, at),
        )

    def _run(self, name: str, *numbers: float) -> float:
        function = self._exports[f"goryu_{name}"]
        kinds = function.type(self._store).params
        given = [
            float(number) if str(kind) == "f64" else int(number)
            for kind, number in zip(kinds, numbers, strict=True)
        ]
        result: float = function(self._store, *given)
        return result

    def _copied(self, text: str) -> int:
        data = text.encode() + b"\0"
        at = int(self._run("allocate", len(data)))
        self.view(at, len(data)).assign(data)
        return at

    def _text(self, at: int) -> str:
        data: bytes = self.view(at, 4096).to_bytes()
        return data[: data.index(b"\0")].decode()
