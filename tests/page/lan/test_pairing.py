"""The code that pairs a device, and the devices, with a clock that the test sets."""

import math

import pytest

from goryu_page.lan import pairing as module
from goryu_page.lan.pairing import (
    ALPHABET,
    CODE_LENGTH,
    CODE_S,
    MOST_DEVICES,
    MOST_TRIES,
    Pairing,
    PairingError,
)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pairing(clock: Clock) -> Pairing:
    return Pairing(clock)


def test_nothing_pairs_without_a_code(pairing: Pairing) -> None:
    for code in ("", "0", "000000000000"):
        with pytest.raises(PairingError):
            pairing.pair(code, "phone", "127.0.0.2")
    assert pairing.devices == []


def test_a_code_has_sixty_bits_and_each_is_new(pairing: Pairing) -> None:
    codes = {pairing.new_code() for _ in range(200)}
    assert len(codes) == 200
    assert set("".join(codes)) == set(ALPHABET)
    assert CODE_LENGTH * math.log2(len(ALPHABET)) == 60


def test_a_code_is_read_as_people_write_it(pairing: Pairing) -> None:
    code = pairing.new_code()
    written = f" {code[:4].lower()}-{code[4:8]} {code[8:]}".replace("0", "o").replace("1", "l")
    assert pairing.device_of(pairing.pair(written, "phone", "127.0.0.2"))


def test_a_code_ends_when_it_is_used_when_it_expires_and_when_it_is_guessed_at(
    pairing: Pairing, clock: Clock
) -> None:
    code = pairing.new_code()
    pairing.pair(code, "phone", "127.0.0.2")
    assert (pairing.code, pairing.ending) == ("", "used")

    code = pairing.new_code()
    clock.now += CODE_S
    with pytest.raises(PairingError):
        pairing.pair(code, "phone", "127.0.0.2")
    assert (pairing.code, pairing.ending) == ("", "expired")

    code = pairing.new_code()
    for _ in range(MOST_TRIES):
        assert pairing.code == code
        with pytest.raises(PairingError):
            pairing.pair("0" * CODE_LENGTH, "phone", "127.0.0.2")
    with pytest.raises(PairingError):
        pairing.pair(code, "phone", "127.0.0.2")
    assert (pairing.code, pairing.ending) == ("", "guessed")
    assert len(pairing.devices) == 1


def test_a_new_code_replaces_the_old_one_and_its_tries(pairing: Pairing) -> None:
    old = pairing.new_code()
    with pytest.raises(PairingError):
        pairing.pair("x", "phone", "127.0.0.2")
    new = pairing.new_code()
    with pytest.raises(PairingError):
        pairing.pair(old, "phone", "127.0.0.2")
    pairing.pair(new, "phone", "127.0.0.2")


def test_the_devices_are_few_and_a_full_list_does_not_use_the_code_up(pairing: Pairing) -> None:
    for number in range(MOST_DEVICES):
        pairing.pair(pairing.new_code(), f"phone {number}", "127.0.0.2")
    code = pairing.new_code()
    with pytest.raises(PairingError):
        pairing.pair(code, "one more", "127.0.0.2")
    pairing.revoke(pairing.devices[0].id)
    pairing.pair(code, "one more", "127.0.0.2")
    assert [one.name for one in pairing.devices][-1] == "one more"


def test_a_name_is_short_and_steers_no_terminal(pairing: Pairing) -> None:
    for name in ("\x1b[2J" + "あ" * 100, "  "):
        pairing.pair(pairing.new_code(), name, "127.0.0.2")
    first, second = (one.name for one in pairing.devices)
    assert first.startswith("\\x1b[2J")
    assert len(first) < 2 * module.MOST_NAME
    assert second == "127.0.0.2"


def test_the_time_since_a_device_was_seen(pairing: Pairing, clock: Clock) -> None:
    token = pairing.pair(pairing.new_code(), "phone", "127.0.0.2")
    (device,) = pairing.devices
    clock.now += 90
    assert pairing.seconds_since_seen(device) == 90
    assert pairing.device_of(token) is device
    assert pairing.seconds_since_seen(device) == 0
