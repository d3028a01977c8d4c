"""Stored runs as frames, and what they say of nodes."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.history import PastJob
from healthcheck.reporting.frames import Kind, against_fleet, kinds, readings, verdicts
from healthcheck.reporting.history_view import fleet_past, host_past
from tests.unit.history_runs import GIB, SIZES, past_run, single

ALONE = Kind("single_node", "all_reduce", 8 * GIB, 4)
HOSTS = tuple(f"n{number}" for number in range(1, 9))


def test_the_slower_placement_at_the_usual_size_counts() -> None:
    run = past_run(0, {"n1": ("PASS", 230.0), "n2": ("PASS", 220.0)})
    frame = readings([run], ALONE)
    assert list(zip(frame["host"], frame["gbyte_s"], strict=True)) == [("n1", 230.0), ("n2", 220.0)]


def test_a_job_that_ended_at_another_size_is_not_compared() -> None:
    short = PastJob("single_node", "all_reduce", ("n1",), 8, "PASS", (GIB,), (200.0,), (200.0,))
    runs = [past_run(0, {"n1": ("PASS", 230.0)}), past_run(1, {"n1": ("PASS", 230.0)})]
    runs.append(replace(past_run(2, {}), jobs=(short,)))
    (kind,) = kinds(runs)
    assert kind.size_bytes == SIZES[-1]
    assert readings(runs, kind)["run"].tolist() == [0, 1]


def test_a_node_that_ran_on_seven_gpus_for_once_is_not_compared_with_itself_on_eight() -> None:
    runs = [past_run(month, {"n1": ("PASS", 230.0)}) for month in range(3)]
    runs.append(replace(past_run(3, {}), jobs=(single("n1", 180.0, n_ranks=7),)))
    assert readings(runs, ALONE)["gbyte_s"].tolist() == [230.0, 230.0, 230.0]


def test_alone_stands_before_together_and_all_reduce_before_others() -> None:
    jobs = tuple(
        PastJob(stage, collective, ("n1",), 8, "PASS", SIZES, (1.0, 1.0), (1.0, 1.0))
        for stage in ("multi_node", "single_node")
        for collective in ("all_gather", "all_reduce")
    )
    found = [(kind.stage, kind.collective) for kind in kinds([replace(past_run(0, {}), jobs=jobs)])]
    assert found == [
        ("single_node", "all_reduce"),
        ("single_node", "all_gather"),
        ("multi_node", "all_reduce"),
        ("multi_node", "all_gather"),
    ]


def test_what_all_nodes_share_drops_out() -> None:
    runs = [past_run(month, dict.fromkeys(HOSTS, ("PASS", value))) for month, value in enumerate((200.0, 100.0))]
    assert set(against_fleet(readings(runs, ALONE))["relative"]) == {1.0}


def test_a_host_left_alone_and_a_run_that_was_stopped_say_nothing_about_it() -> None:
    runs = [
        past_run(0, {"n1": ("PASS", 230.0)}),
        past_run(1, {"n1": ("SKIPPED", None)}),
        past_run(2, {"n1": ("INCONCLUSIVE", None)}, state="interrupted"),
    ]
    assert verdicts(runs)["verdict"].tolist() == ["PASS"]
    past = fleet_past(runs, None, None, 0)
    assert past.bad_now == () and past.flapping == ()
    assert [run.state for run in past.runs] == ["complete", "complete", "interrupted"]


def test_a_bad_node_is_told_since_its_first_bad_run_with_what_changed_there() -> None:
    old, new = {"vbios": {"A": "n[1-8]"}}, {"vbios": {"A": "n[1-7]", "B": "n8"}}
    runs = []
    for month in range(5):
        bad = month >= 3
        hosts: dict[str, tuple[str, float | None]] = dict.fromkeys(HOSTS, ("PASS", 230.0))
        hosts["n8"] = ("DEGRADED", 200.0) if bad else ("PASS", 230.0)
        runs.append(past_run(month, hosts, settings=new if bad else old))
    (bad_now,) = fleet_past(runs, None, None, 0).bad_now
    assert (bad_now.host, bad_now.run_id, bad_now.runs) == ("n8", runs[3].run_id, 2)
    assert bad_now.rule == "peak.below_healthy"
    assert [(one.name, one.before, one.after, one.nodes) for one in bad_now.changed] == [("vbios", "A", "B", "n8")]
    alone = host_past(runs, "n8", None, None, 0)
    assert alone.bad_now == bad_now
    assert [line.change_percent for line in alone.runs] == [0.0, 0.0, 0.0, -13.0, -13.0]


def test_a_fleet_that_gets_slower_together_is_told_as_one_and_no_node_of_it() -> None:
    runs = [
        past_run(month, dict.fromkeys(HOSTS, ("PASS", 230.0 * (1 - 0.005 * month) + 0.1 * (month % 2))))
        for month in range(12)
    ]
    assert [one.host for one in fleet_past(runs, None, None, 0).falling] == [""]


def test_one_fading_node_is_told_and_the_others_are_not() -> None:
    runs = []
    for month in range(12):
        hosts: dict[str, tuple[str, float | None]] = dict.fromkeys(HOSTS, ("PASS", 230.0 + 0.2 * (month % 3)))
        hosts["n3"] = ("PASS", 230.0 * (1 - 0.004 * month))
        runs.append(past_run(month, hosts))
    (found,) = fleet_past(runs, None, None, 0).falling
    assert (found.host, found.run_id) == ("n3", "")
    assert 3.5 < found.loss_percent < 5.5
    assert host_past(runs, "n3", None, None, 0).falling == found
    assert host_past(runs, "n4", None, None, 0).falling is None


def test_a_host_that_was_only_named_was_never_measured() -> None:
    runs = [past_run(0, {"n1": ("PASS", 230.0), "n2": ("INCONCLUSIVE", None)})]
    past = host_past(runs, "n2", None, None, 0)
    assert past.median_gbyte_s is None and past.stage == ""
    assert [line.verdict for line in past.runs] == ["INCONCLUSIVE"]
    assert past.bad_now is not None and not past.bad_now.was_pass
