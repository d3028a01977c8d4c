"""What changed between two runs, node by node."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.evaluation.fleet_changes import SettingChange, changes
from tests.unit.history_runs import past_run

NODES = {"n1": ("PASS", 230.0), "n2": ("PASS", 230.0), "n3": ("PASS", 230.0)}


def test_a_driver_that_changed_everywhere_is_one_change() -> None:
    before = past_run(0, NODES, settings={"driver": {"550": "n[1-3]"}})
    after = past_run(1, NODES, settings={"driver": {"570": "n[1-3]"}})
    assert changes(before, after) == (SettingChange("driver", "550", "570", ("n1", "n2", "n3")),)
    assert changes(before, after, "n2") == (SettingChange("driver", "550", "570", ("n2",)),)


def test_one_node_that_changed_is_named_and_the_others_are_not() -> None:
    before = past_run(0, NODES, settings={"vbios": {"A": "n[1-3]"}})
    after = past_run(1, NODES, settings={"vbios": {"A": "n[1,3]", "B": "n2"}})
    assert changes(before, after) == (SettingChange("vbios", "A", "B", ("n2",)),)
    assert changes(before, after, "n1") == ()


def test_two_nodes_that_swapped_their_values_both_changed() -> None:
    before = past_run(0, NODES, settings={"vbios": {"A": "n1", "B": "n2"}})
    after = past_run(1, NODES, settings={"vbios": {"A": "n2", "B": "n1"}})
    assert {(one.before, one.after, one.hosts) for one in changes(before, after)} == {
        ("A", "B", ("n1",)),
        ("B", "A", ("n2",)),
    }


def test_nodes_that_came_or_went_did_not_change() -> None:
    before = past_run(0, NODES, settings={"vbios": {"A": "n[1-2]"}})
    after = past_run(1, NODES, settings={"vbios": {"A": "n1", "B": "n3"}})
    assert changes(before, after) == ()


def test_what_only_one_run_told_is_no_change() -> None:
    before = past_run(0, NODES, settings={})
    after = past_run(1, NODES, settings={"ofed": {"5.8": "n[1-3]"}})
    assert changes(before, after) == () and changes(after, before) == ()


def test_the_playbook_and_the_machine_type_are_told_too() -> None:
    before = past_run(0, NODES)
    after = replace(past_run(1, NODES), playbook="monthly", platform="h100")
    assert [(one.name, one.before, one.after) for one in changes(before, after)] == [
        ("platform", "a100", "h100"),
        ("playbook", "full", "monthly"),
    ]


def test_a_node_set_nobody_can_read_is_nobody() -> None:
    before = past_run(0, NODES, settings={"driver": {"550": "n[1-"}})
    after = past_run(1, NODES, settings={"driver": {"570": "n1"}})
    assert changes(before, after) == ()


def test_a_host_that_no_node_set_can_hold_is_told_beside_those_that_are_folded() -> None:
    before = past_run(0, NODES, settings={"driver": {"550": "n[1-3],fd00::7"}})
    after = past_run(1, NODES, settings={"driver": {"550": "n[1-3]", "570": "fd00::7"}})
    assert changes(before, after) == (SettingChange("driver", "550", "570", ("fd00::7",)),)
