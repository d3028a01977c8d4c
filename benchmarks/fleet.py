"""A fleet with a past: run directories of many months, made from one true simulated run.

    python -m benchmarks.fleet FOLDER [--nodes 1024] [--runs 24] [--seed 1]

One check-up is simulated; every month is that record with other numbers, dates and versions, written by the encoder
that writes real ones. What happened to whom is decided by the seed and returned, so that a test knows what is true:
a few nodes fade, one flaps, one became slow at a known run and stayed slow, one did not answer for a while, and the
driver of all changed at a known run.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import random
import string
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.__main__ import run as healthcheck
from healthcheck.evaluation.gate import run_verdict
from healthcheck.evaluation.limits import verdict_of_fraction
from healthcheck.evaluation.reading import percent
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.judged import judged_rows, slower_placement
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold
from healthcheck.parsing.record_codec import decode_record, encode_record

PLATFORM = "a100-sxm4-8gpu-4x200"
HEALTHY, BROKEN = 0.7, 0.5
FADES_A_RUN = (0.006, 0.004, 0.002)
SLOW, FLAPS_AT = 0.85, 0.86
NODE_SIGMA, RUN_SIGMA, ROW_SIGMA = 0.004, 0.003, 0.0015
DRIVERS = ("550.90.07", "570.124.06")
DRIVER_GAIN = 1.01
VBIOS = "92.00.9E.00.05"


class Fleet(Struct, frozen=True):
    """What was made and what is true of it. `runs` are ids, oldest first; runs are counted from 0.

    `fading` lose 0.6, 0.4 and 0.2 % a run, of which the last stays PASS; `flapping` is slow in every third run;
    `worse` is slow from run `worse_at` on, where its VBIOS changed too; `away` does not answer in run `away_at` and the
    one after; all drivers change at `driver_at`.
    """

    hosts: tuple[str, ...]
    runs: tuple[str, ...]
    fading: tuple[str, ...]
    flapping: str
    worse: str
    worse_at: int
    away: str
    away_at: int
    driver_at: int


def make_fleet(folder: Path, nodes: int = 1024, runs: int = 24, seed: int = 1, *, simulated: bool = True) -> Fleet:
    """Write `runs` run directories with a record each below `folder`; at least 7 nodes, so that all stories fit.

    `simulated` False takes the mark off the records, for tests of what real runs do.
    """
    if nodes < 7 or runs < 1:
        raise ValueError("a fleet needs at least 7 nodes and one run")
    rng = random.Random(seed)
    base = _true_run(nodes, seed)
    hosts = tuple(host.name for host in base.hosts)
    chosen = rng.sample(hosts, 6)
    fleet = Fleet(
        hosts=hosts,
        runs=tuple(_run_id(month, rng) for month in range(runs)),
        fading=tuple(chosen[:3]),
        flapping=chosen[3],
        worse=chosen[4],
        worse_at=max(1, 2 * runs // 3),
        away=chosen[5],
        away_at=runs // 4,
        driver_at=runs // 2,
    )
    usual = {name: rng.gauss(1.0, NODE_SIGMA) for name in hosts}
    for month, run_id in enumerate(fleet.runs):
        record = _month(base, fleet, month, usual, random.Random(f"{seed} {month}"))
        place = folder / run_id
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        (place / "record.json").write_bytes(encode_record(replace(record, simulated=simulated)))
    return fleet


def _true_run(nodes: int, seed: int) -> RunRecord:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        words = ["run", "full", "--simulate", str(nodes), "--seed", str(seed), "--platform", PLATFORM]
        code = healthcheck([*words, "-o", folder, "-q"])
        paths = list(Path(folder).glob("*/record.json"))
        if code != 0 or len(paths) != 1:
            raise RuntimeError(f"the simulated check-up ended with exit code {code}")
        return decode_record(paths[0].read_bytes(), str(paths[0]))


def _start(month: int) -> datetime:
    """The third of each month, 02:15:03 UTC, from January 2024 on."""
    return datetime(2024 + month // 12, month % 12 + 1, 3, 2, 15, 3, tzinfo=UTC)


def _run_id(month: int, rng: random.Random) -> str:
    return f"{_start(month):%Y%m%dT%H%M%SZ}-{''.join(rng.choices(string.ascii_lowercase, k=4))}"


def _factor(fleet: Fleet, host: str, month: int) -> float:
    """What the story of a host makes of its bandwidth in a month."""
    factor = DRIVER_GAIN if month >= fleet.driver_at else 1.0
    if host in fleet.fading:
        factor *= 1 - FADES_A_RUN[fleet.fading.index(host)] * month
    if host == fleet.flapping and month % 3 == 1:
        factor *= FLAPS_AT
    if host == fleet.worse and month >= fleet.worse_at:
        factor *= SLOW
    return factor


def _month(base: RunRecord, fleet: Fleet, month: int, usual: dict[str, float], rng: random.Random) -> RunRecord:
    away = (fleet.away,) if fleet.away_at <= month <= fleet.away_at + 1 else ()
    start = _start(month)
    alone: dict[str, JobRecord] = {}
    for job in base.jobs:
        if job.stage == "single_node" and job.hosts[0] not in away:
            factor = usual[job.hosts[0]] * rng.gauss(1.0, RUN_SIGMA) * _factor(fleet, job.hosts[0], month)
            alone[job.id] = replace(job, rows=_scaled(job.rows, factor, rng), started_at=_iso(start, 40))
    checks, bad = _checks(base.checks, alone, away)
    members = tuple(name for name in fleet.hosts if name not in bad)
    jobs = [
        replace(job, verdict=_worst(bad.get(job.hosts[0], ())), reasons=_reasons(bad.get(job.hosts[0], ())))
        for job in alone.values()
    ]
    together = {job.id: _together(job, members, rng, start) for job in base.jobs if job.stage == "multi_node"}
    checks = tuple(
        _judged(replace(check, job=together[check.job].id), together[check.job]) if check.job in together else check
        for check in checks
    )
    jobs += together.values()
    hosts = tuple(
        replace(host, verdict=_worst(bad.get(host.name, ())), reasons=_reasons(bad.get(host.name, ())))
        for host in base.hosts
    )
    settings = _settings(base.fleet, fleet, month)
    verdict = run_verdict({host.name: host.verdict for host in hosts}, ())
    return replace(
        base,
        run_id=fleet.runs[month],
        verdict=verdict,
        exit_code=verdict.exit_code,
        started_at=_iso(start),
        finished_at=_iso(start, 780),
        hosts=hosts,
        jobs=tuple(jobs),
        checks=checks,
        healthy_hosts=members,
        excluded_hosts=tuple(sorted(bad)),
        fleet=settings,
        provenance=replace(base.provenance, versions={one.name: _version(one) for one in settings}),
    )


def _checks(
    checks: Iterable[CheckResult], alone: dict[str, JobRecord], away: tuple[str, ...]
) -> tuple[tuple[CheckResult, ...], dict[str, list[CheckResult]]]:
    """The checks of the new numbers, and of each host that is not well the bad ones."""
    found: list[CheckResult] = []
    bad: dict[str, list[CheckResult]] = {}
    for check in checks:
        if check.component.host in away:
            continue
        if check.job in alone:
            check = _judged(check, alone[check.job])
            if check.verdict > Verdict.PASS:
                bad.setdefault(alone[check.job].hosts[0], []).append(check)
        found.append(check)
    for name in away:
        silent = say("host.unreachable", port=22, detail="Connection timed out")
        check = CheckResult("host.reached", node(name), Verdict.INCONCLUSIVE, silent, "connect.unreachable", "probe")
        bad[name] = [check]
        found.append(check)
    return tuple(found), bad


def _judged(check: CheckResult, job: JobRecord) -> CheckResult:
    """The 70/50 rule on the new rows, in the words of the old result."""
    if not check.check.startswith("bandwidth."):
        return check
    bus = check.check == "bandwidth.busbw"
    slower = slower_placement(judged_rows(job.rows), lambda half: half.busbw_gbyte_s if bus else half.algbw_gbyte_s)
    if slower is None or not check.expected:
        return check
    placement, value = slower
    fraction = value / check.expected
    verdict, rule = verdict_of_fraction(fraction, HEALTHY, BROKEN)
    told: dict[str, Arg] = {
        **check.message.args,
        "observed_gbyte_s": round(value, 2),
        "percent": percent(fraction, HEALTHY, BROKEN),
        "placement": placement.replace("_", "-"),
    }
    message = say("bandwidth.of_peak", **told)
    return replace(check, verdict=verdict, rule=rule, observed=value, message=message, rules=())


def _together(job: JobRecord, members: tuple[str, ...], rng: random.Random, start: datetime) -> JobRecord:
    """The job over all healthy nodes."""
    digest = hashlib.sha256(",".join(members).encode()).hexdigest()[:6]
    return replace(
        job,
        id=f"multi_node.{job.collective}.{len(members)}nodes-{digest}",
        hosts=members,
        n_ranks=job.n_ranks // len(job.hosts) * len(members),
        rows=_scaled(job.rows, rng.gauss(1.0, RUN_SIGMA), rng),
        started_at=_iso(start, 120),
    )


def _scaled(rows: Iterable[CollectiveRow], factor: float, rng: random.Random) -> tuple[CollectiveRow, ...]:
    return tuple(
        replace(
            row,
            out_of_place=_half(row.out_of_place, factor * rng.gauss(1.0, ROW_SIGMA)),
            in_place=_half(row.in_place, factor * rng.gauss(1.0, ROW_SIGMA)),
        )
        for row in rows
    )


def _half(half: Placement | None, factor: float) -> Placement | None:
    if half is None or half.time_us is None or half.algbw_gbyte_s is None or half.busbw_gbyte_s is None:
        return half
    return replace(
        half,
        time_us=round(half.time_us / factor, 2),
        algbw_gbyte_s=round(half.algbw_gbyte_s * factor, 2),
        busbw_gbyte_s=round(half.busbw_gbyte_s * factor, 2),
    )


def _settings(settings: tuple[FleetSetting, ...], fleet: Fleet, month: int) -> tuple[FleetSetting, ...]:
    everybody = fold(fleet.hosts)
    others = fold(name for name in fleet.hosts if name != fleet.worse)
    made = []
    for one in settings:
        if one.name in ("driver", "fabric_manager"):
            one = FleetSetting(one.name, (FleetValue(DRIVERS[month >= fleet.driver_at], everybody, len(fleet.hosts)),))
        elif one.name == "vbios" and month >= fleet.worse_at:
            usual = replace(one.values[0], nodes=others, count=len(fleet.hosts) - 1)
            one = FleetSetting(one.name, (usual, FleetValue(VBIOS, fleet.worse, 1)))
        made.append(one)
    return tuple(made)


def _version(setting: FleetSetting) -> str:
    return ", ".join(f"{value.value} ({value.nodes})" for value in setting.values)


def _worst(checks: Iterable[CheckResult]) -> Verdict:
    return max((check.verdict for check in checks), default=Verdict.PASS)


def _reasons(checks: Iterable[CheckResult]) -> tuple[Message, ...]:
    return tuple(check.message for check in checks)


def _iso(start: datetime, seconds: int = 0) -> str:
    return f"{start + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def main() -> int:
    """Make one and say what was planted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fleet = make_fleet(options.folder, options.nodes, options.runs, options.seed)
    print(f"{len(fleet.runs)} runs of {len(fleet.hosts)} nodes in {options.folder}")
    print(f"fading {', '.join(fleet.fading)}; flapping {fleet.flapping}; away {fleet.away} in run {fleet.away_at}")
    print(f"worse {fleet.worse} since run {fleet.runs[fleet.worse_at]}; driver at {fleet.runs[fleet.driver_at]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
