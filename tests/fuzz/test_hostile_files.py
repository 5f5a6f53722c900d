"""Files that are made to take all memory or all time, or to steer the terminal: each ends in a sentence.

Each is read by a process of its own, which gets a gigabyte more than Python with its libraries takes.
"""

import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu.base.printable import printable
from goryu.evaluators.formats.protobuf import copied, field_of, fields
from goryu.kifu.archives import MAX_ARCHIVE_BYTES
from goryu_lab.conversion.tensors import ConversionError
from goryu_lab.conversion.torch_checkpoint import read_checkpoint
from paths import MODELS

resource: Any = pytest.importorskip("resource", reason="Windows has no limit of memory of this kind")

RECORD = "手合割：平手\n1 ７六歩(77)\n2 投了\n".encode()
MOST_BYTES = 3 << 30
"""Of addresses; the libraries alone reserve nearly two."""

SECONDS = 60
"""Far more than any takes, for a busy machine."""

ROUNDS = int(os.environ.get("GORYU_FUZZ_ROUNDS", "1"))
"""How many times as many files; `dev.py fuzz --files 100` sets it."""


RUN = """
import json, sys
from goryu.__main__ import main
for words in json.load(sys.stdin):
    try:
        status = main(words)
    except SystemExit as end:
        status = end.code
    assert status in (0, 1, 2), (words, status)
    print(flush=True)
    print("the end", file=sys.stderr, flush=True)
"""


def sentences(*commands: Sequence[str | Path]) -> list[str]:
    """Runs commands of goryu one after the other with little memory, and returns what each says."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))

    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps([[str(word) for word in words] for words in commands]).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS * len(commands),
        preexec_fn=limit,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"},
    )
    text = done.stdout.decode("utf-8", "replace")
    assert "Traceback" not in text
    for line in text.splitlines():
        assert printable(line) == line
    *parts, rest = text.split("the end\n")
    assert (done.returncode, rest) == (0, ""), text
    return parts


# Pickles.


def nested(levels: int) -> bytes:
    """Returns the opcodes of a tuple that holds another one twice, and so on: it has 2 ** levels ends."""
    return b"K\x01K\x01\x86" + b"".join(b"q\x01h\x01\x86" for _ in range(levels))


def unicode(text: bytes) -> bytes:
    return b"X" + struct.pack("<I", len(text)) + text


PICKLES = {
    "a key with 2^33 ends": b"\x80\x02}" + nested(33) + b"K\x01s.",
    "a size with 2^33 ends": b"\x80\x02}ctorch\nSize\n(" + nested(33) + b"tRK\x01s.",
    "a kind with 2^33 ends": b"\x80\x02("
    + unicode(b"storage")
    + nested(33)
    + unicode(b"0")
    + b"K\x01K\x01tQ.",
    "a memo of 2^28": b"\x80\x02}r" + struct.pack("<I", 1 << 28) + b"K\x01s.",
    "attributes of a function": b"\x80\x02ctorch\nSize\nN}" + unicode(b"__defaults__") + b"K\x07\x85s\x86b0.",
    "a frame of 2^62": b"\x80\x04\x95" + struct.pack("<Q", 1 << 62) + b"N.",
    "bytes of 2^40": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"N.",
    "an array of 2^33": b"\x80\x05\x96" + struct.pack("<Q", 1 << 33) + b"N.",
    "a number of 2^31 bytes": b"\x80\x02\x8b\x7f\xff\xff\x7f.",
    "lists within lists": b"\x80\x02" + b"]" * 300_000 + b"a" * 299_999 + b".",
    "copies of copies": b"\x80\x02]q\x01("
    + b"K\x01" * 20_000
    + b"e"
    + b"ctorch\nSize\nh\x01\x85R0" * 40_000
    + b".",
    "nothing left": b"\x80\x02000.",
}


def test_a_pickle_takes_neither_all_memory_nor_all_time(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.pth" for name in PICKLES]
    for path, content in zip(paths, PICKLES.values(), strict=True):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("a/data.pkl", content)
            file.writestr("a/data/0", bytes(64))
    for path, text in zip(
        paths, sentences(*(("convert", path, "--out", tmp_path / "x") for path in paths)), strict=True
    ):
        assert str(path) in text


def test_a_training_checkpoint_is_looked_at_before_pytorch_reads_it(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from goryu_lab.training.checkpoints import load

    path = tmp_path / "checkpoint.pt"
    for name in PICKLES.keys() - {"lists within lists", "a frame of 2^62"}:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("a/data.pkl", PICKLES[name])
            file.writestr("a/data/0", bytes(64))
        with pytest.raises(ConversionError):
            load(path)


OPCODES = [
    b"K\x01", b"}", b"]", b"(", b"\x86", b"\x85", b"t", b"s", b"u", b"e", b"a", b"b", b"R", b"q\x01",
    b"h\x01", b"0", b"2", b"1", b"Q", b"N", b"\x88", b"\x94", b"\x93", unicode(b"x"), b"ctorch\nSize\n",
    b"ccollections\nOrderedDict\n", b"ccollections\nCounter\n", b"ctorch._utils\n_rebuild_tensor_v2\n",
]  # fmt: skip
"""With a bias to those that checkpoints have."""


def test_no_sequence_of_opcodes_gets_past_the_reader(tmp_path: Path) -> None:
    rng, path = Random(1), tmp_path / "network.pth"
    for _ in range(2000 * ROUNDS):
        content = b"\x80\x02" + b"".join(rng.choices(OPCODES, k=rng.randrange(30))) + b"."
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("a/data.pkl", content)
        with suppress(ConversionError):
            read_checkpoint(path)


def test_a_damaged_hdf5_file_is_read_or_refused(tmp_path: Path) -> None:
    """In a process of its own, since the reader is a library in C."""
    h5py, np = pytest.importorskip("h5py"), pytest.importorskip("numpy")
    with h5py.File(tmp_path / "good.h5", "w") as file:
        file["l1/W"] = np.ones((16, 8, 3, 3), np.float32)
        file.create_dataset("l2", data=np.zeros((64, 64), np.float32), compression="gzip", chunks=(8, 8))
    good, rng = (tmp_path / "good.h5").read_bytes(), Random(3)
    paths = [tmp_path / f"{number}.h5" for number in range(40 * ROUNDS)]
    for path in paths:
        damaged = bytearray(good)
        for _ in range(rng.choice((1, 2, 8, 30))):
            damaged[rng.randrange(5000)] = rng.randrange(256)
        path.write_bytes(damaged[: rng.choice((len(damaged), rng.randrange(len(damaged))))])
    sentences(*(("convert", path, "--out", tmp_path / "x") for path in paths))


# Constants in other files.


@pytest.mark.slow
def test_constants_that_share_a_file_do_not_become_a_large_model(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(20 << 20))
    entry = field_of(13, field_of(1, "location") + field_of(2, "weights.bin"))
    constants = b"".join(
        field_of(
            5, field_of(1, 5 << 20) + field_of(8, f"t{number}") + field_of(2, 1) + field_of(14, 1) + entry
        )
        for number in range(300)
    )
    model = (MODELS / "goryu-5x64.onnx").read_bytes()
    with (tmp_path / "model.onnx").open("wb") as file:
        for number, kind, value in fields(memoryview(model)):
            is_graph = number == 7 and isinstance(value, memoryview)
            file.write(field_of(7, bytes(value) + constants) if is_graph else copied(number, kind, value))
    (text,) = sentences(("doctor", tmp_path / "model.onnx"))
    assert "more than 2 times" in text


# Archives.


def zeros_in_a_zip(folder: Path) -> Path:
    """A zip with a zip of more zeros than an archive may have: 300 kB."""
    path = folder / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("inner.zip", "w") as member:
        for _ in range((MAX_ARCHIVE_BYTES >> 20) + 1):
            member.write(bytes(1 << 20))
    return path


def a_sparse_tar(folder: Path) -> Path:
    """A tar with a tar of two gigabytes that nobody wrote: 1,536 bytes, in the old format of GNU."""
    header = bytearray(512)
    parts = {0: b"x.tar", 100: b"0000644\0", 108: b"0000000\0", 116: b"0000000\0", 124: b"00000000000\0"}
    parts |= {136: b"00000000000\0", 156: b"S", 257: b"ustar  \0", 386: b"00000000000\0"}
    parts |= {398: b"00000000000\0", 483: b"17777777777\0", 148: b" " * 8}
    for at, part in parts.items():
        header[at : at + len(part)] = part
    header[148:156] = b"%06o\0 " % sum(header)
    path = folder / "sparse.tar"
    path.write_bytes(bytes(header) + bytes(1024))
    return path


def zips_in_zips(folder: Path) -> Path:
    """Each of five zips holds the next one ten times: a hundred thousand records in ten thousand zips."""
    content, name = RECORD, "r.kif"
    for _ in range(5):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            for copy in range(10):
                file.writestr(f"{copy}{name}", content)
        content, name = packed.getvalue(), ".zip"
    path = folder / "fan.zip"
    path.write_bytes(content)
    return path


def names_for_a_terminal(folder: Path) -> Path:
    path = folder / "\x1b[31mred\x07.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("\x1b]0;title\x07\nx.kif", b"garbage")
        file.writestr("../../outside.kif", RECORD)
    return path


def links(folder: Path) -> Path:
    path = folder / "links.tar"
    with tarfile.open(path, "w") as file:
        for name, kind in (
            ("a.kif", tarfile.SYMTYPE),
            ("b.kif", tarfile.LNKTYPE),
            ("c.kif", tarfile.CHRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            file.addfile(member)
    return path


@pytest.mark.slow
def test_an_archive_takes_neither_all_memory_nor_the_terminal(tmp_path: Path) -> None:
    makers = (zeros_in_a_zip, a_sparse_tar, zips_in_zips, names_for_a_terminal, links)
    sentences(*(("records", "show", make(tmp_path)) for make in makers))
    assert not (tmp_path.parent / "outside.kif").exists()


def test_no_command_lets_a_name_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31mred\x07.kif"
    path.write_bytes(b"garbage")
    reading = ["review", "records show", "book show", "book check", "doctor"]
    writing = ["convert --out", "tsume make --out"]
    commands = [[*command.split(), str(path)] for command in reading]
    commands += [[*command.split(), str(tmp_path / "out"), str(path)] for command in writing]
    for text in sentences(*commands):
        assert "\\x1b[31mred\\x07" in text
