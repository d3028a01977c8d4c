"""The past of nodes from the history of their runs."""

from __future__ import annotations

from healthcheck.evaluation.past_of import Asking, comparable, past_of
from healthcheck.model.history import PastHost, PastJob, PastRun

GIB = 1 << 30
A100 = "a100-sxm4-8gpu-8x200"
ASKING = Asking("now", A100, False, frozenset({"node01", "node02"}))


def job(host: str, value: float | None, verdict: str = "PASS", stage: str = "single_node") -> PastJob:
    return PastJob(stage, "all_reduce", (host,), 8, verdict, (GIB,), (value,), (None,))


def run(
    run_id: str, *jobs: PastJob, platform: str = A100, simulated: bool = False, hosts: tuple[str, ...] = ("node01",)
) -> PastRun:
    return PastRun(
        run_id=run_id,
        folder=run_id,
        state="complete",
        verdict="PASS",
        simulated=simulated,
        started_at="2026-03-14T02:15:03Z",
        finished_at="2026-03-14T02:25:03Z",
        tool="healthcheck 0.1.0",
        playbook="quick",
        playbook_sha256="",
        platform=platform,
        nics=8,
        healthy=1,
        hosts=tuple(PastHost(name, "PASS") for name in hosts),
        jobs=jobs,
    )


def values(*runs: PastRun) -> dict[str, tuple[float, int]]:
    """hosts -> (median, n) of what the runs, newest first, say is usual."""
    found = past_of(ASKING, runs)
    return {} if found is None else {each.hosts: (each.median_gbyte_s, each.n) for each in found.usual}


def test_two_runs_are_no_past() -> None:
    assert values(run("b", job("node01", 230.0)), run("a", job("node01", 230.0))) == {}


def test_three_runs_are_and_the_source_says_how_many() -> None:
    found = past_of(
        ASKING, [run(name, job("node01", value)) for name, value in (("c", 231.0), ("b", 230.0), ("a", 226.0))]
    )
    assert found is not None
    assert found.source == "history of 3 runs"
    assert found.runs == ("a", "b", "c")
    (usual,) = found.usual
    assert (usual.median_gbyte_s, usual.spread_gbyte_s, usual.n) == (230.0, 1.4826, 3)


def test_a_job_that_was_not_healthy_is_no_measure_of_health() -> None:
    runs = [run(f"r{n}", job("node01", 230.0)) for n in range(3)]
    slow = [run(f"s{n}", job("node01", 200.0, "DEGRADED")) for n in range(5)]
    assert values(*slow, *runs) == {"node01": (230.0, 3)}


def test_the_newest_twelve_values_of_the_newest_two_years_count() -> None:
    new = [run(f"new{n}", job("node01", 230.0)) for n in range(12)]
    old = [run(f"old{n}", job("node01", 240.0), job("node02", 220.0)) for n in range(12)]
    older = [run(f"older{n}", job("node02", 250.0)) for n in range(13)]
    assert values(*new, *old, *older) == {"node01": (230.0, 12), "node02": (220.0, 12)}


def test_jobs_with_nodes_that_are_not_here_and_pairs_of_a_search_stay_out() -> None:
    both = PastJob("multi_node", "all_reduce", ("node01", "node09"), 16, "PASS", (GIB,), (190.0,), (None,))
    runs = [run(f"r{n}", both, job("node09", 230.0), job("node01", 150.0, stage="localise")) for n in range(3)]
    assert values(*runs) == {}


def test_what_was_not_printed_is_no_value() -> None:
    assert values(*[run(f"r{n}", job("node01", None)) for n in range(3)]) == {}


def test_only_the_same_machines_are_comparable() -> None:
    assert comparable(ASKING, run("a"))
    assert not comparable(ASKING, run("now"))
    assert not comparable(ASKING, run("a", simulated=True))
    assert not comparable(ASKING, run("a", platform="h100-sxm5-8gpu-8x400"))
    assert not comparable(ASKING, run("a", platform=""))
    assert not comparable(ASKING, run("a", hosts=("gpu01",)))
