"""Which rail of a confirmed node is slow: each by itself, with a partner that is proven good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from healthcheck.diagnosis.localise import View
from healthcheck.diagnosis.rail_devices import rail_devices
from healthcheck.diagnosis.rails_of import SlowRails, slow_rails
from healthcheck.model.command import CollectiveJob
from healthcheck.model.message import say
from healthcheck.model.search import PairReading, Purpose, Standing
from healthcheck.planning.rails import PairWay, rail_job
from healthcheck.ports import Event
from healthcheck.workflows.search_plays import STAGE, Plays
from healthcheck.workflows.search_round import Ended

MOST_NAMED = 16
"""Of so many confirmed nodes the rails are looked at; where more are sick, it is hardly one card each."""
LEAST_CONTROLS = 2


def name_rails(
    plays: Plays, view: View, way: PairWay, good: Sequence[str]
) -> tuple[tuple[SlowRails, ...], dict[str, tuple[str, ...]]]:
    """The rails of each confirmed node, and the HCA of each of its rails. `good` hosts may serve as partners.

    One GPU a node at a time, over the HCA of that rail: all nodes at once, their rails one after the other. Pairs of
    good nodes are measured beside them, for what a healthy rail reads.
    """
    patients, controls = _who_with_whom(plays, view, good)
    pairs = (*patients, *controls)
    count = min((plays.rounds.hosts[host].slots or 1 for pair in pairs for host in pair), default=1)
    if not patients or count < 2:
        return (), {}
    devices = {host: rail_devices(plays.topology(host)) for pair in pairs for host in pair}
    jobs = {(a, b): [_job(plays, a, b, rail, devices, way) for rail in range(count)] for a, b in pairs}
    plays.engine.observer.event(Event(STAGE, say("search.rails", nodes=len(patients), jobs=count * len(jobs))))
    readings = list(_readings(jobs, plays.rounds.run([job for own in jobs.values() for job in own])))
    if not any((reading.a, reading.b) in controls for reading in readings):
        # Nobody to hold them against: the rails of one node against the best of them.
        readings += [one for reading in readings for one in (_at_its_best(reading),) * 2]
    partners = {partner for _, partner in patients}
    found = [rails for host, _ in patients if (rails := slow_rails(host, readings, partners)) is not None]
    return tuple(_seen_twice(found, readings, partners, jobs, plays)), devices


def _who_with_whom(
    plays: Plays, view: View, good: Sequence[str]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(each confirmed node with a good partner, pairs of good nodes as controls), as far as there are good ones."""
    gone = plays.gone()
    named = [host for host in view.standing(Standing.CONFIRMED) if host not in gone][:MOST_NAMED]
    free = [host for host in good if host not in gone and host not in named]
    patients = list(zip(named, free, strict=False))
    rest = free[len(patients) :]
    controls = list(zip(rest[::2], rest[1::2], strict=False))
    return patients, controls[: max(LEAST_CONTROLS, len(patients) + 1)]


def _readings(
    jobs: Mapping[tuple[str, str], Sequence[CollectiveJob]], ended: Mapping[str, Ended]
) -> Iterator[PairReading]:
    """What the rails of each pair read; nothing of a pair of which one job told nothing."""
    for (a, b), own in jobs.items():
        told = [result for job in own if (result := ended.get(job.id)) is not None and result.tells]
        if len(told) == len(own):
            values = tuple(result.measured_gbyte_s or 0.0 for result in told)
            yield PairReading(0, a, b, Purpose.RETEST, min(values), values)


def _seen_twice(
    found: Sequence[SlowRails],
    readings: Sequence[PairReading],
    partners: set[str],
    jobs: Mapping[tuple[str, str], Sequence[CollectiveJob]],
    plays: Plays,
) -> Iterator[SlowRails]:
    """Rails that were slow are measured once more, and the better reading counts: a single dip is not the rail's."""
    again = {
        (reading.a, rail): replace(jobs[reading.a, reading.b][rail], id=f"{jobs[reading.a, reading.b][rail].id}-again")
        for rails in found
        if not rails.node_wide
        for reading in readings
        if reading.a == rails.host
        for rail in rails.rails
    }
    ended = plays.rounds.run(list(again.values()))
    better = []
    for reading in readings:
        values = list(reading.rails)
        for rail in range(len(values)):
            job = again.get((reading.a, rail))
            result = ended.get(job.id) if job is not None else None
            if result is not None and result.tells:
                values[rail] = max(values[rail], result.measured_gbyte_s or 0.0)
        better.append(replace(reading, busbw_gbyte_s=min(values), rails=tuple(values)))
    for rails in found:
        yield (slow_rails(rails.host, better, partners) if not rails.node_wide else None) or rails


def _at_its_best(reading: PairReading) -> PairReading:
    best = max(reading.rails)
    return PairReading(0, "", "", Purpose.CONTROL, best, (best,) * len(reading.rails))


def _job(plays: Plays, a: str, b: str, rail: int, devices: dict[str, tuple[str, ...]], way: PairWay) -> CollectiveJob:
    """NCCL_IB_HCA holds for both nodes, so it is set only where both call the card of that rail the same."""
    names = {devices[host][rail] if rail < len(devices[host]) else "" for host in (a, b)}
    device = names.pop() if len(names) == 1 else ""
    hosts = plays.rounds.hosts
    return rail_job(hosts[a], hosts[b], rail, device or None, plays.rounds.launch_host((a, b)), way)
