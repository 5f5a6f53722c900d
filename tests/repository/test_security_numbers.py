"""SECURITY.md: its numbers are those of the code."""

import re

import pytest

from goryu.base.strict_json import MOST_DEPTH, MOST_DIGITS
from goryu.csa.record_file import MOST_NAME
from goryu.evaluators.formats import external_data
from goryu.kifu import archives, reading
from goryu_lab.conversion import tensors, torch_checkpoint
from paths import ROOT

pytest.importorskip("aiohttp")

from goryu_page.lan import lan, pairing
from goryu_page.server.server import TabLimits


def test_the_limits_that_it_promises_are_those_of_the_code() -> None:
    gib, mib = 1 << 30, 1 << 20
    assert external_data.MOST_SHARED == torch_checkpoint.MOST_SHARED == 2  # "more than twice"
    assert external_data.MOST_BYTES == tensors.MOST_BYTES
    assert lan.MOST_BODY_BYTES == 1000  # "1 kB"
    limits = TabLimits()
    promises = (
        f"more than {tensors.MOST_BYTES // gib} GiB",
        f"a model of more than {external_data.MOST_NODES:,} nodes",
        f"description has more than {torch_checkpoint.MOST_PICKLE_BYTES // mib} MiB",
        f"A record may have {reading.MAX_BYTES // mib} MiB, a game {reading.MAX_LINES:,} lines",
        f"an archive in an archive {archives.MAX_ARCHIVE_BYTES // mib} MiB",
        f"{archives.MAX_ARCHIVES:,} of them {archives.MAX_NESTING} deep",
        f"a 7z archive {archives.MAX_SEVEN_ZIP_BYTES // gib} GiB",
        f"{MOST_DEPTH} brackets within brackets and numbers of {MOST_DIGITS} digits",
        f"{MOST_NAME} letters at most",
        f"closed after {limits.idle_s:.0f} seconds",
        f"{pairing.MOST_DEVICES} devices, {limits.most_of_device} tabs each",
        f"{lan.MOST_CONNECTIONS} from all",
        f"{lan.MOST_OF_ADDRESS} connections from one address",
    )
    text = re.sub(r"\s+", " ", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert [promise for promise in promises if promise not in text] == []
