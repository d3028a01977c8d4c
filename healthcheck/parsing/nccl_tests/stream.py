"""The lines of one process, in order -> its tables. Knows when one table ends and the next begins."""

from __future__ import annotations

import re

from healthcheck.model.measurement import ParseWarning
from healthcheck.parsing.nccl_tests import heads
from healthcheck.parsing.nccl_tests.draft import Draft, Stage
from healthcheck.parsing.nccl_tests.layout import NUMBER, Layout, is_header, number, read_header
from healthcheck.parsing.nccl_tests.lines import Line

_ROW_START = re.compile(r"\s*(?:\d{4}-\d\d-\d\d [\d:]{8}\s+)?\d+\s+\d+\s+[a-z]\w*\s", re.ASCII)
# A row as far as it goes; what follows was glued to it by somebody else.
_ROW_PIECE = re.compile(
    rf"\s*\d+\s+\d+\s+[a-z]\w*(?:\s+[a-z]+(?=\s))?(?:\s+-?\d+(?![\d.]))?(?:\s+(?:{NUMBER}|N/A))*", re.ASCII
)
_REST_OF_ROW = re.compile(rf"\s*(?:{NUMBER}|N/A)(?:\s+(?:{NUMBER}|N/A|[\d:-]+))*\s*$", re.ASCII)


class Stream:
    """Feed it lines; `tables` are what it saw. `signs` are (line, why) of output mixed from several processes."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.warnings: list[ParseWarning] = []
        self.signs: list[tuple[int, str]] = []
        self.config_lines: list[int] = []
        self._title: list[str] = []
        self._layout: Layout | None = None
        self._pending: tuple[int, str] | None = None

    @property
    def draft(self) -> Draft:
        """The table being read; a first one where there is none."""
        if not self.drafts:
            self.drafts.append(Draft())
        return self.drafts[-1]

    @property
    def waits_for_footer(self) -> bool:
        """True while a table has begun and its footer has not come."""
        return bool(self.drafts) and not self.drafts[-1].finished

    def feed(self, line: Line) -> str:
        """Take one line. The text that was not part of a table comes back: it may say why there is none."""
        text = line.text
        if _ROW_START.match(text):
            return self._row(line)
        if self._pending and _REST_OF_ROW.match(text) and self._finish_row(line):
            return ""
        if "Rank" in text and heads.DEVICE_START.match(text):
            self._devices(line)
            return ""
        if self._head(line) or self._footer(line):
            return ""
        return text

    def init_complete(self, text: str) -> None:
        """NCCL's own word on the size of the communicator, for logs whose device list is cut."""
        match = heads.INIT_COMPLETE.search(text)
        if match and self.draft.init_ranks is None:
            self.draft.init_ranks = int(match[1])

    def close(self) -> None:
        """No more lines."""
        self._drop_pending()
        begun = [draft for draft in self.drafts if draft.stage is not Stage.NOTHING or draft.loose_rows]
        # A head repeated by whoever pasted the log is no table, unless it is all there is.
        self.drafts = [draft for draft in begun if draft.started] or begun[:1]

    def _head(self, line: Line) -> bool:
        text = line.text
        if match := heads.VERSION.match(text):
            draft = self._at(Stage.VERSION)
            draft.tool, draft.tool_version = match[1], match[2]
        elif match := heads.STARTING.match(text):
            self._at(Stage.STARTING).collective = heads.collective_of(match[1])
        elif match := heads.CONFIG.match(text):
            draft = self._at(Stage.CONFIG)
            draft.configured = True
            draft.gpus_per_process = int(match[1]) * int(match[2])
            self.config_lines.append(line.number)
        elif match := heads.RCCL_VERSION.match(text):
            self.draft.tool, self.draft.tool_version = "rccl-tests", match[1]
        elif heads.DEVICES.match(text):
            self.draft.stage = max(self.draft.stage, Stage.DEVICES)
        elif heads.DEVICES_CUT.match(text) and self.draft.stage is Stage.DEVICES:
            self.draft.devices_cut = True
        elif "of-place" in text or text.rstrip().endswith("in-place"):
            self._title = text.replace("#", " ").split()
        elif "algbw" in text:
            return self._header(line)
        elif heads.SIMULATED.match(text):
            self._warn("simulated", text, line.number)
        elif heads.MEMORY.match(text):
            self._warn("max_bytes_reduced", text, line.number)
        elif heads.IGNORED_OPTION.search(text):
            self._warn("option_ignored", text, line.number)
        elif heads.POWER_OF_2.search(text):
            self._warn("skipped", text, line.number)
        else:
            return heads.CONCLUDED.match(text) is not None
        return True

    def _at(self, stage: Stage) -> Draft:
        """The table a head line belongs to: the current one, or a new one when that is further down already."""
        if self.draft.stage >= stage:
            self._drop_pending()
            self.drafts.append(Draft())
        self.draft.stage = stage
        return self.draft

    def _devices(self, line: Line) -> None:
        draft = self.draft
        if draft.stage >= Stage.HEADER:
            draft = self._at(Stage.DEVICES)
        draft.stage = Stage.DEVICES
        for piece in heads.NEXT_DEVICE.split(line.text):
            rank = heads.read_device(piece) if line.terminated else None
            if rank is None or rank.model is None:
                draft.devices_cut = draft.devices_cut or bool(piece.strip())
            if rank is None:
                continue
            if rank.rank == 0 and any(known.rank == 0 for known in draft.ranks):
                self.signs.append((line.number, "a second rank 0 in one device list"))
            draft.ranks.append(rank)

    def _header(self, line: Line) -> bool:
        # The `#` of the line, not the one of `#wrong`.
        words = line.text.strip().removeprefix("#").split() if "# " in line.text else line.text.split()
        if not is_header(words) or not line.terminated:
            return False
        layout = read_header(words, self._title)
        if layout is None:
            self._warn("header_unknown", f"column names not understood: {' '.join(words)}", line.number)
            return True
        draft = self.draft
        if draft.stage >= Stage.HEADER and (draft.rows or draft.finished):
            draft = self._at(Stage.HEADER)
        draft.stage = Stage.HEADER
        draft.layout = self._layout = layout
        return True

    def _row(self, line: Line) -> str:
        self._drop_pending()
        if self.draft.finished:
            self.drafts.append(Draft())  # of a run whose head is missing, or of another process
        draft = self.draft
        layout = draft.layout or self._layout
        if layout is None:
            draft.unread_rows = True
            self._warn("row_without_header", "a row without column names above it is left out", line.number)
            return ""
        row = layout.row(line.text.split()) if line.terminated else None
        if row is None:
            piece = _ROW_PIECE.match(line.text)
            end = piece.end() if piece else len(line.text)
            self._pending = (line.number, line.text[:end])
            return line.text[end:] if line.terminated else ""
        if draft.layout is None:
            if not draft.loose_rows:
                self._warn("row_without_header", "rows without column names above them", line.number)
            draft.unread_rows = True
            draft.loose_rows.append(row)
            self.signs.append((line.number, "a row under a config line without column names"))
            return ""
        last = draft.rows[-1] if draft.rows else row
        same_sweep = (row.dtype, row.redop, row.root) == (last.dtype, last.redop, last.root)
        if draft.rows and same_sweep and draft.rows[0].size_bytes < row.size_bytes < last.size_bytes:
            self.signs.append((line.number, "message sizes going back inside one table"))
        draft.stage = Stage.ROWS
        draft.rows.append(row)
        draft.lines.append(line.number)
        return ""

    def _finish_row(self, line: Line) -> bool:
        """The rest of a row that somebody's text had been glued into; taken only when it fits to the last column."""
        assert self._pending is not None
        number_, piece = self._pending
        layout = self.draft.layout
        row = layout.row([*piece.split(), *line.text.split()]) if layout and line.terminated else None
        if row is None:
            return False
        self._pending = None
        self.draft.stage = Stage.ROWS
        self.draft.rows.append(row)
        self.draft.lines.append(number_)
        return True

    def _drop_pending(self) -> None:
        if self._pending:
            number_, piece = self._pending
            self._pending = None
            self.draft.unread_rows = True
            self._warn("row_cut", f"a row was cut and left out: {' '.join(piece.split())}", number_)

    def _footer(self, line: Line) -> bool:
        if match := heads.OUT_OF_BOUNDS.match(line.text):
            self._drop_pending()
            if not line.terminated:
                return True
            draft = self.draft
            if draft.bounds is not None and (draft.bounds[0], draft.average_line) != (int(match[1]), None):
                self.drafts.append(draft := Draft())
            if not draft.configured and draft.layout is None:
                self.signs.append((line.number, "a footer without a head"))
            draft.bounds = (int(match[1]), match[2] == "OK", line.number)
            draft.stage = Stage.BOUNDS
        elif match := heads.AVERAGE.match(line.text):
            if not line.terminated:
                return True
            draft = self.draft
            draft.average, draft.average_line = number(match[1]), line.number
            draft.average_ok = None if match[2] is None else match[2] == "OK"
            draft.stage = Stage.AVERAGE
        else:
            return False
        return True

    def _warn(self, code: str, message: str, line: int) -> None:
        self.warnings.append(ParseWarning(code, message.strip().lstrip("# "), line))
