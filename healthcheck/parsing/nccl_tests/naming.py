"""Which collective a table is about: as printed, else from a command line or the trace of a failure. Never guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import ParseWarning
from healthcheck.parsing.nccl_tests.draft import Draft

_NAMES = "|".join(sorted((item.value for item in Collective), key=len, reverse=True))
_TRACE = re.compile(r"\.\. \S+(?: pid \d+)?: Test failure (?:\S*/)?(\w+)\.cu:\d+", re.ASCII)
_PROGRAM = re.compile(r"(?:^|/)(?:nccl_)?(\w+?)_perf\w*$", re.ASCII)
# A program with its options, or started by its path: what a shell echoes, never a sentence about it.
_COMMAND = re.compile(
    rf"(?:^|[\s\"'/])(?:nccl_)?({_NAMES})_perf(?:_mpi)?[\"']?(?=\s+-{{1,2}}[A-Za-z])|/(?:nccl_)?({_NAMES})_perf(?:_mpi)?$"
)
_SHARED_SOURCES = frozenset({"common", "util", "main", "verifiable", "timer"})


def of_program(program: str) -> str | None:
    """`all_reduce` of `/opt/build/all_reduce_perf_mpi` or `nccl_alltoall_perf`; None for another program."""
    match = _PROGRAM.search(program)
    return match[1] if match else None


def is_trace(text: str) -> bool:
    """True for a line of the trace that follows a failure."""
    return "Test failure" in text and _TRACE.search(text) is not None


def of_trace(text: str) -> str | None:
    """`all_reduce` of a line ` .. HOST pid N: Test failure all_reduce.cu:561`; None for shared sources."""
    match = _TRACE.search(text)
    return match[1] if match and match[1] not in _SHARED_SOURCES else None


def of_command_line(text: str) -> str | None:
    """The collective a printed command line runs; None where it names none, or more than one."""
    found = {first or second for first, second in _COMMAND.findall(text)} if "_perf" in text else set()
    return found.pop() if len(found) == 1 else None


def of_argv(argv: Sequence[str]) -> str | None:
    """The same for the command line that was given; a script may stand in it as one argument."""
    found = {name for word in argv for name in [of_program(word) or of_command_line(word)] if name}
    return found.pop() if len(found) == 1 else None


def name_table(draft: Draft, argv: Sequence[str]) -> ParseWarning | None:
    """Fills in the collective where the output does not print it; the warning says where it was taken from."""
    if draft.collective is not None:
        return None
    sources = {
        "the command line": of_argv(argv),
        "the command line in front of the table": draft.command,
        "the trace of a failure": draft.trace,
    }
    for source, name in sources.items():
        if name is not None:
            draft.collective = name
            known = "" if name in set(Collective) else ", not one we know"
            return ParseWarning("collective_inferred", f"collective {name} taken from {source}{known}", draft.line)
    return None
