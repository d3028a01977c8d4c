"""A row that came in pieces: nccl-tests writes it in three, and other processes write in between."""

from __future__ import annotations

import re

from healthcheck.model.datatypes import NAMES_PATTERN
from healthcheck.model.measurement import CollectiveRow
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


def fits_together(row: CollectiveRow, time_scale: int) -> bool:
    """Are the pieces of one row: both halves moved the same bytes, and as many as the size says.

    Bytes follow from time x algbw, as exactly as their printed decimals allow. `time_scale` is that of the layout.
    """
    low, high = _LEAST_SHARE * row.size_bytes, float(row.size_bytes)
    for _, half in row.placements:
        if half.time_us is None or half.algbw_gbyte_s is None:
            continue
        least, most = _bytes_moved(half.time_us, half.algbw_gbyte_s, time_scale)
        low, high = max(low, least), min(high, most)
    return low <= high


_LEAST_SHARE = 0.49  # hypercube and the oldest all_gather leave out one rank's share; of two ranks that is half
_BYTES = 1e3  # of 1 us at 1 GB/s
_ROUNDED = 0.006  # half of the last of two decimals, and a little
_RELATIVE = 0.01  # later numbers have fewer decimals, not fewer than three digits


def _bytes_moved(time_us: float, algbw_gbyte_s: float, time_scale: int) -> tuple[float, float]:
    """(least, most) bytes that print as these numbers; milliseconds have three decimals."""
    time_digit = (_ROUNDED if time_scale == 1 else 100 * _ROUNDED) + _RELATIVE * time_us
    algbw_digit = _ROUNDED + _RELATIVE * algbw_gbyte_s
    least = max(time_us - time_digit, 0.0) * max(algbw_gbyte_s - algbw_digit, 0.0) * _BYTES
    return least, (time_us + time_digit) * (algbw_gbyte_s + algbw_digit) * _BYTES
