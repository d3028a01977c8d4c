"""`junit.xml`: every result a case that a CI counts right, and nothing unmeasured that looks like a success."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.language import Language, speaking
from healthcheck.model.message import say
from healthcheck.model.reading import Evidence
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting import junit
from healthcheck.reporting.junit import render_junit
from tests.golden.records import RECORDS, healthy, interrupted, sick
from tests.golden.searched import searched

# What junit-10.xsd of Jenkins' xUnit plugin allows: attributes that must be there, those that may, and children.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname"},
        {"properties", "testcase"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"classname", "time"}, {"failure", "error", "skipped"}),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
}


def parsed(record: RunRecord) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(record))


def case(root: ElementTree.Element, classname: str, name: str) -> ElementTree.Element:
    found = [one for one in root.iter("testcase") if (one.get("classname"), one.get("name")) == (classname, name)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("build", [*RECORDS.values(), searched])
def test_a_file_fits_the_schema_and_its_counts_are_those_of_its_cases(build: object) -> None:
    assert callable(build)
    root = parsed(build())
    for element in root.iter():
        must, may, children = SCHEMA[element.tag]
        assert must <= set(element.attrib) <= must | may
        assert {child.tag for child in element} <= children
        assert re.fullmatch(r"\d*(\.\d*)?", element.get("time", ""))
    for counted in (root, *root.iter("testsuite")):
        cases = list(counted.iter("testcase"))
        inside = Counter(child.tag for one in cases for child in one)
        told = {"tests": len(cases), "failures": inside["failure"], "errors": inside["error"]}
        if counted is not root:
            told["skipped"] = inside["skipped"]
        assert {name: counted.get(name) for name in told} == {name: str(count) for name, count in told.items()}


@pytest.mark.parametrize("build", [*RECORDS.values(), searched])
def test_no_two_cases_have_one_name_because_gitlab_keeps_the_first_only(build: object) -> None:
    assert callable(build)
    names = Counter((one.get("classname"), one.get("name")) for one in parsed(build()).iter("testcase"))
    assert set(names.values()) == {1}


def test_each_verdict_has_its_own_way_of_not_passing() -> None:
    record = sick()
    checks = tuple(
        CheckResult("hca.rate", node(f"n{verdict.name}"), verdict, say("report.verbatim", text="why"), "r", "probe")
        for verdict in Verdict
    )
    root = parsed(replace(record, checks=checks))
    found = {
        verdict: [
            (child.tag, child.get("type"), child.get("message")) for child in case(root, f"n{verdict.name}", "hca.rate")
        ]
        for verdict in Verdict
    }
    assert found == {
        Verdict.PASS: [],
        Verdict.FAIL: [("failure", "FAIL", "why")],
        Verdict.DEGRADED: [("failure", "DEGRADED", "why")],
        Verdict.INCONCLUSIVE: [("error", "INCONCLUSIVE", "why")],
        Verdict.SKIPPED: [("skipped", "SKIPPED", "why")],
    }


def test_a_failure_says_what_was_seen_and_which_rule_fired() -> None:
    failure = case(parsed(sick()), "node05/hca:mlx5_2", "hca.rate").find("failure")
    assert failure is not None
    assert (failure.text or "").splitlines() == [
        "mlx5_2 at 100 Gb/s, expected 200",
        "rule: hca.rate_low",
        "observed: 100 Gb/s",
        "expected: 200 Gb/s",
    ]


def test_a_run_that_was_broken_off_before_any_check_is_an_error_and_so_is_every_host_it_did_not_reach() -> None:
    record = replace(interrupted(), checks=())
    root = parsed(record)
    assert case(root, "run", "verdict").find("error") is not None
    assert case(root, "node08", "host").find("error") is not None
    assert case(root, "node01", "host").find("error") is None


def test_a_host_is_told_once_where_a_check_tells_it() -> None:
    hosts = [one.get("classname") for one in parsed(sick()).iter("testcase") if one.get("name") == "host"]
    assert hosts == ["node07", "node08"]


def test_a_job_that_several_checks_judged_counts_its_time_once() -> None:
    record = healthy()
    twice = tuple(one for check in record.checks for one in (replace(check, check="job.integrity"), check))
    times = [float(one.get("time", 0)) for one in parsed(replace(record, checks=twice)).iter("testcase")]
    assert sum(times[1:]) == pytest.approx(sum(job.duration_s for job in record.jobs))


def test_the_properties_say_which_run_it_was_and_that_it_was_simulated() -> None:
    root = parsed(sick())
    told = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert told["run_id"] == "20260314T021503Z-mvkd"
    assert (told["verdict"], told["simulated"], told["platform"]) == ("FAIL", "true", "a100-sxm4-8gpu-8x200")
    assert str(told["playbook_sha256"]).startswith("4d1f0c62a1")


def test_a_look_that_is_repeated_keeps_both_results() -> None:
    first = CheckResult("kernel.log", node("node01"), Verdict.PASS, say("kernel.quiet"), "kernel.quiet", "probe")
    later = replace(first, verdict=Verdict.FAIL, message=say("report.verbatim", text="XID 79"))
    root = parsed(replace(healthy(), checks=(first, later)))
    assert len(case(root, "node01", "kernel.log")) == 0
    assert case(root, "node01", "kernel.log #2").find("failure") is not None


def test_a_huge_fleet_folds_what_passed_and_keeps_what_did_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MOST_CASES", 3)
    root = parsed(sick())
    assert len(list(root.iter("failure"))) == 4
    assert case(root, "all PASS", "bandwidth.busbw (single_node, all_reduce)").get("time") is None


def test_the_message_is_short_and_the_text_is_whole() -> None:
    long = CheckResult(
        "gpu.count",
        node("node01"),
        Verdict.FAIL,
        say("report.verbatim", text="x" * 5000),
        "r",
        evidence=tuple(Evidence("nvidia-smi", f"line {place}") for place in range(40)),
    )
    failure = case(parsed(replace(healthy(), checks=(long,))), "node01", "gpu.count").find("failure")
    assert failure is not None and failure.text is not None
    assert len(str(failure.get("message"))) == junit.SHORT
    assert failure.text.startswith("x" * 5000)
    assert failure.text.endswith("30 more in record.json")


def test_it_is_english_whatever_is_spoken() -> None:
    before = render_junit(sick())
    with speaking(Language("zh-Hans", {"report.verbatim": "中文 {text}"})):
        assert render_junit(sick()) == before
