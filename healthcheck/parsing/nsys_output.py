"""What `nsys profile` says while it works, found between the lines of the training it runs.

Its wording is that of Nsight Systems 2021 to 2026; what is not recognised is passed over, and the report itself
decides whether anything was recorded.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct

NO_RANK: Final = "healthcheck-capture: no variable tells this process its rank"
"""Said by the words we put before a rank, where nsys starts behind a launcher."""


class NsysEvent(StrEnum):
    """What happened, in the order in which it should."""

    RANGE_BEGUN = "range_begun"
    RANGE_ENDED = "range_ended"
    REPORT_WRITTEN = "report_written"
    NO_REPORT = "no_report"


class NsysTrouble(StrEnum):
    """Why nothing, or not everything, could be recorded."""

    PERMISSION = "permission"
    SUBSCRIBED = "subscribed"
    CUPTI = "cupti"
    OPTION = "option"
    NO_ROOM = "no_room"
    UNWRITABLE = "unwritable"
    NO_RANK = "no_rank"


class NsysLine(Struct, frozen=True):
    """A line that is of the profiler."""

    event: NsysEvent | None = None
    trouble: NsysTrouble | None = None
    text: str = ""


_EVENTS: Final = (
    (NsysEvent.RANGE_BEGUN, re.compile(r"Capture range started", re.I)),
    (NsysEvent.RANGE_ENDED, re.compile(r"Capture range ended|^Generating '.*\.qdstrm'|^Processing events", re.I)),
    (NsysEvent.NO_REPORT, re.compile(r"No reports were generated", re.I)),
    (NsysEvent.REPORT_WRITTEN, re.compile(r"^\s*\S.*\.(?:nsys-rep|qdrep)\s*$|report\d*\.(?:nsys-rep|qdrep)", re.I)),
)
_OPTION: Final = re.compile(
    r"unrecogni[sz]ed option|argument \S+ for option \S+ is invalid|unknown option '?--(?:cuda-|capture|kill|wait)",
    re.IGNORECASE,
)
_TROUBLE: Final = (
    (NsysTrouble.NO_RANK, re.compile(re.escape(NO_RANK))),
    (NsysTrouble.PERMISSION, re.compile(r"ERR_NVGPUCTRPERM|INSUFFICIENT_PRIVILEGES|insufficient privilege", re.I)),
    (NsysTrouble.SUBSCRIBED, re.compile(r"MULTIPLE_SUBSCRIBERS|another profil\w+ is|already being profiled", re.I)),
    (NsysTrouble.CUPTI, re.compile(r"CUPTI_ERROR_\w+|CUDA profiling might have not been started", re.I)),
    (NsysTrouble.OPTION, _OPTION),
    (NsysTrouble.NO_ROOM, re.compile(r"no space left on device|disk quota exceeded", re.I)),
    (
        NsysTrouble.UNWRITABLE,
        re.compile(r"(?:failed|unable|cannot) to (?:create|write|open) .*(?:nsys-rep|qdstrm|report)", re.I),
    ),
)
_LONGEST: Final = 300


def read_line(line: str) -> NsysLine | None:
    """What a line says of the profiling; None for a line of the training."""
    text = line.strip()[:_LONGEST]
    for trouble, pattern in _TROUBLE:
        if pattern.search(text):
            return NsysLine(trouble=trouble, text=text)
    for event, pattern in _EVENTS:
        if pattern.search(text):
            return NsysLine(event=event, text=text)
    return None
