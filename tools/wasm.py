"""Compiles the engine to WebAssembly, packs the shipped networks for it and measures it: tools/dev.py wasm.

    python3 tools/dev.py wasm            build/wasm/goryu.wasm, goryu.js and the networks; prints their sizes
    python3 tools/dev.py wasm --bench    also its rate in Node.js and Chromium, beside the native one

The compiler is the clang of PyPI's package ziglang, which is installed into build/ziglang: 95 MB once. The
sources are those of the extension (native/core) and native/wasm; native/wasm/goryu.h is the interface.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bootstrap import ROOT, StepError, log, set_up_lock
from file_server import file_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from goryu.players.config import EngineConfig

BUILD = ROOT / "build" / "wasm"
SOURCES = ROOT / "native" / "wasm"
MODULE = BUILD / "goryu.wasm"
ZIGLANG = "ziglang==0.15.1"
ZIG = ROOT / "build" / "ziglang"

FLAGS = [
    "-target", "wasm32-wasi", "-std=c++20", "-O3", "-ffp-contract=off", "-msimd128",
    "-fexceptions", "-fignore-exceptions", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections",
    "-Wall", "-Wextra", "-Wno-unused-parameter", "-Inative",
]  # fmt: skip
"""The target has no exceptions: with these flags `try` is its block, and `throw` ends the instance."""

LINK_FLAGS = [
    "-target", "wasm32-wasi", "-O3", "-mexec-model=reactor", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576",
]  # fmt: skip

NETWORKS = ("goryu-5x64", "goryu-10x96")

POSITION = "startpos moves 7g7f 3c3d 2g2f 4c4d 3i4h 8b4b"
"""The position of the measurement."""

IN_PAGE = """async (jobs) => {
    const { answer } = await import("./driver.js");
    const read = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
    return answer(jobs, read);
}"""

Job = dict[str, Any]
"""What driver.js does: "do", and what it needs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns 0 if the module has been built, else 1."""
    parser = argparse.ArgumentParser(
        prog="dev.py wasm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", action="store_true", help="measure the rate in Node.js and Chromium")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement (default 2)")
    given = parser.parse_args(arguments)
    try:
        make()
        print_sizes()
        if given.bench:
            bench(given.seconds)
    except StepError as error:
        log(str(error))
        return 1
    return 0


# ---- The module


def make() -> None:
    """Makes all files in build/wasm that are missing or old, in one process at a time; raises StepError."""
    with set_up_lock():
        build()
        pack_networks()
        pack_for_shogihome()


def build() -> None:
    """Compiles what has changed and links the module; raises StepError."""
    BUILD.mkdir(parents=True, exist_ok=True)
    newest = max(path.stat().st_mtime for path in (ROOT / "native").rglob("*.h"))
    sources = sorted([*(ROOT / "native" / "core").glob("*.cpp"), *SOURCES.glob("*.cpp")])

    def compiled(source: Path) -> tuple[Path, bool]:
        made = BUILD / f"{source.stem}.o"
        is_new = not made.exists() or made.stat().st_mtime < max(newest, source.stat().st_mtime)
        if is_new:
            zig("c++", *FLAGS, "-c", str(source.relative_to(ROOT)), "-o", str(made))
        return made, is_new

    install_compiler()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [*pool.map(compiled, sources)]
    if any(is_new for _, is_new in objects) or not MODULE.exists():
        linked = BUILD / "linked.wasm"
        zig("c++", *LINK_FLAGS, *(str(made) for made, _ in objects), "-o", str(linked))
        MODULE.write_bytes(without_custom_sections(linked.read_bytes()))
    for name in ("goryu.js", "driver.js"):
        shutil.copyfile(SOURCES / name, BUILD / name)
    (BUILD / "package.json").write_text('{"type": "module"}\n')  # So that Node.js 20 reads these as modules.


def without_custom_sections(module: bytes) -> bytes:
    """Returns a module without the names and the debugging information, nine tenths of it."""
    kept, at = module[:8], 8
    while at < len(module):
        start, size, shift, byte = at, 0, 0, 0x80
        at += 1
        while byte & 0x80:  # A number in LEB128.
            byte = module[at]
            size |= (byte & 0x7F) << shift
            shift += 7
            at += 1
        at += size
        kept += module[start:at] if module[start] else b""
    return kept


def install_compiler() -> None:
    """Installs the compiler unless it is there."""
    if (ZIG / "ziglang" / "zig").exists() or (ZIG / "ziglang" / "zig.exe").exists():
        return
    log(f"installing {ZIGLANG} into {ZIG.relative_to(ROOT)}")
    run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(ZIG), ZIGLANG])


def zig(*arguments: str) -> None:
    """Runs the compiler in the checkout."""
    caches = {name: str(BUILD / "cache") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    run([sys.executable, "-m", "ziglang", *arguments], PYTHONPATH=str(ZIG), **caches)


def run(command: Sequence[str], **environment: str) -> str:
    """Runs a command in the checkout and returns what it prints; raises StepError if it fails."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise StepError(f"wasm: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def pack_networks() -> None:
    """Packs the shipped networks for the module, each with the options that suit it."""
    for name in NETWORKS:
        model, packed = ROOT / "models" / f"{name}.onnx", BUILD / f"{name}.network"
        sources = (
            model,
            model.with_name(f"{model.name}.ini"),
            Path(__file__),
            ROOT / "tools" / "network_file.py",
        )
        if not packed.exists() or packed.stat().st_mtime < max(path.stat().st_mtime for path in sources):
            packed.write_bytes(packed_model(model))


def packed_model(model: Path) -> bytes:
    """Returns the file of an ONNX model, with the options of the engine that plays it."""
    from goryu.evaluators.formats.external_data import read_model
    from goryu.evaluators.kernel.layers import positions_at_once
    from goryu.evaluators.kernel.reading import read_network
    from network_file import packed_network

    network = read_network(model)
    format_name = "dlshogi 62+119" if network.planes == (62, 119) else "dlshogi 62+57"
    checksum = sha256(read_model(model)).hexdigest()
    options = search_options(engine_config(model)) | {"slice": positions_at_once(network.layers)}
    return packed_network(network, checksum, format_name, options)


def engine_config(model: Path) -> EngineConfig:
    """Returns the config of the engine with a model, as the file next to it changes it."""
    from goryu.players.config import EvaluatorConfig
    from goryu.players.set_up.model_path import read_model_options
    from goryu.usi.option_values import OptionValues

    values = OptionValues()
    if problems := values.set_model_options(*read_model_options(EvaluatorConfig(model=str(model)))):
        raise StepError(f"wasm: {'; '.join(problems)}")
    return values.config


def search_options(config: EngineConfig) -> dict[str, float]:
    """Returns the options of the module for an engine's config."""
    search = config.search
    options = {
        "temperature": config.evaluator.temperature,
        "lcb": search.final_move == "lcb",
        "mate_nodes": config.mate.leaf_nodes,
        "mate_nodes_per_visit": config.mate.nodes_per_visit,
        "all_moves": config.rules.all_moves,
    }
    for prefix, formula in (("", search.formula), ("root_", search.root_formula)):
        for name in ("c_init", "c_base", "c_factor", "fpu_reduction"):
            options[prefix + name] = getattr(formula, name)
    return {name: float(value) for name, value in options.items()}


def pack_for_shogihome() -> None:
    """Writes the folder that ShogiHome's page loads as an engine, with one script and one network."""
    folder = BUILD / "shogihome"
    folder.mkdir(exist_ok=True)
    library, usi = ((SOURCES / name).read_text("utf-8") for name in ("goryu.js", "usi.js"))
    usi = usi.replace('import { compile, Engine } from "./goryu.js";\n', library.replace("\nexport ", "\n"))
    (folder / "goryu.js").write_text(usi, "utf-8")
    shutil.copyfile(MODULE, folder / "goryu.wasm")
    shutil.copyfile(BUILD / f"{NETWORKS[0]}.network", folder / "network.bin")
    shutil.copyfile(SOURCES / "engine.json", folder / "engine.json")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")


def print_sizes() -> None:
    """Prints the size of each file, and packed as a server would send it."""
    for path in [MODULE, BUILD / "goryu.js", *(BUILD / f"{name}.network" for name in NETWORKS)]:
        data = path.read_bytes()
        print(f"{path.name:<22}{len(data):>10,} bytes, packed {len(gzip.compress(data, 9)):>10,}")


# ---- What it computes


def answers(jobs: Sequence[Job]) -> list[Any]:
    """Returns what the module answers to jobs of driver.js in Node.js; raises StepError without it."""
    if (node := shutil.which("node")) is None:
        raise StepError("wasm: Node.js is not installed")
    done = subprocess.run(
        [node, str(BUILD / "driver.js")], input=json.dumps(jobs), capture_output=True, text=True
    )
    if done.returncode != 0 and not done.stdout:
        raise StepError(f"wasm: Node.js failed: {done.stderr}")
    results: list[Any] = json.loads(done.stdout)
    return results


def answers_in_page(browser: Browser, jobs: Sequence[Job]) -> list[Any]:
    """Returns the same from a page in a browser of Playwright; the server of its files sets no headers."""
    with file_server(BUILD) as server:
        page = browser.new_page()
        try:
            page.goto(f"http://127.0.0.1:{server.server_port}/package.json")
            results: list[Any] = page.evaluate(IN_PAGE, jobs)
        finally:
            page.close()
    return results


# ---- How fast it is


def bench(seconds: float) -> None:
    """Prints evaluations a second, native and in each program that is there, all in one minute.

    The rates are of CPU time, but in Chromium, which has no such clock: there, and in Node.js, they are those
    of the best tenth of the time, as others may use the processor meanwhile.
    """
    for name in NETWORKS:
        jobs: list[Job] = [
            {"do": "network", "file": f"{name}.network"},
            {"do": "rates", "position": POSITION, "seconds": seconds},
        ]
        native = native_rates(name, seconds)
        print_rates(f"{name}, native", native, native)
        for program, ask in (("Node.js", answers), ("Chromium", in_chromium)):
            try:
                print_rates(f"{name}, {program}", ask(jobs)[-1], native)
            except StepError as error:
                log(str(error))


def print_rates(what: str, rates: dict[str, float], native: dict[str, float]) -> None:
    """Prints rates, those of the native code as shares of it, and the memory of the module."""
    kernel, search = rates["kernel"], rates["search"]
    line = f"{what}: kernel {kernel:,.0f} ({kernel / native['kernel']:.2f})"
    line += f", search {search:,.0f} ({search / native['search']:.2f}), search/kernel {search / kernel:.2f}"
    print(line + (f", {rates['megabytes']:.0f} MB" if "megabytes" in rates else ""), flush=True)


def native_rates(name: str, seconds: float) -> dict[str, float]:
    """Returns the rates of the extension per second of CPU time: of the network alone, and in a search."""
    from goryu.evaluators.network.network import NetworkEvaluator
    from goryu_lab.benchmark.backends import Comparison

    network = NetworkEvaluator(ROOT / "models" / f"{name}.onnx", batch_size=1, backend="winograd", threads=1)
    comparison = Comparison([network], seconds / 5, batches=(1,))
    for _ in comparison.run(5):
        pass
    return {"kernel": comparison.median(0, "1"), "search": comparison.median(0, "search 1")}


def in_chromium(jobs: Sequence[Job]) -> list[Any]:
    """Returns the answers of a page in Chromium; raises StepError without it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise StepError("wasm: Playwright is not installed") from error
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise StepError("wasm: Chromium is not installed")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            return answers_in_page(browser, jobs)
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
