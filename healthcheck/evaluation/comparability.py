"""What of a run has no counterpart in the other, and why: nothing unmeasured is called fine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from healthcheck.evaluation.change_frames import has_numbers, measured_cells, paired_jobs
from healthcheck.model.comparison import Absent
from healthcheck.model.component import natural
from healthcheck.model.digest import DigestHost, DigestJob, DigestMessage, RunDigest
from healthcheck.model.message import Message, say
from healthcheck.model.units import Bytes
from healthcheck.parsing.nodeset import fold

Jobs = Mapping[tuple[str, str], Sequence[DigestJob]]


def refusals(before: RunDigest, after: RunDigest) -> tuple[Message, ...]:
    """Why no number of one run may be held against one of the other."""
    found = []
    if before.simulated != after.simulated:
        sides = ("simulated", "real") if before.simulated else ("real", "simulated")
        found.append(say("compare.other.simulated", before=sides[0], after=sides[1]))
    one, other = before.platform, after.platform
    if one is not None and other is not None and one.name != other.name:
        found.append(say("compare.other.platform", before=one.name, after=other.name))
    return tuple(found)


def gaps(before: RunDigest, after: RunDigest) -> tuple[Message, ...]:
    """What was measured in BEFORE and has no counterpart in AFTER, except single nodes (see `absent`)."""
    found = [
        say("compare.other.state", side=side, run_id=run.run_id, state=run.state)
        for side, run in (("BEFORE", before), ("AFTER", after))
        if run.state != "complete"
    ]
    old, new = _measured(before), _measured(after)
    stages = {stage for stage, _ in new}
    for stage in dict.fromkeys(stage for stage, _ in old):
        if stage not in stages:
            found.append(_no_stage(stage, after))
    for key in old:
        if key in new:
            found += _other(key, old[key], new[key])
        elif key[0] in stages:
            found.append(say("compare.other.collective", stage=key[0], collective=key[1]))
    if not old:
        found.append(say("compare.other.nothing", run_id=before.run_id))
    return tuple(found)


def _no_stage(stage: str, after: RunDigest) -> Message:
    ran = [job for job in paired_jobs(after) if job.stage == stage]
    if ran:
        why = recorded([reason for job in ran for reason in job.reasons]) or say("compare.why.not_recorded")
        return say("compare.other.stage_without_numbers", stage=stage, jobs=len(ran), why=why)
    if after.provenance.only:
        return say("compare.other.stage_not_asked", stage=stage, only=after.provenance.only)
    if stage not in {found.name for found in after.playbook.stages}:
        return say("compare.other.stage_not_in_playbook", stage=stage, playbook=after.playbook.name)
    return say("compare.other.stage_not_run", stage=stage)


def _other(key: tuple[str, str], before: Sequence[DigestJob], after: Sequence[DigestJob]) -> Iterator[Message]:
    """Numbers of nodes, of ranks, sizes and placements of one stage and collective that AFTER does not have."""
    stage, collective = key
    counts = {len(job.hosts) for job in after}
    for nodes in sorted({len(job.hosts) for job in before} - counts):
        now = ", ".join(map(str, sorted(counts)))
        yield say("compare.other.node_count", stage=stage, collective=collective, before=nodes, after=now)
    ranks = _ranks(after)
    differing: dict[tuple[int, int], list[str]] = {}
    for who, n in _ranks(before).items():
        if who in ranks and ranks[who] != n:
            differing.setdefault((n, ranks[who]), []).extend(who)
    for (one, other), hosts in differing.items():
        named = fold(hosts) if len(hosts) > 1 else hosts[0]
        yield say("compare.other.ranks", stage=stage, collective=collective, hosts=named, before=one, after=other)
    old, new = _cells(before), _cells(after)
    gone = sorted({size for size, _ in old} - {size for size, _ in new})
    if gone:
        sizes = ", ".join(str(Bytes(size)) for size in gone)
        yield say("compare.other.sizes", stage=stage, collective=collective, n=len(gone), sizes=sizes)
    for placement in sorted({name for _, name in old} - {name for _, name in new}):
        yield say("compare.other.placement", stage=stage, collective=collective, placement=placement)


def _ranks(jobs: Sequence[DigestJob]) -> dict[tuple[str, ...], int]:
    """Ranks by who took part: the node, or how many there were."""
    return {job.hosts if len(job.hosts) == 1 else (f"{len(job.hosts)} nodes",): job.n_ranks for job in jobs}


def _cells(jobs: Sequence[DigestJob]) -> set[tuple[int, str]]:
    return {(size, placement) for job in jobs for size, placement, _ in measured_cells(job)}


def _measured(run: RunDigest) -> Jobs:
    """Jobs with numbers, by stage and collective, in the order of the run."""
    found: dict[tuple[str, str], list[DigestJob]] = {}
    for job in paired_jobs(run):
        if has_numbers(job):
            found.setdefault((job.stage, job.collective), []).append(job)
    return found


def replaced(before: RunDigest, after: RunDigest) -> tuple[Message, ...]:
    """Jobs over as many nodes as before, but not over the same ones: compared, and said."""
    found = []
    new = {(key, len(job.hosts)): job for key, jobs in _measured(after).items() for job in jobs if len(job.hosts) > 1}
    for key, jobs in _measured(before).items():
        for nodes in sorted({len(job.hosts) for job in jobs if len(job.hosts) > 1}):
            old, now = next(job for job in jobs if len(job.hosts) == nodes), new.get((key, nodes))
            if now is not None and set(now.hosts) != set(old.hosts):
                gone, come = set(old.hosts) - set(now.hosts), set(now.hosts) - set(old.hosts)
                found.append(say("compare.note.replaced", stage=key[0], nodes=nodes, gone=fold(gone), come=fold(come)))
    return tuple({message.english: message for message in found}.values())


def absent(from_run: RunDigest, in_run: RunDigest) -> tuple[Absent, ...]:
    """Nodes with numbers of their own in `in_run` and none in `from_run`, by stages and by what that run says of them.

    Stages that `from_run` did not measure at all are not repeated for each node.
    """
    old, new = _alone(in_run), _alone(from_run)
    stages = {stage for of_host in new.values() for stage in of_host}
    hosts = {host.name: host for host in from_run.hosts}
    attempts: dict[tuple[str, str], DigestJob] = {}
    for job in paired_jobs(from_run):
        if len(job.hosts) == 1:
            attempts.setdefault((job.hosts[0], job.stage), job)
    found: dict[tuple[tuple[str, ...], str], tuple[Message, list[str]]] = {}
    for name in sorted(old, key=natural):
        gone = tuple(stage for stage in old[name] if stage in stages and stage not in new.get(name, ()))
        if gone:
            reason = _why(hosts.get(name), attempts.get((name, gone[0])))
            found.setdefault((gone, reason.english), (reason, []))[1].append(name)
    return tuple(Absent(fold(names), len(names), gone, reason) for (gone, _), (reason, names) in found.items())


def _alone(run: RunDigest) -> dict[str, tuple[str, ...]]:
    """The stages in which a node was measured by itself."""
    found: dict[str, dict[str, None]] = {}
    for job in paired_jobs(run):
        if len(job.hosts) == 1 and has_numbers(job):
            found.setdefault(job.hosts[0], {})[job.stage] = None
    return {name: tuple(stages) for name, stages in found.items()}


def _why(host: DigestHost | None, attempt: DigestJob | None) -> Message:
    if host is None:
        return say("compare.why.not_named")
    reasons: tuple[DigestMessage, ...] = (*(attempt.reasons if attempt is not None else ()), *host.reasons)
    return recorded(reasons) or say("compare.why.not_recorded")


def recorded(reasons: Sequence[DigestMessage]) -> Message | None:
    """The first thing a record says against somebody, as it was stored; None where it says nothing."""
    first = next((reason for reason in reasons if reason.message_en), None)
    return None if first is None else first.message or say("compare.why.recorded", text=first.message_en)
