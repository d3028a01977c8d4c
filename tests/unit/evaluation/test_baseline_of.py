"""Limits from healthy runs: what goes in, what stays out, and which runs are refused with which sentence."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.errors import InputError
from healthcheck.evaluation.baseline_of import Made, baseline_of, widest
from healthcheck.model.baseline import Usual
from healthcheck.model.digest import DigestNics, DigestPlatform, DigestPlaybook, DigestStage, RunDigest
from tests.unit.evaluation.digests import GIB, PLATFORM, PLAYBOOK, job, row, run, together

AT, BY = "2026-04-01T00:00:00Z", "healthcheck 0.1.0"


def made(*runs: RunDigest) -> Made:
    return baseline_of(runs, AT, BY)


def entries(*runs: RunDigest) -> tuple[Usual, ...]:
    return made(*runs).baseline.usual


def of(hosts: str, median: float, spread: float, n: int, size: int = GIB, placement: str = "out_of_place") -> Usual:
    return Usual("single_node", "all_reduce", hosts, 8, size, placement, median, spread, n)


def test_median_and_spread_over_the_runs() -> None:
    """Spread: 1.4826 x the median of 0, 1, 3, 1 and 9."""
    values = (230.0, 231.0, 233.0, 229.0, 221.0)
    runs = [run(f"r{n}", job("node01", value)) for n, value in enumerate(values)]
    assert entries(*runs) == (of("node01", 230.0, 1.4826, 5),)


def test_repeats_of_one_run_count_as_one() -> None:
    """One run of nine repeats says nothing about what is usual from run to run."""
    often = [job("node01", 200.0 + n, repeat=n) for n in range(9)]
    runs = (run("a", *often), run("b", job("node01", 230.0)), run("c", job("node01", 232.0)))
    assert entries(*runs) == (of("node01", 230.0, round(1.4826 * 2, 4), 3),)


def test_sizes_and_placements_are_kept_apart() -> None:
    both = [row(GIB, 228.0, 227.0), row(2 * GIB, 230.0, None)]
    runs = [run(name, job("node01")) for name in "abc"]
    runs = [replace(each, jobs=(replace(each.jobs[0], rows=tuple(both)),)) for each in runs]
    assert entries(*runs) == (
        of("node01", 227.0, 0.0, 3, placement="in_place"),
        of("node01", 228.0, 0.0, 3),
        of("node01", 230.0, 0.0, 3, size=2 * GIB),
    )


def test_what_differs_too_much_from_run_to_run_is_no_limit_and_is_named() -> None:
    """Rule 5 with such a spread would find nobody worse: 0.95 x 200 - 1.4826 x 100 = 41.7."""
    runs = [run(f"r{n}", job("node01", 231.0), job("node02", 100.0 + 100 * n)) for n in range(3)]
    found = made(*runs)
    assert found.hosts == ("node01",)
    assert [(each.hosts, each.spread_gbyte_s) for each in found.scattered] == [("node02", 148.26)]
    assert found.left_out == found.not_always == ()
    with pytest.raises(InputError, match="node02 read so differently from run to run"):
        made(*(run(f"r{n}", job("node02", 100.0 + 100 * n)) for n in range(3)))


def test_a_node_of_two_runs_stays_out_and_is_named() -> None:
    new = [run(name, job("node01", 230.0), job("node02", 230.0), job("node03", 230.0)) for name in "ab"]
    found = made(run("c", job("node01", 230.0)), *new)
    assert found.hosts == ("node01",)
    assert [(each.hosts, each.stage, each.n) for each in found.left_out] == [("node[02-03]", "single_node", 2)]
    assert found.not_always == ()


def test_a_node_that_missed_one_of_four_runs_is_kept_and_named() -> None:
    most = [run(name, job("node01", 230.0), job("node02", 231.0)) for name in "abc"]
    found = made(run("d", job("node01", 230.0)), *most)
    assert of("node02", 231.0, 0.0, 3) in found.baseline.usual
    assert [(each.hosts, each.n) for each in found.not_always] == [("node02", 3)]


def test_other_nodes_together_are_another_job() -> None:
    pair, three = ("node01", "node02"), ("node01", "node02", "node03")
    runs = [run(name, together(pair, 190.0)) for name in "abc"]
    found = made(run("d", together(three, 180.0)), *runs)
    assert [(each.hosts, each.n) for each in found.baseline.usual] == [("node[01-02]", 3)]
    assert [(each.hosts, each.n) for each in found.left_out] == [("node[01-03]", 1)]


def test_the_order_of_the_runs_changes_nothing() -> None:
    runs = [
        run(name, job("node02", value), job("node01", value))
        for name, value in zip("abc", (101.0, 102.0, 109.0), strict=True)
    ]
    assert made(*runs) == made(*reversed(runs))


def test_what_a_search_measured_is_no_baseline() -> None:
    pair = replace(together(("node01", "node02"), 190.0), stage="localise")
    runs = [run(name, job("node01", 230.0), pair) for name in "abc"]
    assert {each.stage for each in entries(*runs)} == {"single_node"}


def test_the_widest_spreads_are_of_the_largest_size() -> None:
    """A small size scatters more than what is judged, and would be all that is named."""
    runs = [
        run(name, job("node01", small, 230.0), job("node02", 228.0, large))
        for name, small, large in (("a", 180.0, 230.0), ("b", 200.0, 232.0), ("c", 220.0, 234.0))
    ]
    found = widest(made(*runs).baseline)
    assert [(each.hosts, each.size_bytes) for each in found] == [("node02", 2 * GIB), ("node01", 2 * GIB)]


HEALTHY = [run(name, job("node01", 230.0)) for name in ("20260101T", "20260201T", "20260301T")]
OTHER = DigestPlatform("h100-sxm5-8gpu-8x400", DigestNics(8, 400.0))
ELSE, ONE = "measures something else than 20260101T:", "use runs of one playbook"
RING = DigestPlaybook("ring", PLAYBOOK.stages, {"NCCL_ALGO": "Ring"})


@pytest.mark.parametrize(
    ("sick_run", "says"),
    [
        (run("X", job("node01", 1.0), state="interrupted"), "is interrupted; a baseline is made of complete runs"),
        (run("X", job("node01", 1.0), state="incomplete"), "is incomplete; a baseline is made of complete runs"),
        (
            run("X", job("node01", 1.0), verdict="DEGRADED", sick=("node02", "node03")),
            "is not healthy: its verdict is DEGRADED and node[02-03] were not PASS",
        ),
        (
            run("X", job("node01", 1.0), verdict="FAIL", sick=("node07",)),
            "is not healthy: its verdict is FAIL and node07 was not PASS",
        ),
        (
            run("X", job("node01", 1.0, verdict="DEGRADED")),
            "is not healthy: its verdict is PASS and job single_node.all_reduce.node01.1 was DEGRADED, not PASS",
        ),
        (run("X"), "measured no bandwidth, it only looked at the nodes"),
    ],
)
def test_a_run_that_says_nothing_of_health_is_refused_by_name(sick_run: RunDigest, says: str) -> None:
    with pytest.raises(InputError) as refused:
        made(*HEALTHY, sick_run)
    assert str(refused.value).startswith(f"X: {says}")
    assert "leave" in refused.value.problem


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (
            run("X", job("node01", 1.0), simulated=True),
            "is simulated and 20260101T is not; make a baseline of one kind",
        ),
        (
            run("X", job("node01", 1.0), platform=OTHER),
            "was judged as h100-sxm5-8gpu-8x400 and 20260101T as a100-sxm4-8gpu-8x200; "
            "make a baseline for each machine type",
        ),
        (
            run("X", job("node01", 1.0), platform=None),
            "was judged as no known machine type and 20260101T as a100-sxm4-8gpu-8x200; "
            "make a baseline for each machine type",
        ),
        (run("X", job("node01", 1.0, 2.0)), f"{ELSE} the sizes of all_reduce in single_node differ; {ONE}"),
        (
            run("X", job("node01", 1.0), together(("node01", "node02"), 1.0)),
            f"{ELSE} only it has all_reduce of multi_node; {ONE}",
        ),
        (
            run("X", job("node01", 1.0), playbook=RING),
            f"{ELSE} NCCL_ALGO of single_node is Ring, there not set; {ONE}",
        ),
    ],
)
def test_a_run_that_measured_something_else_is_refused_by_name(other: RunDigest, says: str) -> None:
    with pytest.raises(InputError) as refused:
        made(*HEALTHY, other)
    assert str(refused.value) == f"X: {says}"


@pytest.mark.parametrize(("n", "are", "missing"), [(0, "runs are", 3), (1, "run is", 2), (2, "runs are", 1)])
def test_too_few_runs_are_refused_with_how_many_are_missing(n: int, are: str, missing: int) -> None:
    with pytest.raises(InputError) as refused:
        made(*HEALTHY[:n])
    assert str(refused.value) == (
        f"RUN: {n} {are} too few to tell what is usual; a baseline needs 3 healthy runs or more, "
        f"so measure {missing} more"
    )


def test_one_run_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="20260101T: is given twice; a run counts once, so name each only once"):
        made(*HEALTHY, HEALTHY[0])


def test_runs_of_other_nodes_each_are_refused() -> None:
    with pytest.raises(InputError, match="a: has no job on the same nodes as 2 of the other runs"):
        made(*(run(name, job(f"node0{n}", 230.0)) for n, name in enumerate("abc")))


def test_how_much_nccl_writes_is_no_difference() -> None:
    verbose = DigestPlaybook("mine", (DigestStage("single_node", (), {"NCCL_DEBUG": "WARN"}),))
    assert len(entries(*HEALTHY, run("X", job("node01", 230.0), playbook=verbose))) == 1


def test_many_sick_nodes_are_counted_and_not_listed() -> None:
    sick = tuple(f"gpu-{name}" for name in ("aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj", "kk", "ll"))
    with pytest.raises(InputError, match="12 nodes such as gpu-aa, gpu-bb, gpu-cc were not PASS"):
        made(*HEALTHY, run("X", job("node01", 1.0), verdict="FAIL", sick=sick))


def test_the_platform_is_that_of_the_runs() -> None:
    baseline = made(*HEALTHY).baseline
    assert (baseline.platform, baseline.runs) == (PLATFORM.name, ("20260101T", "20260201T", "20260301T"))
    assert (baseline.simulated, baseline.created_at, baseline.tool) == (False, AT, BY)
