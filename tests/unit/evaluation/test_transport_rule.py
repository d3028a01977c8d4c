"""What NCCL said of its ways, beside the number: it decides only where it is worse."""

from __future__ import annotations

from healthcheck.evaluation.rules import RULES, reading_gbyte_s, reads_low
from healthcheck.evaluation.transport_rule import with_transport
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from tests.unit.evaluation.builders import job, outcome, sweep
from tests.unit.evaluation.fleets import busbw, fleet, judged_jobs, rules

ALONE = "single_node.all_reduce.node001"
SOCKET = say("nccl.socket", network="Socket")
NVLS_OFF = say("nccl.nvls_off")
RDMA = say("nccl.rdma")


def told(
    check: str, verdict: Verdict, rule: str, message: object, of: str = ALONE, host: str = "node001"
) -> CheckResult:
    return CheckResult(check, node(host), verdict, message, rule, "single_node", job=of)  # type: ignore[arg-type]


def alone(value: float, *checks: CheckResult) -> CheckResult:
    (found,) = with_transport(judged_jobs(fleet([value])), checks)
    return busbw(found)


def test_tcp_where_infiniband_is_fails_a_job_that_reads_well() -> None:
    check = alone(231.0, told("nccl.transport", Verdict.FAIL, "transport.socket", SOCKET))
    assert (check.verdict, check.rule, str(check.message)) == (Verdict.FAIL, "transport.socket", str(SOCKET))
    assert (check.observed, check.expected, check.unit) == (None, None, "")
    assert (rules(check)["peak"].observed, rules(check)["peak"].expected) == (231.0, 300)
    assert reading_gbyte_s(check) == 231.0
    assert tuple(rule.rule for rule in check.rules) == RULES
    assert not reads_low(check)


def test_the_worst_of_the_log_is_what_the_rule_says() -> None:
    good = told("nccl.transport", Verdict.PASS, "transport.rdma", RDMA)
    bad = told("nccl.nvls", Verdict.DEGRADED, "nvls.off", NVLS_OFF)
    check = alone(231.0, good, bad)
    assert (check.verdict, check.rule) == (Verdict.DEGRADED, "nvls.off")
    assert rules(alone(231.0, good))["transport"].verdict is Verdict.PASS


def test_of_equally_bad_answers_the_number_is_told() -> None:
    check = alone(205.0, told("nccl.nvls", Verdict.DEGRADED, "nvls.off", NVLS_OFF))
    assert check.rule == "peak.below_healthy"
    assert rules(check)["transport"].verdict is Verdict.DEGRADED
    assert reads_low(check)


def test_the_log_of_another_job_and_other_checks_say_nothing() -> None:
    other = told("nccl.transport", Verdict.FAIL, "transport.socket", SOCKET, of="another")
    beside = told("nccl.settings", Verdict.DEGRADED, "settings.forced", say("nccl.settings_forced", names="X"))
    check = alone(231.0, other, beside)
    assert check.verdict is Verdict.PASS
    assert str(rules(check)["transport"].message) == "NCCL said nothing of its network"


def joint(*checks: CheckResult) -> CheckResult:
    of = job(hosts=4)
    judgements = judged_jobs([outcome(sweep(191.0, n_ranks=32), of=of, n_ranks=32)])
    return busbw(with_transport(judgements, checks)[0])


def test_between_nodes_the_sentence_names_the_host() -> None:
    of = job(hosts=4).id
    check = joint(told("nccl.transport", Verdict.FAIL, "transport.socket", SOCKET, of, "node03"))
    assert (check.verdict, check.rule) == (Verdict.FAIL, "transport.socket")
    assert str(check.message) == f"node03: {SOCKET}"
    assert check.message.args["network"] == "Socket"  # the cause may speak of it


def test_between_nodes_less_than_fail_blames_none_of_the_others() -> None:
    of = job(hosts=4).id
    check = joint(told("nccl.nvls", Verdict.DEGRADED, "nvls.off", NVLS_OFF, of, "node03"))
    assert (check.verdict, check.rule) == (Verdict.PASS, "peak.healthy")
    assert rules(check)["transport"].verdict is Verdict.DEGRADED
    assert str(rules(check)["transport"].message) == f"node03: {NVLS_OFF}"
