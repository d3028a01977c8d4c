"""Which kind of failure a single line proves: the most specific one, in the order of the contract."""

from __future__ import annotations

import re

from healthcheck.model.measurement import FailureKind
from healthcheck.parsing.nccl_remarks import is_remark

_TEST_FAILURE = re.compile(r"(?P<lib>NCCL|CUDA|Cuda) failure \S+:\d+ '(?P<text>.*)", re.ASCII)
_WHO = re.compile(r"(?P<host>[^\s:]+): Test $")  # right in front of it, since 2.0
_TEST_TIMEOUT = re.compile(r"(?P<host>[^\s:]{1,255}): Test timeout \(\d+s\) \S+:\d+")
_LONGEST_HOST = 80
_COMPLETION = re.compile(r"Got completion .*?(?:status=|with error )(?:[A-Z_]+\()?(\d+)")  # a name around it: NCCL 2.29
_FLUSHED = "5"
_NO_MEMORY = re.compile(r"out of memory|cannot allocate memory", re.I)
_BOOTSTRAP = re.compile("bootstrap", re.I)
_SOCKET = re.compile(
    r"socket|call to (?:connect|bind|accept|listen|recv|send|poll)|connection (?:refused|reset|closed|timed)", re.I
)
_BENIGN = "Failed to open libibverbs.so"
_USAGE = re.compile(
    r"^\s*(?:USAGE: \S*_perf|invalid option '|Invalid number of GPUs:|invalid sizes? (?:for|specified)|"
    r"Incompatible NCCL versions|\[ERROR\] The number of requested GPUs)|"
    r"is not supported by this test|NCCL \S+ or later is needed for|: (?:invalid|unrecognized) option"
)
_LIBRARY = re.compile(r"error while loading shared libraries: |symbol lookup error: ")
_SIGNAL = re.compile(r"^\s*\[(?P<host>[^\s:\]]+):\d+\] Signal: (?P<text>.+ \(\d+\))")
_NOTICED = re.compile(r"noticed that process rank \d+ with PID \d+ on node (?P<host>\S+) exited on")
_SRUN_NO_MEMORY = re.compile(r"srun: error: (?P<host>[^\s:]+): tasks? \S+: Out Of Memory")
_SRUN_KILLED = re.compile(
    r"srun: error: (?P<host>[^\s:]+): tasks? \S+: "
    r"(?:Killed|Segmentation|Aborted|Bus error|Terminated|Floating|Illegal|Exited with exit code (?:137|143)\b)"
)
_SHELL_KILLED = re.compile(r"^\s*\S+: line \d+: +\d+ (?:Segmentation fault|Killed|Aborted|Bus error|Terminated)")
_OOM_KILLED = re.compile(r"oom[-_]kill event|Out of memory: Kill")
_TIME_LIMIT = re.compile(r"DUE TO TIME LIMIT|time limit for job execution has been reached")


def of_program(text: str) -> tuple[FailureKind, str | None] | None:
    """(kind, host) of a line that nccl-tests itself prints."""
    if "failure" in text and (match := _TEST_FAILURE.search(text)):
        if match["lib"] == "NCCL":
            kind = of_detail(match["text"])
        else:
            kind = FailureKind.OUT_OF_MEMORY if _NO_MEMORY.search(match["text"]) else FailureKind.CUDA
        who = _WHO.search(text[max(match.start() - _LONGEST_HOST, 0) : match.start()])
        return kind, who["host"] if who else None
    if "CuRAND error" in text:
        return FailureKind.CUDA, None
    if "Test timeout" in text and (match := _TEST_TIMEOUT.search(text)):
        return FailureKind.TIMEOUT, match["host"]
    if _USAGE.search(text):
        return FailureKind.USAGE, None
    return None


def of_launcher(text: str) -> tuple[FailureKind, str | None] | None:
    """(kind, host) of what the system, the shell or the launcher says about a process, where one line is enough."""
    if _LIBRARY.search(text):
        return FailureKind.MISSING_LIBRARY, None
    if match := _SRUN_NO_MEMORY.search(text):
        return FailureKind.OUT_OF_MEMORY, match["host"]
    for pattern in (_SIGNAL, _NOTICED, _SRUN_KILLED):
        if match := pattern.search(text):
            return FailureKind.KILLED, match["host"]
    if _OOM_KILLED.search(text):
        return FailureKind.OUT_OF_MEMORY, None
    if _SHELL_KILLED.search(text):
        return FailureKind.KILLED, None
    return (FailureKind.TIMEOUT, None) if _TIME_LIMIT.search(text) else None


def of_detail(text: str) -> FailureKind:
    """The kind that NCCL's own words prove, in a WARN line or behind a failure."""
    if _NO_MEMORY.search(text):
        return FailureKind.OUT_OF_MEMORY
    if _COMPLETION.search(text):
        return FailureKind.IB_COMPLETION
    if _BOOTSTRAP.search(text):
        return FailureKind.BOOTSTRAP
    if _SOCKET.search(text):
        return FailureKind.SOCKET
    return FailureKind.CUDA if "Cuda failure" in text else FailureKind.NCCL


def is_benign(text: str) -> bool:
    """True for warnings that NCCL prints in good runs too."""
    return _BENIGN in text or is_remark(text)


def is_flushed(text: str) -> bool:
    """True for a work request that was flushed because an earlier one had failed."""
    match = _COMPLETION.search(text)
    return match is not None and match[1] == _FLUSHED
