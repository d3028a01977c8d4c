"""Has Slurm given a node to somebody? One question for the whole fleet, never one a node.

A job may hold a node and not have touched a GPU yet: `nvidia-smi` sees nobody, and a benchmark would still be in its
way. Where no squeue is found there is no scheduler to ask, and nothing is said; where it is there and fails, that is
noted, and the look at GPU processes stays what protects other people's work. A line of it that cannot be read may give
away every node that stands in it: not readable is not free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from threading import Lock

from msgspec import Struct

from healthcheck.model.allocation import Allocation, Allocations, Unread
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import Arg, Message, few, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.slurm import SQUEUE, is_own, read_squeue, short_name
from healthcheck.ports import Transport
from healthcheck.workflows.asking_slurm import ask
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.request import LOCALHOST, RunRequest

CHECK = "node.allocation"
ALLOCATED, FREE, ALLOWED = "busy.allocated", "allocation.free", "busy.allowed"

FRESH_S = 5.0
"""How long an answer is used again: a thousand launches in one round are one question."""
SILENT_S = 300.0
"""How long nobody is asked after squeue failed: it takes its time before it gives up on a dead slurmctld."""
_HOSTS_ASKED = 2
_SHOWN = 3


class _Answer(Struct, frozen=True):
    """What came back when everybody who could know was asked, to be used until `until_s` of the clock.

    `by_node` None: no scheduler answered; its names are in lower case. `unread` are lines that were not understood.
    `whole` False: what was not understood may name any node.
    """

    until_s: float
    by_node: dict[str, tuple[Allocation, ...]] | None
    unread: tuple[Unread, ...] = ()
    whole: bool = True


_NOBODY = _Answer(math.inf, None)


class Slurm:
    """The allocations of the cluster, as fresh as a launch needs them. Safe to call from many threads.

    Asks on this machine, else on the first hosts that were reached (`facts`, a view that may still grow).
    """

    def __init__(self, request: RunRequest, engine: Engine, facts: Mapping[str, NodeFacts]) -> None:
        self._request = request
        self._engine = engine
        self._facts = facts
        self._lock = Lock()
        self._answer: _Answer | None = None
        self._notes: dict[str, Message] = {}

    @property
    def notes(self) -> tuple[Message, ...]:
        """What the record should say: that there is a squeue, and it did not answer."""
        return tuple(self._notes.values())

    def judge(self, host: Host) -> CheckResult | None:
        """SKIPPED where another job holds the host, PASS where none does, None where no scheduler answers."""
        answer = self._now()
        if answer.by_node is None:
            return None
        names = _names(host, self._facts.get(host.name))
        found = (job for name in names for job in answer.by_node.get(name, ()))
        jobs = {job.job: job for job in found if not is_own(job.job, self._request.slurm_jobs)}
        unread = tuple(line for line in answer.unread if any(map(line.may_hold, names)))
        if not jobs and not unread and not answer.whole:
            return None
        return _judged(host, tuple(jobs.values()), unread, allow_busy=self._request.allow_busy)

    def in_the_way(self, host: Host) -> tuple[CheckResult, ...]:
        """What keeps a job from starting on this host right now; empty when it may start."""
        result = self.judge(host)
        return () if result is None or result.verdict is Verdict.PASS else (result,)

    def _now(self) -> _Answer:
        if self._request.simulated:  # a node of that name in the Slurm of this machine is another one
            return _NOBODY
        with self._lock:
            if self._answer is None or self._engine.clock.monotonic() >= self._answer.until_s:
                self._answer = self._ask()
            return self._answer

    def _ask(self) -> _Answer:
        failed = False
        for host, transport in self._whom():
            token = f"probe-{self._request.owner.token}"
            answer = ask(transport, host, SQUEUE, token, lambda: self._engine.cancel.wanted)
            if self._engine.cancel.wanted:
                return _NOBODY
            if answer.text is not None:
                return self._read(answer.text, answer.whole)
            if answer.absent:
                continue
            failed = True
            self._notes.setdefault("silent", say("allocation.silent", where=host.name, detail=answer.detail))
        # Where nobody has the program, nobody will have it in five seconds; a dead slurmctld may come back.
        return _Answer(self._engine.clock.monotonic() + SILENT_S, None) if failed else _NOBODY

    def _read(self, text: str, complete: bool) -> _Answer:
        answer = read_squeue(text)
        if answer.unread:
            self._notes.setdefault("unread", say("allocation.unread", line=ascii(answer.unread[0].line)))
        whole = not answer.unread and complete
        return _Answer(self._engine.clock.monotonic() + FRESH_S, _by_node(answer), answer.unread, whole)

    def _whom(self) -> Iterator[tuple[Host, Transport]]:
        """This machine, then the first hosts; nobody for simulated nodes, of which no scheduler knows."""
        reached = [host for host in self._request.hosts if _is_real(self._facts.get(host.name))][:_HOSTS_ASKED]
        if reached:
            yield LOCALHOST, self._engine.local
        for host in reached:
            yield host, self._engine.transport


def _is_real(facts: NodeFacts | None) -> bool:
    identity = facts.identity.value if facts is not None and facts.identity is not None else None
    return facts is not None and not (identity is not None and identity.simulated)


def _by_node(answer: Allocations) -> dict[str, tuple[Allocation, ...]]:
    by_node: dict[str, tuple[Allocation, ...]] = {}
    for job in answer.jobs:
        whole = [name.lower() for name in job.nodes]
        for name in dict.fromkeys([*whole, *map(short_name, whole)]):
            by_node[name] = (*by_node.get(name, ()), job)
    return by_node


def _names(host: Host, facts: NodeFacts | None) -> tuple[str, ...]:
    """What Slurm may call a host: as the hostfile or the node itself names it, with and without its domain."""
    identity = facts.identity.value if facts is not None and facts.identity is not None else None
    full = [host.name, *([identity.hostname] if identity is not None and identity.hostname else [])]
    names = [name.rstrip(".").lower() for name in full]
    return tuple(dict.fromkeys([*names, *map(short_name, names)]))


def _judged(host: Host, jobs: tuple[Allocation, ...], unread: tuple[Unread, ...], *, allow_busy: bool) -> CheckResult:
    who = _who(jobs) if jobs else ascii(unread[0].line) if unread else ""
    if not who:
        verdict, rule, message = Verdict.PASS, FREE, say("allocation.free")
    elif allow_busy:
        verdict, rule, message = Verdict.PASS, ALLOWED, say("allocation.allowed", who=who)
    else:
        verdict, rule = Verdict.SKIPPED, ALLOCATED
        message = say("allocation.allocated", who=who) if jobs else say("allocation.unclear", who=who)
    lines = [job.line for job in jobs] + [line.line for line in unread]
    return CheckResult(
        CHECK,
        node(host.name),
        verdict,
        message,
        rule,
        PROBE_STAGE,
        observed=float(len(lines)),
        expected=0.0,
        unit="jobs",
        evidence=tuple(Evidence("squeue", line) for line in lines[:_SHOWN]),
    )


def _who(jobs: tuple[Allocation, ...]) -> Arg:
    """`job 4711 of alice (RUNNING)` of the first few, and how many more."""
    return few([say("allocation.job", job=job.job, user=job.user, state=job.state) for job in jobs], _SHOWN)
