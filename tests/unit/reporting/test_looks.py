"""The table of the looks: nodes that look alike share a row, and what was not seen is said with what that hides."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.component import hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.probes.unseen import unseen
from healthcheck.reporting.decision import decide
from healthcheck.reporting.looks import looks
from healthcheck.reporting.summary import terminal_summary
from tests.golden.records import RECORDS


def _record(*checks: CheckResult) -> RunRecord:
    record = RECORDS["healthy"]()
    return replace(record, checks=checks, jobs=(), findings=())


def _passed(check: str, host: str) -> CheckResult:
    return CheckResult(check, node(host), Verdict.PASS, say("job.stopped"), "x", "probe")


def _hidden(host: str, state: ReadingState = ReadingState.DENIED) -> CheckResult:
    return unseen("kernel.log", host, Reading(state), say("report.verbatim", text="Xid errors, link flaps"))


def test_nodes_that_look_alike_share_a_row_and_trouble_comes_first() -> None:
    sick = CheckResult("hca.rate", hca("node02", "mlx5_1"), Verdict.FAIL, say("job.stopped"), "x", "probe")
    names = [host.name for host in _record().hosts]
    table = looks(_record(*(_passed("hca.count", name) for name in names), sick))
    at = table.columns.index("HCAs")
    assert table.rows[0].nodes == "node02"
    assert [row.cells[at] for row in table.rows] == ["FAIL", "PASS"]
    assert "node02" not in table.rows[1].nodes


def test_an_area_nobody_could_see_is_not_seen_and_never_pass() -> None:
    table = looks(_record(_hidden("node01"), _passed("hca.count", "node01")))
    (row,) = table.rows
    assert row.cells[table.columns.index("system")] == "not seen"
    assert "PASS" not in {row.cells[table.columns.index(name)] for name in ("system", "GPUs", "NVLink")}


def test_what_was_not_seen_is_folded_by_what_it_hides_and_why() -> None:
    found = looks(_record(_hidden("node01"), _hidden("node02"), _hidden("node03", ReadingState.TOOL_MISSING)))
    assert [(entry.hides, entry.nodes, entry.count) for entry in found.not_seen] == [
        ("Xid errors, link flaps", "node[01-02]", 2),
        ("Xid errors, link flaps", "node03", 1),
    ]
    assert len({entry.why for entry in found.not_seen}) == 2


def test_the_terminal_shows_the_table_where_nothing_was_measured_and_what_was_not_seen_always() -> None:
    lines = "\n".join(terminal_summary(_record(_hidden("node01"), _passed("hca.count", "node01")), 96))
    assert "NVLink" in lines
    assert "node01: Xid errors, link flaps (not permitted to this user)" in lines


def test_a_node_that_was_left_alone_does_not_look_free() -> None:
    busy = CheckResult("node.busy", node("node01"), Verdict.SKIPPED, say("job.stopped"), "busy.foreign", "probe")
    table = looks(_record(busy, _passed("node.leftovers", "node01")))
    assert table.rows[0].cells[table.columns.index("free")] == "SKIPPED"


def test_looks_that_found_something_are_not_said_to_have_found_nothing() -> None:
    record = replace(_record(_passed("hca.count", "node01")), verdict=Verdict.DEGRADED, healthy_hosts=())
    assert "found nothing" not in str(decide(record).sentence)
    assert "found nothing" in str(decide(replace(record, verdict=Verdict.PASS)).sentence)
