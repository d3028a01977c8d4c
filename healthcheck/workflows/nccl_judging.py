"""What NCCL said of itself in the jobs of a stage, judged from the logs that were kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from healthcheck.diagnosis.warnings import warning_checks
from healthcheck.errors import StoreError
from healthcheck.evaluation.fleet import judge_drift, judge_pins
from healthcheck.evaluation.stage import JobJudgement
from healthcheck.evaluation.transport import judge_transport, nccl_version_by_host
from healthcheck.model.command import ExitKind, JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.nccl import NcclRankLog
from healthcheck.model.playbook import Stage
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nccl_log import read_nccl_log
from healthcheck.ports import Event, RunStore
from healthcheck.probes.clock import offset_s
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.files_only import open_lines
from healthcheck.workflows.ledger import Ledger

NCCL = "nccl"
"""The setting under which the version that was really loaded is compared."""
LOG_FILE = "NCCL_DEBUG_FILE"


def judge_logs(
    stage: Stage, judgements: Iterable[JobJudgement], ledger: Ledger, engine: Engine
) -> tuple[CheckResult, ...]:
    """Hold the ways NCCL took against the machine's, find what its first warning means, compare its versions.

    The results are told; what they mean for the jobs, and what becomes of their hosts, is for the stage to say.
    """
    offsets = {host: offset for host, facts in ledger.facts.items() if (offset := offset_s(facts)) is not None}
    versions: dict[str, str] = {}
    hosts: dict[str, None] = {}
    found: list[CheckResult] = []
    for judgement in judgements:
        job = judgement.outcomes[0].job
        logs = tuple(log for outcome in judgement.outcomes for log in _kept(outcome, engine.store))
        failures = tuple(failure for outcome in judgement.outcomes for failure in outcome.output.failures)
        found += judge_transport(job, logs, ledger.platform, _expected(judgement.outcomes))
        found += warning_checks(job, judgement.verdict, logs, failures, offsets_s=offsets)
        versions.update(nccl_version_by_host(logs))
        hosts.update(dict.fromkeys(job.hosts))
    if stage.name == "single_node":
        found += _compared(hosts, versions, ledger)
    for check in found:
        if check.verdict > Verdict.PASS:
            engine.observer.event(Event(stage.name, check.message, str(check.component), check.verdict))
    return tuple(found)


def _expected(outcomes: Iterable[JobOutcome]) -> tuple[str, ...]:
    """Hosts whose NCCL must have told us something: their job ended by itself, and its log was not sent elsewhere."""
    return tuple(
        dict.fromkeys(
            host
            for outcome in outcomes
            if outcome.result.kind is ExitKind.EXITED and outcome.launch_error is None
            if all(name != LOG_FILE for name, _ in outcome.job.env)
            for host in outcome.job.hosts
        )
    )


def _kept(outcome: JobOutcome, store: RunStore) -> Iterable[NcclRankLog]:
    """Every log of a job, under the name of the host it was fetched from: what NCCL calls it may be anything."""
    for host, path in store.nccl_logs(outcome.job.id, outcome.job.stage):
        try:
            with open_lines(path) as lines:
                yield replace(read_nccl_log(lines, host), host=host)
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error


def _compared(hosts: Iterable[str], versions: Mapping[str, str], ledger: Ledger) -> Iterator[CheckResult]:
    """The version each of these hosts really loaded: who differs from most, and who from what was pinned."""
    told = {host: ((NCCL, versions[host]),) if host in versions else () for host in hosts}
    for host, setting in told.items():
        ledger.settings[host] = (*ledger.settings.get(host, ()), *setting)
    yield from (check for check in judge_drift(told) if check.verdict is not Verdict.PASS)
    for pins, source in ledger.pins():
        yield from judge_pins(told, {name: wanted for name, wanted in pins.items() if name == NCCL}, source)
