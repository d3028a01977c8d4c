"""The first sentence of every report: may I start, and on which nodes?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.model.finding import CheckResult, Finding
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.counted import any_of, counted
from healthcheck.reporting.joining import in_a_row
from healthcheck.reporting.names import folded

LONGEST_NAMES = 60
REACHED = "host.reached"
"""The check that says whether a node answered at all."""


class Decision(Struct, frozen=True):
    """`sentence` for the operator; `offers_list`: the healthy set may be offered as a place to start."""

    sentence: Message
    offers_list: bool


def decide(record: RunRecord) -> Decision:
    """The decision a record supports. It reads the proven set of the record and never makes one up."""
    ready, total = len(record.healthy_hosts), len(record.hosts)
    left = left_out(record)
    if left:
        return _of_a_proof(record, left)
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
        slow = any(
            job.verdict is not Verdict.PASS for job in record.jobs if len(job.hosts) > 1 and job.verdict is not None
        )
        return Decision(say("report.decision.all_degraded" if slow else "report.decision.all_but", total=total), True)
    if record.proven_together and record.proven_together != tuple(host.name for host in record.hosts):
        # A search proved them in an order that avoids what is slow between them: no node has to leave for it.
        return Decision(say("report.decision.all_ordered", total=total, verdict=record.verdict.name), True)
    return Decision(say("report.decision.all_held", verdict=record.verdict.name), False)


def held(record: RunRecord) -> bool:
    """Whether all nodes proved together and nobody should start all the same."""
    return len(record.healthy_hosts) == len(record.hosts) > 0 and not decide(record).offers_list


def left_out(record: RunRecord) -> tuple[tuple[Verdict, tuple[str, ...]], ...]:
    """Hosts that were proven together with the others and are left out for what else was found, worst first."""
    ready, verdicts = set(record.healthy_hosts), {host.name: host.verdict for host in record.hosts}
    found: dict[Verdict, list[str]] = {}
    for name in record.proven_together if len(record.proven_together) > 1 else ():
        if name not in ready and verdicts.get(name, Verdict.PASS) is not Verdict.PASS:
            found.setdefault(verdicts[name], []).append(name)
    return tuple((verdict, tuple(found[verdict])) for verdict in sorted(found, reverse=True))


def left_out_told(left: Iterable[tuple[Verdict, Sequence[str]]]) -> str:
    """`node07 is DEGRADED`; of many names only how many."""
    told = (say("report.left_out", names=named(names), n=len(names), verdict=verdict.name) for verdict, names in left)
    return in_a_row(told, "text.comma")


def named(hosts: Sequence[str]) -> str:
    """The hosts by name, folded; only how many they are where that would fill a line."""
    names = folded(hosts)
    return names if len(names) <= LONGEST_NAMES else str(say("report.who.nodes", n=len(hosts)))


def _of_a_proof(record: RunRecord, left: Sequence[tuple[Verdict, Sequence[str]]]) -> Decision:
    ready, total, together = len(record.healthy_hosts), len(record.hosts), len(record.proven_together)
    who = left_out_told(left)
    if ready == 0:
        return Decision(say("report.decision.none_of_proof", together=together, left=who), False)
    told = say("report.decision.subset_of_proof", total=total, ready=ready, together=together, left=who)
    return Decision(told, True)


def not_asked_together(record: RunRecord) -> str:
    """What was asked for instead of a proof: `looked_only` or `looked_bad` (not all well), `alone_only` or `alone_bad`;
    else empty."""
    if record.state == "complete" and record.provenance.only == PROBE_STAGE:
        return "looked_only" if record.verdict in (Verdict.PASS, Verdict.DEGRADED) else "looked_bad"
    alone = record.provenance.only == "single_node" and len(record.hosts) > 1
    if record.state == "complete" and alone and record.jobs and record.verdict not in (Verdict.PASS, Verdict.DEGRADED):
        return "alone_bad"
    good = record.state == "complete" and record.verdict in (Verdict.PASS, Verdict.DEGRADED)
    if not good or record.healthy_hosts or any(job.stage != "single_node" for job in record.jobs):
        return ""
    return "alone_only" if record.jobs else "looked_only"


def _nothing_proven(record: RunRecord) -> Message:
    """Why there is no list: somebody who asked for looks only, or for each node alone, should read just that."""
    kind, total = not_asked_together(record), len(record.hosts)
    if kind == "looked_only":
        if record.verdict is Verdict.PASS:
            return say("report.decision.looked_only", who=any_of(total))
        return say("report.decision.looked_degraded")
    if kind == "looked_bad":
        return _looked_bad(record)
    if kind == "alone_only":
        return say("report.decision.alone_only", total=total)
    if kind == "alone_bad":
        bad = sum(host.verdict > Verdict.PASS for host in record.hosts)
        return say("report.decision.alone_bad", who=counted(bad, total))
    return say("report.decision.none" if record.state == "complete" else "report.decision.none_ended")


def _looked_bad(record: RunRecord) -> Message:
    """Who has something against it, and who did not answer: of those nothing is known."""
    total, silent = len(record.hosts), {check.component.host for check in record.checks if _unanswered(check)}
    bad = sum(host.verdict > Verdict.PASS and host.name not in silent for host in record.hosts)
    if not silent:
        return say("report.decision.looked_bad", who=counted(bad, total))
    no_answer = counted(len(silent), total)
    if not bad:
        return say("report.decision.looked_silent", who=no_answer)
    return say("report.decision.looked_both", who=counted(bad, total), silent=no_answer)


def _unanswered(check: CheckResult) -> bool:
    return check.check == REACHED and check.verdict > Verdict.PASS


def excluded(record: RunRecord) -> tuple[str, ...]:
    """Hosts not to start on, in the order they were named: those of the record, and whoever a proof leaves out."""
    healthy = set(record.healthy_hosts)
    named = tuple(host.name for host in record.hosts) if healthy else ()
    return tuple(dict.fromkeys(name for name in (*named, *record.excluded_hosts) if name not in healthy))


def excluded_though_pass(record: RunRecord) -> Message | None:
    """Why hosts that are PASS are not to be started on: well by themselves, not proven together; else None."""
    passed = {host.name for host in record.hosts if host.verdict is Verdict.PASS}
    names = [name for name in excluded(record) if name in passed]
    return say("report.excluded_pass", names=named(names)) if names else None


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
