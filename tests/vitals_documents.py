"""Documents of a training as `healthcheck vitals` saves them, with the numbers a test is about."""

from __future__ import annotations

from pathlib import Path

from healthcheck.model.message import phrase
from healthcheck.model.training import Framework, LogFacts
from healthcheck.model.vitals_document import VitalsDocument, kind_of
from healthcheck.model.vitals_log import Goodput, LogVitals, Printed, Rate, StepTime
from healthcheck.model.vitals_mfu import Dtype, Formula, GpuPeak, MfuAnswer, ModelShape, Recompute
from healthcheck.model.vitals_trace import CollectiveUse, RankTrace, Shares, StepBreakdown, TraceVitals
from healthcheck.parsing.record_codec import encode_document

DAY_S = 86400.0
BEGAN_S = 1_796_000_000.0
"""29 November 2026."""


def a_log(
    goodput: float | None = 0.95,
    spread: float = 0.02,
    *,
    median_s: float = 2.0,
    reports: int = 200,
    interval_means: bool = False,
    gpus: int | None = 32,
    gpu: str | None = None,
    printed_mfu: float | None = None,
    mfu: float | None = None,
    began_s: float | None = BEGAN_S,
    tokens_per_s: float | None = 1_000_000.0,
    version: str | None = None,
    framework: Framework = Framework.MEGATRON,
    printed_tflops: float | None = None,
    global_batch: int | None = 512,
    seq_len: int | None = 4096,
    params: float | None = 13e9,
) -> LogVitals:
    """The log of a training; `None` where it does not say."""
    ends_s = None if began_s is None else began_s + DAY_S
    return LogVitals(
        files=("train.log",),
        framework=framework,
        facts=LogFacts(gpus=gpus, gpu=gpu, params=params, seq_len=seq_len, global_batch=global_batch, version=version),
        first_step=1,
        last_step=reports,
        starts=1,
        rank_copies=0,
        step_time=StepTime(
            median_s=median_s,
            p95_s=median_s * (1 + spread),
            spread=spread,
            steady_s=median_s,
            reports=reports,
            steps=reports * (10 if interval_means else 1),
            warm_up=5,
            outliers=0,
            interval_means=interval_means,
        ),
        rate=None
        if tokens_per_s is None
        else Rate(tokens_per_s, None if gpus is None else tokens_per_s / gpus, phrase("batch over step time")),
        printed=None
        if printed_mfu is None and printed_tflops is None
        else Printed(printed_tflops, printed_mfu, None, None),
        mfu=mfu,
        hfu=None,
        mfu_basis=None if mfu is None else phrase("formula palm, A100, bf16"),
        goodput=None
        if goodput is None
        else Goodput(
            window_s=DAY_S,
            begins_s=began_s,
            ends_s=ends_s,
            window=phrase("first to last line of the log"),
            steps=reports,
            tokens=None,
            tokens_per_s=None if tokens_per_s is None else tokens_per_s * goodput,
            share=goodput,
            useful_s=DAY_S * goodput,
            losses=(),
        ),
        rollbacks=0,
        skipped=0,
        nan_losses=0,
        events=(),
        remarks=(),
        missing=(),
        points=(),
        exit_code=0,
    )


def a_rank(
    number: int,
    exposed: float = 0.1,
    idle: float = 0.02,
    *,
    step_s: float = 2.0,
    collective: float = 0.2,
    data_loading: float | None = 0.0,
    steps: int = 5,
    gpu: str | None = None,
    jitter: float = 0.0,
) -> RankTrace:
    """One rank whose steps are all alike, but for `jitter` of their length, up and down in turn."""
    shares = Shares(
        compute=1 - exposed - idle,
        collective=collective,
        exposed=exposed,
        exposed_memcpy=0.0,
        idle=idle,
        data_loading=data_loading,
    )
    walls = [step_s * (1 + jitter * (-1) ** step) for step in range(steps)]
    return RankTrace(
        file=f"rank{number}.json",
        rank=number,
        device=number % 8,
        gpu=gpu,
        steps=tuple(
            StepBreakdown(
                step=10 + step,
                wall_s=wall,
                compute_s=wall * shares.compute,
                collective_s=wall * collective,
                exposed_s=wall * exposed,
                memcpy_s=0.0,
                exposed_memcpy_s=0.0,
                idle_s=wall * idle,
                data_loading_s=None if data_loading is None else wall * data_loading,
            )
            for step, wall in enumerate(walls)
        ),
        step_s=step_s,
        shares=shares,
        whole=False,
    )


def a_trace(
    *ranks: RankTrace,
    world_size: int | None = 32,
    collectives: tuple[CollectiveUse, ...] = (),
    lower_bound: bool = False,
    source: str = "kineto",
) -> TraceVitals:
    """A profile; the rank with the longest step is the slowest, the first of them where all are alike."""
    slowest = max(range(len(ranks)), key=lambda place: ranks[place].step_s) if ranks else None
    return TraceVitals(
        files=tuple(rank.file for rank in ranks),
        source=source,
        ranks=ranks,
        slowest=slowest,
        world_size=world_size,
        step_s=None if slowest is None else ranks[slowest].step_s,
        shares=None if slowest is None else ranks[slowest].shares,
        collectives=collectives,
        lower_bound=lower_bound,
        notes=(),
        missing=(),
        exit_code=0 if ranks else 3,
    )


def a_collective(busbw_gbyte_s: float | None, **other: object) -> CollectiveUse:
    """An all-reduce of 1 GiB over 32 ranks, all of which were profiled."""
    usual: dict[str, object] = {
        "name": "all_reduce",
        "dtype": "bf16",
        "size_bytes": 1 << 30,
        "group_size": 32,
        "group": "dp",
        "calls": 10,
        "ranks": 32,
        "transfer_s": 0.01,
        "skew_s": 0.001,
        "busbw_gbyte_s": busbw_gbyte_s,
        "total_s": 0.1,
    }
    return CollectiveUse(**{**usual, **other})  # type: ignore[arg-type]


def an_answer(
    mfu: float | None = 0.42,
    *,
    gpus: int = 32,
    formula: Formula = Formula.PALM,
    peak: float = 312.0,
    gpu: str = "A100",
    tokens_per_s: float = 1_000_000.0,
    params: float = 13e9,
    seq_len: int = 4096,
    recompute: Recompute = Recompute.NONE,
) -> MfuAnswer:
    """What the calculator says; MFU None: it refused."""
    value = 0.0 if mfu is None else mfu
    return MfuAnswer(
        shape=ModelShape(params=params, seq_len=seq_len),
        formula=formula,
        formula_text="6 N + 12 L h s",
        leaves_out=(),
        gpus=gpus,
        gpu=gpu,
        dtype=Dtype.BF16,
        peak=GpuPeak(gpu, Dtype.BF16, peak, "a table"),
        recompute=recompute,
        tokens_per_s=tokens_per_s,
        tokens_per_s_per_gpu=tokens_per_s / gpus,
        step_time_s=None,
        tokens_per_step=None,
        tokens_total=None,
        training_s=None,
        model_flops_per_token=6 * params,
        achieved_tflops=peak * value,
        hardware_tflops=peak * value,
        mfu=mfu,
        hfu=mfu,
        was_step_time_s=None,
        was_mfu=None,
        claimed_mfu=None,
        refused=phrase("an MFU above 1 cannot be") if mfu is None else None,
        would_fit=(),
        notes=(),
        exit_code=0 if mfu is not None else 2,
    )


def save(folder: Path, name: str, document: VitalsDocument) -> str:
    """The document in a file of `folder`; its path."""
    path = folder / name
    path.write_text(encode_document(kind_of(document).schema, document), encoding="utf-8")
    return str(path)
