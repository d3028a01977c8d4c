"""Which nodes have a past worth telling: bad now and since when, flapping, slowly losing bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from healthcheck.evaluation.fleet_changes import SettingChange, changes
from healthcheck.evaluation.trend import fall, first_bad, flaps, is_flapping
from healthcheck.model.history import PastRun
from healthcheck.model.history_story import BadNow, Changed, Falling, Flapping
from healthcheck.parsing.run_history import instant
from healthcheck.reporting.frames import Kind, against_fleet
from healthcheck.reporting.names import folded

if TYPE_CHECKING:
    import pandas as pd

SECONDS_A_DAY = 86_400


def days(runs: Sequence[PastRun]) -> list[float]:
    """When each run began, in days since the first; one without a readable time began with the one before it."""
    found: list[float] = []
    for run in runs:
        passed = (instant(run.started_at) - instant(runs[0].started_at)).total_seconds() / SECONDS_A_DAY
        found.append(max(passed, found[-1] if found else 0.0))
    return found


def told(found: Sequence[SettingChange]) -> tuple[Changed, ...]:
    """Changes with their nodes folded."""
    return tuple(Changed(one.name, one.before, one.after, folded(one.hosts), len(one.hosts)) for one in found)


def bad_now(runs: Sequence[PastRun], said: pd.DataFrame) -> tuple[BadNow, ...]:
    """Every node whose last verdict is not PASS; `said` are `frames.verdicts` of the runs. The latest to fall first."""
    found = []
    for host, rows in _by_host(said, "verdict", "rule", "reason", "message").items():
        place = first_bad([row[1] for row in rows])
        if place is None:
            continue
        at, _, rule, reason, message = rows[place]
        found.append(
            BadNow(
                host=host,
                verdict=rows[-1][1],
                run_id=runs[at].run_id,
                started_at=runs[at].started_at,
                runs=len(rows) - place,
                rule=rule,
                reason=reason,
                message=message,
                last_run_id=runs[rows[-1][0]].run_id,
                was_pass=place > 0,
                changed=told(changes(runs[rows[place - 1][0]], runs[at], host)) if place else (),
            )
        )
    return tuple(sorted(found, key=lambda bad: (bad.runs, bad.host)))


def flapping(said: pd.DataFrame) -> tuple[Flapping, ...]:
    """Every node that lost PASS and got it back more than once, the most restless first."""
    found = []
    for host, rows in _by_host(said, "verdict").items():
        words = [verdict for _, verdict in rows]
        if is_flapping(words):
            found.append(Flapping(host, flaps(words), words[-1]))
    return tuple(sorted(found, key=lambda one: (-one.times, one.host)))


def falling(runs: Sequence[PastRun], kind: Kind, frame: pd.DataFrame, host: str | None = None) -> tuple[Falling, ...]:
    """Every node whose own job loses bandwidth beyond noise, after the fleet where its median does; or only `host`.

    Nodes are held against the median of their run: what all of them lose together, no single one has lost.
    """
    alone = against_fleet(frame[frame["nodes"] == 1])
    if host is not None:
        alone = alone[alone["host"] == host]
    when = days(runs)
    rows = _by_host(alone, "relative", "gbyte_s")
    found = [one for name, read in rows.items() for one in _fall(runs, when, kind, name, read)]
    fleet: list[Falling] = []
    if host is None:
        middle = frame.groupby("run")["gbyte_s"].median()
        fleet = _fall(runs, when, kind, "", [(int(str(place)), value, value) for place, value in middle.items()])
    return (*fleet, *sorted(found, key=lambda one: (-one.loss_percent, one.host)))


def _by_host(frame: pd.DataFrame, *columns: str) -> dict[str, list[tuple[Any, ...]]]:
    """(run, *columns) of each host, in the order of runs: plain values, a thousand small frames are slow."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    read = (frame[name].tolist() for name in ("run", *columns))
    for host, *values in zip(frame["host"], *read, strict=True):
        found.setdefault(str(host), []).append(tuple(values))
    return found


def _fall(
    runs: Sequence[PastRun], when: Sequence[float], kind: Kind, host: str, rows: Sequence[tuple[int, float, float]]
) -> list[Falling]:
    places = [place for place, _, _ in rows]
    found = fall([when[place] for place in places], [relative for _, relative, _ in rows])
    if found is None:
        return []
    values = {place: value for place, _, value in rows}
    return [
        Falling(
            host=host,
            stage=kind.stage,
            collective=kind.collective,
            loss_percent=round(100 * found.loss, 1),
            noise_percent=round(100 * found.noise, 1),
            runs=len(places),
            run_id="" if found.step_at is None else runs[places[found.step_at]].run_id,
            values=tuple(values.get(place) for place in range(len(runs))),
        )
    ]
