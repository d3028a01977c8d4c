"""Is it a measurement at all? The first question of every job, before any bandwidth is looked at.

What broke in front of us is FAIL; what was not measured is INCONCLUSIVE; neither is ever a pass. The rules and
their causes stand in docs/checks.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.collective import Collective
from healthcheck.model.command import NEVER_STARTED, ExitKind, JobOutcome
from healthcheck.model.component import FABRIC, Component, node
from healthcheck.model.datatypes import SIZE_BYTES
from healthcheck.model.finding import CheckResult
from healthcheck.model.measurement import CollectiveRow, CollectiveTable, Failure, FailureKind, OutputState
from healthcheck.model.message import Message, say
from healthcheck.model.reading import Evidence, noted
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.launcher_rules import NO_PMI

CHECK = "job.integrity"
RAW_GONE = "raw_gone"
"""The warning of an output that is no longer what the job printed."""

# A printed failure of these kinds says that nothing ran, not that something is broken.
DID_NOT_RUN = frozenset(
    {
        FailureKind.NOT_MPI_BUILD,
        FailureKind.USAGE,
        FailureKind.NO_MEASUREMENT,
        FailureKind.MISSING_LIBRARY,
        FailureKind.LAUNCHER,
    }
)
# These say only that something ended; whether that is a fault depends on whether nccl-tests had begun.
_VAGUE = frozenset({FailureKind.LAUNCHER, FailureKind.UNKNOWN, FailureKind.KILLED, FailureKind.TIMEOUT})
# Of what the launcher says, only these prove that a rank was running and broke.
_RANK_BROKE = frozenset({"rank_signalled", "rank_exited", "mpi_abort", "daemon_lost", "killed"})


def component_of(outcome: JobOutcome) -> Component:
    """A job on one host speaks of that node, a job over several of the fabric between them."""
    hosts = outcome.job.hosts
    return node(hosts[0]) if len(hosts) == 1 else FABRIC


def _result(
    outcome: JobOutcome, verdict: Verdict, rule: str, message: Message, evidence: Iterable[Evidence] = ()
) -> CheckResult:
    return CheckResult(
        check=CHECK,
        component=component_of(outcome),
        verdict=verdict,
        message=message,
        rule=f"integrity.{rule}",
        stage=outcome.job.stage,
        evidence=tuple(evidence),
        job=outcome.job.id,
    )


def _quote(failure: Failure) -> Evidence:
    where = say("evidence.output") if failure.line is None else say("evidence.line", line=failure.line)
    if failure.host:
        where = say("evidence.of_host", host=failure.host, place=where)
    return noted(where, failure.message)


def _started(outcome: JobOutcome) -> bool:
    """True once nccl-tests printed its head: from then on, stopping is a fault and not a missing measurement."""
    return bool(outcome.output.tables)


def _how_it_ended(outcome: JobOutcome) -> CheckResult | None:
    """What the end of the command itself says, None when it ended in an ordinary way."""
    result = outcome.result
    reason = result.reason or say("job.ended", how=result.kind.value)
    if result.kind in NEVER_STARTED:
        return _result(outcome, Verdict.INCONCLUSIVE, "not_reached", reason)
    if result.kind is ExitKind.STOPPED:
        return _result(outcome, Verdict.INCONCLUSIVE, "stopped", reason)
    if result.kind is ExitKind.CUT:
        return _result(outcome, Verdict.INCONCLUSIVE, "cut", reason)
    if result.kind is ExitKind.CONNECTION_LOST:
        return _result(outcome, Verdict.INCONCLUSIVE, "connection_lost", reason)
    if result.kind in (ExitKind.STALLED, ExitKind.TIMED_OUT):
        verdict = Verdict.FAIL if _started(outcome) else Verdict.INCONCLUSIVE
        return _result(outcome, verdict, result.kind.value, reason)
    return None


def _what_was_printed(outcome: JobOutcome, *, vague: bool) -> CheckResult | None:
    """The earliest primary failure of the output, None when there is none; `vague` ones only when asked for."""
    failures = [failure for failure in outcome.output.failures if (failure.kind in _VAGUE) is vague]
    if not failures:
        return None
    primary = next((failure for failure in failures if not failure.secondary), failures[0])
    unproven = primary.kind in DID_NOT_RUN or (vague and not _started(outcome))
    message = say("job.failure", kind=primary.kind.value, text=primary.message)
    if primary.host:
        message = say("job.failure_on", kind=primary.kind.value, host=primary.host, text=primary.message)
    if primary.kind is FailureKind.NOT_MPI_BUILD:
        message = say("job.not_mpi_build")
    verdict = Verdict.INCONCLUSIVE if unproven else Verdict.FAIL
    return _result(outcome, verdict, primary.kind.value, message, map(_quote, failures[:5]))


def _each_by_itself(outcome: JobOutcome) -> CheckResult | None:
    """The MPI of the ranks did not understand how they were started. It looks like a build without MPI, and is none.

    A lone rank may complain of it and be whole all the same.
    """
    error, tables = outcome.launch_error, outcome.output.tables
    if error is None or error.code != f"launch.{NO_PMI}":
        return None
    if len(tables) == 1 and tables[0].n_ranks == outcome.job.communicator_ranks:
        return None
    return _result(outcome, Verdict.INCONCLUSIVE, NO_PMI, error)


def _what_the_launcher_said(outcome: JobOutcome) -> CheckResult | None:
    error = outcome.launch_error
    if error is None or error.code == f"launch.{NO_PMI}":
        return None
    kind = error.code.rpartition(".")[2]
    broke = kind in _RANK_BROKE and _started(outcome)
    return _result(outcome, Verdict.FAIL if broke or kind == "rank_signalled" else Verdict.INCONCLUSIVE, kind, error)


def judge_integrity(outcome: JobOutcome) -> CheckResult:
    """One result for one job: PASS when it is a whole, checked, consistent measurement; else the first reason why not.

    Wrong values come before everything: they are FAIL however the job ended. Then whether the output is still what
    was printed, what the ranks printed, how the
    command ended, what the launcher said, and at last whether everything asked for is there.
    """
    output = outcome.output
    wrong = wrong_values(outcome)
    if wrong:
        evidence = [_quote(failure) for failure in output.failures if failure.kind is FailureKind.DATA_CHECK]
        message = say("job.wrong_results", count=f"{wrong:g}")
        return _result(outcome, Verdict.FAIL, "data_check", message, evidence[:5])
    gone = next((warning.message for warning in output.warnings if warning.code == RAW_GONE), None)
    if gone is not None:
        return _result(outcome, Verdict.INCONCLUSIVE, RAW_GONE, say("job.raw_gone", detail=gone))
    if not (outcome.result.kind is ExitKind.TEARDOWN_HUNG and output.state is OutputState.COMPLETE):
        found = (
            _each_by_itself(outcome)
            or _what_was_printed(outcome, vague=False)
            or _how_it_ended(outcome)
            or _what_the_launcher_said(outcome)
            or _what_was_printed(outcome, vague=True)
            or _exit_code(outcome)
        )
        if found is not None:
            return found
    table = output.tables[0] if len(output.tables) == 1 else None
    if output.state is not OutputState.COMPLETE or table is None:
        return _result(outcome, Verdict.INCONCLUSIVE, "incomplete", say("job.incomplete", state=output.state.value))
    missing = _missing(outcome, table)
    if missing is not None:
        return missing
    return _result(outcome, Verdict.PASS, "whole", say("job.whole", rows=len(table.rows), ranks=table.n_ranks or 0))


def wrong_values(outcome: JobOutcome) -> float:
    """Wrong values that count against the machine.

    hypercube over more than two ranks and the in-place half of alltoall, alltoallv and sendrecv print numbers on
    good hardware too; the parser warns of them and they are left out here.
    """
    collective, ranks = outcome.job.collective, outcome.job.communicator_ranks
    if collective is Collective.HYPERCUBE and ranks > 2:
        return 0.0
    halves = [
        half
        for table in outcome.output.tables
        for row in table.rows
        for name, half in row.placements
        if name == "out_of_place" or collective.in_place_is_checked
    ]
    return sum(half.wrong or 0.0 for half in halves)


def _exit_code(outcome: JobOutcome) -> CheckResult | None:
    """The exit code alone, where nothing better explains it."""
    code = outcome.result.exit_code
    if code == 0:
        return None
    verdict = Verdict.FAIL if _started(outcome) else Verdict.INCONCLUSIVE
    return _result(outcome, verdict, "exit_code", say("job.exit_code", code=-1 if code is None else code))


def _missing(outcome: JobOutcome, table: CollectiveTable) -> CheckResult | None:
    """What was asked for and is not in a complete table; None when nothing is missing."""
    job = outcome.job
    ranks = job.communicator_ranks
    if table.n_ranks != ranks:
        found = say("job.unknown_number") if table.n_ranks is None else table.n_ranks
        return _result(outcome, Verdict.INCONCLUSIVE, "ranks", say("job.wrong_ranks", asked=ranks, found=found))
    cut = any(warning.code == "device_list_cut" for warning in outcome.output.warnings)
    if table.hosts and len(table.hosts) != len(job.hosts) and not cut:
        message = say("job.wrong_hosts", asked=len(job.hosts), found=", ".join(table.hosts[:8]))
        return _result(outcome, Verdict.INCONCLUSIVE, "hosts", message)
    lowered = any(warning.code == "max_bytes_reduced" for warning in outcome.output.warnings)
    absent = [size for size in job.sizes if not any(covers(row, size, ranks) for row in table.rows)]
    big_enough = any(row.size_bytes >= 1 << 30 for row in table.rows)
    if absent and not (lowered and big_enough):
        sizes = ", ".join(str(size) for size in absent[:5])
        return _result(outcome, Verdict.INCONCLUSIVE, "sizes", say("job.sizes_missing", sizes=sizes, count=len(absent)))
    if job.check and not outcome.output.verified:
        return _result(outcome, Verdict.INCONCLUSIVE, "unverified", say("job.unverified"))
    odd = next((row for row in table.rows if not consistent(row, job.collective.factor(ranks))), None)
    if odd is not None:
        return _result(outcome, Verdict.INCONCLUSIVE, "inconsistent", say("job.inconsistent", size=odd.size_bytes))
    return None


def covers(row: CollectiveRow, asked_bytes: int, n_ranks: int) -> bool:
    """A size counts as measured when the printed one is below it by less than ranks x 16 x type size."""
    slack = n_ranks * 16 * SIZE_BYTES.get(row.dtype, 4)
    return 0 <= asked_bytes - row.size_bytes < slack


def consistent(row: CollectiveRow, factor: float) -> bool:
    """busbw = algbw x factor within 1 % and the rounding of two printed decimals; numbers finite and positive."""
    if not row.placements:
        return False
    for _, half in row.placements:
        if half.algbw_gbyte_s is None or half.busbw_gbyte_s is None:
            return False
        # Two printed decimals: the bandwidth of a few bytes reads 0.00 on a healthy machine, that of 1 MiB never does.
        if half.algbw_gbyte_s < 0 or (half.algbw_gbyte_s == 0 and row.size_bytes >= 1 << 20):
            return False
        slack = 0.01 * half.algbw_gbyte_s * factor + 0.01 * (1 + factor)
        if abs(half.busbw_gbyte_s - half.algbw_gbyte_s * factor) > slack:
            return False
    return True
