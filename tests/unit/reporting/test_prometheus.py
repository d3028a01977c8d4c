"""`metrics.prom`: read by Prometheus' own parser; what is not known is absent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.gate import GateAsked, GateRecord, Reused
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.prometheus import render_metrics
from tests.golden.records import RECORDS, healthy, interrupted, names, sick
from tests.golden.searched import searched

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "metrics.md"
Series = tuple[str, tuple[tuple[str, str], ...]]


def series(record: RunRecord) -> dict[Series, float]:
    """Every sample by name (without `healthcheck_`) and labels (without `simulated`)."""
    found: dict[Series, float] = {}
    for family in text_string_to_metric_families(render_metrics(record)):
        for sample in family.samples:
            labels = tuple(sorted((key, value) for key, value in sample.labels.items() if key != "simulated"))
            key = (sample.name.removeprefix("healthcheck_"), labels)
            assert key not in found
            found[key] = sample.value
    return found


def value(record: RunRecord, metric: str, /, **labels: str) -> float | None:
    return series(record).get((metric, tuple(sorted(labels.items()))))


@pytest.mark.parametrize("build", [*RECORDS.values(), searched])
def test_names_and_units_are_as_prometheus_wants_them(build: object) -> None:
    assert callable(build)
    for family in text_string_to_metric_families(render_metrics(build())):
        assert re.fullmatch(r"healthcheck_[a-z_]+", family.name)
        assert family.type == "gauge"
        assert family.documentation
        assert not re.search(r"gb|gbyte|milli|percent|_ms\b", family.name)
        assert all(sample.timestamp is None for sample in family.samples)  # the textfile collector refuses those
        assert not {"job", "instance"} & {label for sample in family.samples for label in sample.labels}


def test_every_series_says_whether_it_was_simulated() -> None:
    for record, told in ((sick(), "true"), (healthy(), "false")):
        families = text_string_to_metric_families(render_metrics(record))
        assert {sample.labels["simulated"] for family in families for sample in family.samples} == {told}


def test_the_run_and_its_hosts_are_told() -> None:
    record = sick()
    assert value(record, "run_verdict") == 4
    assert value(record, "run_exit_code") == 1
    assert value(record, "run_duration_seconds") == 278
    assert value(record, "run_started_timestamp_seconds") == 1773454503
    assert value(record, "hosts", verdict="PASS") == 4
    assert value(record, "hosts", verdict="FAIL") == 1
    assert value(record, "host_verdict", host="node05") == 4
    assert value(record, "host_verdict", host="node08") == 0
    assert value(record, "healthy_hosts") == 4
    assert value(record, "jobs", stage="multi_node", verdict="FAIL") == 1
    assert value(record, "findings", verdict="DEGRADED", cause="report.verbatim") == 1


def gate(*reused: str) -> RunRecord:
    passes = tuple(Reused(host, "20260313T021503Z-aaaa", "2026-03-13T02:15:03Z") for host in reused)
    return replace(sick(), gate=GateRecord(GateAsked(300.0, 86400.0), reused=passes))


def test_a_gate_counts_the_passes_it_reused() -> None:
    assert value(gate("node01", "node02"), "reused_hosts") == 2
    assert value(gate(), "reused_hosts") == 0
    assert value(sick(), "reused_hosts") is None, "no other run reuses any"


def test_a_bandwidth_is_the_judged_one_in_bytes_and_as_fractions() -> None:
    of = {"stage": "single_node", "collective": "all_reduce", "host": "node03"}
    record = sick()
    assert value(record, "host_busbw_bytes_per_second", **of) == pytest.approx(191.7e9, rel=1e-3)
    assert value(record, "host_busbw_peak_ratio", **of) == pytest.approx(0.639, abs=1e-3)
    assert value(record, "host_busbw_known_good_ratio", **of) == pytest.approx(191.7 / 231, abs=1e-3)


def test_the_job_of_all_is_told_as_it_was_found_and_as_it_was_proven() -> None:
    of = {"stage": "multi_node", "collective": "all_reduce"}
    record = sick()
    assert value(record, "fabric_busbw_peak_ratio", **of, set="found") == pytest.approx(0.482, abs=1e-3)
    assert value(record, "fabric_busbw_peak_ratio", **of, set="proven") == pytest.approx(0.955, abs=1e-3)
    assert value(record, "fabric_busbw_hosts", **of, set="proven") == 4


def test_the_proof_of_a_search_is_told_too() -> None:
    record = searched()
    jobs = tuple(replace(job, stage="localise") if job.id == "localise-r05-verify" else job for job in record.jobs)
    found = value(
        replace(record, jobs=jobs), "fabric_busbw_hosts", stage="localise", collective="all_reduce", set="proven"
    )
    assert found == 15


def test_what_is_not_known_is_absent_and_never_zero() -> None:
    record = interrupted()
    told = {name for name, _ in series(record)}
    assert not told & {"run_duration_seconds", "run_finished_timestamp_seconds", "host_busbw_peak_ratio"}
    assert value(record, "run_complete") == 0
    assert (
        value(record, "host_busbw_bytes_per_second", stage="single_node", collective="all_reduce", host="node05")
        is None
    )
    assert "run_exit_code" not in {name for name, _ in series(replace(record, exit_code=None))}


def test_a_drift_of_versions_is_told_and_the_most_common_one_stands_in_the_info() -> None:
    fleet = (
        FleetSetting("driver", (FleetValue("550.90.07", "node[01-07]", 7), FleetValue("535.54.03", "node08", 1))),
        FleetSetting("persistence", (FleetValue("Enabled", "node[01-08]", 8),)),
    )
    record = replace(healthy(), fleet=fleet)
    assert value(record, "version_hosts", name="driver", value="535.54.03") == 1
    assert 'driver="550.90.07"' in render_metrics(record)
    assert "persistence" not in render_metrics(record)


def test_four_thousand_nodes_make_four_series_each_and_no_more() -> None:
    hosts = names(4000)
    record = healthy(8)
    few = len(series(record))
    job, check = record.jobs[0], record.checks[0]
    many = replace(
        record,
        hosts=tuple(HostRecord(host, Verdict.PASS) for host in hosts),
        jobs=tuple(replace(job, id=f"single_node.{host}", hosts=(host,)) for host in hosts),
        checks=tuple(replace(check, job=f"single_node.{host}") for host in hosts),
    )
    assert len(series(many)) <= 4 * 4000 + few


def test_two_hosts_that_read_alike_when_made_visible_are_one_series_with_the_worse_verdict() -> None:
    hosts = (HostRecord("a b", Verdict.FAIL), HostRecord("a\nb", Verdict.PASS))
    assert value(replace(healthy(), hosts=hosts), "host_verdict", host="a b") == 4


def test_the_page_names_every_metric_and_no_other() -> None:
    page = PAGE.read_text(encoding="utf-8")
    fleet = (FleetSetting("driver", (FleetValue("550.90.07", "node[01-08]", 8),)),)
    rules = next(check.rules for check in sick().checks if check.rules)
    checks = tuple(replace(check, rules=rules) for check in sick().checks)
    jobs = (*sick().jobs, replace(sick().jobs[0], stage="localise", verdict=None))
    made = {f"healthcheck_{name}" for name, _ in series(replace(gate(), fleet=fleet, checks=checks, jobs=jobs))}
    named = set(re.findall(r"\bhealthcheck_[a-z_]+[a-z]", page))
    short = {f"healthcheck_fabric_busbw{end}" for end in re.findall(r"`\.\.\.(_[a-z_]+)`", page)}
    assert named | short == made


def test_the_alerts_of_the_page_are_rules_and_leave_rehearsals_alone() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (groups,) = [yaml.safe_load(block)["groups"] for block in blocks]
    rules = groups[0]["rules"]
    assert len(rules) == 1
    for rule in rules:
        assert {"alert", "expr", "labels", "annotations"} <= set(rule)
        assert rule["expr"].count("{") == rule["expr"].count('{simulated="false"}') > 0
