"""Slurm's `squeue`: which jobs hold which nodes. Written from Slurm 22.05; its options are as old as 2.6."""

from __future__ import annotations

import re
from collections.abc import Mapping

from healthcheck.errors import InputError
from healthcheck.model.allocation import Allocation, Allocations, Unread
from healthcheck.parsing.nodeset import expand

STATES = ("RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING")
SQUEUE = ("squeue", "--noheader", f"--states={','.join(STATES)}", "--format=%i|%u|%T|%N")
"""Lists every job that holds nodes, one a line: id, user, state, nodes. One call answers for the whole cluster."""

# Ids: 4711, of an array 4711_3 and, before its tasks are numbered, 4711_[5-9%2], of a heterogeneous job 4711+1. Users
# of a directory service may have blanks in their names.
_LINE = re.compile(
    r"(?P<job>\d{1,12}(?:_(?:\d{1,12}|\[[\d,:%.-]{1,4096}\]))?(?:\+\d{1,12})?)\|"
    r"(?P<user>[^|\x00-\x1f\x7f-\x9f]{1,64})\|(?P<state>[A-Z_]{1,32})\|(?P<nodes>[^|]*)"
)
_ROOT_DOT = re.compile(r"\.(?=,|$)")
_WORD = re.compile(r"(?P<head>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})(?P<range>\[[\d,-]{0,4096}\]?)?")
_NO_NODES = frozenset({"", "(null)", "(None)", "None"})
_UNCONFIGURED = re.compile(
    r"cannot stat file|Could not establish a configuration source|Unable to process configuration file", re.IGNORECASE
)
_LONGEST_QUOTE = 200
_MOST_UNREAD = 20
_MOST_NAMES = 50_000


def read_squeue(text: str) -> Allocations:
    """What `SQUEUE` printed. Never raises: lines that are no job, or whose nodes are none, stand in `unread`."""
    jobs: list[Allocation] = []
    unread = _UnreadLines()
    for line in map(str.strip, text.splitlines()):
        match = _LINE.fullmatch(line)
        if match is None:
            # With SLURM_CLUSTERS set, squeue heads the list of every cluster with its name.
            if line and not line.startswith("CLUSTER: "):
                unread.add(line)
            continue
        try:
            written = _ROOT_DOT.sub("", match["nodes"])
            nodes = () if written in _NO_NODES else expand(written, "squeue")
        except InputError:
            unread.add(line)
            continue
        if nodes:
            jobs.append(Allocation(match["job"], match["user"], match["state"], nodes, line[:_LONGEST_QUOTE]))
    return Allocations(tuple(jobs), tuple(unread.lines))


class _UnreadLines:
    """The first lines nobody understood, and every later one that has a word which may be one more node."""

    def __init__(self) -> None:
        self.lines: list[Unread] = []
        self._known: set[str] = set()
        self._left = _MOST_NAMES  # written out from ranges

    def add(self, line: str) -> None:
        """Keep it if it tells something new."""
        names, prefixes = self._words(line)
        new = names - self._known
        new_prefixes = tuple(prefix for prefix in prefixes if f"{prefix}[" not in self._known)
        if len(self.lines) < _MOST_UNREAD or ((new or new_prefixes) and len(self._known) < _MOST_NAMES):
            self.lines.append(Unread(line[:_LONGEST_QUOTE], new, new_prefixes))
            self._known |= {*new, *(f"{prefix}[" for prefix in new_prefixes)}

    def _expanded(self, text: str) -> tuple[str, ...]:
        """InputError also where so much was written out already that the beginning of the names has to do."""
        if self._left <= 0:
            raise InputError("squeue", "too many names")
        found = expand(text, "squeue")
        self._left -= len(found)
        return found

    def _words(self, line: str) -> tuple[frozenset[str], tuple[str, ...]]:
        names: set[str] = set()
        prefixes: dict[str, None] = {}
        for match in _WORD.finditer(line):
            head, numbers = match["head"].lower(), match["range"]
            try:
                found = self._expanded(head + numbers) if numbers else (head.rstrip("."),)
            except InputError:
                prefixes[head] = None
                continue
            names.update(found)
            names.update(map(short_name, found))
        return frozenset(names), tuple(prefixes)


def short_name(name: str) -> str:
    """Without its domain; an address is whole, because its first number is no name."""
    head = name.partition(".")[0]
    return name if not head or head.isdigit() else head


def is_unconfigured(stderr: str) -> bool:
    """Whether squeue says that this machine belongs to no cluster. Up to Slurm 22 it then looks again for a minute."""
    return _UNCONFIGURED.search(stderr) is not None


def own_jobs(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The ids, as squeue prints them, of the Slurm job in whose environment we run; empty outside of one."""
    job, array = environment.get("SLURM_JOB_ID", ""), environment.get("SLURM_ARRAY_JOB_ID", "")
    ids = [job] if job else []
    if array and (task := environment.get("SLURM_ARRAY_TASK_ID", "")):
        ids.append(f"{array}_{task}")
    return tuple(ids)


def is_own(job: str, own: tuple[str, ...]) -> bool:
    """Whether an id printed by squeue is one of ours, or a component of our heterogeneous job."""
    return job in own or job.partition("+")[0] in own
