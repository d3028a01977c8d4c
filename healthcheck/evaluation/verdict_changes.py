"""Verdicts that are not what they were. What nobody measured before or now is neither worse nor better."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.evaluation.change_frames import paired_jobs
from healthcheck.evaluation.comparability import recorded
from healthcheck.model.comparison import Direction, VerdictChange
from healthcheck.model.component import natural
from healthcheck.model.digest import DigestJob, DigestMessage, RunDigest
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold

_KNOWN = {verdict.name: verdict for verdict in (Verdict.PASS, Verdict.DEGRADED, Verdict.FAIL)}
Named = tuple[VerdictChange, frozenset[str]]


def verdict_changes(before: RunDigest, after: RunDigest, calm: frozenset[str]) -> tuple[Named, ...]:
    """Changes of hosts, alike ones together, then of jobs whose hosts do not say so already; with the hosts of each.

    `calm` are hosts with numbers in both runs of which none moved beyond noise.
    """
    old, new = ({host.name: host for host in run.hosts} for run in (before, after))
    alike: dict[tuple[str, str, str, bool], tuple[Message | None, list[str]]] = {}
    told = set()
    for name in sorted(old.keys() & new.keys(), key=natural):
        was, now = old[name].verdict, new[name].verdict
        if was != now:
            reason = _reason(now, new[name].reasons, old[name].reasons)
            key = (was, now, "" if reason is None else reason.english, name in calm)
            alike.setdefault(key, (reason, []))[1].append(name)
            told.add((name, was, now))
    found = [
        (
            VerdictChange(fold(names), len(names), "", "", was, now, direction(was, now), reason, within),
            frozenset(names),
        )
        for (was, now, _, within), (reason, names) in alike.items()
    ]
    found += _of_jobs(before, after, told)
    return tuple(found)


def _of_jobs(before: RunDigest, after: RunDigest, told: set[tuple[str, str, str]]) -> list[Named]:
    old, new = _worst(before), _worst(after)
    found = []
    for key in old.keys() & new.keys():
        (was, earlier), (now, jobs) = old[key], new[key]
        hosts = jobs[0].hosts
        if was == now or (len(hosts) == 1 and (hosts[0], was, now) in told):
            continue
        reason = _reason(now, _of_verdict(jobs, now), _of_verdict(earlier, was))
        stage, collective, _ = key
        way = direction(was, now)
        change = VerdictChange(fold(hosts), len(hosts), stage, collective, was, now, way, reason)
        found.append((change, frozenset(hosts) if len(hosts) == 1 else frozenset()))
    return sorted(found, key=lambda item: (item[0].stage, natural(item[0].hosts)))


def _reason(now: str, after: Sequence[DigestMessage], before: Sequence[DigestMessage]) -> Message | None:
    """What a verdict is now said to be for; where it is PASS and nothing is said, what was said and holds no more."""
    said = recorded(after)
    if said is not None or now != Verdict.PASS.name:
        return said
    gone = recorded(before)
    return None if gone is None else say("compare.why.cleared", reason=gone)


def _of_verdict(jobs: Sequence[DigestJob], verdict: str) -> list[DigestMessage]:
    return [reason for job in jobs if job.verdict == verdict for reason in job.reasons]


def direction(before: str, after: str) -> Direction:
    """Between two verdicts by name; `unknown` where one of them does not know."""
    one, other = _KNOWN.get(before), _KNOWN.get(after)
    if one is None or other is None:
        return Direction.UNKNOWN
    if one == other:
        return Direction.SAME
    return Direction.WORSE if other > one else Direction.BETTER


def _worst(run: RunDigest) -> dict[tuple[str, str, str], tuple[str, Sequence[DigestJob]]]:
    """The worst verdict over the repeats of a job. A job of several nodes is held against its own number of nodes, so
    that its verdict can be compared with that of a job over another number."""
    found: dict[tuple[str, str, str], list[DigestJob]] = {}
    for job in paired_jobs(run):
        who = job.hosts[0] if len(job.hosts) == 1 else ""
        found.setdefault((job.stage, job.collective, who), []).append(job)
    return {key: (max((job.verdict or "" for job in jobs), key=_rank), jobs) for key, jobs in found.items()}


def _rank(verdict: str) -> int:
    return Verdict[verdict] if verdict in Verdict.__members__ else -1
