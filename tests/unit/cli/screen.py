"""A terminal to look at: what stands on it after everything that was written, and how far up anybody went."""

from __future__ import annotations

import re

from healthcheck.reporting.text_width import width_of

_TOKEN = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b(.)|(.)", re.DOTALL)


class Screen:
    """As many lines as are written, `columns` wide; what is wider goes on in the next line, as on a real terminal."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.lines = [""]
        self.row = self.column = 0
        self.most_up = 0
        self.colours = 0
        self.overflowed = 0
        self.cursor_shown = True

    def feed(self, text: str) -> None:
        """Everything that was written, in order."""
        for found in _TOKEN.finditer(text):
            argument, command, other, char = found.groups()
            assert other is None, f"an escape sequence that nobody meant: {found[0]!r}"
            if command is not None:
                self._control(argument, command)
            else:
                self._put(char)

    def _control(self, argument: str, command: str) -> None:
        if command == "A":
            self.row -= int(argument or 1)
            self.most_up = max(self.most_up, len(self.lines) - 1 - self.row)
            assert self.row >= 0
        elif command == "K":
            assert argument == "2"
            self.lines[self.row] = ""
        elif command == "m":
            self.colours += 1
        elif command in "hl" and argument == "?25":
            self.cursor_shown = command == "h"
        else:
            raise AssertionError(f"an escape sequence that nobody meant: {argument}{command}")

    def _put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row, self.column = self.row + 1, 0
            while self.row >= len(self.lines):
                self.lines.append("")
        else:
            assert char.isprintable(), f"a control character reached the terminal: {char!r}"
            if self.column + width_of(char) > self.columns:
                self.overflowed += 1
                self._put("\n")
            line = self.lines[self.row]
            # Only whole lines are drawn again, so nothing is ever written into the middle of one.
            self.lines[self.row] = (line if width_of(line) <= self.column else line[: self.column]) + char
            self.column += width_of(char)

    @property
    def text(self) -> str:
        """What stands there now, without blanks at the ends."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")
