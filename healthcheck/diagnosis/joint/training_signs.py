"""What the saved documents of the training say: one `Seen` a sign, unknown with the reason where they do not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from healthcheck.diagnosis.joint.thresholds import NAMED, level_of
from healthcheck.model.durations import span
from healthcheck.model.joint import Level, Seen, Sign
from healthcheck.model.message import Message, listed, say
from healthcheck.model.training import Framework
from healthcheck.model.vitals_log import LogVitals, Loss, Printed
from healthcheck.model.vitals_mfu import MfuAnswer
from healthcheck.model.vitals_trace import RankTrace, Shares, TraceVitals

Thresholds = Mapping[str, float]
Number = tuple[float | None, Message]
"""The number of a sign and whose it is; None and why there is none."""
_MOST_LOSSES = 2
_FRACTIONS = frozenset({Sign.EXPOSED, Sign.COLLECTIVE, Sign.IDLE, Sign.DATA_LOADING, Sign.GOODPUT})
SHORT_S = 1800.0
"""Rule of thumb: a shorter piece of a log shows its own start, and not how often a training stops."""
_OTHER_PEAK = 0.05
_PEAK_OF_AN_A100 = frozenset({Framework.NANOGPT})
"""They divide by the peak of an A100, whatever the GPU is."""
_ROUNDED = 0.01
"""How far a share may lie outside 0 and 1 because its parts were rounded."""


class TrainingDocuments(Struct, frozen=True):
    """The documents that were given, at most one of a kind."""

    log: LogVitals | None = None
    trace: TraceVitals | None = None
    mfu: MfuAnswer | None = None

    @property
    def gpus(self) -> int | None:
        """How many GPUs the training had, as the first of log, calculator and trace says."""
        told = (
            self.log.facts.gpus if self.log else None,
            self.mfu.gpus if self.mfu else None,
            self.trace.world_size if self.trace else None,
        )
        return next((number for number in told if number), None)

    @property
    def printed_gpus(self) -> tuple[str, ...]:
        """The names of GPUs that log and trace print, each once; where they print none, what vitals mfu was told."""
        printed = [self.log.facts.gpu] if self.log else []
        printed += [rank.gpu for rank in self.trace.ranks] if self.trace else []
        told = [self.mfu.gpu] if self.mfu else []
        return tuple(dict.fromkeys(name for name in printed if name)) or tuple(name for name in told if name)

    @property
    def window(self) -> tuple[float, float] | None:
        """First and last moment of the log, in seconds since 1970; None where it has no clock."""
        goodput = self.log.goodput if self.log else None
        if goodput is None or goodput.begins_s is None or goodput.ends_s is None:
            return None
        return goodput.begins_s, goodput.ends_s


def seen(sign: Sign, value: float | None, basis: Message, thresholds: Thresholds) -> Seen:
    """A sign with thresholds of ours; a share that cannot be one is unknown."""
    low, high = thresholds[f"{NAMED[sign]}.low"], thresholds[f"{NAMED[sign]}.high"]
    if value is not None and sign in _FRACTIONS and not -_ROUNDED <= value <= 1 + _ROUNDED:
        basis, value = say("joint.basis.impossible_share", percent=round(100 * value, 1), basis=basis), None
    return Seen(sign, value, level_of(value, low, high), low, high, basis)


def said(sign: Sign, level: Level, basis: Message, shown: str = "") -> Seen:
    """A sign without a number: what stands there instead is `shown`."""
    return Seen(sign, None, level, None, None, basis, shown)


def training_signs(training: TrainingDocuments, thresholds: Thresholds) -> tuple[Seen, ...]:
    """MFU, the shares of a step, goodput, and how even steps and ranks are."""
    return (
        seen(Sign.MFU, *_mfu(training), thresholds),
        *_shares(training.trace, thresholds),
        seen(Sign.GOODPUT, *_goodput(training.log), thresholds),
        seen(Sign.STEP_SPREAD, *_step_spread(training.log), thresholds),
        seen(Sign.RANK_SPREAD, *_rank_spread(training.trace), thresholds),
    )


def _mfu(training: TrainingDocuments) -> Number:
    """Ours of the calculator, else ours of the log, else what the framework prints of itself; within 0 and 1."""
    value, basis = _told_mfu(training)
    if value is not None and not 0 < value <= 1:
        return None, say("joint.basis.impossible_mfu", percent=round(100 * value, 1), basis=basis)
    return value, basis


def _told_mfu(training: TrainingDocuments) -> Number:
    log, answer = training.log, training.mfu
    if answer is not None and answer.mfu is not None:
        formula = answer.formula
        basis = say("joint.basis.mfu_given") if formula is None else say("joint.basis.mfu", formula=formula.value)
        return answer.mfu, basis
    if answer is not None:
        return None, answer.refused or say("joint.basis.mfu_no_peak")
    if log is not None and log.exit_code:  # too few steps to call any of them steady
        return None, say("joint.basis.no_goodput")
    if log is not None and log.mfu is not None:
        return log.mfu, log.mfu_basis or say("joint.basis.log")
    printed = log.printed if log is not None else None
    if log is None or printed is None or printed.mfu is None:
        return None, say("joint.basis.no_mfu")
    refused = next((remark.what for remark in log.remarks if remark.what.code in _CANNOT_BE), None)
    if (other := refused or _other_peak(log, printed)) is not None:
        return None, other
    return printed.mfu, say("joint.basis.printed_mfu", basis=printed.basis or say("joint.basis.printed_unknown"))


def _other_peak(log: LogVitals, printed: Printed) -> Message | None:
    """What is wrong with a printed MFU that is a share of another GPU's peak."""
    implied, peak = printed.implied_peak_tflops, printed.gpu_peak_tflops
    if peak is None:
        return say("joint.basis.peak_of_an_a100") if log.framework in _PEAK_OF_AN_A100 else None
    if implied is None or abs(implied / peak - 1) <= _OTHER_PEAK:
        return None
    return say("joint.basis.other_peak", implied=round(implied), peak=round(peak))


def _shares(trace: TraceVitals | None, thresholds: Thresholds) -> tuple[Seen, ...]:
    """Those of the slowest rank, whose steps are the steps. A collective share that may be higher says so."""
    shares = trace.shares if trace is not None else None
    if trace is None or shares is None:
        why = say("joint.basis.no_trace")
        if trace is not None:
            why = say("joint.basis.graphs" if trace.hidden_in_graphs else "joint.basis.empty_trace")
        signs = (Sign.EXPOSED, Sign.COLLECTIVE, Sign.IDLE, Sign.DATA_LOADING)
        return tuple(seen(sign, None, why, thresholds) for sign in signs)
    basis = _slowest(trace)
    return (
        _communication(Sign.EXPOSED, shares.exposed, basis, trace.lower_bound, thresholds),
        _communication(Sign.COLLECTIVE, shares.collective, basis, trace.lower_bound, thresholds),
        seen(Sign.IDLE, shares.idle, basis, thresholds),
        _data_loading(shares, basis, thresholds),
    )


def _communication(sign: Sign, share: float, basis: Message, lower_bound: bool, thresholds: Thresholds) -> Seen:
    """A lower bound says something only where it is high already."""
    found = seen(sign, share, basis, thresholds)
    if not lower_bound:
        return found
    if found.level is Level.HIGH:
        return seen(sign, share, say("joint.basis.lower_bound", basis=basis), thresholds)
    return seen(sign, None, say("joint.basis.at_least", percent=round(100 * share, 1), basis=basis), thresholds)


def _data_loading(shares: Shares, basis: Message, thresholds: Thresholds) -> Seen:
    if shares.data_loading is None:
        return seen(Sign.DATA_LOADING, None, say("joint.basis.no_host"), thresholds)
    return seen(Sign.DATA_LOADING, shares.data_loading, basis, thresholds)


def _slowest(trace: TraceVitals) -> Message:
    rank = trace.slowest_rank
    if rank is None:
        return say("joint.basis.trace", n=len(trace.ranks))
    code = "joint.basis.trace_whole" if rank.whole else "joint.basis.trace_rank"
    return say(code, rank=_name(rank), steps=len(rank.steps), n=len(trace.ranks))


def _name(rank: RankTrace) -> str:
    if rank.rank is not None:
        return str(rank.rank)
    return rank.file if rank.device is None else f"{rank.file}:{rank.device}"


def _goodput(log: LogVitals | None) -> Number:
    if log is None:
        return None, say("joint.basis.no_log")
    goodput = log.goodput
    if goodput is None or goodput.share is None or log.exit_code:
        return None, say("joint.basis.no_goodput")
    if not goodput.wall_clock:
        return None, say("joint.basis.no_wall_clock")
    window = span(goodput.window_s)
    if goodput.window_s < SHORT_S:
        return None, say("joint.basis.short", window=window, percent=round(100 * goodput.share))
    worst = sorted((loss for loss in goodput.losses if loss.seconds > 0), key=lambda loss: -loss.seconds)
    if not worst:
        return goodput.share, say("joint.basis.goodput", window=window)
    told = [_loss(loss, goodput.window_s) for loss in worst[:_MOST_LOSSES]]
    return goodput.share, say("joint.basis.goodput_losses", window=window, losses=listed(told))


def _loss(loss: Loss, window_s: float) -> Message:
    kind = Message(f"training.loss.{loss.kind.value}")
    return say("joint.basis.loss", kind=kind, percent=round(100 * loss.seconds / window_s, 1), n=loss.count)


def _step_spread(log: LogVitals | None) -> Number:
    """How far the steps lie apart, on the wider side of the median: one that became slow for good has its slow pace for
    a median, and nothing above it."""
    if log is None:
        return None, say("joint.basis.no_log")
    times = log.step_time
    if times is None or log.exit_code:
        return None, say("joint.basis.no_step_time")
    below = times.median_s / times.p10_s - 1 if times.p10_s else 0.0
    if below > times.spread:
        return below, say("joint.basis.fast_tenth", n=times.reports)
    code = "joint.basis.interval_means" if times.interval_means else "joint.basis.reports"
    return times.spread, say(code, n=times.reports)


def _rank_spread(trace: TraceVitals | None) -> Number:
    """How much longer the busiest rank is at its own work than the median of the others.

    Its own work is the step without what it waits in collectives: whoever is late makes all others wait, and waits
    least.
    """
    if trace is None:
        return None, say("joint.basis.no_trace")
    own = [(time, rank) for rank in trace.ranks if (time := _own_s(rank)) is not None]
    if len(own) < 2:
        return None, say("joint.basis.one_rank")
    longest, rank = max(own, key=lambda one: one[0])
    others = median(time for time, other in own if other is not rank)
    if not others > 0:
        return None, say("joint.basis.one_rank")
    basis = say(
        "joint.basis.busiest",
        rank=_name(rank),
        own=round(longest, 4),
        others=round(others, 4),
        others_n=len(own) - 1,
    )
    return longest / others - 1, basis


def _own_s(rank: RankTrace) -> float | None:
    times: Sequence[float] = [step.wall_s - step.exposed_s for step in rank.steps]
    own = median(times) if times else None
    return own if own is not None and math.isfinite(own) else None


def training_notes(training: TrainingDocuments) -> tuple[Message, ...]:
    """What the numbers are to be taken with: an MFU that was doubted."""
    answer, log = training.mfu, training.log
    doubts = answer.notes if answer is not None else [remark.what for remark in log.remarks] if log is not None else ()
    return tuple(say("joint.note.doubted", note=note) for note in doubts if note.code == _DOUBTED)


_CANNOT_BE = frozenset({"mfu.refused.above", "mfu.refused.hardware"})
"""What was said of this training, or what its log prints, is wrong: then no MFU of it counts."""
_DOUBTED = "mfu.note.high"
