"""Documents of a training made by hand: what a page of it can be asked to show."""

from __future__ import annotations

from healthcheck.model.joint import Joint, Level, Match, Seen, Sign
from healthcheck.model.message import say
from healthcheck.model.training import EventKind, Framework, LogFacts, LogRemark, RunEvent
from healthcheck.model.vitals_log import (
    Goodput,
    LogVitals,
    Loss,
    LossKind,
    Point,
    Printed,
    Rate,
    StepTime,
)
from healthcheck.model.vitals_trace import CollectiveUse, RankTrace, Shares, StepBreakdown, TraceVitals
from healthcheck.reporting.training_page import TrainingShown

BEGIN = 1_700_000_000.0
STEP, WINDOW = 2.4, 3780.0
ANY = say("text.comma", first="4M tokens", other="2.4 s")


def log() -> LogVitals:
    """Two starts with a gap of 15 minutes, eleven checkpoints, one stall of 40 s and one slow report."""
    slow = {30: 6.4, 50: 40.0}
    points = tuple(
        Point(place * 10, place * 24.0 + (900 if place > 60 else 0), slow.get(place, STEP), int(place > 60))
        for place in range(120)
    )
    saved = tuple(
        RunEvent(EventKind.CHECKPOINT_SAVED, 10 * place, place * 100, BEGIN + place * 240.0, 12.0)
        for place in range(1, 6)
    )
    events = (
        RunEvent(EventKind.START, 1, 0, BEGIN),
        *saved,
        RunEvent(EventKind.FAILURE, 70, 601, BEGIN + 1450, text="RuntimeError: NCCL timeout"),
        RunEvent(EventKind.START, 71, 600, BEGIN + 2350),
        RunEvent(EventKind.CHECKPOINT_LOADED, 72, 500, BEGIN + 2360),
    )
    losses = (
        Loss(LossKind.CHECKPOINT, 60.0, 5),
        Loss(LossKind.RESTART, 900.0, 1, first_line=70, begins_s=BEGIN + 1450, ends_s=BEGIN + 2350),
        Loss(LossKind.REDONE, 240.0, 1, 100, 73),
    )
    useful = WINDOW - sum(loss.seconds for loss in losses)
    return LogVitals(
        files=("/scratch/slurm-1234.out",),
        framework=Framework.MEGATRON,
        facts=LogFacts(gpus=128),
        first_step=1,
        last_step=1190,
        starts=2,
        rank_copies=0,
        step_time=StepTime(STEP, 2.5, 0.042, 2.41, 110, 1100, 4, 2, True),
        rate=Rate(1.74e6, 13_600, ANY),
        printed=Printed(151.2, 0.485, 312.0, ANY),
        mfu=0.41,
        hfu=0.55,
        mfu_basis=ANY,
        goodput=Goodput(WINDOW, BEGIN, BEGIN + WINDOW, ANY, 1190, 4.9e9, 1.3e6, useful / WINDOW, useful, losses),
        rollbacks=1,
        skipped=3,
        nan_losses=0,
        events=events,
        remarks=(LogRemark(ANY, 3),),
        missing=(ANY,),
        points=points,
        exit_code=0,
    )


def _rank(rank: int) -> RankTrace:
    shares = Shares(0.55, 0.34, 0.22, 0.03, 0.2, 0.05)
    step = STEP * (1 - 0.01 * rank)
    steps = tuple(
        StepBreakdown(n, step, 0.55 * step, 0.34 * step, 0.22 * step, 0.05 * step, 0.03 * step, 0.2 * step, 0.05 * step)
        for n in range(3)
    )
    return RankTrace(f"rank{rank}.json", rank, 0, "NVIDIA A100-SXM4-80GB", steps, step, shares, False)


def trace(ranks: int = 8) -> TraceVitals:
    """Rank 0 is the slowest, each other one a hundredth faster than the one before."""
    found = tuple(map(_rank, range(ranks)))
    return TraceVitals(
        files=tuple(one.file for one in found),
        source="kineto",
        ranks=found,
        slowest=0,
        world_size=ranks,
        step_s=STEP,
        shares=found[0].shares,
        collectives=(
            CollectiveUse("all_reduce", "bf16", 1 << 28, 8, "0", 48, 8, 0.0023, 0.0004, 204.2, 0.11),
            CollectiveUse("ncclDevKernel_Generic", None, None, None, None, 3, 1, 0.0023, None, None, 0.007),
        ),
        lower_bound=False,
        notes=(ANY,),
        missing=(ANY,),
        exit_code=0,
    )


def joint() -> Joint:
    """A middle share of exposed collectives, and links that were not measured."""
    return Joint(
        seen=(
            Seen(Sign.MFU, 0.41, Level.HIGH, 0.25, 0.35, ANY),
            Seen(Sign.EXPOSED, 0.22, Level.MIDDLE, 0.15, 0.3, ANY),
            Seen(Sign.BUSBW, None, Level.UNKNOWN, 0.5, 0.7, ANY),
            Seen(Sign.LINK_VERDICT, None, Level.UNKNOWN, None, None, ANY),
        ),
        matches=(
            Match("mixed", ANY, (), ANY, (ANY,), ("healthcheck run monthly -H cluster.hosts",), (ANY,), True, ANY),
        ),
        missing=(ANY,),
        link_verdict=None,
        run_id=None,
        simulated=False,
        vitals=("log.json",),
        notes=(ANY,),
        exit_code=4,
    )


def training() -> TrainingShown:
    """All of it on one page."""
    return TrainingShown((log(),), (trace(),), joint())
