"""The lines around the rows: which tool, which settings, which devices, which footer. Patterns only."""

from __future__ import annotations

import re

from healthcheck.model.measurement import Rank
from healthcheck.parsing.nccl_tests.layout import NUMBER

# The leading `#` is optional everywhere: the oldest era had none on some lines, and people paste logs without it.
VERSION = re.compile(r"#?\s*(nccl-tests|rccl-tests) version (\S+(?: \([^)]*\))?)")
RCCL_VERSION = re.compile(r"#?\s*rccl-tests: Version (\S+)")
COMPILED = re.compile(r"#?\s*NCCL Tests compiled with NCCL \d")  # E1, late
STARTING = re.compile(r"#?\s*Collective test starting: (\S+)")
CONFIG = re.compile(
    r"#?\s*nThread(?P<rccl>s:)? (?P<threads>\d{1,6}) nGpus:? (?P<gpus>\d{1,6}) (?:nRanks:? (?P<ranks>\d{1,6}) )?"
    r"minBytes:? \d+ maxBytes:? \d+",
    re.ASCII,
)
DEVICES = re.compile(r"#?\s*Using devices\b")
DEVICE = re.compile(
    r"#?\s*Rank\s+(?P<rank>\d{1,8})(?:\s+Group\s+(?P<group>\d{1,8}))?(?:\s+Pid\s+(?P<pid>\d{1,10}))?\s+on\s+(?P<host>\S+)"
    r"\s+device\s+(?P<device>\d{1,4})\s+\[(?P<bus>[0-9a-fA-Fx:.]+)\]\s+(?P<model>[^\s#][^#]*)(?P<cut>#.*)?$",
    re.ASCII,
)
DEVICE_START = re.compile(r"#?\s*Rank\s+\d")
NEXT_DEVICE = re.compile(r"(?=#\s+Rank\s+\d)")
ELIDED = re.compile(r"[#\W]*(?:\.\.\.|…|\[\.\.\.\])[#\W]*$")
MEMORY = re.compile(r"#?\s*Reducing maxBytes to (\d+) due to memory limitation")
OUT_OF_BOUNDS = re.compile(r"#?\s*Out of bounds values\s*:\s*(\d{1,18})\s+(OK|FAILED)\b", re.ASCII)
AVERAGE = re.compile(rf"#?\s*Avg bus bandwidth\s*:\s*({NUMBER})(?:\s+(OK|FAILED)\b)?\s*\|?\s*$", re.ASCII)
CONCLUDED = re.compile(r"#?\s*Collective test concluded:")
LAST_ERROR = re.compile(r"#\s*error: (\S.*)")
ASTERISKS = re.compile(r"#?\s*Errors with asterisks indicate errors")
IGNORED_OPTION = re.compile(r"invalid (?:type|op) \S+, defaulting to|Option -\w .*(?:Ignoring|not supported)", re.I)
SIMULATED = re.compile(r"#?\s*simulated by healthcheck\b")
POWER_OF_2 = re.compile(r"nRanks \d+ is not a power of 2, skipping")
INIT_COMPLETE = re.compile(r"\brank \d+ nranks (\d{1,8}) .*Init COMPLETE", re.ASCII)


def read_device(text: str) -> Rank | None:
    """One device line; None when it is cut anywhere."""
    match = DEVICE.match(text)
    if match is None:
        return None
    return Rank(
        rank=int(match["rank"]),
        group=None if match["group"] is None else int(match["group"]),
        pid=None if match["pid"] is None else int(match["pid"]),
        host=match["host"],
        device=int(match["device"]),
        bus_id=match["bus"],
        model=None if match["cut"] else match["model"].rstrip(),
    )
