"""One verdict a host, one for the run: what was not looked at is never green."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from healthcheck.evaluation.gate import exit_code, host_verdict, proven_hosts, proven_together, run_verdict
from healthcheck.model.component import FABRIC, Component, hca, node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.playbook import Gate
from healthcheck.model.verdict import Verdict, worst


def _check(component: Component, verdict: Verdict, rule: str = "x") -> CheckResult:
    return CheckResult("x", component, verdict, say("job.stopped"), rule)


def test_worst_is_the_maximum_and_nothing_is_never_a_pass() -> None:
    for a, b in itertools.product(Verdict, repeat=2):
        assert worst([a, b]) is worst([b, a])
        if max(a, b) is not Verdict.SKIPPED:
            assert worst([a, b]) is max(a, b)
    assert worst([]) is Verdict.INCONCLUSIVE
    assert worst([Verdict.SKIPPED, Verdict.SKIPPED]) is Verdict.INCONCLUSIVE


def test_a_host_whose_probes_pass_but_that_was_not_measured_is_not_healthy() -> None:
    passed = [_check(node("a"), Verdict.PASS)]
    assert host_verdict(passed, measured=False, planned=True) is Verdict.INCONCLUSIVE
    assert host_verdict(passed, measured=True, planned=True) is Verdict.PASS
    assert host_verdict(passed, measured=False, planned=False) is Verdict.PASS


def test_a_part_decides_about_its_host() -> None:
    checks = [_check(node("a"), Verdict.PASS), _check(hca("a", "mlx5_2"), Verdict.FAIL)]
    assert host_verdict(checks, measured=True, planned=True) is Verdict.FAIL


def test_a_busy_host_is_skipped_and_makes_the_run_inconclusive() -> None:
    found = [_check(node("a"), Verdict.PASS), _check(node("a"), Verdict.SKIPPED, "busy.foreign")]
    busy = host_verdict(found, measured=False, planned=True)
    assert busy is Verdict.SKIPPED
    assert run_verdict({"a": busy, "b": Verdict.PASS}, ()) is Verdict.INCONCLUSIVE


def test_what_could_not_be_seen_neither_hurts_a_measured_host_nor_excuses_an_unmeasured_one() -> None:
    found = [_check(node("a"), Verdict.PASS), _check(node("a"), Verdict.SKIPPED, "unseen.denied")]
    assert host_verdict(found, measured=True, planned=True) is Verdict.PASS
    assert host_verdict(found, measured=False, planned=True) is Verdict.INCONCLUSIVE


def test_a_slow_fabric_is_the_verdict_of_the_run_and_of_no_host() -> None:
    assert run_verdict({"a": Verdict.PASS, "b": Verdict.PASS}, [_check(FABRIC, Verdict.FAIL)]) is Verdict.FAIL


def test_exit_codes_of_the_contract() -> None:
    codes = {verdict: exit_code(verdict, Gate(), allow_degraded=False) for verdict in Verdict}
    assert codes == {
        Verdict.PASS: 0,
        Verdict.FAIL: 1,
        Verdict.INCONCLUSIVE: 3,
        Verdict.SKIPPED: 3,
        Verdict.DEGRADED: 4,
    }
    assert exit_code(Verdict.DEGRADED, Gate(), allow_degraded=True) == 0
    assert exit_code(Verdict.DEGRADED, Gate(degraded="allow"), allow_degraded=False) == 0
    assert exit_code(Verdict.FAIL, Gate(degraded="allow"), allow_degraded=True) == 1


def _offered(jobs: Sequence[tuple[str, tuple[str, ...], Verdict]], hosts: Mapping[str, Verdict]) -> tuple[str, ...]:
    return proven_hosts(proven_together(jobs, hosts), hosts)


def test_only_what_was_proven_together_is_offered() -> None:
    hosts = {"a": Verdict.PASS, "b": Verdict.PASS, "c": Verdict.DEGRADED, "d": Verdict.PASS}
    alone = [("single_node", (name,), Verdict.PASS) for name in hosts]
    together = ("multi_node", ("b", "a", "c"), Verdict.PASS)
    assert _offered(alone, hosts) == ()
    assert _offered([*alone, together], hosts) == ("b", "a")
    assert proven_together([*alone, together], hosts) == ("b", "a", "c")
    slow = ("multi_node", ("b", "a", "c"), Verdict.DEGRADED)
    assert _offered([*alone, together, slow], hosts) == ()


def test_a_single_host_is_proven_by_its_own_job() -> None:
    assert _offered([("single_node", ("a",), Verdict.PASS)], {"a": Verdict.PASS}) == ("a",)
    assert _offered([("single_node", ("a",), Verdict.FAIL)], {"a": Verdict.FAIL}) == ()
