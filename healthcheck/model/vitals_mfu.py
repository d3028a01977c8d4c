"""MFU and what a model costs: peaks of GPUs, shapes of models, answers of the calculators.

Documents `healthcheck.vitals.mfu/1` and `healthcheck.vitals.budget/1`. FLOP/s per GPU, fractions from 0 to 1.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message

MFU_SCHEMA = "healthcheck.vitals.mfu/1"
BUDGET_SCHEMA = "healthcheck.vitals.budget/1"


class Dtype(StrEnum):
    """What the matrix products are computed in."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    TF32 = "tf32"
    FP32 = "fp32"


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
    MEGATRON = "megatron"
    MEGATRON_GQA = "megatron-gqa"


class MfuAnswer(Struct, frozen=True):
    """`mfu` = model FLOPs per second over the peak; `hfu` counts what was recomputed, too. Both None where refused.

    `model_flops_per_token`; `achieved_tflops` per GPU (model FLOPs). `refused` says why there is no grade and
    `would_fit` what would be consistent. `formula_text` is the formula with the numbers in it.
    """

    shape: ModelShape
    formula: Formula
    formula_text: str
    gpus: int
    peak: GpuPeak | None
    recompute: Recompute
    tokens_per_s: float
    step_time_s: float | None
    tokens_per_step: float | None
    model_flops_per_token: float
    achieved_tflops: float
    hardware_tflops: float
    mfu: float | None
    hfu: float | None
    refused: Message | None
    would_fit: tuple[Message, ...]
    notes: tuple[Message, ...]
    exit_code: int


class CollectiveBudget(Struct, frozen=True):
    """What the gradients cost. `gradient_bytes` of one GPU, reduced over `ranks`; `busbw_gbyte_s` as nccl-tests.

    `traffic`: bytes that BusBW has to carry, factor included. `share` of `step_time_s` if nothing overlaps; `needed`
    busbw for `target_share` (0.15). `source` says where the busbw comes from.
    """

    params: float
    gradient_bytes: float
    bytes_per_gradient: float
    ranks: int
    tp: int
    pp: int
    zero_stage: int
    traffic_bytes: float
    busbw_gbyte_s: float
    source: Message
    collective_s: float
    step_time_s: float | None
    share: float | None
    target_share: float
    needed_busbw_gbyte_s: float | None
    formula_text: str
    notes: tuple[Message, ...]
    exit_code: int
