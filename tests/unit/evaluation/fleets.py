"""A stage of jobs of one node each, judged together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.stage import JobJudgement, judge_jobs
from healthcheck.model.baseline import Baseline, Usual
from healthcheck.model.command import JobOutcome
from healthcheck.model.finding import CheckResult, RuleResult
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.playbook import Playbook, Stage
from tests.unit.evaluation.builders import job, outcome, sweep

A100 = shipped_platforms()["a100-sxm4-8gpu-8x200"]
ALONE, TOGETHER = Stage(name="single_node"), Stage(name="multi_node")
BOOK = Playbook(name="x", stages=(ALONE, TOGETHER))


def on(host: str, rows: tuple[CollectiveRow, ...], ranks: int = 8) -> JobOutcome:
    """The job of one node."""
    of = replace(job(ranks=ranks), id=f"single_node.all_reduce.{host}", hosts=(host,), launch_host=host)
    return outcome(rows, of=of, n_ranks=ranks)


def fleet(values: Sequence[float]) -> list[JobOutcome]:
    """`node001` and on, each with the bus bandwidth it reads in GB/s."""
    return [on(f"node{place:03d}", sweep(value)) for place, value in enumerate(values, start=1)]


def judged(outcomes: Sequence[JobOutcome], baseline: Baseline | None = None) -> dict[str, CheckResult]:
    """First host -> the result of its bus bandwidth."""
    return {one.outcomes[0].job.hosts[0]: busbw(one) for one in judged_jobs(outcomes, baseline)}


def judged_jobs(outcomes: Sequence[JobOutcome], baseline: Baseline | None = None) -> tuple[JobJudgement, ...]:
    """All jobs of a stage on the A100 platform."""
    stage = ALONE if len(outcomes[0].job.hosts) == 1 else TOGETHER
    return judge_jobs(stage, outcomes, BOOK, A100, baseline=baseline)


def busbw(judgement: JobJudgement) -> CheckResult:
    """The one result about bus bandwidth."""
    (found,) = [check for check in judgement.checks if check.check == "bandwidth.busbw"]
    return found


def rules(check: CheckResult) -> Mapping[str, RuleResult]:
    """By the name of the rule."""
    return {rule.rule: rule for rule in check.rules}


def baseline(
    hosts: str,
    usual_gbyte_s: float,
    spread_gbyte_s: float = 0.0,
    n: int = 6,
    stage: str = "single_node",
    ranks: int = 8,
) -> Baseline:
    """A past in which such a job read the same at 1 to 8 GiB, in both placements."""
    usual = tuple(
        Usual(stage, "all_reduce", hosts, ranks, 1 << power, placement, usual_gbyte_s, spread_gbyte_s, n)
        for power in range(30, 34)
        for placement in ("in_place", "out_of_place")
    )
    return Baseline(platform=A100.name, simulated=False, runs=("a", "b", "c"), usual=usual, source="six runs")
