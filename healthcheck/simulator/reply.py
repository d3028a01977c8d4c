"""What a simulated node answers to a command, and when each piece of it appears."""

from __future__ import annotations

import math

from msgspec import Struct


class Piece(Struct, frozen=True):
    """Text on standard output that appears `at_s` seconds after the start."""

    at_s: float
    text: str


class Reply(Struct, frozen=True):
    """A whole answer. `pieces` in order of time; `stderr` comes at the end; `duration_s` inf means it never ends.

    `removes` is a folder that the command deletes from the node's disk, empty for none.
    """

    pieces: tuple[Piece, ...] = ()
    stderr: str = ""
    exit_code: int = 0
    duration_s: float = 0.0
    removes: str = ""

    @property
    def stdout(self) -> str:
        """All of standard output."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def hangs(self) -> bool:
        """True when it never ends by itself."""
        return math.isinf(self.duration_s)


def at_once(stdout: str = "", stderr: str = "", exit_code: int = 0) -> Reply:
    """An answer that is there without delay."""
    return Reply((Piece(0.0, stdout),) if stdout else (), stderr, exit_code)
