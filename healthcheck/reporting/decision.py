"""The first sentence of every report: may I start, and on which nodes?"""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.finding import Finding
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict


class Decision(Struct, frozen=True):
    """`sentence` for the operator; `offers_list`: the healthy set may be offered as a place to start."""

    sentence: Message
    offers_list: bool


def decide(record: RunRecord) -> Decision:
    """The decision a record supports. It reads the proven set of the record and never makes one up."""
    ready, total = len(record.healthy_hosts), len(record.hosts)
    if ready == 0:
        return Decision(_nothing_proven(record), False)
    if ready < total:
        if ready == 1:
            return Decision(say("report.decision.subset_one", total=total, name=record.healthy_hosts[0]), True)
        return Decision(say("report.decision.subset", total=total, ready=ready), True)
    if record.verdict is Verdict.PASS:
        if total == 1:
            return Decision(say("report.decision.all_one", name=record.healthy_hosts[0]), True)
        return Decision(say("report.decision.all", total=total), True)
    if record.verdict is Verdict.DEGRADED:
        return Decision(say("report.decision.all_degraded", total=total), True)
    return Decision(say("report.decision.all_held", verdict=record.verdict.name), False)


def not_asked_together(record: RunRecord) -> str:
    """What was asked for instead of a proof: `looked_only`, `looked_bad` (not all well), `alone_only`; else empty."""
    if record.state == "complete" and record.provenance.only == PROBE_STAGE:
        return "looked_only" if record.verdict in (Verdict.PASS, Verdict.DEGRADED) else "looked_bad"
    good = record.state == "complete" and record.verdict in (Verdict.PASS, Verdict.DEGRADED)
    if not good or record.healthy_hosts or any(job.stage != "single_node" for job in record.jobs):
        return ""
    return "alone_only" if record.jobs else "looked_only"


def _nothing_proven(record: RunRecord) -> Message:
    """Why there is no list: somebody who asked for looks only, or for each node alone, should read just that."""
    kind, total = not_asked_together(record), len(record.hosts)
    if kind == "looked_only":
        clear = record.verdict is Verdict.PASS
        return say("report.decision.looked_only" if clear else "report.decision.looked_degraded", total=total)
    if kind == "looked_bad":
        bad = sum(host.verdict > Verdict.PASS for host in record.hosts)
        return say("report.decision.looked_bad", bad=bad, total=total)
    return say("report.decision.alone_only", total=total) if kind == "alone_only" else say("report.decision.none")


def excluded(record: RunRecord) -> tuple[str, ...]:
    """Hosts not to start on, in the order they were named: those of the record, and whoever a proof leaves out."""
    healthy = set(record.healthy_hosts)
    named = tuple(host.name for host in record.hosts) if healthy else ()
    return tuple(dict.fromkeys(name for name in (*named, *record.excluded_hosts) if name not in healthy))


def urgent_first(record: RunRecord) -> tuple[Finding, ...]:
    """FAIL, INCONCLUSIVE, DEGRADED, PASS, SKIPPED; within one verdict what holds up most nodes first, then in the order
    of the record."""
    held = held_up(record)
    return tuple(sorted(record.findings, key=lambda finding: (-finding.verdict, -held.get(finding.job, 1))))


def held_up(record: RunRecord) -> dict[str, int]:
    """How many nodes a job made wait for its slowest part, by its id."""
    return {job.id: len(job.hosts) for job in record.jobs}


def slots_of(record: RunRecord) -> dict[str, int]:
    """GPUs per host: as written in the hostfile, else of the platform, else as its jobs used them. Never guessed."""
    slots: dict[str, int] = {}
    for job in record.jobs:
        if job.hosts and job.n_ranks and job.n_ranks % len(job.hosts) == 0:
            slots.update(dict.fromkeys(job.hosts, job.n_ranks // len(job.hosts)))
    if record.platform is not None:
        slots.update({host.name: record.platform.gpu.count for host in record.hosts})
    slots.update({host.name: host.slots for host in record.inventory if host.slots is not None})
    return slots
