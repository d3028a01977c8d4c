"""From a published number to what an operator reads: the way of a run, without the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from healthcheck.diagnosis.explain import findings
from healthcheck.diagnosis.fingerprints import shape_of
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.stage import JobJudgement, judge_jobs
from healthcheck.evaluation.transport_rule import with_transport
from healthcheck.model.command import JobOutcome
from healthcheck.model.finding import CheckResult, Finding
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook, Stage
from tests.unit.evaluation.builders import job, outcome, sweep

STAGES = {1: Stage(name="single_node"), 2: Stage(name="multi_node")}
BOOK = Playbook(name="published", stages=tuple(STAGES.values()))


def machine(name: str) -> Platform:
    """A shipped platform."""
    return shipped_platforms()[name]


def measured(busbw_gbyte_s: float, platform: Platform, nodes: int = 1, algorithm: str = "") -> JobOutcome:
    """An all_reduce over all GPUs of so many nodes that read just this; `algorithm` that it forces."""
    of = job(nodes, platform.gpu.count)
    of = replace(of, env=(("NCCL_ALGO", algorithm),) if algorithm else ())
    return outcome(sweep(busbw_gbyte_s, n_ranks=of.n_ranks), of=of, n_ranks=of.n_ranks)


def on_node(done: JobOutcome, host: str) -> JobOutcome:
    """The same job on another node."""
    of = replace(done.job, id=f"single_node.all_reduce.{host}", hosts=(host,), launch_host=host)
    table = replace(done.output.tables[0], hosts=(host,))
    return replace(done, job=of, output=replace(done.output, tables=(table,)))


def judgements(
    outcomes: Sequence[JobOutcome], platform: Platform, ways: Iterable[CheckResult] = ()
) -> tuple[JobJudgement, ...]:
    """All rules; `ways` is what NCCL's logs said."""
    stage = STAGES[min(len(outcomes[0].job.hosts), 2)]
    return with_transport(judge_jobs(stage, outcomes, BOOK, platform), ways)


def bandwidth(judged: JobJudgement) -> CheckResult:
    """The result of its bus bandwidth."""
    (found,) = [check for check in judged.checks if check.check == "bandwidth.busbw"]
    return found


def explained(
    judged: Sequence[JobJudgement], platform: Platform, beside: Sequence[CheckResult] = ()
) -> tuple[Finding, ...]:
    """What a report says of them; `beside` are the looks and what NCCL's logs said."""
    jobs = [done.job for one in judged for done in one.outcomes]
    checks = [*(check for one in judged for check in one.checks), *beside]
    members = {of.id: of.hosts for of in jobs}
    shapes = {of.id: shape_of(of, platform) for of in jobs}
    return findings(checks, {}, "run", members, shapes=shapes, platform=platform)
