"""What the log of a training says: steps and events, in the words of every framework the same.

All times in seconds, all rates per second; None where a line does not say it. Nothing here is judged or made up.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.message import Message


class Framework(StrEnum):
    """Whose lines they are; the value is what `--format` takes."""

    MEGATRON = "megatron"
    MEGATRON_DEEPSPEED = "megatron-deepspeed"
    MEGATRON_PROGRESS = "megatron-progress"
    DEEPSPEED = "deepspeed"
    TORCHTITAN = "torchtitan"
    NEMO = "nemo"
    AUTOMODEL = "automodel"
    NANOTRON = "nanotron"
    GPT_NEOX = "gpt-neox"
    COMPOSER = "composer"
    OLMO = "olmo"
    MAXTEXT = "maxtext"
    HF_TRAINER = "hf-trainer"
    NANOGPT = "nanogpt"


class StepRecord(Struct, frozen=True):
    """One report of the log. `step` as printed; `line` of its file, from 1; `covers` how many steps it is the mean of.

    `step_time_s` is of one step. `tokens` and `samples` are of one step over all ranks (the global batch);
    `consumed_*` are counted from the start of the training. `tokens_per_s` is over all GPUs as printed,
    `tokens_per_s_per_gpu` of one. `tflops_per_gpu` in TFLOP/s; `mfu` a fraction (0.36), as printed, whatever basis its
    framework takes. `at_s` is the wall clock of the line, in seconds since 1970 where it has a zone, else as if it
    were UTC. `loss` may be NaN: that is what was printed.
    """

    step: int
    line: int
    covers: int = 1
    step_time_s: float | None = None
    at_s: float | None = None
    tokens: float | None = None
    samples: float | None = None
    consumed_tokens: float | None = None
    consumed_samples: float | None = None
    tokens_per_s: float | None = None
    tokens_per_s_per_gpu: float | None = None
    samples_per_s: float | None = None
    tflops_per_gpu: float | None = None
    mfu: float | None = None
    loss: float | None = None
    grad_norm: float | None = None
    skipped: int = 0
    """Steps of this report that changed no weight (overflow, NaN): counted since the report before."""
    rank: str | None = None
    """Who printed it, as the prefix says (`default7`, `node3`); None without one."""


class EventKind(StrEnum):
    """What happened beside steps."""

    START = "start"
    CHECKPOINT_BEGUN = "checkpoint_begun"
    CHECKPOINT_SAVED = "checkpoint_saved"
    CHECKPOINT_LOADED = "checkpoint_loaded"
    EVALUATION = "evaluation"
    TIMED = "timed"
    """What a timer printed of the collectives of a step: `text` its name, `took_s` on the slowest rank it tells of."""
    EXIT = "exit"
    FAILURE = "failure"


class RunEvent(Struct, frozen=True):
    """One event. `step` is the one it names (the checkpoint's); `took_s` where the line says a duration."""

    kind: EventKind
    line: int
    step: int | None = None
    at_s: float | None = None
    took_s: float | None = None
    rank: str | None = None
    text: str = ""
    """The words of the line, for a failure; the name of a timer."""


class LogFacts(Struct, frozen=True):
    """What the log says of the run as a whole, each None where it does not. `gpus` is the world size.

    `gpu` as it is printed; `params` the number of parameters; `seq_len` in tokens; `global_batch` in samples;
    `version` of the framework. `peak_tflops` is the peak a framework says it divides by.
    """

    gpus: int | None = None
    gpu: str | None = None
    params: float | None = None
    seq_len: int | None = None
    global_batch: int | None = None
    data_parallel: int | None = None
    log_interval: int | None = None
    layers: int | None = None
    hidden: int | None = None
    vocab: int | None = None
    peak_tflops: float | None = None
    version: str | None = None

    @property
    def tokens_per_step(self) -> float | None:
        """Over all GPUs; None where the log does not say both the batch and the length of a sequence."""
        return None if self.global_batch is None or self.seq_len is None else float(self.global_batch * self.seq_len)


class LogRemark(Struct, frozen=True):
    """Something odd the reader met and what it did about it; `line` the first of `count`."""

    what: Message
    line: int
    count: int = 1
