"""How a training ended that did not mean to: out of memory, a collective that timed out, a killed rank, Slurm."""

from __future__ import annotations

import re
from collections.abc import Iterable

from healthcheck.model.training import EventKind, RunEvent
from healthcheck.vitals.logs.stamps import Heads, stamp_of

MARKS = (
    "rror",
    "Traceback (most",
    "CANCELLED AT",
    "Watchdog caught",
    "exitcode: ",
    "Fatal Python",
    "(core dumped)",
    "terminate called after",
    "exited on signal ",
    "got signal: ",
    "Killed",
    "Some NCCL operations",
)
_MOST_CHARS = 240
_TRACEBACK_LINES = 400
_SHAPES = tuple(
    re.compile(shape, re.ASCII)
    for shape in (
        r"slurmstepd: error: \*\*\* (?:JOB|STEP) .{1,200} CANCELLED AT .{1,80}",
        r"srun: error: \S{1,80}: tasks? [\d,-]{1,80}: "
        r"(?:Exited with exit code|Killed|Segmentation|Out Of Memory|Bus|Abort).*",
        r"slurmstepd: error: Detected \d{1,6} oom[-_]kill event.*",
        r"(?:Segmentation fault|Bus error|Aborted|Floating point exception|Illegal instruction)\s{1,20}\(core dumped\)",
        r"(?:^|: line \d{1,6}:\s{1,9}\d{1,9}\s{1,9})Killed(?:\s{2}|$)",
        r"SignalException: Process \d{1,9} got signal: \d{1,3}",
        r"Some NCCL operations have failed or timed out.*",
        r"terminate called after throwing an instance of .*",
        r"(?:mpirun|mpiexec|prterun) noticed that process rank \d{1,7} .{1,200}exited on signal \d{1,3}.*",
        r"(?:\w{1,20}\.){0,3}OutOfMemoryError: .*",
        r"(?:RuntimeError: )?CUDA (?:error|out of memory)[:.] .*",
        r"Watchdog caught collective operation timeout: .*",
        r"(?:\w{1,20}\.){0,3}DistBackendError: .*",
        r"(?:\w{1,20}\.){0,6}ChildFailedError:.*",
        r"failed \(exitcode: -?\d{1,5}\) local_rank: \d{1,5} .*",
        r"Fatal Python error: .*",
    )
)
_RAISED = re.compile(
    r"(?<![\w.'\"/])(?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Interrupt)(?:: .*|$)", re.ASCII
)


class Failures:
    """Finds them in any framework's log. What Python raised is told only below a traceback."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._traceback_until = 0

    def read(self, line: str, number: int) -> Iterable[RunEvent]:
        """The failure a line tells of, if any."""
        for mark in MARKS:  # any() would take four times as long, for each line that is no report
            if mark in line:
                return self._failed(line, number)
        return ()

    def _failed(self, line: str, number: int) -> Iterable[RunEvent]:
        if "Traceback (most recent call last)" in line:
            self._traceback_until = number + _TRACEBACK_LINES
            return ()
        for shape in _SHAPES:
            if (found := shape.search(line)) is not None:
                return (self._event(found, line, number),)
        if number <= self._traceback_until and (found := _RAISED.search(line)) is not None:
            self._traceback_until = 0
            return (self._event(found, line, number),)
        return ()

    def _event(self, found: re.Match[str], line: str, number: int) -> RunEvent:
        head = self._heads.read(line[: found.start()])
        at = head.at_s if head.at_s is not None else stamp_of(found[0][:_MOST_CHARS])
        text = found[0][:_MOST_CHARS].strip()
        return RunEvent(EventKind.FAILURE, number, None, at, None, head.rank, text)
