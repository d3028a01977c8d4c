"""The lines of one process, in order -> its tables. Knows when one table ends and the next begins."""

from __future__ import annotations

import re

from healthcheck.model.measurement import ParseWarning
from healthcheck.parsing.nccl_tests import heads
from healthcheck.parsing.nccl_tests.draft import Draft, Stage
from healthcheck.parsing.nccl_tests.layout import Layout, is_header, number, read_header
from healthcheck.parsing.nccl_tests.lines import Line
from healthcheck.parsing.nccl_tests.naming import of_program
from healthcheck.parsing.nccl_tests.torn import ROW_START, TornRow, fits_together, torn_row

_MOST_WARNINGS = 100  # a log of gigabytes may be damaged everywhere


class Stream:
    """Feed it lines; `drafts` are what it saw. `signs` are (line, why) of output mixed from several processes."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.warnings: list[ParseWarning] = []
        self.signs: list[tuple[int, str]] = []
        self.config_lines: list[int] = []
        self._title: list[str] = []
        self._layout: Layout | None = None
        self._torn: TornRow | None = None

    @property
    def draft(self) -> Draft:
        """The table being read; a first one where there is none."""
        if not self.drafts:
            self.drafts.append(Draft())
        return self.drafts[-1]

    @property
    def used(self) -> bool:
        """Has it seen anything?"""
        return bool(self.drafts or self.warnings or self._torn)

    @property
    def torn(self) -> bool:
        """True while a row waits for its rest."""
        return self._torn is not None

    @property
    def waits_for_footer(self) -> bool:
        """True while a table has begun and its footer has not come."""
        return bool(self.drafts) and not self.drafts[-1].finished

    @property
    def in_table(self) -> bool:
        """True between the head of a table and its footer."""
        return self.waits_for_footer and self.drafts[-1].stage >= Stage.CONFIG

    def feed(self, line: Line) -> str:
        """Take one line. The text that was not part of a table comes back: it may say why there is none."""
        text = line.text
        if ROW_START.match(text):
            return self._row(line)
        if self._torn is not None and (rest := self._continue_row(line)) is not None:
            return rest
        if "Rank" in text and heads.DEVICE_START.match(text):
            self._devices(line)
            return ""
        if self._head(line) or self._footer(line):
            return ""
        return text

    def close(self) -> None:
        """No more lines."""
        self._drop_torn()
        begun = [draft for draft in self.drafts if draft.stage is not Stage.NOTHING or draft.loose_rows]
        # A head repeated by whoever pasted the log is no table, unless it is all there is.
        self.drafts = [draft for draft in begun if draft.started] or begun[:1]

    def _head(self, line: Line) -> bool:
        text = line.text
        if match := heads.VERSION.match(text):
            draft = self._at(Stage.VERSION)
            draft.tool, draft.tool_version = match[1], match[2]
        elif match := heads.STARTING.match(text):
            self._at(Stage.STARTING).collective = of_program(match[1])
        elif match := heads.CONFIG.match(text):
            self._config(match, line)
        elif match := heads.RCCL_VERSION.match(text):
            self.draft.tool, self.draft.tool_version = "rccl-tests", match[1]
        elif heads.COMPILED.match(text):
            self.draft.tool = self.draft.tool or "nccl-tests"
        elif heads.DEVICES.match(text):
            self.draft.stage = max(self.draft.stage, Stage.DEVICES)
        elif "of-place" in text or text.endswith("in-place") or "in-place (+" in text:
            self._title = text.replace("#", " ").split()
        elif "algbw" in text:
            return self._header(line)
        elif heads.ELIDED.match(text):
            self._elided(line)
        elif not self._note(line):
            return heads.CONCLUDED.match(text) is not None or heads.ASTERISKS.match(text) is not None
        return True

    def _config(self, match: re.Match[str], line: Line) -> None:
        draft = self._at(Stage.CONFIG)
        draft.configured, draft.line = True, line.number
        draft.gpus_per_process = int(match["threads"]) * int(match["gpus"]) * int(match["ranks"] or 1)
        if match["rccl"]:  # only the fork of AMD ever wrote `nThreads:`
            draft.tool = draft.tool or "rccl-tests"
        self.config_lines.append(line.number)

    def _note(self, line: Line) -> bool:
        """What the program says beside the table, and a reader of the numbers should know."""
        text = line.text
        if heads.SIMULATED.match(text):
            self._warn("simulated", text, line.number)
        elif heads.MEMORY.match(text):
            self._warn("max_bytes_reduced", text, line.number)
        elif ("nvalid" in text or "Option" in text) and heads.IGNORED_OPTION.search(text):
            self._warn("option_ignored", text, line.number)
        elif "power of 2" in text and heads.POWER_OF_2.search(text):
            self._warn("skipped", text, line.number)
        elif match := heads.LAST_ERROR.match(text):
            self._warn("nccl_last_error", f"NCCL's last error text: {match[1]}", line.number)
        else:
            return False
        return True

    def _elided(self, line: Line) -> None:
        if self.draft.stage is Stage.DEVICES:
            self.draft.devices_cut = True
        elif self.in_table and self.draft.stage >= Stage.HEADER:
            self._warn("rows_elided", "the log is cut here by `...`: rows may be missing", line.number)

    def _at(self, stage: Stage) -> Draft:
        """The table a head line belongs to: the current one, or a new one when that is further down already."""
        if self.draft.stage >= stage:
            self._drop_torn()
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
        words = line.text.split()
        if words[0].startswith("#") and words[0] != "#wrong":
            words[0:1] = words[0].lstrip("#").split()
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
        self._drop_torn()
        if self.draft.finished:
            self.drafts.append(Draft())  # of a run whose head is missing, or of another process
        draft = self.draft
        layout = draft.layout or self._layout
        if layout is None:
            if not draft.unread_rows:
                self._warn("row_without_header", "rows without column names above them are left out", line.number)
            draft.unread_rows = True
            return ""
        row = layout.row(line.text.split()) if line.terminated else None
        if row is None:
            self._torn, rest = torn_row(line)
            return rest if line.terminated else ""
        if draft.layout is None:
            if not draft.loose_rows:
                self._warn("row_without_header", "rows without column names above them", line.number)
            draft.unread_rows = True
            draft.loose_rows.append(row)
            draft.loose_lines.append(line.number)
            self.signs.append((line.number, "a row under a config line without column names"))
            return ""
        last = draft.rows[-1] if draft.rows else row
        same_sweep = (row.dtype, row.redop, row.root) == (last.dtype, last.redop, last.root)
        if draft.rows and same_sweep and draft.rows[0].size_bytes < row.size_bytes < last.size_bytes:
            self.signs.append((line.number, "message sizes going back inside one table"))
        draft.add_row(row, line.number)
        return ""

    def _continue_row(self, line: Line) -> str | None:
        """More of a row into which somebody's text had been glued; a row only once it fits to the last column."""
        torn, layout = self._torn, self.draft.layout
        rest = torn.takes(line.text, layout) if torn is not None and layout is not None else None
        if rest is None or torn is None or layout is None:
            return None
        row = layout.row(torn.tokens) if line.terminated else None
        if row is not None and fits_together(row, layout.time_scale):
            self._torn = None
            self.draft.add_row(row, torn.line)
            self.draft.joined.add(torn.line)
        return rest

    def _drop_torn(self) -> None:
        if self._torn is not None:
            text = f"a row was cut and left out: {' '.join(self._torn.tokens)}"
            self._warn("row_cut", text, self._torn.line)
            self._torn = None
            self.draft.unread_rows = True

    def _footer(self, line: Line) -> bool:
        if match := heads.OUT_OF_BOUNDS.match(line.text):
            self._drop_torn()
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
        if len(self.warnings) >= _MOST_WARNINGS:
            return
        self.warnings.append(ParseWarning(code, message.strip().lstrip("# "), line))
