"""What is usual, from runs that measured it: medians and spreads of healthy runs, and why others are refused."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.baseline import LEAST_RUNS, Baseline, Usual
from healthcheck.model.digest import DigestJob, DigestPlaybook, RunDigest
from healthcheck.model.playbook import BENCHMARK_STAGES, Playbook
from healthcheck.parsing.baseline import hosts_of
from healthcheck.parsing.nodeset import fold

# A median absolute deviation times this is the standard deviation where the values are distributed normally.
MAD_TO_DEVIATION = 1.4826
# What NCCL writes of itself changes no bandwidth.
_LOGGING = "NCCL_DEBUG"
# Of the names of nodes in one sentence.
_LONGEST = 80

Key = tuple[str, str, str, int, int, str]
"""stage, collective, folded hosts, ranks, size in bytes, placement."""


class LeftOut(Struct, frozen=True):
    """Hosts whose job was measured in `n` runs, which is too few to say what is usual of it."""

    stage: str
    hosts: str
    n: int


class Made(Struct, frozen=True):
    """A baseline, what is not in it, and the hosts that are in it although some of the runs did not measure them.

    `scattered` was measured often enough and differs so much from run to run that it is no limit (`Usual.is_limit`).
    """

    baseline: Baseline
    left_out: tuple[LeftOut, ...] = ()
    not_always: tuple[LeftOut, ...] = ()
    scattered: tuple[Usual, ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Everybody it says something about, sorted."""
        return tuple(sorted({host for each in self.baseline.usual for host in hosts_of(each)}))


def medians(jobs: Iterable[DigestJob]) -> dict[Key, float]:
    """Bus bandwidth of the jobs of one run in GB/s, one value a size and placement: the median over its repeats."""
    values: dict[Key, list[float]] = {}
    folded: dict[tuple[str, ...], str] = {}
    for job in jobs:
        if job.stage not in BENCHMARK_STAGES:
            continue
        hosts = folded.get(job.hosts) or folded.setdefault(job.hosts, fold(job.hosts))
        for row in job.rows:
            for placement, half in row.placements:
                if half.busbw_gbyte_s is not None and half.busbw_gbyte_s > 0:
                    key = (job.stage, job.collective, hosts, job.n_ranks, row.size_bytes, placement)
                    values.setdefault(key, []).append(half.busbw_gbyte_s)
    return {key: statistics.median(found) for key, found in values.items()}


def usual(runs: Iterable[Mapping[Key, float]], least: int = LEAST_RUNS) -> tuple[Usual, ...]:
    """What was measured in at least `least` runs, sorted by what it is about. One value a run."""
    values: dict[Key, list[float]] = {}
    for run in runs:
        for key, value in run.items():
            values.setdefault(key, []).append(value)
    return tuple(usual_of(key, found) for key, found in sorted(values.items()) if len(found) >= least)


def usual_of(key: Key, values: Sequence[float]) -> Usual:
    """Median and spread (1.4826 x median absolute deviation) of one value a run."""
    middle = statistics.median(values)
    spread = MAD_TO_DEVIATION * statistics.median(abs(value - middle) for value in values)
    return Usual(*key, median_gbyte_s=round(middle, 4), spread_gbyte_s=round(spread, 4), n=len(values))


def baseline_of(runs: Sequence[RunDigest], created_at: str, tool: str, fleet: str = "") -> Made:
    """The limits that healthy runs give; InputError naming the run and the reason where they give none."""
    _refuse_too_few(runs)
    for run in runs:
        _refuse_sick(run)
    _refuse_different(runs)
    measured = [medians(run.jobs) for run in runs]
    found = usual(measured)
    entries = tuple(entry for entry in found if entry.is_limit)
    scattered = tuple(entry for entry in found if not entry.is_limit)
    counts = _runs_by_hosts(measured)
    enough = {(entry.stage, entry.hosts) for entry in found}
    left_out = {about: n for about, n in counts.items() if about not in enough}
    partly = {about: n for about, n in counts.items() if about in enough and n < len(runs)}
    if scattered and not entries:
        hosts = _some(sorted({host for entry in scattered for host in hosts_of(entry)}))
        raise InputError("RUN", f"{hosts} read so differently from run to run that nobody can tell what is usual")
    if not entries:
        raise InputError(runs[0].run_id, f"has no job on the same nodes as {LEAST_RUNS - 1} of the other runs")
    platform = runs[0].platform
    assert platform is not None  # `_refuse_different` has seen to it
    baseline = Baseline(
        platform=platform.name,
        simulated=runs[0].simulated,
        runs=tuple(sorted(run.run_id for run in runs)),
        usual=entries,
        created_at=created_at,
        tool=tool,
        fleet=fleet,
    )
    return Made(baseline, _grouped(left_out), _grouped(partly), scattered)


def widest(baseline: Baseline, most: int = 3) -> tuple[Usual, ...]:
    """Of the largest size of every job, where the runs agreed least, by spread over median; widest first."""
    largest: dict[tuple[str, str, str], int] = {}
    for each in baseline.usual:
        about = each.stage, each.collective, each.hosts
        largest[about] = max(largest.get(about, 0), each.size_bytes)
    of_largest = [
        each for each in baseline.usual if largest[each.stage, each.collective, each.hosts] == each.size_bytes
    ]
    by_job: dict[tuple[str, str, str], Usual] = {}
    for each in sorted(of_largest, key=lambda each: -each.spread_gbyte_s / each.median_gbyte_s):
        by_job.setdefault((each.stage, each.collective, each.hosts), each)
    return tuple(by_job.values())[:most]


def _grouped(counts: Mapping[tuple[str, str], int]) -> tuple[LeftOut, ...]:
    """Nodes that were measured alone equally often on one line; a job over several nodes on its own."""
    alone: dict[tuple[str, int], list[str]] = {}
    found = []
    for (stage, hosts), n in counts.items():
        if stage == BENCHMARK_STAGES[0]:
            alone.setdefault((stage, n), []).append(hosts)
        else:
            found.append(LeftOut(stage, hosts, n))
    return (*(LeftOut(stage, fold(hosts), n) for (stage, n), hosts in sorted(alone.items())), *found)


def _runs_by_hosts(measured: Iterable[Mapping[Key, float]]) -> dict[tuple[str, str], int]:
    """(stage, folded hosts) -> in how many runs they were measured."""
    counts: dict[tuple[str, str], int] = {}
    for run in measured:
        for about in {(stage, hosts) for stage, _, hosts, *_ in run}:
            counts[about] = counts.get(about, 0) + 1
    return dict(sorted(counts.items()))


def _refuse_too_few(runs: Sequence[RunDigest]) -> None:
    ids = [run.run_id for run in runs]
    twice = min((run_id for run_id in ids if ids.count(run_id) > 1), default=None)
    if twice is not None:
        raise InputError(twice, "is given twice; a run counts once, so name each only once")
    if len(runs) < LEAST_RUNS:
        missing = LEAST_RUNS - len(runs)
        raise InputError(
            "RUN",
            f"{len(runs)} {'run is' if len(runs) == 1 else 'runs are'} too few to tell what is usual; "
            f"a baseline needs {LEAST_RUNS} healthy runs or more, so measure {missing} more",
        )


def _refuse_sick(run: RunDigest) -> None:
    """Only what is whole and PASS says how a healthy machine measures."""
    if run.state != "complete":
        raise InputError(run.run_id, f"is {run.state}; a baseline is made of complete runs, so leave it out")
    hosts = [host.name for host in run.hosts if host.verdict != "PASS"]
    jobs = [job for job in run.jobs if job.verdict not in ("PASS", None)]
    if run.verdict != "PASS" or jobs:
        about = f"{_some(hosts)} {'was' if len(hosts) == 1 else 'were'} not" if hosts else ""
        about = about or (f"job {jobs[0].id} was {jobs[0].verdict}, not" if jobs else "the nodes together were not")
        raise InputError(
            run.run_id, f"is not healthy: its verdict is {run.verdict} and {about} PASS; leave the run out"
        )
    if not any(job.stage in BENCHMARK_STAGES for job in run.jobs):
        raise InputError(run.run_id, "measured no bandwidth, it only looked at the nodes; leave it out")


def _some(hosts: Sequence[str]) -> str:
    """Folded where that is short, else how many and which for example."""
    folded = fold(hosts)
    return folded if len(folded) <= _LONGEST else f"{len(hosts)} nodes such as {', '.join(sorted(hosts)[:3])}"


def _refuse_different(runs: Sequence[RunDigest]) -> None:
    """Numbers of another machine type, of a model, or of another benchmark are no second opinion."""
    first = runs[0]
    if first.platform is None:
        raise InputError(first.run_id, "does not know its machine type; leave it out")
    for run in runs[1:]:
        if run.simulated != first.simulated:
            simulated, real = (run, first) if run.simulated else (first, run)
            raise InputError(simulated.run_id, f"is simulated and {real.run_id} is not; make a baseline of one kind")
        name = None if run.platform is None else run.platform.name
        if name != first.platform.name:
            raise InputError(
                run.run_id,
                f"was judged as {name or 'no known machine type'} and {first.run_id} as "
                f"{first.platform.name}; make a baseline for each machine type",
            )
        difference = _difference(first, run)
        if difference:
            raise InputError(
                run.run_id, f"measures something else than {first.run_id}: {difference}; use runs of one playbook"
            )


def settings_of(playbook: DigestPlaybook | Playbook) -> dict[str, dict[str, str]]:
    """stage -> the environment of its jobs as the playbook sets it, without what only writes logs."""
    found = {}
    for stage in playbook.stages:
        env = {**playbook.env, **stage.env}
        found[stage.name] = {name: value for name, value in env.items() if not name.startswith(_LOGGING)}
    return found


def _difference(first: RunDigest, other: RunDigest) -> str:
    """What two runs did not measure alike, in words; empty where they did."""
    ours, theirs = _measures(first), _measures(other)
    for about in sorted(ours.keys() | theirs.keys()):
        stage, collective = about
        if about not in theirs:
            return f"it has no {collective} of {stage}"
        if about not in ours:
            return f"only it has {collective} of {stage}"
        if ours[about] != theirs[about]:
            return f"the sizes of {collective} in {stage} differ"
    env, others = settings_of(first.playbook), settings_of(other.playbook)
    for stage in sorted({stage for stage, _ in ours}):
        mine, its = env.get(stage, {}), others.get(stage, {})
        name = next((name for name in sorted(mine.keys() | its.keys()) if mine.get(name) != its.get(name)), None)
        if name is not None:
            return f"{name} of {stage} is {its.get(name, 'not set')}, there {mine.get(name, 'not set')}"
    return ""


def _measures(run: RunDigest) -> dict[tuple[str, str], frozenset[int]]:
    """(stage, collective) -> sizes that were measured."""
    found: dict[tuple[str, str], set[int]] = {}
    for job in run.jobs:
        if job.stage in BENCHMARK_STAGES:
            found.setdefault((job.stage, job.collective), set()).update(row.size_bytes for row in job.rows)
    return {about: frozenset(sizes) for about, sizes in found.items()}
