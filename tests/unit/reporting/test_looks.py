"""The table of the looks: nodes that look alike share a row, and what was not seen is said with what that hides."""

from __future__ import annotations

import re

from msgspec.structs import replace

from healthcheck.model.component import FABRIC, hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.probes.unseen import unseen
from healthcheck.reporting.decision import decide
from healthcheck.reporting.looks import looks, looks_answer
from healthcheck.reporting.summary import terminal_summary
from healthcheck.reporting.terminal_tables import looks_lines
from tests.golden.records import RECORDS


def _record(*checks: CheckResult) -> RunRecord:
    record = RECORDS["healthy"]()
    told = {check.component.host for check in checks}
    hosts = tuple(host for host in record.hosts if host.name in told)
    return replace(record, hosts=hosts, checks=checks, jobs=(), findings=())


def _passed(check: str, host: str) -> CheckResult:
    return CheckResult(check, node(host), Verdict.PASS, say("job.stopped"), "x", "probe")


def _hidden(host: str, state: ReadingState = ReadingState.DENIED) -> CheckResult:
    return unseen("kernel.log", host, Reading(state), say("report.verbatim", text="Xid errors, link flaps"))


def test_nodes_that_look_alike_share_a_row_and_trouble_comes_first() -> None:
    sick = CheckResult("hca.rate", hca("node02", "mlx5_1"), Verdict.FAIL, say("job.stopped"), "x", "probe")
    names = [host.name for host in RECORDS["healthy"]().hosts]
    table = looks(_record(*(_passed("hca.count", name) for name in names), sick))
    at = table.columns.index("HCAs")
    assert table.rows[0].nodes == "node02"
    assert [row.cells[at] for row in table.rows] == ["FAIL", "PASS"]
    assert "node02" not in table.rows[1].nodes


def test_an_area_nobody_could_see_is_not_seen_and_never_pass() -> None:
    table = looks(_record(_hidden("node01"), _passed("hca.count", "node01")))
    (row,) = table.rows
    assert row.cells[table.columns.index("system")] == "not read"
    assert "PASS" not in {row.cells[table.columns.index(name)] for name in ("system", "GPUs", "NVLink")}


def test_a_pass_does_not_hide_a_look_nobody_could_take() -> None:
    table = looks(_record(_hidden("node01"), _passed("os.files", "node01"), _passed("hca.count", "node01")))
    (row,) = table.rows
    assert row.cells[table.columns.index("system")] == "PASS, 1 not read"
    assert row.cells[table.columns.index("HCAs")] == "PASS"
    assert looks_answer(table).endswith("1 look could be taken on no node.")


def test_what_nobody_was_permitted_to_read_says_so_and_what_it_needs() -> None:
    names = [host.name for host in RECORDS["healthy"]().hosts]
    everywhere = looks(_record(*map(_hidden, names)))
    assert everywhere.not_read[0].line == (
        f"Xid errors, link flaps: not read: not permitted on any of {len(names)} nodes "
        "(needs root, or the group adm or systemd-journal)"
    )
    somewhere = looks(_record(*(_passed("hca.count", name) for name in names), _hidden(names[0])))
    assert somewhere.not_read[0].why.startswith("not permitted on node01 (")
    assert looks_answer(somewhere).endswith("1 look could not be taken on every node.")


def test_a_node_that_did_not_answer_was_not_read_in_any_area() -> None:
    silent = CheckResult(
        "host.reached", node("node02"), Verdict.INCONCLUSIVE, say("job.stopped"), "connect.unreachable", "probe"
    )
    table = looks(_record(_passed("hca.count", "node01"), silent))
    row = next(row for row in table.rows if row.nodes == "node02")
    assert set(row.cells) == {"INCONCLUSIVE", "not read"}
    assert looks_answer(table) == (
        "Nothing was found against 1 of 2 nodes. No look could be taken at 1 of 2 nodes: node02."
    )


def test_a_node_in_use_has_nothing_against_it() -> None:
    busy = CheckResult("node.busy", node("node01"), Verdict.SKIPPED, say("job.stopped"), "busy.foreign", "probe")
    told = looks_answer(looks(_record(busy, _passed("node.leftovers", "node02"))))
    assert told == "Nothing was found against 1 of 2 nodes. Others are using 1 of 2 nodes: node01."


def test_a_node_the_run_never_came_to_is_not_counted_among_those_looked_at() -> None:
    whole = RECORDS["healthy"]()
    told = looks_answer(looks(replace(whole, checks=(_passed("hca.count", whole.hosts[0].name),))))
    assert f"No look was taken at {len(whole.hosts) - 1} of {len(whole.hosts)} nodes" in told


def test_what_was_not_seen_is_folded_by_what_it_hides_and_why() -> None:
    found = looks(_record(_hidden("node01"), _hidden("node02"), _hidden("node03", ReadingState.TOOL_MISSING)))
    assert [(entry.hides, entry.nodes, entry.count) for entry in found.not_read] == [
        ("Xid errors, link flaps", "node[01-02]", 2),
        ("Xid errors, link flaps", "node03", 1),
    ]
    assert len({entry.why for entry in found.not_read}) == 2


def test_the_terminal_shows_the_table_where_nothing_was_measured_and_what_was_not_seen_always() -> None:
    lines = "\n".join(terminal_summary(_record(_hidden("node01"), _passed("hca.count", "node01")), 96))
    assert "NVLink" in lines
    assert "Xid errors, link flaps: not read: not permitted on node01 (needs root, or the" in lines


def test_a_node_that_was_left_alone_does_not_look_free() -> None:
    busy = CheckResult("node.busy", node("node01"), Verdict.SKIPPED, say("job.stopped"), "busy.foreign", "probe")
    table = looks(_record(busy, _passed("node.leftovers", "node01")))
    assert table.rows[0].cells[table.columns.index("free")] == "SKIPPED"


def test_looks_that_found_something_are_not_said_to_have_found_nothing() -> None:
    record = replace(_record(_passed("hca.count", "node01")), verdict=Verdict.DEGRADED, healthy_hosts=())
    assert "found nothing" not in str(decide(record).sentence)
    assert "found nothing" in str(decide(replace(record, verdict=Verdict.PASS)).sentence)


def test_what_differs_between_nodes_is_no_nothing() -> None:
    differs = say("fleet.no_majority", what="driver", values="535 (1), 550 (1)")
    drift = CheckResult("fleet.drift", FABRIC, Verdict.DEGRADED, differs, "drift.driver", "probe")
    told = looks_answer(looks(_record(_passed("hca.count", "node01"), _passed("hca.count", "node02"), drift)))
    assert "Nothing" not in told and "Of the nodes as a whole: driver differs" in told


def test_the_table_breaks_between_names_and_is_never_wider_than_the_terminal() -> None:
    names = [f"node{place:02d}" for place in (1, 2, 4, 6, 8, 9, 13, 18, 45)]
    record = replace(RECORDS["healthy"](), hosts=tuple(HostRecord(name, Verdict.PASS) for name in names))
    checks = tuple(_passed(check, name) for name in names for check in ("gpu.count", "hca.count", "pcie.width"))
    table = looks(replace(record, checks=checks))
    for width in (60, 80, 96):
        lines = looks_lines(table, width)
        assert max(map(len, lines)) <= width
        assert all(re.search(r"\d\d[,\]]?( |$)", line) for line in lines if re.search(r"\d", line))
