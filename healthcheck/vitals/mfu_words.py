"""The formula of an answer with its numbers in it, in one line that a reader can check with a pocket calculator."""

from __future__ import annotations

from healthcheck.model.vitals_mfu import Formula, MfuQuestion, ModelShape
from healthcheck.vitals.formulas import COUNTS, TokenFlops, parameters

_SIGNS = (
    ("layers", "L"),
    ("hidden", "h"),
    ("seq_len", "s"),
    ("vocab", "V"),
    ("heads", "n"),
    ("kv_heads", "g"),
    ("head_dim", "d"),
    ("ffn_hidden", "f"),
    ("experts_per_token", "k"),
)


def formula_words(
    asked: MfuQuestion, formula: Formula | None, counted: TokenFlops | None, model_tflops: float | None
) -> str:
    """`6 N = 7.8e+10 FLOPs a token, N = 13,000,000,000`; what was divided by what where no formula of ours counted."""
    if formula is not None and counted is not None:
        words = COUNTS[formula].words
        return f"{words} = {counted.model:.5g} FLOPs a token, {_values(asked.shape, words)}"
    if asked.model_flops is not None:
        return f"{asked.model_flops:g} FLOPs / {asked.gpus} GPUs / {asked.step_time_s:g} s"
    if model_tflops is None and asked.was_mfu is not None:
        return f"{100 * asked.was_mfu:g} % x {asked.was_step_time_s:g} s / {asked.step_time_s:g} s"
    return "" if model_tflops is None else f"{model_tflops:g} TFLOP/s as given"


def _values(shape: ModelShape, words: str) -> str:
    """Every quantity that is known and stands in the formula."""
    found = []
    n = parameters(shape)
    if n is not None and "N" in words:
        found.append(f"N = {n:,.0f}")
    for name, sign in _SIGNS:
        value = getattr(shape, name)
        if value is not None and (sign in words or sign in "nd"):
            found.append(f"{sign} = {value:,}")
    return ", ".join(found)
