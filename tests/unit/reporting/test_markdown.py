"""`report.md` for a ticket: short whatever the size, and nothing that is not PASS goes missing."""

from __future__ import annotations

import itertools
import re

import pytest
from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.markdown import escaped, render_markdown
from tests.golden.records import healthy, interrupted, sick, text
from tests.golden.searched import searched


@pytest.mark.parametrize("nodes", [8, 32, 1024])
def test_a_healthy_cluster_takes_less_than_sixty_lines(nodes: int) -> None:
    assert len(render_markdown(healthy(nodes)).splitlines()) < 60


def test_forty_causes_on_a_thousand_nodes_stay_short() -> None:
    record = healthy(1024)
    findings = tuple(
        Finding(node(name), Verdict.FAIL, Confidence.CONFIRMED, text(f"cause {place}"), text("repair it"))
        for place, name in enumerate(record.healthy_hosts[:400])
    )
    lines = render_markdown(replace(record, findings=findings)).splitlines()
    assert len(lines) < 250
    assert "350 more in report.html." in lines


def test_nodes_without_a_finding_keep_their_reason() -> None:
    assert "| node[05-08] | INCONCLUSIVE | stopped by the user before it was measured |" in render_markdown(
        interrupted()
    )


def test_the_search_tells_each_round() -> None:
    page = render_markdown(searched())
    rounds = re.findall(r"^\| (\d+) \|.*(?:slow|fast)", page, flags=re.M)
    assert list(dict.fromkeys(rounds)) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("build", [healthy, sick, interrupted, searched])
def test_headings_and_tables_stand_between_blank_lines(build: object) -> None:
    assert callable(build)
    lines = render_markdown(build()).splitlines()
    for before, line in itertools.pairwise(lines):
        if line.startswith("#") or (line.startswith("|") and not before.startswith("|")):
            assert before == "", line
        if before.startswith("#") or (before.startswith("|") and not line.startswith("|")):
            assert line == "", before


def test_a_node_set_stays_readable_in_raw_text() -> None:
    assert escaped("node[01-04,07]: no answer") == "node[01-04,07]: no answer"
    assert escaped("[x]: http://example.org") == "\\[x]: http://example.org"
    assert escaped("[x](http://example.org)") == "\\[x\\](http://example.org)"
