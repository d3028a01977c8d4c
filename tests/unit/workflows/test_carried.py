"""Which results of a stored run stand as they were, and in which order all of them are."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.workflows.carried import Kind, carried, in_their_order


def _check(check: str, host: str = "", rule: str = "x", verdict: Verdict = Verdict.PASS) -> CheckResult:
    return CheckResult(check, node(host) if host else FABRIC, verdict, say("run.interrupted"), rule, "probe")


def _kinds(*checks: CheckResult, looked_at: tuple[str, ...] = ("a",)) -> list[tuple[str, Kind, bool]]:
    return [(one.check.rule, one.kind, one.later) for one in carried(checks, looked_at)]


def test_a_pass_of_a_job_or_of_a_look_never_stands() -> None:
    made_anew = ("bandwidth.busbw", "job.integrity", "gpu.count", "nccl.transport", "fleet.drift", "platform.detect")
    assert _kinds(*(_check(name, "a") for name in made_anew)) == []


def test_the_look_before_a_job_stands_and_the_first_look_is_read_again() -> None:
    first, later = _check("node.busy", "a", "busy.idle"), _check("node.busy", "a", "busy.foreign", Verdict.SKIPPED)
    assert _kinds(first, later) == [("busy.foreign", Kind.BUSY, True)]


def test_what_a_job_may_have_left_behind_follows_from_the_job() -> None:
    first, left = _check("node.leftovers", "a"), _check("node.leftovers", "a", "leftovers.may_still_run")
    assert _kinds(first, left) == []


def test_a_host_that_never_answered_is_told_from_one_that_was_lost_later() -> None:
    never, lost = _check("host.reached", "b", "connect.unreachable"), _check("host.reached", "a", "connect.lost")
    assert _kinds(never, lost) == [("connect.unreachable", Kind.REACHED, False), ("connect.lost", Kind.REACHED, True)]


def test_what_was_not_run_and_what_the_search_concluded_stand() -> None:
    not_begun = _check("job.integrity", "a", "integrity.not_run")
    stage = _check("stage.run", rule="stage.not_run")
    node_found = replace(_check("localise.node", "a", "slow_node.confirmed"), stage="localise")
    wrong = replace(_check("job.integrity", "a", "integrity.data_check"), stage="localise")
    assert [kind for _, kind, _ in _kinds(not_begun, stage, node_found, wrong)] == [
        Kind.NOT_RUN,
        Kind.NOT_RUN,
        Kind.SEARCH,
    ]


def test_results_keep_the_order_they_had_and_new_ones_stand_behind_what_they_came_after() -> None:
    before = [_check("kernel.log", "b"), _check("kernel.log", "a"), _check("gpu.count", "a")]
    new = _check("run.raw", "a")
    now = [_check("kernel.log", "a"), new, _check("gpu.count", "a"), _check("kernel.log", "b")]
    ordered = in_their_order(now, before)
    assert [(check.check, check.component.host) for check in ordered] == [
        ("kernel.log", "b"),
        ("kernel.log", "a"),
        ("run.raw", "a"),
        ("gpu.count", "a"),
    ]


def test_several_results_of_one_kind_keep_their_own_order() -> None:
    first, second = _check("kernel.log", "a", "xid"), _check("kernel.log", "a", "sxid")
    assert in_their_order([first, second], [first, second]) == [first, second]
    assert in_their_order([second], [first, second]) == [second]
