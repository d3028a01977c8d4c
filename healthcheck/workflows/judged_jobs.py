"""What a record says of a judged job, of a result among others, and of the versions of all nodes."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.evaluation.stage import JobJudgement
from healthcheck.model.command import ExitKind, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import FleetSetting
from healthcheck.model.message import Message, say
from healthcheck.model.verdict import Verdict


def versions(fleet: Iterable[FleetSetting]) -> dict[str, str]:
    """Every version that was found, as `value (nodes that have it)`; differing versions stand side by side."""
    return {setting.name: ", ".join(f"{value.value} ({value.nodes})" for value in setting.values) for setting in fleet}


def measures_its_hosts(judgement: JobJudgement) -> bool:
    """A job over several nodes says something about each of them only when it was good: a bad one blames nobody."""
    if len(judgement.outcomes[0].job.hosts) > 1:
        return judgement.verdict is Verdict.PASS
    return judgement.verdict in (Verdict.PASS, Verdict.DEGRADED, Verdict.FAIL)


def reasons_of(judgement: JobJudgement, outcome: JobOutcome) -> tuple[Message, ...]:
    """Why a job is not PASS; then what changes no verdict: a hang after a whole table, output left out."""
    reasons = [check.message for check in judgement.checks if check.verdict is not Verdict.PASS]
    if outcome.bytes_cut:
        reasons.append(say("job.bytes_cut", megabytes=round(outcome.bytes_cut / 1e6, 1)))
    if outcome.nccl_bytes_cut and judgement.verdict is not Verdict.PASS:
        reasons.append(say("job.nccl_bytes_cut", megabytes=round(outcome.nccl_bytes_cut / 1e6, 1)))
    if outcome.result.kind is ExitKind.TEARDOWN_HUNG and outcome.result.reason is not None:
        reasons.append(outcome.result.reason)
    return tuple(reasons)


def spoken(check: CheckResult) -> Message:
    """The message of a result among others about the same host: with the name of the part, where it is about one."""
    part = check.component.text.partition("/")[2]
    return say("host.part", part=part, what=check.message) if part else check.message
