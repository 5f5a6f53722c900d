"""The addresses on which `goryu web --lan` listens."""

import socket

import pytest

from goryu.base.errors import InputError
from goryu_page.lan import addresses
from goryu_page.lan.addresses import lan_address, own_address


@pytest.mark.parametrize(
    "text", ["", "x", "localhost", "192.168.1", "192.168.1.5:80", "fe80::1", "8.8.8.8", "224.0.0.1",
             "0.0.0.0", "127.0.0.1", "203.0.113.7"],
)  # fmt: skip
def test_only_an_address_of_this_machine_in_a_local_network_is_taken(text: str) -> None:
    with pytest.raises(InputError):
        own_address(text)


def test_the_address_of_the_way_to_the_network_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's routes are those of this machine: a way within 127.0.0.0/8 is there on each."""
    monkeypatch.setattr(addresses, "ELSEWHERE", ("127.0.0.9", 9))
    monkeypatch.setattr(addresses, "own_address", lambda text: f"checked {text}")
    assert lan_address() == "checked 127.0.0.1"


def test_a_machine_without_a_network_gets_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", fail)
    with pytest.raises(InputError, match="--address"):
        lan_address()
