"""The lines of one thing to do, in the order to type them: keep jobs off, look, repair, prove."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.diagnosis.cause import Cause, Drain
from healthcheck.diagnosis.causes import FOLLOWS
from healthcheck.diagnosis.suggesting import suggested
from healthcheck.model.component import Kind
from healthcheck.model.finding import Finding
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.slurm import short_name
from healthcheck.reporting.again import nccl_line, raw_line, resume_line, values_of
from healthcheck.reporting.decision import excluded
from healthcheck.reporting.drains import cause_of, drain_line
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.proof import doctor_line, measures_together, partner_of, proof_line, search_line

MOST_HOSTS = 10
"""Nodes of one entry whose lines are all written out; how many more there are is said."""
NCCL_LOG = "NCCL log"
"""How a source of evidence names the log of a rank."""
ALLOCATION = "node.allocation"
"""The check that only has a result where a Slurm answered."""
NOT_REACHED = frozenset({"unreachable", "no_step", "connection_lost", "login_refused", "no_answer"})


class Lines(Struct, frozen=True):
    """`first`: those for the first node of an entry; `every`: for up to 10 of them. `by_hand`: how to drain without
    Slurm, in words."""

    first: tuple[str, ...]
    every: tuple[str, ...]
    by_hand: str = ""


class Steps:
    """Everything of a record that the lines of its findings need."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._raw = {job.id: raw_line(record, job) for job in record.jobs}
        self._nccl = {job.id: nccl_line(record, job) for job in record.jobs}
        self._joint = {job.id for job in record.jobs if len(job.hosts) > 1}
        self._resume = {shlex.join(("healthcheck", "run", "--resume", record.run_id)): resume_line(record)}
        self._slurm = {check.component.host for check in record.checks if check.check == ALLOCATION}
        self._known = {host.name: host for host in record.inventory}
        self._config = list(values_of(record.provenance.arguments, None, "ssh-config"))[-1:]

    def of(self, found: Sequence[Finding]) -> Lines:
        """The lines of findings that are one entry: those for several nodes at once name all of them."""
        first = found[0]
        cause = cause_of(first)
        hosts = tuple(dict.fromkeys(one.component.host for one in found if one.component.host))
        drain = self._drain(cause, hosts)
        before = [self._search(cause, first), drain if cause.drain is Drain.FIRST else None]
        middle = [self._doctor(cause, hosts), drain if cause.drain is Drain.IF_NEEDED else None]
        after = self._prove(cause, found, hosts)

        def lines(some: Iterable[Finding]) -> tuple[str, ...]:
            looks = [line for one in some for line in self._looks(one)]
            repairs = [line for one in some for line in self._repairs(cause, one)]
            return _distinct((*before, *looks, *middle, *repairs, after))

        by_hand = cause.drain is not Drain.NO and hosts and drain is None
        return Lines(lines(found[:1]), lines(found[:MOST_HOSTS]), self._by_hand(hosts) if by_hand else "")

    def _drain(self, cause: Cause, hosts: Sequence[str]) -> str | None:
        """One line for all of them, by the names of Slurm; None where none of Slurm was seen."""
        names = [short_name(host) for host in hosts if host in self._slurm]
        if cause.drain is Drain.NO or not names:
            return None
        return drain_line(names, self._record.run_id, cause)

    def _by_hand(self, hosts: Sequence[str]) -> str:
        listed = set(hosts) <= set(excluded(self._record))
        return str(say("report.todo.drain_listed" if listed else "report.todo.drain_by_hand"))

    def _search(self, cause: Cause, finding: Finding) -> str | None:
        """What is slow or broken between nodes, and nobody has looked for who makes it so."""
        if cause.code == "search_cut_short":
            return search_line(self._record, longer=True)
        slow = finding.verdict in (Verdict.DEGRADED, Verdict.FAIL) and finding.job in self._joint
        return (
            search_line(self._record) if finding.component.kind is Kind.FABRIC and slow and cause != FOLLOWS else None
        )

    def _looks(self, finding: Finding) -> list[str | None]:
        """What the record suggests, with the folder of the run, and what its job wrote; NCCL's log if it is quoted."""
        lines: list[str | None] = [self._resume.get(line, line) for line in finding.commands]
        logged = any(NCCL_LOG in quote.source for quote in finding.evidence)
        host = finding.component.host
        lines = [self._reached(line, host) if line and host else line for line in lines]
        return [*lines, self._nccl.get(finding.job) if logged else None, self._raw.get(finding.job)]

    def _repairs(self, cause: Cause, finding: Finding) -> list[str]:
        host = finding.component.host
        lines = suggested(cause.repairs, finding.component, self._record.run_id)
        return [self._reached(line, host) if host else line for line in lines]

    def _doctor(self, cause: Cause, hosts: Sequence[str]) -> str | None:
        """Where nobody is reached, it is more likely this machine."""
        everybody = set(hosts) >= {host.name for host in self._record.hosts}
        return doctor_line(self._record) if cause.code in NOT_REACHED and everybody else None

    def _prove(self, cause: Cause, found: Sequence[Finding], hosts: Sequence[str]) -> str | None:
        """The run again. A part between nodes is proven by all; a card by its node with a proven one."""
        first = found[0]
        if any(line in self._resume and self._resume[line] for line in first.commands):
            return None
        names = list(hosts)
        if first.component.kind is Kind.LINK:
            names = self._ends(first.component.text)
        between = first.component.kind is Kind.HCA or first.job in self._joint
        if len(names) == 1 and between and measures_together(self._record):
            partner = partner_of(self._record, names[0])
            names = [*([partner] if partner else []), *names]
        return proof_line(self._record, names)

    def _ends(self, link: str) -> list[str]:
        """The two hosts of a link: a name may hold the dash that stands between them."""
        pair = link.partition(":")[2]
        known = {host.name for host in self._record.hosts}
        cuts = [(pair[:at], pair[at + 1 :]) for at, char in enumerate(pair) if char == "-"]
        return next(([a, b] for a, b in cuts if a in known and b in known), [])

    def _reached(self, line: str, host: str) -> str:
        """A line over ssh goes where the run went: to the same address, port and user, by the same configuration."""
        known = self._known.get(host)
        if not line.startswith(("ssh ", "ping ")) or known is None:
            return line
        options = ["-p", str(known.port)] if known.port is not None else []
        options += [word for path in self._config for word in ("-F", path)]
        target = f"{known.user}@{known.address}" if known.user is not None else known.address
        words = shlex.split(line)
        if host not in words or (target == host and not options):
            return line
        at = words.index(host)
        new = [*options, target] if words[0] == "ssh" else [known.address]
        return shlex.join((*words[:at], *new, *words[at + 1 :]))


def _distinct(lines: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one_line(line) for line in lines if line is not None))
