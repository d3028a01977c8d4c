"""Composer and llm-foundry: `[batch=10/100]:`, then a line `Train throughput/device/mfu: 0.4125` for each number.

Rates are means of up to 100 batches before; `mfu` is a fraction. Every decimal number has four decimals, so one that
has fewer was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from healthcheck.model.training import EventKind, Framework, StepRecord
from healthcheck.vitals.logs.blocks import Blocks
from healthcheck.vitals.logs.dialect import Item, Means
from healthcheck.vitals.logs.figures import bounded, count, number, positive
from healthcheck.vitals.logs.stamps import Head

_HEAD = re.compile(
    r"(?:\[epoch=\d{1,9}(?:/\d{1,9})?\])?\[(?P<unit>batch|token|sample|epoch|iteration)=(?P<n>\d{1,15})(?:/\d{1,15})?\](?P<colon>:?)\s{0,4}$",
    re.ASCII,
)
_FIELD = re.compile(r"(?<!\S)Train ([\w/.-]{1,120}): (-?\d{1,20}(?:\.\d{4})?|nan|-?inf)\s{0,200}$", re.ASCII)
_EVAL = re.compile(r"\[Eval batch=1/\d{1,9}\] Eval on ", re.ASCII)
_FACTS = {
    "n_params": "params",
    "n_gpus": "gpus",
    "max_seq_len": "seq_len",
    "global_train_batch_size": "global_batch",
    "n_layers": "layers",
    "d_model": "hidden",
    "vocab_size": "vocab",
}
_CONFIG = re.compile(rf"(?<![\w/.-])(?P<name>{'|'.join(_FACTS)}): (?P<n>\d{{1,15}})\s{{0,40}}$", re.ASCII)
_SETTINGS = tuple(f"{name}: " for name in _FACTS)
_DECIMALS = re.compile(r"-?\d{1,20}\.\d{4}|nan|-?inf", re.ASCII)


class Composer(Blocks):
    """A report of one batch, counted from 1 where the head counts batches, else as `time/batch` says."""

    framework = Framework.COMPOSER
    means = Means.SINCE_LAST
    marks = ("[batch=", "[token=", "[sample=", "[epoch=", "Train ", "[Eval batch=1/", "Config:", *_SETTINGS)

    def read(self, line: str, number: int) -> Iterable[Item]:
        if "Train " in line:
            if (field := _FIELD.search(line)) is not None:
                self.took(field[1], field[2])
            else:
                self.went_on()
            return ()
        if (evaluation := _EVAL.search(line)) is not None:
            before = self.close()
            return (*before, self.event(EventKind.EVALUATION, line[: evaluation.start()], number, self.last))
        found = _HEAD.search(line) if "=" in line else None
        if found is not None:
            batch = int(found["n"]) if found["unit"] == "batch" and "[epoch=" not in line else -1
            return self.opened(batch if found["colon"] else None, number, self.heads.read(line[: found.start()]))
        if line.rstrip().endswith("Config:"):
            return (*self.close(), self.event(EventKind.START, line.rstrip()[: -len("Config:")], number))
        if (config := _CONFIG.search(line)) is not None:
            fact, value = _FACTS[config["name"]], int(config["n"])
            self.facts = replace(self.facts, **{fact: float(value) if fact == "params" else value})
        return ()

    def record(self, step: int, line: int, head: Head, fields: dict[str, str]) -> StepRecord | None:
        if step < 0:
            named = count(fields.get("time/batch"))
            if named is None:
                return None
            step = named
        if not any(name.startswith(("throughput/", "loss/train", "time/")) for name in fields):
            return None

        def decimal(name: str) -> str:
            text = fields.get(name, "")
            return text if _DECIMALS.fullmatch(text) else ""

        per_s = positive(decimal("throughput/batches_per_sec"))
        flops = positive(decimal("throughput/device/flops_per_sec"))
        per_gpu = positive(decimal("throughput/device/tokens_per_sec"))
        self.count_gpus(positive(decimal("throughput/tokens_per_sec")), per_gpu)
        return StepRecord(
            step=step,
            line=line,
            at_s=head.at_s,
            step_time_s=1 / per_s if per_s is not None and per_s >= 0.01 else None,
            tokens=self.facts.tokens_per_step,
            samples=self.facts.global_batch,
            consumed_tokens=_whole(fields.get("time/token")),
            consumed_samples=_whole(fields.get("time/sample")),
            tokens_per_s=positive(decimal("throughput/tokens_per_sec")),
            tokens_per_s_per_gpu=per_gpu,
            samples_per_s=positive(decimal("throughput/samples_per_sec")),
            tflops_per_gpu=None if flops is None else flops / 1e12,
            mfu=bounded(0, positive(decimal("throughput/device/mfu")), 100),
            loss=number(decimal("loss/train/total")),
            grad_norm=number(decimal("l2_norm/grad/global")),
            rank=head.rank,
        )


def _whole(text: str | None) -> float | None:
    value = count(text)
    return None if value is None else float(value)
