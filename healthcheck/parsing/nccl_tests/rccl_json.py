"""The JSON lines of rccl-tests (`-Z json -x FILE`): one object a size and side, nothing before and nothing behind."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from healthcheck.model.collective import Collective
from healthcheck.model.datatypes import SIZE_BYTES
from healthcheck.model.measurement import CollectiveRow, ParseWarning, Placement
from healthcheck.parsing.nccl_tests.draft import Draft
from healthcheck.parsing.nccl_tests.layout import number

_Number = int | float | str | None
_BY_LETTERS = {item.value.replace("_", ""): item for item in Collective}
_LARGEST = 1 << 60
_MOST_RANKS = 1 << 24


class _Object(Struct):
    name: str
    size: int
    type: str
    algBw: _Number  # noqa: N815 - keys as rccl-tests writes them
    busBw: _Number  # noqa: N815
    time: _Number
    inPlace: int = 0  # noqa: N815
    redop: str | None = None
    wrong: _Number = None
    numbered_wrong: _Number = field(default=None, name="#wrong")
    gpus: int | None = None
    ranks: int | None = None
    numCycle: int | None = None  # noqa: N815


class RcclJson:
    """Collects the objects; `drafts` are their tables, one a collective, in the order they came."""

    def __init__(self) -> None:
        self._tables: list[tuple[str, Draft]] = []
        self._open: dict[tuple[int | None, int, str, str | None], int] = {}
        self.warnings: list[ParseWarning] = []

    @property
    def drafts(self) -> list[Draft]:
        """One table a collective."""
        return [draft for _, draft in self._tables]

    def add(self, text: str, line: int) -> bool:
        """Take a line; False when it is no such object. A list over several lines is read as well."""
        try:
            one = msgspec.json.decode(text.strip("[], \t"), type=_Object)
        except (msgspec.DecodeError, UnicodeError):
            return False
        if not 0 <= one.size < _LARGEST:
            return False
        draft = self._draft(one, line)
        wrong = _value(one.numbered_wrong if one.numbered_wrong is not None else one.wrong)
        half = Placement(_value(one.time), _value(one.algBw), _value(one.busBw), wrong=wrong)
        side = "in_place" if one.inPlace else "out_of_place"
        key = (one.numCycle, one.size, one.type, one.redop)
        known = self._open.get(key)
        if known is not None and getattr(draft.rows[known], side) is None:
            draft.rows[known] = msgspec.structs.replace(draft.rows[known], **{side: half})
            del self._open[key]
            return True
        self._open[key] = len(draft.rows)
        out, inside = (None, half) if one.inPlace else (half, None)
        count = _count(one, draft)
        draft.add_row(CollectiveRow(one.size, count, one.type, one.redop or None, None, out, inside), line)
        return True

    def _draft(self, one: _Object, line: int) -> Draft:
        if self._tables and self._tables[-1][0] == one.name:
            return self._tables[-1][1]
        draft = Draft()
        draft.tool, draft.line = "rccl-tests", line
        known = _BY_LETTERS.get(one.name.lower().replace("_", "").removesuffix("perf"))
        draft.collective = known.value if known else None
        # Whether `gpus` counts those of a rank or all of them differs between its versions.
        if one.ranks is None or one.gpus in (None, 1, one.ranks):
            ranks = one.ranks or one.gpus
            draft.known_ranks = ranks if ranks is not None and 0 < ranks < _MOST_RANKS else None
        self._open.clear()
        self._tables.append((one.name, draft))
        text = "JSON lines have no footer: nobody can tell whether the run ended"
        self.warnings.append(ParseWarning("no_footer", text, line))
        return draft


def _count(one: _Object, draft: Draft) -> int | None:
    """Elements of the call; these lines do not say it, but where size is that of one buffer it follows."""
    width = SIZE_BYTES.get(one.type)
    if width is None or draft.collective is None:
        return None
    collective = Collective(draft.collective)
    if not collective.size_is_of_all_ranks:
        return one.size // width
    return one.size // (width * draft.known_ranks) if draft.known_ranks else None


def _value(printed: _Number) -> float | None:
    if isinstance(printed, str):
        try:
            return number(printed.strip())
        except ValueError:
            return None  # `N/A`
    return None if printed is None else float(printed)
