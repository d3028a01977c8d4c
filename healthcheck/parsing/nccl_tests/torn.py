"""A row that came in pieces: nccl-tests writes it in three, and other processes write in between."""

from __future__ import annotations

import re

from healthcheck.model.datatypes import NAMES_PATTERN
from healthcheck.parsing.nccl_tests.layout import NUMBER, Layout
from healthcheck.parsing.nccl_tests.lines import Line

_TIME = r"(?:\d{4}-\d\d-\d\d [\d:]{8}\s+)?"
_GLUE = r"(?=[\sA-Za-z\[#]|$)"
# A word is known to its end by the blank behind it; where text is glued to it, by its being one of the known.
_TYPE = rf"(?:[a-z]\w*(?=\s)|{NAMES_PATTERN})"
_REDOP = r"(?:[a-z]+(?=\s)|sum|prod|max|min|avg|mulsum|none)"
ROW_START = re.compile(rf"\s*{_TIME}\d+\s+\d+\s+{_TYPE}", re.ASCII)
# A row as far as it goes; what follows was glued to it by somebody else. A number that runs into more than a letter
# (`0.0712-gpu: Test...`) is not known to its last digit.
_PIECE = re.compile(
    rf"\s*{_TIME}\d+\s+\d+\s+{_TYPE}(?:\s+{_REDOP})?(?:\s+-?\d+{_GLUE})?(?:\s+(?:{NUMBER}|N/A){_GLUE})*", re.ASCII
)
_COLUMN = rf"(?:{NUMBER}|N/A)"
_REST = re.compile(rf"{_COLUMN}(?:\s+(?:{_COLUMN}|\d{{4}}-\d\d-\d\d|[\d:]{{8}}|[A-Z][A-Za-z0-9]*))*$", re.ASCII)
_HALF = re.compile(rf"{_COLUMN}{_GLUE}(?:\s+{_COLUMN}{_GLUE})*", re.ASCII)


class TornRow:
    """The tokens of a row so far. `line` is where it began."""

    def __init__(self, line: int, tokens: list[str]) -> None:
        self.line = line
        self.tokens = tokens

    def takes(self, text: str, layout: Layout) -> str | None:
        """Adds what a line has of this row's next columns; the text behind it comes back. None: it has nothing of it.

        Text may only stand behind a whole half: there the next write began.
        """
        match = _REST.match(text) or _HALF.match(text)
        if match is None:
            return None
        tokens = [*self.tokens, *match[0].split()]
        rest = text[match.end() :].strip()
        if len(tokens) > layout.width or (rest and len(tokens) not in layout.ends_of_halves):
            return None
        self.tokens = tokens
        return rest


def torn_row(line: Line) -> tuple[TornRow, str]:
    """(what of a line is a row's beginning, the text that was glued to it)."""
    piece = _PIECE.match(line.text)
    end = piece.end() if piece else len(line.text)
    return TornRow(line.number, line.text[:end].split()), line.text[end:]
