"""The list of the devices in the page of 127.0.0.1: pairs, lists and revokes devices of the network."""

from typing import TYPE_CHECKING, Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu_page.lan.pairing import spaced
from goryu_page.session.session import View

if TYPE_CHECKING:
    from goryu_page.lan.lan import Lan


class DevicesView(View):
    """Answers the page of 127.0.0.1. The session of a device has no `Lan`, so it can do nothing here."""

    name = "devices"

    def on_state(self) -> dict[str, Any] | None:
        """Returns code and devices; None without `--lan`, and to a device of the network.

        seconds: in which the code can be used, or since the device was last heard of.
        """
        lan = self.session.lan
        if lan is None:
            return None
        pairing, link = lan.pairing, lan.link
        return {
            "url": lan.url,
            "ending": pairing.ending,
            "code": {"text": spaced(pairing.code), "link": link, "picture": lan.picture(),
                     "seconds": pairing.seconds_left} if link else None,
            "devices": [
                {"id": one.id, "name": one.name, "address": one.address, "connected": bool(one.sockets),
                 "seconds": pairing.seconds_since_seen(one)}
                for one in pairing.devices
            ],
        }  # fmt: skip

    def on_code(self) -> dict[str, Any] | None:
        """Makes a new code; returns the state."""
        self._lan().pairing.new_code()
        return self.on_state()

    def on_revoke(self, device: str) -> None:
        """Takes the token of a device and closes its connections. device: its id."""
        self._lan().revoke(device)

    def _lan(self) -> "Lan":
        if self.session.lan is None:
            raise InputError(tr("only the page on the computer itself, started with --lan, can do this"))
        return self.session.lan
