"""Takers of output for tests."""

from __future__ import annotations


class Kept:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.out = b""
        self.err = b""

    def stdout(self, data: bytes) -> None:
        self.out += data

    def stderr(self, data: bytes) -> None:
        self.err += data
