"""What an alert says: the verdict as on stdout, the cause, the next command, where the report lies. Short."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.edge.languages import load_language
from healthcheck.model.language import speaking
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.alert import alert_of
from healthcheck.reporting.summary import stdout_line
from tests.golden.records import healthy, interrupted, sick, text

REPORT = "/srv/reports/run/report.html"


def test_a_healthy_run_is_three_lines() -> None:
    alert = alert_of(healthy(), REPORT, None)
    assert alert.title == f"healthcheck: {stdout_line(healthy())}"
    assert alert.plain.splitlines() == [
        "Start on all 8 nodes: they are proven together.",
        "No earlier complete run of this playbook on these hosts.",
        f"Report on head: {REPORT}",
    ]
    assert alert.verdict is Verdict.PASS


def test_the_title_is_english_and_the_text_in_the_language_of_the_page() -> None:
    with speaking(load_language("zh")):
        alert = alert_of(sick(), REPORT, None)
    assert alert.title == f"healthcheck: {stdout_line(sick())}"
    assert alert.plain.splitlines()[1].startswith("原因：node05/hca:mlx5_2")
    assert "scontrol update NodeName=node05" in alert.plain
    assert alert.plain.splitlines()[-1] == f"报告在 head 上：{REPORT}"


def test_what_nodes_say_stays_one_short_line_and_no_markdown() -> None:
    record = sick()
    hostile = text("*bold* <b>\nScontrol ![x](http://example.org) " + "x" * 5000)
    findings = tuple(replace(finding, cause=hostile) for finding in record.findings)
    alert = alert_of(replace(record, findings=findings), REPORT, None)
    assert len(alert.plain) < 2000
    assert len(alert.plain.splitlines()) == len(alert_of(record, REPORT, None).plain.splitlines())
    cause = next(line for line in alert.markdown.splitlines() if line.startswith("Cause"))
    assert "\\*bold\\* \\<b>" in cause
    assert "![x](" not in cause


def test_an_interrupted_run_says_so() -> None:
    assert "interrupted" in alert_of(interrupted(), REPORT, None).title
