"""`report.md` for a ticket: short whatever the size, and nothing that is not PASS goes missing."""

from __future__ import annotations

import itertools
import re

import pytest
from msgspec.structs import replace

from healthcheck.model.component import Component, node
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.reading import Evidence
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.markdown import escaped, render_markdown
from healthcheck.reporting.names import folded
from tests.golden.records import healthy, interrupted, names, sick, single, text
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
    assert len(lines) <= 120
    told = sum(line.startswith("### ") and ". node" in line for line in lines)
    told += sum(line.startswith("| node") for line in lines)
    assert f"{400 - told} more in report.html." in lines


def _sick(nodes: int) -> RunRecord:
    """Four parts of nodes, and nodes that are silent or busy, all over a cluster in which a search found somebody."""
    found = searched()
    whole = healthy(nodes, per_leaf=8)
    causes = ("link at half rate", "NVLinks inactive", "GPU memory errors", "no answer", "somebody else uses the node")
    parts = ("/hca:mlx5_1", "/gpu:0", "/gpu:3", "", "")
    places = {place: place % 5 for place in range(7, nodes, nodes // 20)}
    hosts = [
        replace(host, verdict=Verdict.FAIL if places[place] < 3 else Verdict.INCONCLUSIVE, reasons=(text("see above"),))
        if place in places
        else host
        for place, host in enumerate(whole.hosts)
    ]
    findings = [
        Finding(
            Component(f"{whole.hosts[place].name}{parts[kind]}"),
            hosts[place].verdict,
            Confidence.CONFIRMED,
            text(causes[kind]),
            text("repair it"),
            evidence_for=(text("it was read"),),
            commands=tuple(f"ssh {whole.hosts[place].name} {word}" for word in ("one", "two", "three", "four")),
            evidence=(Evidence("ibstat", f"line {place}"), Evidence("dmesg", "another line")),
        )
        for place, kind in places.items()
    ]
    return replace(
        whole, verdict=Verdict.FAIL, hosts=tuple(hosts), findings=tuple(findings), search=found.search, state="complete"
    )


@pytest.mark.parametrize("nodes", [64, 1024, 4096])
def test_a_large_cluster_with_twenty_sick_nodes_stays_a_ticket_and_loses_none_of_them(nodes: int) -> None:
    record = _sick(nodes)
    page = render_markdown(record)
    assert len(page.splitlines()) <= 120
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        names = [host.name for host in record.hosts if host.verdict is verdict]
        assert f"| {verdict.name} | {len(names)} | {folded(names)} |" in page
    assert page.count("```") >= 4, "the most urgent ones have their commands"


def test_single_nodes_that_one_rule_found_share_a_row_and_all_are_named() -> None:
    record = healthy(64)
    slow = tuple(single(name, 100.0 + place, Verdict.FAIL) for place, name in enumerate(names(64)[:5]))
    page = render_markdown(replace(record, jobs=(*slow, *record.jobs[5:])))
    (row,) = [line for line in page.splitlines() if line.startswith("| Inside a node | node[01-05] |")]
    assert re.search(r"\| (\d+\.\d) to (\d+\.\d) \|", row)


def test_a_map_of_many_groups_names_them_by_verdict() -> None:
    page = render_markdown(_sick(1024))
    (line,) = [line for line in page.splitlines() if line.startswith("- INCONCLUSIVE: l")]
    assert re.fullmatch(r"- INCONCLUSIVE: l\[[\d,-]+\]", line)


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


def test_a_thing_to_do_shows_the_three_strongest_reasons_and_counts_the_others() -> None:
    found = Finding(
        node("node01"),
        Verdict.FAIL,
        Confidence.CONFIRMED,
        text("a cause"),
        text("repair it"),
        evidence_for=(text("first"), text("second")),
        evidence=tuple(Evidence("raw", line) for line in ("first", "third", "fourth", "fifth")),
    )
    told = render_markdown(replace(healthy(8), findings=(found,)))
    assert "- What speaks for it: first; second; raw: `third`; and 2 more in report.html\n" in told
    few = replace(found, evidence_for=(), evidence=found.evidence[:1])
    assert "- What speaks for it: raw: `first`\n" in render_markdown(replace(healthy(8), findings=(few,)))
