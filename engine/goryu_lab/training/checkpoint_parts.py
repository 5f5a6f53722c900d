"""A checkpoint in parts, for a way between computers that takes small files only.

Every part says to which content it belongs, so that parts of an older checkpoint are never mixed with those
of a newer one, and a checksum of the whole is checked. A part is a line `goryu-part 1`, a line of JSON with
`digest` (SHA-256 of the content), `number` (from 1), `parts` and `step`, and the bytes.
"""

import json
import re
from collections import defaultdict
from hashlib import sha256
from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.files import atomic_write

PART_BYTES = 14 * 2**20
MAGIC = b"goryu-part 1\n"


def write_parts(content: bytes, folder: Path, step: int, size: int = PART_BYTES) -> None:
    """Writes a checkpoint into a folder, in files of `size` bytes and two lines, and removes older parts."""
    digest = sha256(content).hexdigest()
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    folder.mkdir(parents=True, exist_ok=True)
    before = list(_parts_in(folder))
    written = []
    for number, piece in enumerate(pieces, 1):
        head = {"digest": digest, "number": number, "parts": len(pieces), "step": step}
        written.append(folder / f"checkpoint-{step}-{digest[:8]}-{number}-of-{len(pieces)}.part")
        atomic_write(written[-1], MAGIC + json.dumps(head).encode() + b"\n" + piece)
    for path in before:
        if path not in written:
            path.unlink()


def newest_step(folder: Path) -> int:
    """Returns the step of the newest checkpoint of which a folder has parts, by their names; 0 for none."""
    steps = (re.match(r"checkpoint-(\d+)-", path.name) for path in _parts_in(folder))
    return max((int(step[1]) for step in steps if step), default=0)


def joined_parts(folder: Path) -> bytes | None:
    """Returns the newest checkpoint whose parts are all in a folder; None if the folder has no parts.

    Raises InputError if parts are damaged, or if none of the checkpoints is complete.
    """
    found: defaultdict[tuple[int, str, int], dict[int, bytes]] = defaultdict(dict)
    for path in _parts_in(folder):
        try:
            magic, line, piece = path.read_bytes().split(b"\n", 2)
            head = json.loads(line)
            if magic + b"\n" != MAGIC:
                raise ValueError("another beginning")
            found[head["step"], head["digest"], head["parts"]][head["number"]] = piece
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: expected a part of a checkpoint ({error})") from error
    if not found:
        return None
    for (step, digest, parts), pieces in sorted(found.items(), reverse=True):
        if len(pieces) == parts:
            content = b"".join(pieces[number] for number in sorted(pieces))
            if sha256(content).hexdigest() != digest:
                raise InputError(f"{folder}: the parts of the checkpoint of step {step} are damaged")
            return content
    raise InputError(f"{folder}: parts of the checkpoint are missing")


def _parts_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("checkpoint-*.part"))
