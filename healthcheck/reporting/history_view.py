"""The past, prepared for telling: frames to the story of the fleet, or of one host."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from healthcheck.evaluation.fleet_changes import changes
from healthcheck.evaluation.trend import flaps, is_flapping
from healthcheck.model.history import PastRun
from healthcheck.model.history_story import Falling, FleetPast, HostLine, HostPast, Lowest, Middle, RunLine
from healthcheck.parsing.run_history import only_hosts
from healthcheck.reporting.frames import Kind, kinds, readings, verdicts
from healthcheck.reporting.history_nodes import bad_now, falling, flapping, told

if TYPE_CHECKING:
    import pandas as pd


def fleet_past(
    runs: Sequence[PastRun], stage: str | None, collective: str | None, left_out_simulated: int
) -> FleetPast:
    """The story of the fleet over `runs`, which are not empty and oldest first."""
    medians: list[dict[int, Middle]] = []
    losses: list[Falling] = []
    for kind in kinds(runs, stage, collective):
        frame = readings(runs, kind)
        losses += falling(runs, kind, frame)
        medians.append(_middles(kind, frame))
    said = verdicts(runs)
    return FleetPast(
        simulated=runs[0].simulated,
        left_out_simulated=left_out_simulated,
        runs=tuple(
            RunLine(
                run_id=run.run_id,
                started_at=run.started_at,
                state=run.state,
                verdict=run.verdict,
                hosts=len(run.hosts),
                passed=sum(host.verdict == "PASS" for host in run.hosts),
                medians=tuple(found[place] for found in medians if place in found),
                changed=told(changes(runs[place - 1], run)) if place else (),
            )
            for place, run in enumerate(runs)
        ),
        bad_now=bad_now(runs, said),
        flapping=flapping(said),
        falling=tuple(losses),
    )


def _middles(kind: Kind, frame: pd.DataFrame) -> dict[int, Middle]:
    """By place of the run: the median of its jobs, and the lowest node where more than one was measured alone."""
    by_run: dict[int, list[tuple[float, str]]] = {}
    for place, host, value in zip(frame["run"], frame["host"], frame["gbyte_s"], strict=True):
        by_run.setdefault(int(place), []).append((float(value), str(host)))
    found = {}
    for place, read in by_run.items():
        middle = median(value for value, _ in read)
        value, host = min(read)
        lowest = Lowest(host, value, _percent(value, middle)) if host and len(read) > 1 else None
        found[place] = Middle(kind.stage, kind.collective, kind.size_bytes, round(middle, 4), lowest)
    return found


def host_past(
    runs: Sequence[PastRun], host: str, stage: str | None, collective: str | None, left_out_simulated: int
) -> HostPast:
    """The story of one host over `runs`, oldest first; runs in which it was not named are none of its own.

    Of the jobs it took part in those that most likely tell about itself: its own before those with others.
    """
    its_own = [only_hosts(run, {host}) for run in runs]
    kind = next(iter(kinds(its_own, stage, collective)), None)
    values: dict[int, tuple[float, int]] = {}
    losses: tuple[Falling, ...] = ()
    if kind is not None:
        frame = readings(its_own, kind)
        values = {
            int(place): (float(value), int(nodes))
            for place, value, nodes in zip(frame["run"], frame["gbyte_s"], frame["nodes"], strict=True)
        }
        if set(frame["nodes"]) == {1}:
            losses = falling(runs, kind, readings(runs, kind), host)
    middle = median(value for value, _ in values.values()) if values else None
    said = verdicts(its_own)
    words = [str(word) for word in said["verdict"]]
    return HostPast(
        host=host,
        simulated=any(run.simulated for run in runs),
        left_out_simulated=left_out_simulated,
        stage="" if kind is None else kind.stage,
        collective="" if kind is None else kind.collective,
        size_bytes=0 if kind is None else kind.size_bytes,
        median_gbyte_s=middle,
        runs=tuple(_line(run, values.get(place), middle) for place, run in enumerate(its_own) if run.hosts),
        bad_now=next(iter(bad_now(its_own, said)), None),
        flaps=flaps(words),
        flapping=is_flapping(words),
        falling=next(iter(losses), None),
    )


def _line(run: PastRun, read: tuple[float, int] | None, middle: float | None) -> HostLine:
    value, nodes = (None, 1) if read is None else read
    return HostLine(
        run_id=run.run_id,
        started_at=run.started_at,
        state=run.state,
        verdict=run.hosts[0].verdict,
        busbw_gbyte_s=value,
        change_percent=None if value is None or middle is None else _percent(value, middle),
        rule=run.hosts[0].rule,
        reason=run.hosts[0].reason,
        nodes=nodes,
        message=run.hosts[0].message,
    )


def _percent(value: float, middle: float) -> float:
    return round(100 * (value / middle - 1), 1)
