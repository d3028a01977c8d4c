"""Differences between the nodes of a fleet: the minority is named, whoever did not tell is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthcheck.evaluation.fleet import fleet_settings, judge_drift, judge_pins
from healthcheck.model.component import FABRIC, node
from healthcheck.model.fleet import Settings
from healthcheck.model.verdict import Verdict


def _fleet(*drivers: str) -> dict[str, Settings]:
    return {f"n{place:02d}": (("driver", driver), ("kernel", f"k{place}")) for place, driver in enumerate(drivers, 1)}


def test_the_minority_is_named_and_both_sides_are_quoted_as_node_sets() -> None:
    (found,) = judge_drift(_fleet(*["550.90.07"] * 8, "535.54.03"))
    assert found.component == node("n09")
    assert found.verdict is Verdict.DEGRADED
    assert found.rule == "drift.driver"
    assert str(found.message) == "driver is 535.54.03 here and 550.90.07 on 8 of 9 nodes"
    assert [entry.text for entry in found.evidence] == ["550.90.07 on n[01-08]", "535.54.03 on n09"]


def test_without_a_majority_nobody_is_blamed_and_the_fleet_is_not_well() -> None:
    (found,) = judge_drift(_fleet("550.90.07", "535.54.03"))
    assert found.component == FABRIC
    assert found.verdict is Verdict.DEGRADED
    assert "550.90.07 (1)" in str(found.message)
    assert "535.54.03 (1)" in str(found.message)


def test_different_nccl_is_broken_because_the_ranks_refuse_each_other() -> None:
    by_host: dict[str, Settings] = dict.fromkeys(("a", "b", "c"), (("nccl", "2.21.5"),))
    by_host["c"] = (("nccl", "2.18.3"),)
    assert [(str(r.component), r.verdict) for r in judge_drift(by_host)] == [("c", Verdict.FAIL)]


def test_two_differences_of_one_node_are_two_results() -> None:
    by_host: dict[str, Settings] = dict.fromkeys(("a", "b", "c"), (("driver", "1"), ("ofed", "5.8")))
    by_host["a"] = (("driver", "2"), ("ofed", "5.4"))
    assert sorted(result.rule for result in judge_drift(by_host)) == ["drift.driver", "drift.ofed"]


def test_who_did_not_tell_is_not_different_and_what_is_only_listed_is_not_judged() -> None:
    by_host = {**_fleet("550.90.07", "550.90.07"), "n03": ()}
    (found,) = judge_drift(by_host)
    assert found.verdict is Verdict.PASS
    assert "the same on 2 nodes" in str(found.message)
    assert judge_drift({"a": (("driver", "1"),)}) == ()
    assert judge_drift({"a": (("kernel", "1"),), "b": (("kernel", "2"),)}) == ()


def test_the_table_of_the_record_holds_every_value_with_its_nodes() -> None:
    table = {setting.name: setting.values for setting in fleet_settings(_fleet("1", "2", "1"))}
    assert [(value.value, value.nodes, value.count) for value in table["driver"]] == [
        ("1", "n[01,03]", 2),
        ("2", "n02", 1),
    ]
    assert len(table["kernel"]) == 3


def test_a_pin_takes_patterns_and_an_untold_version_is_no_proof() -> None:
    by_host = {**_fleet("550.90.07", "535.54.03"), "n03": ()}
    found = {str(result.component): result for result in judge_pins(by_host, {"driver": "550.*"}, "playbook full")}
    assert set(found) == {"n02", "n03"}
    assert found["n02"].verdict is Verdict.DEGRADED
    assert str(found["n02"].message) == "driver is 535.54.03, playbook full wants 550.*"
    assert found["n03"].verdict is Verdict.INCONCLUSIVE
    (met,) = judge_pins(_fleet("550.90.07"), {"driver": "550.*"}, "playbook full")
    assert met.verdict is Verdict.PASS
    assert judge_pins(by_host, {}, "playbook full") == ()


def test_a_pin_holds_for_every_card_of_its_kind() -> None:
    by_host: dict[str, Settings] = {"a": (("hca_firmware[X]", "20.41.1000"), ("hca_firmware[Y]", "16.35.2000"))}
    (found,) = judge_pins(by_host, {"hca_firmware": "20.41.*"}, "platform p")
    assert "16.35.2000" in str(found.message)


@pytest.mark.parametrize(
    ("value", "wanted", "met"),
    [
        ("550.90.07+535.1", "550.*", False),
        ("535.1+550.90.07", "550.*", False),
        ("550.90.07+550.54.15", "550.*", True),
        ("6.8.0+", "6.8.*", True),
        ("6.8.0+", "6.8.0+", True),
        ("550.90.07+535.1", "550.*+535.*", True),
    ],
)
def test_versions_side_by_side_must_all_be_as_pinned(value: str, wanted: str, met: bool) -> None:
    (found,) = judge_pins({"a": (("driver", value),)}, {"driver": wanted}, "playbook full")
    assert (found.rule == "pin.met") is met


def test_all_nodes_of_a_value_are_quoted_or_counted() -> None:
    drivers = ["550.90.07"] * 900 + ["535.54.03"]
    (found,) = judge_drift({f"n{place:04d}": (("driver", driver),) for place, driver in enumerate(drivers)})
    assert found.evidence[0].text == "550.90.07 on n[0000-0899]"
    scattered = {f"n{place * 3 % 7919}x{place}": (("driver", driver),) for place, driver in enumerate(drivers)}
    (found,) = judge_drift(scattered)
    assert found.evidence[0].text.endswith("... (900 nodes in all)")


@given(st.lists(st.sampled_from(["1", "2", "3"]), min_size=2, max_size=12))
def test_nobody_of_the_majority_is_ever_blamed(drivers: list[str]) -> None:
    results = judge_drift(_fleet(*drivers))
    common = max(drivers, key=drivers.count)
    majority = 2 * drivers.count(common) > len(drivers)
    blamed = {str(result.component) for result in results if result.verdict is not Verdict.PASS}
    differing = {f"n{place:02d}" for place, driver in enumerate(drivers, 1) if driver != common}
    assert blamed == (differing if majority else {"fabric"})
