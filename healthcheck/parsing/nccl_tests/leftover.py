"""Text that belongs to no table and proves nothing by itself: kept, bounded, for the launcher's own story."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from healthcheck.parsing.nccl_tests.prefixes import Prefixes

_KEPT_EACH_END = 300
_LINE_CHARS = 400
_ENVIRONMENT = re.compile(r'\s*"[A-Za-z_]\w*=')  # of a -J document: secret


class Leftover:
    """The first and last lines of what nobody recognised."""

    def __init__(self) -> None:
        self._first: list[tuple[str, int | None]] = []
        self._last: deque[tuple[str, int | None]] = deque(maxlen=_KEPT_EACH_END)

    def add(self, text: str, line: int | None) -> None:
        """`line` is None for text of stderr."""
        if _ENVIRONMENT.match(text):
            return
        shelf = self._first if len(self._first) < _KEPT_EACH_END else self._last
        shelf.append((text[:_LINE_CHARS], line))

    def add_block(self, texts: Sequence[str], numbers: Sequence[int] | None) -> None:
        """Many lines at once: most of them are forgotten again, so only those that stay are looked at."""
        room = max(_KEPT_EACH_END - len(self._first), 0)
        start = max(room, len(texts) - _KEPT_EACH_END)
        for index in (*range(min(room, len(texts))), *range(start, len(texts))):
            if texts[index] and not texts[index].isspace():
                self.add(texts[index], None if numbers is None else numbers[index])

    def text(self) -> str:
        """All that was kept, in order, without the prefixes of launchers and loggers."""
        strip = Prefixes().strip
        return "\n".join(strip(text)[1] for text, _ in (*self._first, *self._last))

    def line_of(self, text: str) -> int | None:
        """The line number at which a kept line was read."""
        wanted = text.strip()
        return next((line for kept, line in (*self._first, *self._last) if wanted and wanted in kept), None)
