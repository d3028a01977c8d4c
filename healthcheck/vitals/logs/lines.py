"""A stream of text or bytes -> lines worth a look: bounded, without escapes, and without a last one that was cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

MOST_CHARS = 1 << 15
"""A longer line is not read: no framework writes one, and the end of it would be missing."""
_MOST_BYTES = 1 << 20
_DOCKER = '{"log":"'
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[@-Z\\^_])")


class _Packed(msgspec.Struct):
    log: str
    time: str = ""


def lines_of(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a file that comes in pieces, each with its end (`\\n`, `\\r\\n`, or the `\\r` of a progress bar).

    Bytes that are no UTF-8 become U+FFFD. A line above 1 MiB is left out, an empty one stands in its place; so memory
    does not depend on what the file holds, even where a progress bar never ended a line.
    """
    tail = b""
    for chunk in chunks:
        pieces = (tail + chunk).splitlines(keepends=True)
        # An \r at the very end may be the half of an \r\n.
        tail = pieces.pop() if pieces and not pieces[-1].endswith(b"\n") else b""
        for piece in pieces:
            yield piece.decode("utf-8", "replace") if len(piece) <= _MOST_BYTES else "\n"
        if len(tail) > _MOST_BYTES:
            tail = b"\0" * (_MOST_BYTES + 1)  # its beginning is forgotten, its length is not
    if tail and len(tail) <= _MOST_BYTES:
        yield tail.decode("utf-8", "replace")


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Each line with its number from 1, without its end and without colours and NULs.

    The steps of a progress bar, ended by `\\r`, are lines that share one number. A last line without an end was cut
    and is not given, unless no line had one (then they come from a list). A line above `MOST_CHARS` is left out.
    """
    number = 1
    held: str | None = None
    ends = False
    for line in lines:
        if held is not None:
            yield from _parts(number, held)
            number += 1
            held = None
        last = line[-1:]
        if last == "\n":
            ends = True
            if line.startswith(_DOCKER):
                yield from _parts(number, _unpacked(line))
            elif "\r" in line or "\x1b" in line or "\0" in line or len(line) > MOST_CHARS:
                yield from _parts(number, line)
            else:
                yield number, line[:-1]
            number += 1
        elif last == "\r":
            ends = True
            if len(line) > 1:  # else an end of its own, between the drawings of a bar
                yield from _parts(number, line)
        else:
            held = line
    if held is not None:
        parts = list(_parts(number, held))
        # What follows the last \r of a progress bar may be cut as well.
        yield from parts[: -1 if ends or "\r" in held else None]


def _unpacked(line: str) -> str:
    """What a process wrote, of a line of Docker's own log file, with its time in front."""
    try:
        packed = msgspec.json.decode(line, type=_Packed)
    except (msgspec.DecodeError, ValueError):
        return line
    return f"{packed.time} {packed.log}"


def _parts(number: int, line: str) -> Iterator[tuple[int, str]]:
    line = line.rstrip("\r\n")
    for part in line.split("\r") if "\r" in line else (line,):
        if len(part) <= MOST_CHARS:
            yield number, without_escapes(part) if "\x1b" in part or "\0" in part else part


def without_escapes(line: str) -> str:
    """The text a terminal would show: no colours, no titles, no NULs."""
    return _ESCAPE.sub("", line).replace("\0", "")
