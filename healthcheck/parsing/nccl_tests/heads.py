"""The lines around the rows: which tool, which settings, which devices, which footer. Patterns only."""

from __future__ import annotations

import re

from healthcheck.model.measurement import Rank
from healthcheck.parsing.nccl_tests.layout import NUMBER

# The leading `#` is optional everywhere: the oldest era had none on some lines, and people paste logs without it.
VERSION = re.compile(r"#?\s*(nccl-tests|rccl-tests) version (\S+(?: \([^)]*\))?)")
RCCL_VERSION = re.compile(r"#?\s*rccl-tests: Version (\S+)")
STARTING = re.compile(r"#?\s*Collective test starting: (\S+)")
CONFIG = re.compile(r"#?\s*nThreads?:? (\d+) nGpus:? (\d+) (?:nRanks:? \d+ )?minBytes:? (\d+) maxBytes:? (\d+)")
DEVICES = re.compile(r"#?\s*Using devices\b")
DEVICE = re.compile(
    r"#?\s*Rank\s+(?P<rank>\d+)(?:\s+Group\s+(?P<group>\d+))?(?:\s+Pid\s+(?P<pid>\d+))?\s+on\s+(?P<host>\S+)"
    r"\s+device\s+(?P<device>\d+)\s+\[(?P<bus>[0-9a-fA-Fx:.]+)\]\s+(?P<model>\S.*?)\s*(?P<cut>#.*)?$",
    re.ASCII,
)
DEVICE_START = re.compile(r"#?\s*Rank\s+\d")
NEXT_DEVICE = re.compile(r"(?=#\s+Rank\s+\d)")
DEVICES_CUT = re.compile(r"#?\s*\.\.\.\s*$")
MEMORY = re.compile(r"#?\s*Reducing maxBytes to (\d+) due to memory limitation")
OUT_OF_BOUNDS = re.compile(r"#?\s*Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)\b", re.ASCII)
AVERAGE = re.compile(rf"#?\s*Avg bus bandwidth\s*:\s*({NUMBER})(?:\s+(OK|FAILED)\b)?\s*$", re.ASCII)
CONCLUDED = re.compile(r"#?\s*Collective test concluded:")
TRACE_FILE = re.compile(r"\.\. \S+(?: pid \d+)?: Test failure (?:\S*/)?(\w+)\.cu:\d+")
IGNORED_OPTION = re.compile(r"invalid (?:type|op) \S+, defaulting to|Option -\w .*(?:Ignoring|not supported)", re.I)
SIMULATED = re.compile(r"#?\s*simulated by healthcheck\b")
POWER_OF_2 = re.compile(r"nRanks \d+ is not a power of 2, skipping")
INIT_COMPLETE = re.compile(r"\brank \d+ nranks (\d+) .*Init COMPLETE")

_NOT_COLLECTIVES = frozenset({"common", "util", "main", "verifiable", "timer"})


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
        model=None if match["cut"] else match["model"],
    )


def collective_of(program: str) -> str | None:
    """`all_reduce` of `/opt/build/all_reduce_perf_mpi` or `nccl_alltoall_perf`; None for another program."""
    match = re.search(r"(?:^|/)(?:nccl_)?(\w+?)_perf\w*$", program)
    return match[1] if match else None


def collective_of_trace(text: str) -> str | None:
    """`all_reduce` of a line ` .. HOST pid N: Test failure all_reduce.cu:561`; None for shared sources."""
    match = TRACE_FILE.search(text)
    return match[1] if match and match[1] not in _NOT_COLLECTIVES else None
