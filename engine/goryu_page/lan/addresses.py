"""The address of this machine in its local network."""

import socket
from ipaddress import AddressValueError, IPv4Address

from goryu.base.errors import InputError
from goryu.base.language import tr

LOOPBACK = "127.0.0.1"

ELSEWHERE = ("198.51.100.1", 9)
"""An address of no network (RFC 5737). Nothing is sent there: the system only names the way to it."""


def lan_address() -> str:
    """Returns the IPv4 address from which this machine talks to its network.

    Raises:
        InputError: there is no network, or the address is one of the internet.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(ELSEWHERE)
            found = str(probe.getsockname()[0])
    except OSError:
        raise InputError(
            tr("found no local network; name this machine's address in it by --address")
        ) from None
    return own_address(found)


def own_address(text: str) -> str:
    """Returns an IPv4 address on which `goryu web --lan` can listen.

    Raises:
        InputError: it is none, not one of this machine, the page's own 127.0.0.1, or one of the internet.

    >>> own_address("8.8.8.8")
    Traceback (most recent call last):
    ...
    goryu.base.errors.InputError: 8.8.8.8 is an address of the internet; expected one of a local network
    """
    try:
        address = IPv4Address(text)
    except AddressValueError:
        raise InputError(tr("{text!r}: expected an IPv4 address such as 192.168.1.5", text=text)) from None
    if address.is_global or address.is_multicast:
        raise InputError(
            tr("{text} is an address of the internet; expected one of a local network", text=text)
        )
    if address.is_unspecified or str(address) == LOOPBACK:
        raise InputError(tr("{text} is no address in a network; expected one of this machine", text=text))
    with socket.socket() as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            raise InputError(tr("{text} is not an address of this machine", text=text)) from None
    return str(address)
