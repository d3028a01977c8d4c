"""Did anything get worse between two runs, and where? What a person would have to see at three in the morning."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.comparison import compare
from healthcheck.model.comparison import Answer, Comparison, Direction, Moved
from healthcheck.model.digest import DigestHost, DigestNics, DigestPlatform, DigestPlaybook, RunDigest
from tests.unit.evaluation.two_runs import ALONE, GIB, half, names, only, rows, run, said, with_host, without_numbers


def moved(found: Comparison, way: Direction) -> tuple[Moved, ...]:
    return tuple(one for one in found.moved if one.direction is way)


def told(found: Comparison) -> str:
    return " | ".join(map(str, found.not_compared))


def test_two_healthy_runs_are_the_same() -> None:
    found = compare(run(names(64), seed=1), run(names(64), seed=2))
    assert (found.answer, found.exit_code, found.compared) == (Answer.SAME, 0, 64)
    assert not found.moved and not found.verdicts and not found.missing and not found.not_compared


@pytest.mark.parametrize("nodes", [8, 64, 512])
def test_three_per_cent_less_on_every_node_is_found_although_all_moved_together(nodes: int) -> None:
    found = compare(run(names(nodes), seed=1), run(names(nodes), seed=2, all_at=0.97, together=False))
    single = next(group for group in found.groups if group.stage == "single_node")
    assert single.direction is Direction.WORSE
    assert single.change_percent == pytest.approx(-3.0, abs=0.3)
    assert (found.answer, found.exit_code) == (Answer.WORSE, 4)


@pytest.mark.parametrize("nodes", [2, 3, 5, 8, 64, 512])
def test_one_node_that_lost_six_per_cent_is_named_and_nobody_else(nodes: int) -> None:
    hosts = names(nodes)
    found = compare(run(hosts, seed=1), run(hosts, seed=2, speed={hosts[1]: 0.94}))
    assert found.worse == (hosts[1],)
    assert [one.hosts for one in moved(found, Direction.WORSE)] == [hosts[1]]
    assert moved(found, Direction.WORSE)[0].change_percent == pytest.approx(-6.0, abs=0.6)
    assert found.exit_code == 4


def test_half_of_the_nodes_cannot_hide_by_being_many() -> None:
    hosts = names(64)
    slow = hosts[:32]
    found = compare(run(hosts, seed=1), run(hosts, seed=2, speed=dict.fromkeys(slow, 0.9)))
    assert found.worse == slow
    assert not found.better


def test_a_node_that_does_not_gain_with_the_others_is_named_and_is_not_worse() -> None:
    hosts = names(32)
    found = compare(run(hosts, seed=1), run(hosts, seed=2, all_at=1.05, speed={hosts[3]: 1 / 1.05}))
    assert [one.hosts for one in moved(found, Direction.SAME)] == [hosts[3]]
    assert (found.answer, found.exit_code) == (Answer.BETTER, 0)
    assert hosts[3] not in found.worse and hosts[3] not in found.better


def test_a_slower_job_over_all_nodes_is_worse_although_each_node_alone_is_not() -> None:
    found = compare(run(names(16), seed=1), run(names(16), seed=2, together_at=0.875))
    assert [(one.stage, one.nodes) for one in moved(found, Direction.WORSE)] == [("multi_node", 16)]
    assert found.worse == () and found.exit_code == 4


def test_one_size_that_lost_on_every_node_is_told_at_its_size() -> None:
    before, after = run(names(16), seed=1, together=False), run(names(16), seed=2, together=False)
    slow = tuple(
        replace(job, rows=(*job.rows[:2], replace(job.rows[2], in_place=half(ALONE / 2)))) for job in after.jobs
    )
    found = compare(before, replace(after, jobs=slow))
    cells = [cell for group in found.groups for cell in group.cells if cell.direction is Direction.WORSE]
    assert [(cell.size_bytes, cell.placement) for cell in cells] == [(4 * GIB, "in_place")]
    assert found.exit_code == 4


def test_small_changes_are_no_news_however_sure_they_are() -> None:
    found = compare(run(names(64), seed=1, noise=0.0005), run(names(64), seed=2, noise=0.0005, all_at=0.985))
    assert found.answer is Answer.SAME


def test_noise_is_said_with_how_it_was_estimated() -> None:
    many = compare(run(names(64), seed=1), run(names(64), seed=2)).groups[0]
    assert "64 nodes lie apart" in str(many.noise_from)
    assert many.noise_percent == pytest.approx(0.22, abs=0.08)
    few = compare(run(names(3), seed=1), run(names(3), seed=2)).groups[0]
    assert "0.5 % assumed" in str(few.noise_from) and few.fleet_bar_percent is None
    repeated = compare(run(names(3), seed=1, repeats=3), run(names(3), seed=2, repeats=3)).groups[0]
    assert "3 repeats before, 3 after" in str(repeated.noise_from)


def test_a_noisier_fleet_has_a_higher_bar() -> None:
    quiet, loud = (compare(run(names(64), seed=1, noise=s), run(names(64), seed=2, noise=s)) for s in (0.003, 0.03))
    assert quiet.groups[0].bar_percent == pytest.approx(2.0)
    assert loud.groups[0].bar_percent > 6.0


def test_a_node_that_was_measured_and_is_not_any_more_is_missing_with_the_reason_of_the_record() -> None:
    hosts = names(8)
    after = without_numbers(run(hosts, seed=2), hosts[2], "INCONCLUSIVE", "no answer on port 22")
    found = compare(run(hosts, seed=1), after)
    assert [(one.hosts, one.stages, str(one.reason)) for one in found.missing] == [
        (hosts[2], ("single_node",), "no answer on port 22")
    ]
    assert (found.answer, found.exit_code) == (Answer.INCOMPLETE, 3)


def test_a_node_that_is_no_longer_named_is_missing_and_a_new_one_is_only_told() -> None:
    hosts = names(9)
    found = compare(only(run(hosts[:8], seed=1), "single_node"), only(run(hosts[1:], seed=2), "single_node"))
    assert [(one.hosts, str(one.reason)) for one in found.missing] == [(hosts[0], "not among the hosts of that run")]
    assert [one.hosts for one in found.new] == [hosts[8]]
    assert found.exit_code == 3
    back = compare(only(run(hosts[:8], seed=1), "single_node"), only(run(hosts, seed=2), "single_node"))
    assert back.exit_code == 0 and [one.hosts for one in back.new] == [hosts[8]]


def test_a_job_that_crashed_is_worse_without_a_number() -> None:
    hosts = names(8)
    after = without_numbers(run(hosts, seed=2), hosts[2], "FAIL", "rank 3 was killed")
    found = compare(run(hosts, seed=1), after)
    assert found.worse == (hosts[2],)
    assert (found.answer, found.exit_code) == (Answer.WORSE, 4)
    change = found.verdicts[0]
    assert (change.before, change.after, str(change.reason)) == ("PASS", "FAIL", "rank 3 was killed")


def test_a_job_over_all_nodes_that_crashed_is_worse() -> None:
    hosts = names(8)
    after = run(hosts, seed=2)
    crashed = tuple(replace(job, rows=(), verdict="FAIL") if len(job.hosts) > 1 else job for job in after.jobs)
    found = compare(run(hosts, seed=1), replace(after, jobs=crashed))
    assert [(one.stage, one.direction) for one in found.verdicts] == [("multi_node", Direction.WORSE)]
    assert found.exit_code == 4
    assert "multi_node: 1 job ran now and left no number" in told(found)


@pytest.mark.parametrize(
    ("before", "after", "way"),
    [
        ("PASS", "DEGRADED", Direction.WORSE),
        ("DEGRADED", "FAIL", Direction.WORSE),
        ("FAIL", "PASS", Direction.BETTER),
        ("PASS", "INCONCLUSIVE", Direction.UNKNOWN),
        ("INCONCLUSIVE", "FAIL", Direction.UNKNOWN),
        ("SKIPPED", "PASS", Direction.UNKNOWN),
        ("INCONCLUSIVE", "PASS", Direction.UNKNOWN),
    ],
)
def test_what_nobody_measured_is_neither_worse_nor_better(before: str, after: str, way: Direction) -> None:
    hosts = names(8)
    one = with_host(run(hosts, seed=1), said(hosts[0], before, "then"))
    other = with_host(run(hosts, seed=2), said(hosts[0], after, "now"))
    found = compare(one, other)
    assert [change.direction for change in found.verdicts] == [way]
    assert found.verdicts[0].within_noise
    assert (
        found.exit_code
        == {Direction.WORSE: 4, Direction.BETTER: 0, Direction.UNKNOWN: 0 if after == "PASS" else 3}[way]
    )


HOSTS = names(8)
BEFORE = run(HOSTS, seed=1)


def renamed(of: RunDigest, collective: str) -> RunDigest:
    return replace(of, jobs=tuple(replace(job, collective=collective) for job in of.jobs))


def with_ranks(of: RunDigest, host: str, ranks: int) -> RunDigest:
    return replace(of, jobs=tuple(replace(job, n_ranks=ranks) if job.hosts == (host,) else job for job in of.jobs))


def cut(of: RunDigest) -> RunDigest:
    out_of_place = (replace(job, rows=tuple(replace(row, in_place=None) for row in job.rows)) for job in of.jobs)
    return replace(of, jobs=tuple(out_of_place))


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (replace(run(HOSTS, seed=2), simulated=True), "BEFORE is real, AFTER is simulated"),
        (
            replace(run(HOSTS, seed=2), platform=DigestPlatform("h100", DigestNics(8, 400.0))),
            "another machine type: a100-sxm4-8gpu-8x200 before, h100 now",
        ),
        (renamed(run(HOSTS, seed=2), "alltoall"), "single_node: all_reduce was measured before and not now"),
        (run(HOSTS[:7], seed=2), "multi_node all_reduce: 8 nodes together before, 7 now"),
        (with_ranks(run(HOSTS, seed=2), HOSTS[3], 7), f"of {HOSTS[3]}: 8 ranks before, 7 now"),
        (run(HOSTS, seed=2, sizes=(2 * GIB, 4 * GIB)), "1 size measured before and not now (1G)"),
        (run(HOSTS, seed=2, sizes=(8 * GIB,)), "3 sizes measured before and not now (1G, 2G, 4G)"),
        (cut(run(HOSTS, seed=2)), "in_place measured before and not now"),
        (replace(run(HOSTS, seed=2), state="interrupted"), "is interrupted: what it did not reach is not compared"),
        (only(run(HOSTS, seed=2), "single_node"), "multi_node was measured before and did not run now"),
        (
            replace(only(run(HOSTS, seed=2), "single_node"), playbook=DigestPlaybook("short")),
            "the playbook short of now has no such stage",
        ),
        (replace(run(HOSTS, seed=2), jobs=()), "single_node was measured before and did not run now"),
    ],
)
def test_what_cannot_be_compared_is_named_and_never_called_fine(after: RunDigest, sentence: str) -> None:
    found = compare(BEFORE, after)
    assert sentence in told(found)
    assert found.exit_code == 3


def test_a_run_without_numbers_is_nothing_to_compare_with() -> None:
    found = compare(replace(BEFORE, jobs=()), run(HOSTS, seed=2))
    assert found.answer is Answer.INCOMPARABLE and "there is nothing to hold the other run against" in told(found)


def test_worse_wins_over_not_comparable() -> None:
    found = compare(BEFORE, run(HOSTS[:7], seed=2, speed={HOSTS[0]: 0.9}))
    assert (found.answer, found.exit_code) == (Answer.WORSE, 4)
    assert found.not_compared and found.missing


def test_another_node_in_a_job_of_as_many_is_compared_and_said() -> None:
    hosts = names(9)
    found = compare(run(hosts[:8], seed=1), run(hosts[1:], seed=2))
    assert [group.stage for group in found.groups] == ["single_node", "multi_node"]
    assert f"{hosts[0]} left, {hosts[8]} came" in " ".join(map(str, found.notes))


def test_the_rounds_of_a_search_are_no_stage_to_miss() -> None:
    search = replace(BEFORE.jobs[0], stage="localise", id="walk.1", hosts=HOSTS[:2], n_ranks=16)
    found = compare(replace(BEFORE, jobs=(*BEFORE.jobs, search)), run(HOSTS, seed=2))
    assert found.answer is Answer.SAME


@pytest.mark.parametrize(
    ("changed", "slow", "sentence"),
    [
        ((0, 1), (0, 1), "consistent with it: 2 of 2 with it are worse, 0 of 30 without it"),
        ((0, 1), (5,), "speaks against it: no node that has it is worse, 1 of 30 without it is"),
        (tuple(range(16)), (0, 20), "says little: 1 of 16 with it is worse, and 1 of 16 without it"),
        (tuple(range(32)), (0,), "says little: 1 of 32 with it is worse, and no measured node is without it"),
        (tuple(range(32)), tuple(range(32)), "every measured node has it: consistent with it"),
    ],
)
def test_a_change_is_held_beside_who_got_worse(changed: tuple[int, ...], slow: tuple[int, ...], sentence: str) -> None:
    hosts = names(32)
    after = run(
        hosts,
        seed=2,
        speed={hosts[n]: 0.9 for n in slow},
        driver={hosts[n]: "570.124.06" for n in changed},
    )
    driver = next(change for change in compare(run(hosts, seed=1), after).changes if change.name == "driver")
    assert (driver.before, driver.after, driver.count) == ("550.90.07", "570.124.06", len(changed))
    assert sentence in str(driver.hint)


def test_a_repair_is_not_weighed_against_what_got_worse_elsewhere() -> None:
    hosts = names(32)
    before = run(hosts, seed=1, speed={hosts[3]: 0.8}, driver={hosts[3]: "535.54.03"})
    for speed in ({}, {hosts[9]: 0.8}):
        found = compare(before, run(hosts, seed=2, speed=speed))
        driver = next(change for change in found.changes if change.name == "driver")
        assert str(driver.hint) == "goes with what got better: 1 of 1 with it is better, and none worse"


def test_what_is_well_again_says_what_is_gone() -> None:
    sick = with_host(BEFORE, said(HOSTS[1], "FAIL", "7 of 8 ports"))
    (change,) = compare(sick, run(HOSTS, seed=2)).verdicts
    assert (change.before, change.after, str(change.reason)) == ("FAIL", "PASS", "no longer: 7 of 8 ports")
    (change,) = compare(with_host(BEFORE, DigestHost(HOSTS[1], "FAIL", ())), run(HOSTS, seed=2)).verdicts
    assert change.reason is None


def test_without_anybody_worse_a_change_is_only_listed() -> None:
    after = run(HOSTS, seed=2, driver=dict.fromkeys(HOSTS, "570.124.06"))
    assert [change.hint for change in compare(BEFORE, after).changes] == [None]


def test_what_the_run_was_given_is_listed_with_both_values() -> None:
    other = replace(
        run(HOSTS, seed=2),
        playbook=DigestPlaybook("full", BEFORE.playbook.stages, {"NCCL_ALGO": "Ring"}),
        provenance=replace(BEFORE.provenance, tool="healthcheck 0.2.0", arguments=("run", "--launch-from", "local")),
    )
    found = {change.name: (change.before, change.after) for change in compare(BEFORE, other).changes}
    assert found["playbook"] == ("quick", "full")
    assert found["env NCCL_ALGO"] == ("(none)", "Ring")
    assert found["healthcheck"] == ("healthcheck 0.1.0", "healthcheck 0.2.0")
    assert found["launch-from"] == ("(none)", "local")


def test_a_setting_that_nobody_could_be_asked_for_has_not_changed() -> None:
    assert compare(BEFORE, replace(run(HOSTS, seed=2), fleet=())).changes == ()


def test_the_same_run_and_runs_the_other_way_round_are_said() -> None:
    assert "the same run" in " ".join(map(str, compare(BEFORE, BEFORE).notes))
    assert "the other way round" in " ".join(map(str, compare(run(HOSTS, seed=2), BEFORE).notes))


def test_numbers_nobody_can_divide_by_are_left_out() -> None:
    job = BEFORE.jobs[0]
    broken = replace(job, rows=rows(0.0, random.Random(1), 0.0))
    found = compare(BEFORE, replace(run(HOSTS, seed=2), jobs=(broken, *run(HOSTS, seed=2).jobs[1:])))
    assert found.compared == 7
    assert [one.hosts for one in found.missing] == [HOSTS[0]]


def test_hosts_whose_verdicts_changed_alike_stand_together() -> None:
    after = run(HOSTS, seed=2)
    for host in HOSTS[:3]:
        after = with_host(after, said(host, "FAIL", "the driver is gone"))
    found = compare(BEFORE, after)
    assert [(change.hosts, change.nodes) for change in found.verdicts] == [("node[0001-0003]", 3)]
    assert found.worse == HOSTS[:3]


def test_what_a_search_proved_is_never_held_against_nodes_as_found() -> None:
    before, after = run(names(8), seed=1), run(names(7), seed=2, together_at=0.5)
    (found,) = [job for job in before.jobs if job.stage == "multi_node"]
    proven = replace(found, id="localise-r05-verify", hosts=found.hosts[:7], n_ranks=56)
    compared = compare(replace(before, jobs=(*before.jobs, proven)), after)
    assert not [one for one in moved(compared, Direction.WORSE) if one.stage == "multi_node"]
    assert "8 nodes together before, 7 now" in told(compared)
