"""Pairing: a code that is used once gives a device of the local network a token of its own.

The tokens live as long as the server: Ctrl-C locks every device out, also a lost one, and no token lies on
the disk. A server gets a new port with each start unless the user names one, so a device would need the new
address anyway.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from time import monotonic
from typing import TYPE_CHECKING, Literal

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.base.printable import printable

if TYPE_CHECKING:
    from aiohttp.web import WebSocketResponse

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Of a code: Crockford's Base32, without letters that look like others."""

CODE_LENGTH = 12
"""Letters of 5 bits: 60 bits, of which MOST_TRIES of 2^60 can be guessed."""

CODE_S = 300.0
"""A code can be used in this time."""

MOST_TRIES = 10
"""After so many wrong codes the right one is void."""

MOST_DEVICES = 8

MOST_NAME = 40
"""Letters of a device's name."""

Ending = Literal["", "used", "expired", "guessed"]


class PairingError(InputError):
    """A device that cannot be paired."""


@dataclass(eq=False)
class Device:
    """A device that is paired.

    id: names it in the list; no secret. address: of the request that paired it. digest: SHA-256 of its token.
    seen_s: when it was last heard of (monotonic). sockets: its open connections.
    """

    id: str
    name: str
    address: str
    digest: bytes
    seen_s: float
    sockets: "set[WebSocketResponse]" = field(default_factory=set)


class Pairing:
    """The code that can be used now, if there is one, and the devices.

    clock: seconds that never run backwards. on_change: is called when the list of the devices, or the code,
        has changed.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._code = ""
        self._until_s = 0.0
        self._tries_left = 0
        self._ending: Ending = ""
        self._devices: dict[str, Device] = {}
        self.on_change: Callable[[], None] = lambda: None

    @property
    def code(self) -> str:
        """The code that can be used now, or an empty text."""
        if self._code and self.seconds_left <= 0:
            self._end("expired")
        return self._code

    @property
    def seconds_left(self) -> float:
        """In which the code can be used."""
        return max(0.0, self._until_s - self._clock()) if self._code else 0.0

    @property
    def ending(self) -> Ending:
        """Why the last code is void."""
        return "" if self.code else self._ending

    @property
    def devices(self) -> list[Device]:
        """The devices, in the order of their pairing."""
        return list(self._devices.values())

    def seconds_since_seen(self, device: Device) -> float:
        """Returns the time since a device was last heard of; 0 while it is connected."""
        return 0.0 if device.sockets else self._clock() - device.seen_s

    def new_code(self) -> str:
        """Makes a code, which replaces the old one."""
        self._code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._until_s, self._tries_left, self._ending = self._clock() + CODE_S, MOST_TRIES, ""
        self.on_change()
        return self._code

    def pair(self, code: str, name: str, address: str) -> str:
        """Adds a device and returns its token, which is not kept.

        Raises:
            PairingError: there is no code, another one was expected, or there are MOST_DEVICES devices.
        """
        if not self.code:
            raise PairingError(tr("the code was used or has expired; show a new one on the computer"))
        if not compare_digest(normal_code(code).encode(), self._code.encode()):
            self._tries_left -= 1
            if not self._tries_left:
                self._end("guessed")
            raise PairingError(tr("this is not the code; tries left: {count}", count=self._tries_left))
        if len(self._devices) >= MOST_DEVICES:
            raise PairingError(
                tr("{count} devices are paired, which is the most; revoke one of them", count=MOST_DEVICES)
            )
        token = secrets.token_urlsafe(32)
        shown = printable(name.strip()[:MOST_NAME]) or address
        device = Device(secrets.token_hex(8), shown, address, digest(token), self._clock())
        self._devices[device.id] = device
        self._end("used")
        return token

    def device_of(self, token: str) -> Device | None:
        """Returns the device that has this token."""
        wanted = digest(token)
        for device in self._devices.values():
            if compare_digest(device.digest, wanted):
                device.seen_s = self._clock()
                return device
        return None

    @contextmanager
    def connected(self, device: Device, socket: "WebSocketResponse") -> Iterator[None]:
        """Notes that a device is connected while the block runs."""
        device.sockets.add(socket)
        self.on_change()
        try:
            yield
        finally:
            device.sockets.discard(socket)
            device.seen_s = self._clock()
            self.on_change()

    def revoke(self, identity: str) -> Device:
        """Removes a device, whose token is void from now on; raises PairingError if there is none."""
        device = self._devices.pop(identity, None)
        if device is None:
            raise PairingError(tr("this device is not paired any more"))
        self.on_change()
        return device

    def _end(self, ending: Ending) -> None:
        self._code, self._ending = "", ending
        self.on_change()


def digest(token: str) -> bytes:
    """Returns what is kept of a token: it has 256 random bits, so a plain hash cannot be reversed."""
    return sha256(token.encode("utf-8", "replace")).digest()


def normal_code(text: str) -> str:
    """Returns a code as it was made from what a person has typed.

    >>> normal_code("abcd-efgh jkmo"), normal_code("I")
    ('ABCDEFGHJKM0', '1')
    """
    letters = text[: 4 * CODE_LENGTH].upper().translate(str.maketrans("OIL", "011"))
    return "".join(letter for letter in letters if letter in ALPHABET)


def spaced(code: str) -> str:
    """Returns a code in groups, as people read it.

    >>> spaced("ABCDEFGHJKM0")
    'ABCD-EFGH-JKM0'
    """
    return "-".join(code[at : at + 4] for at in range(0, len(code), 4))
