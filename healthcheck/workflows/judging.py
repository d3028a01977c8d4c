"""The measured jobs of a stage, judged and written into the ledger: right after they ran, and again by `rejudge`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from healthcheck.evaluation.advice import is_advice
from healthcheck.evaluation.peers import OUTLIER
from healthcheck.evaluation.stage import JobJudgement, judge_jobs
from healthcheck.evaluation.transport_rule import with_transport
from healthcheck.model.command import JobOutcome
from healthcheck.model.finding import CheckResult
from healthcheck.model.playbook import Stage
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.workflows.baseline import usual_for
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.nccl_judging import judge_logs
from healthcheck.workflows.under_load import loaded_checks


def judge_stage(stage: Stage, outcomes: Sequence[JobOutcome], ledger: Ledger, engine: Engine) -> Verdict:
    """Judge all jobs of a stage, in their planned order; the worst of what was found.

    Nodes whose own job was not good enough take no part in the stages that follow.
    """
    judgements, told_by_nccl = judge_together(stage, outcomes, ledger, engine)
    if stage.name == "multi_node":
        ledger.joint += judgements
    beside = (*loaded_checks(stage.name, outcomes, ledger.facts, engine.store), *told_by_nccl)
    ledger.add_checks(beside)
    if stage.name == "single_node":
        _who_goes_on(stage, judgements, beside, ledger)
    counted = [check.verdict for check in beside if not is_advice(check)]
    return max((*counted, *(judgement.verdict for judgement in judgements)), default=Verdict.INCONCLUSIVE)


def judge_verification(stage: Stage, outcome: JobOutcome, ledger: Ledger, engine: Engine) -> JobJudgement:
    """The job at the end of a search, judged and kept as every job of the stage `multi_node` is."""
    (judgement,), told_by_nccl = judge_together(stage, [outcome], ledger, engine)
    ledger.add_checks(told_by_nccl)
    return judgement


def judge_together(
    stage: Stage, outcomes: Sequence[JobOutcome], ledger: Ledger, engine: Engine
) -> tuple[tuple[JobJudgement, ...], tuple[CheckResult, ...]]:
    """Jobs that are held against each other: their judgements, which are kept, and what NCCL's logs said of them."""
    request = ledger.request
    usual = usual_for(ledger, outcomes)
    judgements = judge_jobs(stage, outcomes, request.playbook, ledger.platform, request.thresholds, baseline=usual)
    told_by_nccl = judge_logs(stage, judgements, ledger, engine)
    judgements = with_transport(judgements, told_by_nccl)
    ledger.add_jobs(judgements)
    for judgement in judgements:
        for check in judgement.checks:
            # By itself, as it was told when it ended, such a job was good.
            if check.rule == OUTLIER:
                engine.observer.event(Event(stage.name, check.message, str(check.component), check.verdict))
    return judgements, told_by_nccl


def asks(stage: Stage, verdict: Verdict) -> str:
    """What the playbook wants after such a verdict: `exclude`, `stop` or `continue`."""
    if verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        return stage.on_fail
    return stage.on_degraded if verdict is Verdict.DEGRADED else "continue"


def _who_goes_on(
    stage: Stage, judgements: Iterable[JobJudgement], beside: Iterable[CheckResult], ledger: Ledger
) -> None:
    """Exclude nodes whose own job was not good enough, or on which something else was found while it ran.

    A job that was not measured counts as not good enough. `beside`: what NCCL's log and the look under load showed.
    """
    by_host: dict[str, list[CheckResult]] = {}
    for judgement in judgements:
        by_host.setdefault(judgement.outcomes[0].job.hosts[0], []).extend(judgement.checks)
    for check in beside:
        if check.component.host in by_host and not is_advice(check):
            by_host[check.component.host].append(check)
    for host, checks in by_host.items():
        worst = max(checks, key=lambda check: check.verdict)
        if asks(stage, worst.verdict) == "exclude":
            ledger.excluded.setdefault(host, worst.message)
