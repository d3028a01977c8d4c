"""Reads what nvidia-smi prints: csv tables by the names in their first line, and its lists of NVLinks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from healthcheck.model.gpu_facts import GpuLinks, LinkCounter, NvLink

_LOST = ("unable to determine the device handle", "gpu is lost", "fallen off the bus")
NONE_FOUND = re.compile(r"No devices were found", re.IGNORECASE)
NO_SUCH_QUERY = re.compile(r"is not a valid|not recognized|invalid combination|unrecognized", re.IGNORECASE)

_MOST_FIELDS = 64
_ERROR = re.compile(r"\[.{0,80}\]|Unknown Error|GPU is lost|ERR!?|", re.IGNORECASE)
_ABSENT = re.compile(
    r"\[?(N/A|Not Supported|Not Available|Requested functionality has been deprecated)\]?", re.IGNORECASE
)
_DAMAGED_INFOROM = re.compile(r"WARNING: infoROM is corrupted at gpu", re.IGNORECASE)
_NOISE = re.compile(r"ERROR: ld\.so: object .{1,300} cannot be preloaded .{0,100}: ignored\.")
_NUMBER = re.compile(r"(-?\d{1,15})(?:\.\d{1,6})?(?: ?[A-Za-z%]{1,4})?", re.ASCII)
_MASK = re.compile(r"0x([0-9a-fA-F]{1,16})", re.ASCII)


class CsvTable(Struct, frozen=True):
    """`fields` without their units, rows as printed cell by cell beside the line itself; `rest`: all other lines."""

    header: str
    fields: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    rest: tuple[str, ...]


def csv_table(text: str, first: str) -> CsvTable | None:
    """The table whose header line begins with the field `first`; None where there is none.

    A line with another number of cells than the header is no row.
    """
    header = ""
    fields: tuple[str, ...] = ()
    rows: list[tuple[str, tuple[str, ...]]] = []
    rest: list[str] = []
    for line in text.splitlines():
        if not header and line.startswith(first):
            header, fields = line, fields_of(line)
            continue
        cells = tuple(line.split(", "))
        if header and len(cells) == len(fields):
            rows.append((line, cells))
        elif line.strip():
            rest.append(line)
    if not header or fields[0] != first or len(fields) > _MOST_FIELDS:
        return None
    return CsvTable(header, fields, tuple(rows), tuple(rest))


@lru_cache(maxsize=256)
def fields_of(header: str) -> tuple[str, ...]:
    """The names in a header line, without their units."""
    return tuple(cell.strip().partition(" [")[0] for cell in header.split(","))


def says_lost(text: str) -> bool:
    """Whether the driver says somewhere in the text that it lost a GPU."""
    small = text.lower()
    return any(words in small for words in _LOST)


def lost_lines(text: str) -> list[str]:
    """The lines of a text that say so."""
    return [line for line in text.splitlines() if says_lost(line)] if says_lost(text) else []


def explained(rc: int | None, complaints: Iterable[str]) -> bool:
    """Whether every complaint is one we know, and they are the reason where nvidia-smi did not end with 0."""
    lines = [line.strip() for line in complaints if line.strip()]
    reasons = [line for line in lines if not _NOISE.fullmatch(line)]
    known = all(says_lost(line) or NONE_FOUND.search(line) or _DAMAGED_INFOROM.match(line) for line in reasons)
    return known and (rc == 0 or bool(reasons))


@lru_cache(maxsize=4096)
def absent(cell: str) -> bool:
    """True for a cell that says that the GPU or the driver has no such thing."""
    return _ABSENT.fullmatch(cell.strip()) is not None


@lru_cache(maxsize=4096)
def failed(cell: str) -> bool:
    """True for a cell that holds nothing, or an error, instead of a value or of N/A."""
    return not absent(cell) and _ERROR.fullmatch(cell.strip()) is not None


@lru_cache(maxsize=4096)
def text_of(cell: str) -> str | None:
    """The cell; None where it says that there is no value."""
    cell = cell.strip()[:120]
    return None if absent(cell) or failed(cell) else cell


@lru_cache(maxsize=4096)
def number_of(cell: str) -> int | None:
    """The whole part of a number, with or without a unit: `1410 MHz`, `312.40 W`, `0`. None where there is none."""
    match = _NUMBER.fullmatch(cell.strip())
    return int(match[1]) if match is not None else None


@lru_cache(maxsize=4096)
def mask_of(cell: str) -> int | None:
    """A bit mask: `0x0000000000000004`."""
    match = _MASK.fullmatch(cell.strip())
    return int(match[1], 16) if match is not None else None


@lru_cache(maxsize=1024)
def flag_of(cell: str) -> bool | None:
    """`Yes`, `No`, `1`, `0`."""
    return {"yes": True, "1": True, "no": False, "0": False}.get(cell.strip().lower())


_GPU_LINE = re.compile(r"GPU (?P<index>\d{1,4}): (?P<name>[^(]{1,120}?) *\(UUID: (?P<uuid>[^)]{1,80})\)\s*", re.ASCII)
_LINK_LINE = re.compile(r"\s*Link (\d{1,3}): (?:<inactive>|(\d{1,5}(?:\.\d{1,6})?) GB/s)\s*", re.ASCII | re.IGNORECASE)
_COUNT_LINE = re.compile(r"\s*Link (\d{1,3}): ([^:]{1,80}): (\d{1,18})\s*", re.ASCII)
_ALL_INACTIVE = re.compile(r"all links are inactive", re.IGNORECASE)
_NO_LINKS = re.compile(r"not supported|no NVLinks?\b", re.IGNORECASE)
SAYS_NO_LINKS = re.compile(rf"{_NO_LINKS.pattern}|{_ALL_INACTIVE.pattern}", re.IGNORECASE)
"""Lines of a GPU without links, which are no complaint."""

_JUDGED = re.compile(r"recovery|replay|crc", re.IGNORECASE)


def nvlinks(status: str, errors: str) -> tuple[tuple[GpuLinks, ...], tuple[str, ...]]:
    """GPUs with links and error counters from `nvlink -s` and `nvlink -e`; beside them the lines above the first GPU.

    Only counters of replays, recoveries and CRC errors are kept: newer drivers also count packets and corrections,
    which grow on every healthy link.
    """
    counted = dict(_blocks(errors)[0])
    heads, strange = _blocks(status)
    gpus: list[GpuLinks] = []
    for head, body in heads:
        match = _GPU_LINE.fullmatch(head)
        if match is None or len(gpus) >= 256:
            continue
        links, all_inactive, trouble = _links(body)
        gpu = GpuLinks(
            int(match["index"]),
            match["name"],
            links,
            _counters(counted.get(head, "")),
            all_inactive,
            trouble,
            match["uuid"],
        )
        gpus.append(gpu)
    return tuple(gpus), strange


def _blocks(text: str) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """The lines below each `GPU 0: ...` as one text, and what stands above the first."""
    above, *pieces = f"\n{text}".split("\nGPU ")
    blocks: list[tuple[str, str]] = []
    for piece in pieces:
        head, _, body = piece.partition("\n")
        if _GPU_LINE.fullmatch(f"GPU {head}"):
            blocks.append((f"GPU {head}", body))
        elif blocks:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]}\nGPU {piece}")
        else:
            above += f"\nGPU {piece}"
    return blocks, tuple(line for line in above.splitlines() if line.strip())


# Nearly all GPUs of a fleet say the same below their own name.
@lru_cache(maxsize=1024)
def _links(body: str) -> tuple[tuple[NvLink, ...], bool, str]:
    # A link that is listed twice is one link.
    links: dict[int, NvLink] = {}
    all_inactive, trouble = False, ""
    for line in body.splitlines():
        match = _LINK_LINE.fullmatch(line)
        if match is not None:
            links.setdefault(int(match[1]), NvLink(int(match[1]), None if match[2] is None else float(match[2])))
        elif _ALL_INACTIVE.search(line):
            all_inactive = True
        elif line.strip() and not trouble and not _NO_LINKS.search(line) and not says_lost(line):
            trouble = line.strip()[:300]
    return tuple(links.values()), all_inactive, trouble


@lru_cache(maxsize=1024)
def _counters(body: str) -> tuple[LinkCounter, ...]:
    found = (_COUNT_LINE.fullmatch(line) for line in body.splitlines())
    return tuple(
        LinkCounter(int(match[1]), match[2].strip(), int(match[3]))
        for match in found
        if match is not None and _JUDGED.search(match[2])
    )
