"""Reads what nvidia-smi prints: csv tables by the names in their first line, and its lists of NVLinks."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from healthcheck.model.gpu_facts import GpuLinks, LinkCounter, NvLink

LOST = re.compile(r"Unable to determine the device handle|GPU is lost|fallen off the bus", re.IGNORECASE)
NONE_FOUND = re.compile(r"No devices were found", re.IGNORECASE)
NO_SUCH_QUERY = re.compile(r"is not a valid|not recognized|invalid combination|unrecognized", re.IGNORECASE)

_MOST_FIELDS = 64
_ERROR = re.compile(r"\[?(Unknown Error|GPU is lost|ERR!?)\]?", re.IGNORECASE)
_ABSENT = re.compile(r"\[.{0,80}\]|N/A|Not Supported|", re.IGNORECASE)
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


@lru_cache(maxsize=4096)
def failed(cell: str) -> bool:
    """True for a cell that holds an error instead of a value or of N/A."""
    return _ERROR.fullmatch(cell.strip()) is not None


@lru_cache(maxsize=4096)
def text_of(cell: str) -> str | None:
    """The cell; None where it says that there is no value."""
    cell = cell.strip()[:120]
    return None if _ABSENT.fullmatch(cell) or _ERROR.fullmatch(cell) else cell


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


_GPU_LINE = re.compile(r"GPU (?P<index>\d{1,4}): (?P<name>[^(]{1,120}?) *\(UUID: [^)]{1,80}\)\s*", re.ASCII)
_LINK_LINE = re.compile(r"\s*Link (\d{1,3}): (?:<inactive>|(\d{1,5}(?:\.\d{1,6})?) GB/s)\s*", re.ASCII | re.IGNORECASE)
_COUNT_LINE = re.compile(r"\s*Link (\d{1,3}): ([^:]{1,80}): (\d{1,18})\s*", re.ASCII)
_ALL_INACTIVE = re.compile(r"all links are inactive", re.IGNORECASE)
_NO_LINKS = re.compile(r"not supported|no NVLinks?\b", re.IGNORECASE)
_JUDGED = re.compile(r"recovery|replay|crc", re.IGNORECASE)


def nvlinks(status: str, errors: str) -> tuple[tuple[GpuLinks, ...], tuple[str, ...]]:
    """GPUs with links and error counters from `nvlink -s` and `nvlink -e`; beside them the lines nobody understands.

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
            int(match["index"]), match["name"], links, _counters(counted.get(head, "")), all_inactive, trouble
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
    links: list[NvLink] = []
    all_inactive, trouble = False, ""
    for line in body.splitlines():
        match = _LINK_LINE.fullmatch(line)
        if match is not None:
            links.append(NvLink(int(match[1]), None if match[2] is None else float(match[2])))
        elif _ALL_INACTIVE.search(line):
            all_inactive = True
        elif line.strip() and not trouble and not _NO_LINKS.search(line):
            trouble = line.strip()[:300]
    return tuple(links), all_inactive, trouble


@lru_cache(maxsize=1024)
def _counters(body: str) -> tuple[LinkCounter, ...]:
    found = (_COUNT_LINE.fullmatch(line) for line in body.splitlines())
    return tuple(
        LinkCounter(int(match[1]), match[2].strip(), int(match[3]))
        for match in found
        if match is not None and _JUDGED.search(match[2])
    )
