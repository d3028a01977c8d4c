"""Who said what first: the WARN lines of all ranks of a job as one result, and never one about a good job."""

from __future__ import annotations

from string import Formatter

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.causes import CAUSES, cause_of
from healthcheck.diagnosis.explain import findings
from healthcheck.diagnosis.warnings import CLOCKS_AGREE_S, MOST_RESULTS, warning_checks
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.component import FABRIC, node
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.measurement import Failure, FailureKind
from healthcheck.model.message import Arg, Message, say
from healthcheck.model.nccl import NcclRankLog, NcclWarning
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.model.verdict import Verdict

RETRY = "Got completion from peer 10.0.0.7<4000> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_2"
CLOSED = "socketProgress: Connection closed by remote peer node05<37000>"


def job(*hosts: str) -> CollectiveJob:
    ranks = tuple(8 for _ in hosts)
    return CollectiveJob(
        "multi_node.all", "multi_node", Collective.ALL_REDUCE, hosts, ranks, hosts[0], 8, 8, 2, 20, 5, True, 300.0
    )


def log(host: str, rank: int, *said: tuple[str, str | None], secondary: bool = False) -> NcclRankLog:
    warnings = tuple(NcclWarning(text, at, rank, host, 1, "transport/net_ib.cc:1295", secondary) for text, at in said)
    return NcclRankLog(host, 1, rank, 16, warnings=warnings)


def at(second: int) -> str:
    return f"2026-11-29 10:00:{second:02d}"


def test_the_earliest_line_names_the_port_and_the_others_only_followed() -> None:
    logs = (
        log("node01", 0, (CLOSED, at(1))),
        log("node05", 9, (RETRY, at(4))),
        log("node05", 8, (RETRY, at(9)), (CLOSED, at(10))),
        log("node06", 17, (RETRY, at(20))),
    )
    (found,) = warning_checks(job("node01", "node05", "node06"), Verdict.FAIL, logs)
    assert (str(found.component), found.rule, found.verdict) == (
        "node05/hca:mlx5_2",
        "warn.retry_exceeded",
        Verdict.FAIL,
    )
    assert found.evidence[0].text == RETRY
    assert "rank 9" in found.evidence[0].source and at(4) in found.evidence[0].source
    assert "followed: 3" in str(found.message)
    assert found.job == "multi_node.all"


def test_hosts_whose_clocks_cannot_tell_are_all_named_and_none_is_more_than_suspected() -> None:
    logs = (log("node05", 9, (RETRY, at(4))), log("node06", 17, (RETRY.replace("mlx5_2", "mlx5_3"), at(5))))
    found = warning_checks(job("node05", "node06"), Verdict.FAIL, logs)
    assert [str(check.component) for check in found] == ["node05/hca:mlx5_2", "node06/hca:mlx5_3"]
    assert all(f"within {CLOCKS_AGREE_S:g} s" in str(check.message) for check in found)
    explained = findings(found, {}, "run", {"multi_node.all": ("node05", "node06")})
    assert {finding.confidence for finding in explained} == {Confidence.SUSPECTED}


def test_a_known_clock_offset_is_taken_off_before_times_are_compared() -> None:
    logs = (log("node05", 9, (RETRY, at(4))), log("node06", 17, (RETRY, at(30))))
    (found,) = warning_checks(job("node05", "node06"), Verdict.FAIL, logs, offsets_s={"node06": 29.0})
    assert found.component.host == "node06"


def test_without_times_every_host_with_a_reason_is_named_up_to_three() -> None:
    logs = tuple(log(f"node{n:02d}", n, (RETRY, None)) for n in range(1, 6))
    found = warning_checks(job(*(f"node{n:02d}" for n in range(1, 6))), Verdict.FAIL, logs)
    assert len(found) == MOST_RESULTS
    assert all("no time" in str(check.message) for check in found)


def test_a_good_job_with_harmless_lines_says_nothing() -> None:
    for verdict in (Verdict.PASS, Verdict.SKIPPED):
        assert warning_checks(job("node05"), verdict, (log("node05", 0, (RETRY, at(4))),)) == ()
    assert warning_checks(job("node05"), Verdict.DEGRADED, (log("node05", 0, ("some remark", at(4))),)) == ()


def test_only_consequences_are_no_result() -> None:
    logs = (log("node05", 0, (CLOSED, at(4))), log("node06", 1, ("ncclGroupEnd", at(3)), secondary=True))
    assert warning_checks(job("node05", "node06"), Verdict.FAIL, logs) == ()


def test_a_line_that_only_warns_makes_a_failed_job_no_worse_and_a_slow_one_degraded() -> None:
    line = "P2P is disabled between connected GPUs 1 and 0"
    for verdict in (Verdict.FAIL, Verdict.DEGRADED):
        (found,) = warning_checks(job("node05"), verdict, (log("node05", 0, (line, at(4))),))
        assert (found.verdict, found.rule) == (Verdict.DEGRADED, "warn.pcie_peers_off")


def test_an_unknown_line_counts_only_where_the_job_failed_and_nothing_better_was_said() -> None:
    unknown = log("node05", 0, ("something new went wrong", at(1)))
    (found,) = warning_checks(job("node05"), Verdict.FAIL, (unknown,))
    assert cause_of(found.rule).code == "nccl_error"
    assert found.verdict is Verdict.DEGRADED  # what nobody knows is no proof
    (better,) = warning_checks(job("node05"), Verdict.FAIL, (unknown, log("node05", 1, (RETRY, at(7)))))
    assert better.rule == "warn.retry_exceeded"


def test_logs_of_hosts_that_are_not_of_the_job_say_nothing() -> None:
    assert warning_checks(job("other"), Verdict.FAIL, (log("gpu-7", 0, (RETRY, at(1))),)) == ()


def test_without_logs_the_output_of_the_job_speaks() -> None:
    failures = (
        Failure(FailureKind.NCCL, "unhandled system error (run with NCCL_DEBUG=INFO for details)", "node05", 30),
        Failure(FailureKind.CUDA, "Cuda failure 802 'system not yet initialized'", "node05", 12),
    )
    (found,) = warning_checks(job("node05", "node06"), Verdict.FAIL, (), failures)
    assert (str(found.component), found.rule) == ("node05", "warn.fabric_not_initialised")
    assert found.evidence[0].source == "node05: output, line 12"


def test_a_time_that_cannot_be_read_is_no_time() -> None:
    (found,) = warning_checks(job("node05"), Verdict.FAIL, (log("node05", 0, (RETRY, "yesterday")),))
    assert found.rule == "warn.retry_exceeded"


RAS = "Call to bind failed: Address already in use"


def ras(host: str, rank: int, *others: tuple[str, str | None]) -> NcclRankLog:
    """A rank that says what every one but the first of a node says, and then these."""
    said = NcclWarning(RAS, at(0), rank, host, 1, "ras/client_support.cc:159", False)
    base = log(host, rank, *others)
    return replace(base, warnings=(said, *base.warnings))


def test_what_good_runs_write_too_is_nobodys_fault() -> None:
    logs = tuple(ras(f"node{n:02d}", n) for n in range(1, 6))
    of = job(*(f"node{n:02d}" for n in range(1, 6)))
    assert warning_checks(of, Verdict.FAIL, logs) == ()
    printed = Failure(FailureKind.SOCKET, f"node01:1:1 [0] ras/client_support.cc:159 NCCL WARN {RAS}", "node01", 3)
    assert warning_checks(of, Verdict.FAIL, logs, (printed,)) == ()
    (found,) = warning_checks(of, Verdict.FAIL, (*logs[1:], ras("node01", 1, (RETRY, at(9)))))
    assert (found.component.host, found.rule) == ("node01", "warn.retry_exceeded")


def test_an_unknown_line_of_all_nodes_names_none_of_them() -> None:
    hosts = tuple(f"node{n:02d}" for n in range(1, 6))
    alike = tuple(
        log(host, n, (f"{host} lost page 0x7f{n}a of {n * 3} at 10.0.0.{n}", at(n))) for n, host in enumerate(hosts)
    )
    assert warning_checks(job(*hosts), Verdict.FAIL, alike) == ()
    other = log("node03", 2, ("lost its mind", at(9)))
    (found,) = warning_checks(job(*hosts), Verdict.FAIL, (*alike, other))
    assert (found.component.host, found.verdict) == ("node03", Verdict.DEGRADED)
    (alone,) = warning_checks(job("node03"), Verdict.FAIL, (other, other))
    assert alone.component.host == "node03"


def test_an_early_line_that_only_warns_does_not_hide_what_broke_the_job() -> None:
    harmless = ("P2P is disabled between connected GPUs 1 and 0", at(1))
    event = ("NET/IB : mlx5_3:1 Got async event : port error(10)", at(40))
    for logs in ((log("node05", 0, harmless, event),), (log("node06", 8, harmless), log("node05", 0, event))):
        (found,) = warning_checks(job("node05", "node06"), Verdict.FAIL, logs)
        assert (str(found.component), found.rule) == ("node05/hca:mlx5_3", "warn.port_error_event")


@pytest.mark.parametrize("rule", ["integrity.data_check", "integrity.stalled", "peak.below_broken", "hca.rate_low"])
def test_an_unknown_line_is_evidence_of_what_was_measured_and_no_finding_beside_it(rule: str) -> None:
    (unknown,) = warning_checks(job("node05"), Verdict.FAIL, (log("node05", 0, ("something new", at(1))),))
    args: dict[str, Arg] = {"observed": 1.0, "expected": 2.0, "count": 1}
    measured = CheckResult("x", node("node05"), Verdict.FAIL, Message("run.interrupted", args), rule)
    (found,) = findings((unknown, measured), {"node05": Verdict.FAIL}, "run", {unknown.job: ("node05",)})
    assert found.verdict is Verdict.FAIL and found.cause.code != "cause.nccl_error"
    assert any("something new" in line.text for line in found.evidence)


def test_an_unknown_line_stands_behind_what_was_measured_elsewhere() -> None:
    hosts = ("node05", "node06")
    unknown = warning_checks(job(*hosts), Verdict.FAIL, (log("node05", 0, ("something new", at(1))), log("node06", 8)))
    slow = CheckResult("x", FABRIC, Verdict.DEGRADED, say("run.interrupted"), "peak.below_healthy", job=unknown[0].job)
    first, second = findings((*unknown, slow), {}, "run", {unknown[0].job: hosts})
    assert (first.cause.code, second.cause.code) == ("cause.below_peak", "cause.nccl_error")


def test_every_cause_of_a_line_is_told_from_what_such_a_result_says() -> None:
    """Their title and remedy may ask for nothing that no WARN line brings."""
    (found,) = warning_checks(job("node05"), Verdict.FAIL, (log("node05", 0, (RETRY, at(4))),))
    for cause in CAUSES:
        if cause.signature:
            for what in ("cause", "remedy"):
                fields = {name for _, name, _, _ in Formatter().parse(CATALOGUE_EN[f"{what}.{cause.code}"]) if name}
                assert fields <= found.message.args.keys(), cause.code
