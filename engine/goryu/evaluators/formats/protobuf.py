"""Reads and writes the fields of protocol buffers, the form of ONNX files.

A message is a sequence of fields: a number that says which field it is, the kind of its content, and the
content. So a reader can skip what it does not know, and a writer copies every field that it does not change.

Source: Protocol Buffers, "Encoding".
"""

import struct
from collections.abc import Iterator

VARINT, EIGHT_BYTES, LENGTH_DELIMITED, FOUR_BYTES = 0, 1, 2, 5
"""The kinds of content."""


# Reading.


def text(value: memoryview) -> str:
    """Returns the content of a field as text; bytes that are not UTF-8 become U+FFFD."""
    return bytes(value).decode(errors="replace")


def float_of(value: memoryview) -> float:
    """Returns a number of four bytes; raises struct.error if there are not four."""
    (number,) = struct.unpack("<f", value)
    return float(number)


def signed(value: int) -> int:
    """Returns a varint as the 64-bit two's complement that it is."""
    return value - (1 << 64) if value >= 1 << 63 else value


def varints(message: memoryview) -> list[int]:
    """Returns a packed list of integers; raises IndexError or ValueError if the bytes are not one."""
    numbers, at = [], 0
    while at < len(message):
        value, at = _varint(message, at)
        numbers.append(signed(value))
    return numbers


def fields(message: memoryview) -> Iterator[tuple[int, int, memoryview | int]]:
    """Yields number, kind and content of the fields of a message; a varint is an int.

    Raises IndexError or ValueError if the bytes are not a message.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, kind, value
            continue
        if kind == LENGTH_DELIMITED:
            length, at = _varint(message, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"field type {kind} is not known")
        if length > len(message) - at:
            raise ValueError("it ends within a field")
        yield number, kind, message[at : at + length]
        at += length


def text_field(message: memoryview, wanted: int) -> str:
    """Returns the text of the first field with this number; "" if there is none. Raises as `fields`."""
    contents = (value for number, _, value in fields(message) if number == wanted)
    return next((text(value) for value in contents if isinstance(value, memoryview)), "")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Returns a base-128 number, least significant digit first, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift >= 70:
            raise ValueError("a number has more than ten bytes")


# Writing.


def field_of(number: int, value: int | str | bytes) -> bytes:
    """Returns a field: an integer as a varint in two's complement, anything else as its length and bytes."""
    if isinstance(value, int):
        return _base_128(number << 3 | VARINT) + _base_128(value & (1 << 64) - 1)
    content = value.encode() if isinstance(value, str) else value
    return _base_128(number << 3 | LENGTH_DELIMITED) + _base_128(len(content)) + content


def copied(number: int, kind: int, value: memoryview | int) -> bytes:
    """Returns a field as `fields` has yielded it."""
    if isinstance(value, int):
        return field_of(number, value)
    if kind == LENGTH_DELIMITED:
        return field_of(number, bytes(value))
    return _base_128(number << 3 | kind) + bytes(value)


def _base_128(value: int) -> bytes:
    """Returns a base-128 number, least significant digit first.

    >>> _base_128(300).hex()
    'ac02'
    """
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)
