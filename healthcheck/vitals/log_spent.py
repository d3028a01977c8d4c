"""What the time of the steps of a row was: the steady time of those that survive, and what is lost of the rest."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.model.training import EventKind, RunEvent
from healthcheck.model.vitals_log import LossKind
from healthcheck.vitals.log_counted import Counted
from healthcheck.vitals.log_pace import RowKind
from healthcheck.vitals.log_seen import Seen

NOTHING = 1e-6
"""Less than this part of a time is what sums of many numbers are off by."""
SAVES = frozenset((EventKind.CHECKPOINT_BEGUN, EventKind.CHECKPOINT_SAVED))


def spend(seen: Seen, counted: Counted, segment: int, row: int, told: Sequence[RunEvent]) -> None:
    """Count the steps of a row; `told`: events that explain why they were slow."""
    rows, busy = seen.training.rows, seen.busy(row)
    counted.claimed += busy
    steps = rows.steps[row]
    kept = seen.survival.kept(seen.training, segment, row)
    share = kept / steps if steps else 0.0
    if kept < steps:
        counted.book.lost_in_steps(_in_vain(seen, segment), busy * (1 - share), row, segment, steps - kept)
    skipped = min(kept, rows.lost[row])
    if skipped:
        counted.book.lost_in_steps(LossKind.SKIPPED, seen.steady(row, skipped), row, segment, skipped)
    counted.survive(seen, row, kept - skipped)
    if kept:
        steady = seen.steady(row, kept)
        excess = busy * share - steady
        if seen.pace.kinds[row] == RowKind.STEADY or excess <= NOTHING * steady:
            counted.drift += excess
        else:
            counted.slow_down(_why_slow(seen, row, told), excess, row, segment)
    if kept and not skipped and seen.pace.kinds[row] == RowKind.STEADY:
        counted.book.steady_again()


def _in_vain(seen: Seen, segment: int) -> LossKind:
    """Steps that do not survive were done again by a later start, or taken away by the failure at the end."""
    limits, cut_at = seen.survival.limits, seen.survival.cut_at
    last = segment == len(limits) - 1
    return LossKind.NOT_KEPT if last or (cut_at is not None and limits[segment] == cut_at) else LossKind.REDONE


def _why_slow(seen: Seen, row: int, told: Sequence[RunEvent]) -> LossKind:
    """The first steps of a start warm up; later ones wait for what the log tells of, or are slow."""
    kind = seen.pace.kinds[row]
    if kind == RowKind.WARM_UP:
        return LossKind.WARM_UP
    if kind != RowKind.APART or not told:
        return LossKind.SLOW_STEPS
    return LossKind.CHECKPOINT if any(event.kind in SAVES for event in told) else LossKind.EVALUATION
