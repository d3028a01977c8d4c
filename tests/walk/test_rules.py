"""A node that passes its percentage of peak and is slower than its peers, from the run to the pages."""

from __future__ import annotations

import pytest

from healthcheck.model.finding import Confidence
from healthcheck.model.verdict import Verdict
from tests.walk.cli import Shell


def test_a_node_seven_percent_under_its_peers_is_named_and_told_with_what_the_others_said(shell: Shell) -> None:
    said = shell("run", "full", "--simulate", "8", "--fault", "node03:nvlink=0.93")
    assert said.code == 1  # the inactive link is FAIL
    (slow,) = [check for check in shell.record().checks if check.rule == "peers.outlier"]
    assert (str(slow.component), slow.verdict, slow.confidence) == ("node03", Verdict.DEGRADED, Confidence.CONFIRMED)
    assert [rule.verdict.name for rule in slow.rules] == ["PASS", "PASS", "DEGRADED", "SKIPPED", "PASS"]
    assert "node03 DEGRADED busbw" in said.err  # told when the stage ended: by itself it had passed
    assert "of it and the 7 other nodes in the same job" in " ".join(said.err.split())
    folder = shell.folders()[-1]
    assert "peers.outlier" in (folder / "report.md").read_text()
    page = (folder / "report.html").read_text()
    assert "peers.outlier" in page and "Other rules: peak PASS" in page and "history not asked, no baseline" in page
    assert [job.verdict for job in shell.record().jobs if job.hosts == ("node03",)] == [Verdict.DEGRADED]


def test_a_fleet_that_is_too_small_has_no_peers(shell: Shell) -> None:
    assert shell("run", "--simulate", "5", "--fault", "node03:nvlink=0.93", "-q").code == 1
    assert not [check for check in shell.record().checks if check.rule == "peers.outlier"]


def test_only_bandwidths_carry_rules(shell: Shell) -> None:
    shell("run", "--simulate", "2", "-q")
    assert {check.check for check in shell.record().checks if check.rules} == {"bandwidth.busbw"}


@pytest.mark.parametrize(
    ("rule", "cause"),
    [
        ("known_good.below", "cause.below_known_good"),
        ("peers.outlier", "cause.slow_vs_peers"),
        ("history.worse", "cause.slow_vs_past"),
    ],
)
def test_every_rule_is_explained_by_its_name(shell: Shell, rule: str, cause: str) -> None:
    said = shell("explain", rule)
    assert said.code == 0
    assert cause in said.out
    assert rule in shell("explain", "bandwidth.busbw").out
