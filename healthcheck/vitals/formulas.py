"""How many FLOPs does a token cost? One function a count, by the name of its formula; a multiply-add counts as two.

T tokens, s sequence length, L layers, h hidden size, V vocabulary, N parameters. Backward costs twice the forward.
Sources: 6 N: arXiv 2001.08361; `palm`: arXiv 2204.02311, appendix B (torchtitan and Composer count so);
`megatron`: arXiv 2205.05198, equations 7 to 9, and 2104.04473, equation 3; `megatron-gqa`: the code of Megatron-LM
before 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from healthcheck.model.message import Message, say
from healthcheck.model.vitals_mfu import Formula, ModelShape, Recompute


class TokenFlops(Struct, frozen=True):
    """Forward and backward of one token: FLOPs of the `blocks`, of the core `attention` (scores and values) in them,
    and of the `logits` where a formula counts them by themselves."""

    blocks: float
    attention: float = 0.0
    logits: float = 0.0

    @property
    def model(self) -> float:
        """Model FLOPs of a token: nothing that is computed a second time."""
        return self.blocks + self.attention + self.logits

    def hardware(self, recompute: Recompute) -> float | None:
        """With what is computed a second time. None where a formula does not know what selective recompute repeats.

        Full: one more forward pass of all blocks, not of the logits (2104.04473). Selective: the core attention of
        the forward and backward pass once more, as 2205.05198 counts it.
        """
        if recompute is Recompute.NONE:
            return self.model
        if recompute is Recompute.FULL:
            return self.model + (self.blocks + self.attention) / 3
        return self.model + self.attention if self.attention else None


def parameters(shape: ModelShape) -> float | None:
    """N of a dense model, the active parameters of a mixture of experts; None where only the total of one is known."""
    if shape.active_params is not None:
        return shape.active_params
    return None if shape.experts_per_token is not None else shape.params


def missing(shape: ModelShape, formula: Formula) -> tuple[str, ...]:
    """The fields of the shape that a formula needs and that are not known, as they are called there."""
    needs = COUNTS[formula].needs
    lacks = [name for name in needs if name != "params" and getattr(shape, name) is None]
    if "params" in needs and parameters(shape) is None:
        lacks.insert(0, "params" if shape.experts_per_token is None else "active_params")
    if formula in (Formula.PALM, Formula.TORCHTITAN) and _attention_width(shape) is not None:
        lacks = [name for name in lacks if name != "hidden" or formula is Formula.TORCHTITAN]
    return tuple(lacks)


def choose(shape: ModelShape) -> Formula | None:
    """The most complete formula for what is known; None where nothing can be counted.

    N decides where it is known, because it is exact; a mixture of experts of which only the total is known needs its
    whole shape.
    """
    order = (Formula.PALM, by_shape(shape), Formula.SIX_N)
    return next((formula for formula in order if not missing(shape, formula)), None)


def token_flops(shape: ModelShape, formula: Formula) -> TokenFlops:
    """FLOPs of one token by a formula; ValueError where the shape lacks what it needs (`missing`)."""
    lacks = missing(shape, formula)
    if lacks:
        raise ValueError(f"the formula {formula} needs {', '.join(lacks)}")
    return COUNTS[formula].flops(shape)


def leaves_out(shape: ModelShape, formula: Formula) -> tuple[Message, ...]:
    """What a formula does not count, or counts more than is computed."""
    told = [COUNTS[formula].leaves_out]
    if formula is not Formula.SIX_N:
        told.append(say("mfu.leaves.causal"))
    if formula is Formula.MEGATRON_GQA and shape.experts_per_token is not None:
        told.append(say("mfu.leaves.router"))
    return tuple(told)


def by_shape(shape: ModelShape) -> Formula:
    """The formula that counts a model of which N is not known, whether all it needs is known or not."""
    told = (shape.ffn_hidden, shape.kv_heads, shape.experts_per_token, shape.shared_ffn_hidden)
    modern = shape.swiglu or any(value is not None for value in told)
    return Formula.MEGATRON_GQA if modern else Formula.MEGATRON


def _attention_width(shape: ModelShape) -> int | None:
    """Heads times the size of one; None where that is not said and has to be the hidden size."""
    return None if shape.heads is None or shape.head_dim is None else shape.heads * shape.head_dim


def _six_n(shape: ModelShape) -> TokenFlops:
    return TokenFlops(6 * _known(parameters(shape)))


def _palm(shape: ModelShape) -> TokenFlops:
    width = _attention_width(shape) or _known(shape.hidden)
    attention = 12 * _known(shape.layers) * width * _known(shape.seq_len)
    return TokenFlops(6 * _known(parameters(shape)), attention)


def _torchtitan(shape: ModelShape) -> TokenFlops:
    """As `palm`, without the parameters of the input embedding, which are looked up and not multiplied."""
    looked_up = _known(shape.vocab) * _known(shape.hidden)
    counted = _palm(shape)
    return TokenFlops(counted.blocks - 6 * looked_up, counted.attention)


def _megatron(shape: ModelShape) -> TokenFlops:
    layers, hidden = _known(shape.layers), _known(shape.hidden)
    attention = 12 * layers * hidden * _known(shape.seq_len)
    return TokenFlops(72 * layers * hidden**2, attention, 6 * _known(shape.vocab) * hidden)


def _megatron_log(shape: ModelShape) -> TokenFlops:
    """24 c L h^2 (1 + s/6h + V/16Lh) with c = 3 or, recomputed, 4: right for 4, a quarter of the logits short for 3."""
    counted = _megatron(shape)
    return TokenFlops(counted.blocks + 0.75 * counted.logits, counted.attention)


def _megatron_gqa(shape: ModelShape) -> TokenFlops:
    layers, hidden, heads = _known(shape.layers), _known(shape.hidden), _known(shape.heads)
    wide = (_attention_width(shape) or hidden) / hidden
    groups = (shape.kv_heads or heads) / heads
    gated = 1.5 if shape.swiglu else 1.0
    mlp = _known(shape.ffn_hidden) * (shape.experts_per_token or 1) + (shape.shared_ffn_hidden or 0)
    blocks = 12 * layers * hidden**2 * ((1 + groups) * wide + mlp / hidden * gated)
    attention = 12 * layers * hidden * _known(shape.seq_len) * wide
    return TokenFlops(blocks, attention, 6 * hidden * _known(shape.vocab))


def _known(value: float | None) -> float:
    assert value is not None  # `missing` looked
    return float(value)


class Count(NamedTuple):
    """A formula: the fields of the shape it needs, the count itself, how people write it, and what it leaves out.

    In words h is heads x head size in `12 L h s`, and f the width of all MLPs of a token.
    """

    needs: tuple[str, ...]
    flops: Callable[[ModelShape], TokenFlops]
    words: str
    leaves_out: Message


_PLAIN = ("layers", "hidden", "seq_len", "vocab")
COUNTS: Final[Mapping[Formula, Count]] = {
    Formula.SIX_N: Count(("params",), _six_n, "6 N", say("mfu.leaves.attention")),
    Formula.PALM: Count(
        ("params", "layers", "hidden", "seq_len"), _palm, "6 N + 12 L h s", say("mfu.leaves.embedding")
    ),
    Formula.TORCHTITAN: Count(("params", *_PLAIN), _torchtitan, "6 (N - V h) + 12 L h s", say("mfu.leaves.tied")),
    Formula.MEGATRON: Count(_PLAIN, _megatron, "72 L h^2 (1 + s/6h + V/12Lh)", say("mfu.leaves.plain")),
    Formula.MEGATRON_LOG: Count(_PLAIN, _megatron_log, "72 L h^2 (1 + s/6h + V/16Lh)", say("mfu.leaves.log")),
    Formula.MEGATRON_GQA: Count(
        (*_PLAIN, "heads", "ffn_hidden"),
        _megatron_gqa,
        "12 L h^2 ((1 + g/n + s/h) r + f k/h + V/2Lh)",
        say("mfu.leaves.latent"),
    ),
}
