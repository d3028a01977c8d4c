"""MFU and what a model costs: peaks of GPUs, shapes of models, questions to the calculators and their answers.

Documents `healthcheck.vitals.mfu/1` and `healthcheck.vitals.budget/1`. FLOP/s per GPU, fractions from 0 to 1.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message

MFU_SCHEMA = "healthcheck.vitals.mfu/1"
BUDGET_SCHEMA = "healthcheck.vitals.budget/1"
GIVEN_PEAK = "--peak"
"""The source of a peak that was given."""

# Rules of thumb; each has an option that overrides it.
WARN_ABOVE = 0.70
"""More than any training that we found published: rather an input that is wrong."""
TARGET_SHARE = 0.15
"""Of the step time, for the collectives of the gradients."""


class Dtype(StrEnum):
    """What the matrix products are computed in."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    TF32 = "tf32"
    FP32 = "fp32"

    @property
    def size_bytes(self) -> int:
        """Of one number as it is sent; TF32 lies in memory as FP32."""
        return {"fp8": 1, "bf16": 2, "fp16": 2}.get(self.value, 4)


class Recompute(StrEnum):
    """Activations that are computed again in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


class GpuPeak(Struct, frozen=True):
    """Dense peak of one GPU: `dense_tflops` in TFLOP/s, without sparsity. `gpu` is the name of the table."""

    gpu: str
    dtype: Dtype
    dense_tflops: float
    source: str


class GpuRow(Struct, frozen=True):
    """One row of the table of peaks (vitals/peaks.yaml).

    A printed name is this GPU where the words of one of `names` stand in it in this order and none of `but_not`.
    `dense_tflops` in TFLOP/s by dtype; `lacks` are dtypes its tensor cores do not have.
    """

    gpu: str
    names: tuple[str, ...]
    dense_tflops: dict[Dtype, float]
    source: str
    but_not: tuple[str, ...] = ()
    lacks: tuple[Dtype, ...] = ()
    note: str = ""


class ModelShape(Struct, frozen=True):
    """A transformer as its FLOPs need it; only what is known. `params` is N; `active_params` of a mixture of experts.

    `layers` L, `hidden` h, `seq_len` s, `vocab` V (padded), `ffn_hidden`; `heads` and `kv_heads` (GQA), `head_dim`;
    `swiglu`: three matrices in the MLP instead of two; `experts_per_token` (top-k), `shared_ffn_hidden`.
    """

    params: float | None = None
    active_params: float | None = None
    layers: int | None = None
    hidden: int | None = None
    seq_len: int | None = None
    vocab: int | None = None
    ffn_hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    swiglu: bool = False
    experts_per_token: int | None = None
    shared_ffn_hidden: int | None = None


class Formula(StrEnum):
    """Which count of model FLOPs; the value is what `--formula` takes."""

    SIX_N = "6n"
    PALM = "palm"
    TORCHTITAN = "torchtitan"
    MEGATRON = "megatron"
    MEGATRON_LOG = "megatron-log"
    MEGATRON_GQA = "megatron-gqa"


class MfuQuestion(Struct, frozen=True):
    """What is asked of `vitals mfu`, None where it was not said. How fast it went stands in one of these:

    `tokens_per_s` (all GPUs), `tokens_per_s_per_gpu`, `tokens_per_step` with `step_time_s`, `tokens_total` with
    `gpu_hours`; or without a count of ours `model_tflops` or `hardware_tflops` (TFLOP/s per GPU, the latter with what
    was recomputed), `model_flops` (FLOPs of all GPUs in `step_time_s`); or, from an earlier step time, `was_mfu` with
    `was_step_time_s`. `gpu` is the name as printed; `peak_tflops` wins over the table. `claimed_mfu` is held against
    the answer. `tokens_total` also asks how long the training takes.
    """

    shape: ModelShape = ModelShape()
    gpus: int | None = None
    gpu: str | None = None
    dtype: Dtype = Dtype.BF16
    peak_tflops: float | None = None
    recompute: Recompute = Recompute.NONE
    formula: Formula | None = None
    tokens_per_s: float | None = None
    tokens_per_s_per_gpu: float | None = None
    tokens_per_step: float | None = None
    step_time_s: float | None = None
    tokens_total: float | None = None
    gpu_hours: float | None = None
    model_tflops: float | None = None
    hardware_tflops: float | None = None
    model_flops: float | None = None
    was_step_time_s: float | None = None
    was_mfu: float | None = None
    claimed_mfu: float | None = None
    warn_above: float = WARN_ABOVE


class MfuAnswer(Struct, frozen=True):
    """`mfu` = model FLOPs per second over the peak; `hfu` counts what was recomputed, too. Both None where refused.

    `formula` None: no count of ours (the TFLOP/s, or an earlier MFU, was given). `formula_text` is the formula with
    the numbers in it, `leaves_out` what it does not count. `model_flops_per_token`; `achieved_tflops` per GPU (model
    FLOPs), `hardware_tflops` with what is recomputed. `tokens_per_s` over all GPUs, None where `gpus` is.
    `training_s`: how long `tokens_total` take. `was_mfu` is that of `was_step_time_s`. `refused` says why there is no
    grade and `would_fit` what would be consistent. Times in seconds. Exit code 2 where refused.
    """

    shape: ModelShape
    formula: Formula | None
    formula_text: str
    leaves_out: tuple[Message, ...]
    gpus: int | None
    gpu: str | None
    dtype: Dtype
    peak: GpuPeak | None
    recompute: Recompute
    tokens_per_s: float | None
    tokens_per_s_per_gpu: float | None
    step_time_s: float | None
    tokens_per_step: float | None
    tokens_total: float | None
    training_s: float | None
    model_flops_per_token: float | None
    achieved_tflops: float | None
    hardware_tflops: float | None
    mfu: float | None
    hfu: float | None
    was_step_time_s: float | None
    was_mfu: float | None
    claimed_mfu: float | None
    refused: Message | None
    would_fit: tuple[Message, ...]
    notes: tuple[Message, ...]
    exit_code: int


class MeasuredBusbw(Struct, frozen=True):
    """The all_reduce of a check-up: `gbyte_s` as nccl-tests prints BusBW, median over `sizes_bytes` (smallest, largest)
    of the slower placement, over all repeats. `run_id` and `job` say where it stands; `verdict` is the job's."""

    gbyte_s: float
    run_id: str
    job: str
    stage: str
    hosts: int
    ranks: int
    sizes_bytes: tuple[int, int]
    verdict: str | None
    simulated: bool


class BudgetQuestion(Struct, frozen=True):
    """What is asked of `vitals budget`. `ranks` is N, over which gradients are reduced (DP).

    `gradient_bytes` of one rank wins over `params` / (`tp` x `pp`) x the size of `gradient_dtype`; `param_dtype` is
    what gathered parameters are sent in. How fast: `busbw_gbyte_s`, or `measured`, or `collective_s` that was read in
    a trace; none of them asks only for what would be needed. `unmeasured` says why the check-up that was
    named has none.
    """

    ranks: int | None = None
    params: float | None = None
    gradient_bytes: float | None = None
    gradient_dtype: Dtype = Dtype.BF16
    param_dtype: Dtype | None = None
    tp: int = 1
    pp: int = 1
    zero_stage: int = 0
    busbw_gbyte_s: float | None = None
    measured: MeasuredBusbw | None = None
    unmeasured: Message | None = None
    collective_s: float | None = None
    step_time_s: float | None = None
    target_share: float = TARGET_SHARE
    claimed_share: float | None = None


class CollectiveBudget(Struct, frozen=True):
    """What the gradients cost. `gradient_bytes` of one GPU, reduced over `ranks`; `busbw_gbyte_s` as nccl-tests.

    `traffic_bytes`: what BusBW has to carry, the factor 2(N-1)/N included. `share` of `step_time_s` if nothing
    overlaps; `needed_busbw_gbyte_s` for `target_share`. `source` says where busbw, or the time, comes from. Each None
    where it does not follow from what was given. Exit code 3 where the check-up that was named has nothing to go by.
    """

    params: float | None
    gradient_bytes: float | None
    gradient_dtype: Dtype
    param_dtype: Dtype
    ranks: int | None
    tp: int
    pp: int
    zero_stage: int
    traffic_bytes: float | None
    busbw_gbyte_s: float | None
    measured: MeasuredBusbw | None
    source: Message | None
    collective_s: float | None
    step_time_s: float | None
    share: float | None
    target_share: float
    needed_busbw_gbyte_s: float | None
    claimed_share: float | None
    simulated: bool
    formula_text: str
    notes: tuple[Message, ...]
    exit_code: int
