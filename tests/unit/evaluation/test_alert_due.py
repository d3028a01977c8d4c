"""When an alert goes out, and against which run a verdict is held."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.alert_due import is_due, last_alike, verdict_told
from healthcheck.model.alert import NotifyOn
from healthcheck.model.gate import GateAsked, GateRecord
from healthcheck.model.history import PastHost, PastRun
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from tests.golden.records import healthy, sick

CHANGE, ALWAYS, NOT_PASS = NotifyOn.CHANGE, NotifyOn.ALWAYS, NotifyOn.NOT_PASS


def _before(record: RunRecord, verdict: str = "PASS", day: int = 1, **changed: object) -> PastRun:
    """A run of the same hosts in January 2026, which is before the records of the goldens."""
    at = f"2026-01-{day:02d}T02:15:03Z"
    run = PastRun(
        run_id=f"202601{day:02d}T021503Z-abcd",
        folder=f"202601{day:02d}T021503Z-abcd",
        state="complete",
        verdict=verdict,
        simulated=record.simulated,
        started_at=at,
        finished_at=at,
        tool="healthcheck",
        playbook=record.playbook.name,
        playbook_sha256="",
        platform="",
        nics=None,
        healthy=len(record.hosts),
        hosts=tuple(PastHost(host.name, verdict) for host in record.hosts),
    )
    return replace(run, **changed)


@pytest.mark.parametrize(
    ("when", "now", "before", "due"),
    [
        (CHANGE, "FAIL", None, True),
        (CHANGE, "PASS", None, False),
        (CHANGE, "FAIL", "PASS", True),
        (CHANGE, "FAIL", "FAIL", False),
        (CHANGE, "PASS", "FAIL", True),
        (CHANGE, "DEGRADED", "FAIL", True),
        (CHANGE, "PASS", "PASS", False),
        (ALWAYS, "PASS", "PASS", True),
        (ALWAYS, "PASS", None, True),
        (NOT_PASS, "PASS", "FAIL", False),
        (NOT_PASS, "FAIL", "FAIL", True),
        (NOT_PASS, "INCONCLUSIVE", None, True),
    ],
)
def test_an_alert_is_due(when: NotifyOn, now: str, before: str | None, due: bool) -> None:
    record = replace(healthy(), verdict=Verdict[now])
    assert is_due(when, record, None if before is None else _before(record, before)) is due


@pytest.mark.parametrize(
    ("when", "sick", "before", "due"),
    [
        (NOT_PASS, "FAIL", None, True),
        (NOT_PASS, "DEGRADED", "PASS", True),
        (NOT_PASS, "INCONCLUSIVE", None, True),
        (NOT_PASS, "SKIPPED", None, False),
        (NOT_PASS, "PASS", None, False),
        (CHANGE, "FAIL", None, True),
        (CHANGE, "FAIL", "PASS", True),
        (CHANGE, "FAIL", "FAIL", False),
        (CHANGE, "PASS", "FAIL", True),
        (CHANGE, "SKIPPED", "PASS", False),
    ],
)
def test_a_gate_that_passes_without_its_sick_nodes_tells_of_them(
    when: NotifyOn, sick: str, before: str | None, due: bool
) -> None:
    """`before` is what the same node was then, in a gate that passed as well."""
    record = healthy()
    first = replace(record.hosts[0], verdict=Verdict[sick])
    gate = GateRecord(GateAsked(300, min_nodes=1, exclude_file="out"), met=True)
    now = replace(record, verdict=Verdict.PASS, gate=gate, hosts=(first, *record.hosts[1:]))
    assert verdict_told(now) is max(Verdict[sick], Verdict.PASS)
    earlier = None
    if before is not None:
        run = _before(record)
        earlier = replace(run, hosts=(PastHost(first.name, before), *run.hosts[1:]))
    assert is_due(when, now, earlier) is due


def test_a_damaged_verdict_of_an_earlier_run_is_no_change_into_nothing() -> None:
    record = healthy()
    assert not is_due(CHANGE, record, _before(record, hosts=(PastHost("node01", "GREAT"),)))
    assert is_due(CHANGE, record, _before(record, "GREAT", hosts=()))


@pytest.mark.parametrize("when", list(NotifyOn))
def test_whoever_stops_a_run_by_hand_is_not_told_and_a_machine_that_does_is(when: NotifyOn) -> None:
    by_hand = replace(healthy(), verdict=Verdict.INCONCLUSIVE, state="interrupted", exit_code=130)
    assert not is_due(when, by_hand, None)
    assert is_due(when, replace(by_hand, exit_code=143), _before(by_hand))


def test_the_last_complete_run_of_the_same_playbook_and_hosts_counts() -> None:
    record = sick()
    last = _before(record, "FAIL", day=5)
    others = (
        _before(record, day=6, state="interrupted"),
        _before(record, day=7, playbook="quick"),
        _before(record, day=8, simulated=not record.simulated),
        _before(record, day=9, hosts=last.hosts[1:]),
        _before(record, day=10, hosts=(*last.hosts, PastHost("node99", "PASS"))),
        _before(record, started_at=record.started_at, run_id=record.run_id),
        _before(record, started_at="2027-01-01T00:00:00Z"),
    )
    assert last_alike(record, (_before(record, day=4), last, *others)) is last
    assert last_alike(record, others) is None
