"""The table of what changed: who moved stands in one row, and nobody is told twice or left out."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.evaluation.comparison import compare
from healthcheck.model.comparison import Comparison
from healthcheck.model.digest import DigestHost, DigestLimit, DigestMessage, RunDigest
from healthcheck.model.earlier import Earlier, EarlierRun, PastReading
from healthcheck.reporting.since import MOST_ROWS, BeforeAfter, Since, before_after, since_view
from healthcheck.reporting.since_rows import members, since_rows
from tests.golden.records import healthy, sick
from tests.unit.evaluation.two_runs import names, run, with_host

LIMIT = DigestLimit("bandwidth.busbw", "multi_node", "all_reduce", 200.0, 0.7, 0.5)


def _compared(before: RunDigest, after: RunDigest) -> Comparison:
    found = compare(before, after)
    return replace(found, before=replace(found.before, run_id="before"), after=replace(found.after, run_id="after"))


def _view(before: RunDigest, after: RunDigest) -> Since:
    view = since_view(BeforeAfter(_compared(before, after)))
    assert view is not None
    return view


def _judged(of: RunDigest, host: str, verdict: str, why: str = "it is so") -> RunDigest:
    """With another verdict on one host."""
    told = DigestHost(host, verdict, (DigestMessage("report.verbatim", why),))
    return with_host(of, told)


def test_nobody_asked_and_nobody_found_are_two_things() -> None:
    assert before_after(healthy(), None) is None
    assert since_view(None) is None
    nothing = since_view(before_after(healthy(), Earlier()))
    assert nothing is not None
    assert nothing.answer.startswith("No earlier run of these nodes")
    assert nothing.rows == ()


def test_two_healthy_runs_are_told_in_one_sentence_and_the_stages() -> None:
    view = _view(run(names(16), seed=1), run(names(16), seed=2))
    assert "none of the 16 nodes measured both times moved beyond noise" in view.answer
    assert [row.read_as for row in view.rows] == ["unchanged", "unchanged"]


def test_stages_are_called_as_in_the_table() -> None:
    before, after = run(names(16), seed=1), run(names(15), seed=2)
    jobs = tuple(replace(job, hosts=job.hosts[:15]) if len(job.hosts) > 1 else job for job in after.jobs)
    view = _view(before, replace(after, jobs=jobs))
    assert "Between nodes all_reduce: 16 nodes together before, 15 now" in " ".join(view.rest)
    limits = replace(before.provenance, limits=(LIMIT,))
    other = replace(before.provenance, limits=(replace(LIMIT, healthy=0.8),))
    told = " ".join(_view(replace(before, provenance=limits), replace(before, provenance=other)).changes)
    assert "limits of Between nodes all_reduce" in told
    assert "multi_node" not in " ".join(view.rest) + told


def test_a_node_that_lost_speed_has_its_numbers_and_its_verdict_in_one_row() -> None:
    hosts = names(16)
    after = _judged(run(hosts, seed=2, speed={hosts[2]: 0.6}), hosts[2], "FAIL")
    rows = [row for row in _view(run(hosts, seed=1), after).rows if row.who == hosts[2]]
    assert [row.read_as for row in rows] == ["worse"]
    assert rows[0].before.endswith("GB/s") and rows[0].now.endswith("GB/s")
    assert rows[0].change.startswith("-4")


def test_many_nodes_with_one_story_share_a_row() -> None:
    hosts = names(64)
    rows = _view(run(hosts, seed=1), run(hosts, seed=2, speed=dict.fromkeys(hosts[:10], 0.9))).rows
    worse = [row for row in rows if row.read_as == "worse"]
    assert [row.who for row in worse] == ["node[0001-0010]"]
    assert " to " in worse[0].change


def test_a_node_of_which_nobody_knows_is_unknown_and_counted_by_itself() -> None:
    hosts = names(16)
    after = run(hosts, seed=2)
    for host in hosts[:3]:
        after = _judged(after, host, "INCONCLUSIVE")
    gone = replace(after, jobs=tuple(job for job in after.jobs if not set(job.hosts) & set(hosts[:3])))
    view = _view(run(hosts, seed=1), gone)
    assert "3 are unknown" in view.answer
    assert [row.who for row in view.rows if row.read_as == "unknown"] == ["node[0001-0003]"]


def test_the_fabric_is_told_although_it_was_found_on_fewer_nodes() -> None:
    runs = tuple(
        EarlierRun(name, "", "PASS", (PastReading("multi_node", "all_reduce", nodes, value, value, "", "PASS"),))
        for name, nodes, value in (("before", 16, 190.0), ("after", 15, 95.0))
    )
    before, after = run(names(16), seed=1), run(names(15), seed=2)
    jobs = tuple(replace(job, verdict="FAIL") if len(job.hosts) > 1 else job for job in after.jobs)
    view = since_view(BeforeAfter(_compared(before, replace(after, jobs=jobs)), runs))
    assert view is not None
    row = next(row for row in view.rows if "190.0 GB/s" in row.before)
    assert (row.who, row.now, row.change, row.read_as) == (
        "16 nodes as found then, 15 now",
        "95.0 GB/s, FAIL",
        "not compared: another number of nodes",
        "worse",
    )


def test_what_the_table_has_no_room_for_is_counted_and_named() -> None:
    hosts = names(64)
    after = run(hosts, seed=2)
    for place, host in enumerate(hosts[::2]):
        after = _judged(after, host, "DEGRADED", f"reason {place}")
    view = _view(run(hosts, seed=1), after)
    assert len(view.rows) == MOST_ROWS
    told = {host for row in view.rows for host in members(row.who)}
    told |= {host for line in view.rest for word in line.replace(".", " ").split() for host in members(word)}
    assert set(hosts[::2]) <= told


def test_a_name_that_is_no_host_name_stands_for_itself() -> None:
    assert members("<script>") == ("<script>",)
    assert members("node[01-03]") == ("node01", "node02", "node03")


def test_a_record_that_cannot_be_compared_is_said_and_nothing_else_is_lost() -> None:
    before = run(names(8), seed=1)
    view = since_view(before_after(sick(), Earlier(before)))
    assert view is not None
    assert view.rows == ()
    assert view.rest


def test_rows_of_runs_that_may_not_be_compared_are_none() -> None:
    before = run(names(8), seed=1)
    assert since_rows(compare(before, replace(before, simulated=True)), {}) == []
