"""What many nodes share is told once: entries, raw lines, rows of nodes, and the cause on stdout."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.explain import findings
from healthcheck.model.component import FABRIC, Component, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.message import Message, say
from healthcheck.model.reading import Evidence
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import bandwidth
from healthcheck.reporting.bandwidth_bars import bandwidth_answer
from healthcheck.reporting.html import render_html
from healthcheck.reporting.markdown import render_markdown
from healthcheck.reporting.names import folded
from healthcheck.reporting.summary import LINE_LIMIT, stdout_line, terminal_summary
from healthcheck.reporting.todo import todo
from healthcheck.reporting.view import page
from tests.golden.records import healthy, names, single

NODES = 1024


def _told(
    verdict: Verdict,
    reason: Message,
    of: Iterable[str],
    checks: tuple[CheckResult, ...] = (),
    interrupted: bool = False,
    count: int = NODES,
) -> RunRecord:
    """A run of `count` nodes in leafs of 8, in which those of `of` are not PASS for one reason."""
    touched = set(of)
    whole = healthy(count, per_leaf=8)
    hosts = tuple(
        replace(host, verdict=verdict, reasons=(reason,)) if host.name in touched else host for host in whole.hosts
    )
    verdicts = {host.name: host.verdict for host in hosts}
    return replace(
        whole,
        verdict=verdict,
        hosts=hosts,
        state="interrupted" if interrupted else "complete",
        jobs=() if interrupted else whole.jobs,
        checks=checks,
        findings=findings(checks, verdicts, whole.run_id, interrupted=interrupted),
        healthy_hosts=(),
    )


def _interrupted() -> RunRecord:
    return _told(Verdict.INCONCLUSIVE, say("run.interrupted"), names(NODES)[21:], interrupted=True)


def _unreachable() -> RunRecord:
    silent = names(NODES)[::2][:500]
    checks = tuple(
        CheckResult(
            "host.reached",
            node(name),
            Verdict.INCONCLUSIVE,
            say("host.unresolvable", address=name, detail="Name or service not known"),
            "connect.unreachable",
            "probe",
        )
        for name in silent
    )
    return _told(Verdict.INCONCLUSIVE, say("host.unreachable", port=22, detail="No route to host"), silent, checks)


def _no_platform() -> RunRecord:
    why = say("probe.no_output", code=1)
    check = CheckResult("platform.detect", FABRIC, Verdict.INCONCLUSIVE, why, "platform.unknown", "probe")
    return replace(_told(Verdict.INCONCLUSIVE, say("finding.no_result"), names(NODES), (check,)), platform=None)


def _all_busy() -> RunRecord:
    checks = tuple(
        CheckResult(
            "node.busy",
            node(name),
            Verdict.SKIPPED,
            say("probe.busy.foreign", count=1, who=f"python3 (pid {4000 + place}, user mlteam)"),
            "busy.foreign",
            "probe",
            evidence=(Evidence("nvidia-smi", f"{4000 + place}, python3"),),
        )
        for place, name in enumerate(names(NODES))
    )
    return _told(Verdict.SKIPPED, say("finding.no_result"), names(NODES), checks)


SHARED = {
    "interrupted": _interrupted,
    "unreachable": _unreachable,
    "no platform": _no_platform,
    "all busy": _all_busy,
}


@pytest.mark.parametrize("kind", SHARED)
def test_one_cause_of_many_nodes_is_one_entry_and_keeps_the_page_small(kind: str) -> None:
    record = SHARED[kind]()
    entries = todo(record)
    assert len(entries) <= 2, [entry.title for entry in entries]
    assert len(render_html(record).encode()) < 600_000
    text = render_markdown(record)
    assert len(text.splitlines()) <= 80
    assert max(map(len, text.splitlines())) < 6000
    assert len(stdout_line(record)) <= LINE_LIMIT


def test_the_cause_of_an_interrupted_run_is_the_interruption_and_no_node() -> None:
    record = _interrupted()
    (entry,) = todo(record)
    assert (entry.title, entry.cause) == ("node[0022-1024]", "not measured: the run was interrupted")
    assert entry.alike.startswith("1003 components, one cause")
    assert stdout_line(record).endswith("cause node[0022-1024] not measured: the run was interrupted")
    (row,) = page(record).not_pass_rows
    assert (row.names, row.group, len(row.indices)) == ("node[0022-1024]", "l[3-128]", 1003)


def test_names_that_fill_a_screen_are_counted_in_titles_and_written_out_once() -> None:
    record = _unreachable()
    (entry,) = todo(record)
    every = folded(names(NODES)[::2][:500])
    assert (entry.title, entry.components) == ("500 nodes", every)
    made = page(record)
    assert max(map(len, (*made.facts, made.nodes_told))) < 200
    assert max(map(len, terminal_summary(record, 96))) <= 96 + len(every)
    assert sum(every[:60] in line for line in terminal_summary(record, 96)) == 0
    assert f"500 components, one cause: {every}" in render_html(record)
    assert f"500 components, one cause: {every}" in render_markdown(record)


def test_why_no_node_was_measured_stands_before_that_none_was() -> None:
    record = _no_platform()
    assert [entry.title for entry in todo(record)] == ["fabric", "node[0001-1024]"]
    assert "cause fabric " in stdout_line(record)


def test_raw_lines_that_differ_in_the_node_alone_are_quoted_once() -> None:
    (entry,) = todo(_interrupted())
    assert entry.evidence == (("record.json", "no result for node0022"),)
    assert entry.more_evidence == 0


def test_raw_lines_that_differ_are_quoted_up_to_a_number_and_the_others_counted() -> None:
    record = _all_busy()
    (entry,) = todo(record)
    assert len(entry.evidence) + entry.more_evidence == NODES
    assert len(entry.evidence) < 50
    assert f"{entry.more_evidence} more lines in record.json" in render_html(record)


def test_a_text_that_names_its_node_names_all_of_them_where_it_stands_for_all() -> None:
    record = _told(Verdict.INCONCLUSIVE, say("host.unreachable", port=22, detail="?"), ())
    hosts = tuple(
        replace(
            host,
            verdict=Verdict.INCONCLUSIVE,
            reasons=(say("host.unresolvable", address=host.name, detail="not known"),),
        )
        for host in record.hosts
    )
    (row,) = page(replace(record, hosts=hosts, jobs=())).not_pass_rows
    assert row.why == "the name node[0001-1024] does not resolve: not known"


def _slow_rails(count: int) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            Component(f"{name}/hca:mlx5_{place % 3}"),
            Verdict.FAIL,
            Confidence.CONFIRMED,
            say("cause.hca_slow", device=f"mlx5_{place % 3}", rate=100.0 + place, expected=200.0),
            say("remedy.hca_slow", device=f"mlx5_{place % 3}"),
        )
        for place, name in enumerate(names(count))
    )


@pytest.mark.parametrize(("count", "entries"), [(3, 3), (4, 1), (40, 1)])
def test_more_than_three_of_one_cause_are_one_entry_whatever_their_numbers(count: int, entries: int) -> None:
    found = todo(replace(healthy(64), verdict=Verdict.FAIL, findings=_slow_rails(count)))
    assert len(found) == entries
    assert {host for entry in found for host in entry.hosts} == set(names(count))


def test_other_parts_of_other_nodes_stand_side_by_side_and_the_words_are_those_of_the_first() -> None:
    (entry,) = todo(replace(healthy(64), verdict=Verdict.FAIL, findings=_slow_rails(6)))
    assert entry.title == "node[01,04]/hca:mlx5_0, node[02,05]/hca:mlx5_1, node[03,06]/hca:mlx5_2"
    assert "Told in the words of node01/hca:mlx5_0" in entry.alike


def test_many_slow_nodes_share_a_row_with_their_names_and_who_stands_out_keeps_its_own() -> None:
    record = healthy(64, per_leaf=8)
    slow = {name: single(name, 115.0, Verdict.FAIL) for name in names(64)[:30]}
    slow["node40"] = single("node40", 20.0, Verdict.FAIL)
    jobs = tuple(slow.get(job.hosts[0], job) if len(job.hosts) == 1 else job for job in record.jobs)
    table = bandwidth(replace(record, jobs=jobs, checks=()))
    alone = [row.who if not row.who_is_name else row.hosts for row in table.rows if row.verdict is Verdict.FAIL]
    assert alone == ["node[01-30], median of 30", "node40"] and table.rest == ()
    assert "31 nodes not PASS" in bandwidth_answer(table)
