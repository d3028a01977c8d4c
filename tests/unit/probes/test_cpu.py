"""Governors: a slow one is said, an ordinary default is not."""

from __future__ import annotations

import pytest

from healthcheck.model.verdict import Verdict
from healthcheck.probes import cpu
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import answer, said


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("healthy", Verdict.PASS, "cpu.governor_fast"),
        ("healthy_intel_pstate", Verdict.PASS, "cpu.governor_fast"),
        ("healthy_virtual", Verdict.SKIPPED, "cpu.does_not_apply"),
        ("sick_ondemand", Verdict.DEGRADED, "cpu.governor_slow"),
        ("sick_mixed", Verdict.DEGRADED, "cpu.governors_differ"),
        ("sick_no_sysfs", Verdict.SKIPPED, "unseen.unparsable"),
        ("tool_missing", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_recorded_processors(fixture: str, verdict: Verdict, rule: str) -> None:
    result = cpu.judge(read_node("node01", {"cpu": answer("cpu", fixture)}))
    assert (result.verdict, result.rule) == (verdict, rule)


def test_what_differs_is_quoted_with_its_numbers() -> None:
    result = cpu.judge(read_node("node01", {"cpu": answer("cpu", "sick_mixed")}))
    assert "performance (96), powersave (32)" in str(result.message)
    assert [entry.text for entry in result.evidence] == [
        "governor 96 performance",
        "governor 32 powersave",
        "driver acpi-cpufreq",
    ]


@pytest.mark.parametrize("driver", ["intel_pstate", "amd-pstate-epp"])
def test_hardware_that_governs_itself_may_be_set_unevenly(driver: str) -> None:
    text = f"online 0-127\ngovernor 127 powersave\ngovernor 1 performance\ndriver {driver}\nnuma 2"
    assert cpu.judge(read_node("n", {"cpu": said(text)})).rule == "cpu.governor_fast"


def test_no_numa_node_is_unknown_and_not_none() -> None:
    reading = cpu.read(said("online 0-7\nnuma 0"))
    assert reading.value is not None
    assert reading.value.numa_nodes is None
