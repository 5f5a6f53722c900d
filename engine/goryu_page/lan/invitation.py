"""What the terminal says about the local network: how a device is paired, and the warning."""

import os
from typing import TextIO

from goryu.base.language import tr
from goryu_page.lan.lan import Lan
from goryu_page.lan.pairing import CODE_S


def invitation(lan: Lan, out: TextIO) -> str:
    """Returns what the terminal says about the local network, with a code that pairs a device.

    Only a terminal gets a code: a file or a log would keep it.
    """
    lines = [
        tr("devices of your local network can use {url} once they are paired", url=lan.url),
        tr("WARNING: the traffic is not encrypted; use --lan only in a network that you trust"),
    ]
    if not out.isatty():
        lines.append(tr("to pair a device, open the page on this computer and choose Devices"))
        return "".join(f"goryu web: {line}\n" for line in lines)
    minutes = round(CODE_S / 60)
    lan.pairing.new_code()
    lines.append(tr("to pair a device, scan this code within {minutes} minutes:", minutes=minutes))
    text = "".join(f"goryu web: {line}\n" for line in lines)
    rows = lan.qr_lines()
    if can_write("".join(rows), out):
        # Windows' old console shows no colours by escapes, but is dark anyway.
        before, after = ("", "") if os.name == "nt" else ("\x1b[97;40m", "\x1b[0m")
        text += "".join(f"{before}{row}{after}\n" for row in rows)
    return f"{text}{lan.link}\n"


def can_write(text: str, out: TextIO) -> bool:
    """Has the encoding of a file all letters of the text?"""
    try:
        text.encode(out.encoding)
    except UnicodeEncodeError:
        return False
    return True
