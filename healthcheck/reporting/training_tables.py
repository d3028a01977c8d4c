"""The tables of a training's page: what a log says as a whole, collectives of a profile, signs of a diagnosis."""

from __future__ import annotations

from healthcheck.model.joint import Joint, Seen
from healthcheck.model.message import Arg, say
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_trace import CollectiveUse
from healthcheck.reporting.chart import Table
from healthcheck.reporting.figures import gbyte_s, not_measured, one_line, size
from healthcheck.reporting.joining import bracket
from healthcheck.reporting.joint import level_text, thresholds_text, value_text
from healthcheck.reporting.training_figures import rate_text, share_text, step_text

MOST_COLLECTIVES = 24


def log_facts(log: LogVitals) -> tuple[tuple[str, str], ...]:
    """Name and value; what the log does not say is left out, for `missing` names it."""
    found: list[tuple[str, Arg]] = [
        ("framework", log.framework.value),
        ("steps", f"{log.first_step}-{log.last_step}"),
        ("starts", log.starts),
        *((name, n) for name, n in _counts(log) if n),
    ]
    if log.rate is not None and log.rate.tokens_per_s is not None:
        rate = say("training.rate", rate=rate_text(log.rate.tokens_per_s))
        found.append(("rate", bracket(rate, log.rate.basis)))
    ours = (("mfu", log.mfu), ("hfu", log.hfu))
    found += [(name, bracket(share_text(share), log.mfu_basis)) for name, share in ours if share is not None]
    if log.printed is not None and (log.printed.tflops_per_gpu is not None or log.printed.mfu is not None):
        tflops = log.printed.tflops_per_gpu
        printed = say(
            "training.fact.printed_value",
            tflops=not_measured() if tflops is None else f"{tflops:.1f}",
            mfu=share_text(log.printed.mfu),
        )
        found.append(("printed", bracket(printed, log.printed.basis)))
    return tuple((str(say(f"training.fact.{name}")), one_line(str(value))) for name, value in found)


def _counts(log: LogVitals) -> tuple[tuple[str, int], ...]:
    return (("rollbacks", log.rollbacks), ("skipped", log.skipped), ("nan", log.nan_losses))


def collectives_table(uses: tuple[CollectiveUse, ...]) -> Table | None:
    """Those that took longest; None where there are none."""
    if not uses:
        return None
    codes = ("collective", "size", "group", "calls", "transfer", "skew", "busbw")
    columns = tuple(str(say(f"training.col.{code}")) for code in codes)
    shown = sorted(uses, key=lambda use: -use.total_s)[:MOST_COLLECTIVES]
    return Table(columns, tuple(map(_use, shown)), tuple(range(1, len(codes))))


def _use(use: CollectiveUse) -> tuple[str, ...]:
    return (
        one_line(use.name),
        not_measured() if use.size_bytes is None else size(use.size_bytes),
        not_measured() if use.group_size is None else str(use.group_size),
        str(use.calls),
        step_text(use.transfer_s),
        step_text(use.skew_s),
        gbyte_s(use.busbw_gbyte_s),
    )


def signs_table(joint: Joint) -> Table:
    """Every sign with its number, where it lies, the thresholds, and whose number it is."""
    codes = ("sign", "value", "level", "from", "basis")
    columns = tuple(str(say(f"training.col.{code}")) for code in codes)
    return Table(columns, tuple(map(_sign, joint.seen)), (1,))


def _sign(seen: Seen) -> tuple[str, ...]:
    return (
        sign_name(seen),
        one_line(value_text(seen)),
        level_text(seen),
        thresholds_text(seen),
        one_line(str(seen.basis)),
    )


def sign_name(seen: Seen) -> str:
    """What a sign is called."""
    return str(say(f"training.sign.{seen.sign.value}"))
