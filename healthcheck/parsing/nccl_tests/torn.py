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
_REST = re.compile(
    rf"(?:{NUMBER}|N/A)(?:\s+(?:{NUMBER}|N/A|\d{{4}}-\d\d-\d\d|[\d:]{{8}}|[A-Z][A-Za-z0-9]*))*$", re.ASCII
)


class TornRow:
    """The tokens of a row so far. `line` is where it began."""

    def __init__(self, line: int, tokens: list[str]) -> None:
        self.line = line
        self.tokens = tokens

    def takes(self, text: str, layout: Layout) -> bool:
        """Adds a line that holds nothing but more columns of this row; False, and unchanged, for any other."""
        more = text.split()
        if not _REST.match(text) or len(self.tokens) + len(more) > layout.width:
            return False
        self.tokens = [*self.tokens, *more]
        return True


def torn_row(line: Line) -> tuple[TornRow, str]:
    """(what of a line is a row's beginning, the text that was glued to it)."""
    piece = _PIECE.match(line.text)
    end = piece.end() if piece else len(line.text)
    return TornRow(line.number, line.text[:end].split()), line.text[end:]
