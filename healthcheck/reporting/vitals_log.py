"""The vitals of a log on a terminal: a line that answers, the numbers, where the time went, what is odd or missing."""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.model.message import Arg, Message, listed, say
from healthcheck.model.training import EventKind, LogRemark
from healthcheck.model.vitals_log import Goodput, LogVitals, Loss, Rate
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.joining import bracket, in_a_row
from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import cut, readable, wrapped
from healthcheck.reporting.training_figures import long_text, rate_text, stamp_text, step_text

_INDENT = "  "
_MOST_FAILURES = 5
_MOST_TIMERS = 4
_NOTHING_S, _NOTHING = 0.05, 0.0005


def log_lines(vitals: LogVitals, width: int) -> list[str]:
    """The whole page, in at most 96 columns."""
    width = readable(width)
    lines = [*wrapped(answer_line(vitals), width), *wrapped(_run_line(vitals), width), ""]
    lines += _facts(vitals, width)
    if vitals.goodput is not None and vitals.goodput.losses:
        lines += ["", *_losses(vitals, vitals.goodput, width)]
    lines += _failures(vitals, width)
    if vitals.remarks:
        lines += ["", str(say("log.head.remarks"))]
        lines += [line for remark in vitals.remarks for line in _item(_remark(remark), width)]
    if vitals.missing:
        lines += ["", str(say("log.head.missing"))]
        lines += [line for text in vitals.missing for line in _item(text, width)]
    return lines


def _failures(vitals: LogVitals, width: int) -> list[str]:
    """The first few failures in their own words: why it stopped."""
    failures = [event for event in vitals.events if event.kind is EventKind.FAILURE]
    if not failures:
        return []
    lines = ["", str(say("log.head.failures"))]
    for event in failures[:_MOST_FAILURES]:
        words = cut(one_line(event.text), 2 * width) or str(say("training.event.failure"))
        lines += _item(say("log.remark", what=words, place=say("log.remark_line", line=event.line)), width)
    more = len(failures) - _MOST_FAILURES
    return [*lines, *_item(say("log.more_failures", n=more), width)] if more > 0 else lines


def answer_line(vitals: LogVitals) -> str:
    """`goodput 91.2 % of the steady rate over 26 h, 1.11 M tokens/s survive, most is lost to: restart (4.1 %), ...`."""
    step, goodput = vitals.step_time, vitals.goodput
    if step is None or vitals.exit_code or goodput is None or goodput.share is None:
        return _sentence([say("log.line.few", n=0 if step is None else step.reports)])
    code = "log.line.goodput" if goodput.wall_clock else "log.line.upper"
    parts: list[Arg] = [say(code, share=fine_share(goodput.share), window=long_text(goodput.window_s))]
    if goodput.tokens_per_s is not None:
        parts.append(say("log.line.rate", rate=rate_text(goodput.tokens_per_s)))
    worst = max(goodput.losses, key=lambda loss: loss.seconds, default=None)
    if worst is not None and goodput.window_s:
        name = say(f"training.loss.{worst.kind.value}")
        parts.append(say("log.line.lost", what=name, share=fine_share(worst.seconds / goodput.window_s)))
    parts.append(say("log.line.step", step=step_text(step.median_s)))
    return _sentence(parts)


def fine_share(share: float) -> str:
    """A share of 1 in per cent with one decimal: goodput is told by tenths, and no loss as nothing."""
    percent = 100 * share
    if 99.95 <= percent < 100:
        return "99.9 %"
    return "< 0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"


def _sentence(parts: list[Arg]) -> str:
    return one_line(in_a_row(parts, "text.comma"))


def _run_line(vitals: LogVitals) -> str:
    parts: list[Arg] = [
        say("log.run", framework=vitals.framework.value, first=vitals.first_step, last=vitals.last_step),
        say("log.run.files", n=len(vitals.files)),
        say("log.run.starts", n=vitals.starts),
    ]
    counts = (
        ("in_vain", vitals.starts_in_vain),
        ("rollbacks", vitals.rollbacks),
        ("skipped", vitals.skipped),
        ("nan", vitals.nan_losses),
    )
    parts += [say(f"log.run.{name}", n=n) for name, n in counts if n]
    return _sentence(parts)


def _facts(vitals: LogVitals, width: int) -> list[str]:
    """Name and value in two columns."""
    rows = [(str(say(f"log.row.{name}")), one_line(str(value))) for name, value in _rows(vitals)]
    if not rows:
        return []
    return table(rows[0], rows[1:], (), width)


def _rows(vitals: LogVitals) -> Iterator[tuple[str, Arg]]:
    step, rate = vitals.step_time, vitals.rate
    if step is not None:
        value = say(
            "log.row.step_value",
            median=step_text(step.median_s),
            p95=step_text(step.p95_s),
            spread=fine_share(step.spread),
            worst=step_text(step.worst_s),
        )
        basis: Arg = "" if step.basis is None else step.basis
        note = say("log.row.step_note", basis=basis, reports=step.reports, warm=step.warm_up, slow=step.outliers)
        yield "step", bracket(value, note)
    if rate is not None and (rate.tokens_per_s is not None or rate.per_gpu is not None):
        yield "rate", bracket(_rate(rate), rate.basis)
    if vitals.printed is not None:
        yield "printed", _printed(vitals)
    if vitals.mfu is not None:
        mfu = fine_share(vitals.mfu)
        told = say("log.row.mfu_alone", mfu=mfu)
        if vitals.hfu is not None and vitals.hfu != vitals.mfu:
            told = say("log.row.mfu_value", mfu=mfu, hfu=fine_share(vitals.hfu))
        yield "mfu", bracket(told, vitals.mfu_basis)
    if vitals.timers:
        timers = [
            say("log.row.timers_value", name=one.name, time=step_text(one.median_s), share=fine_share(one.share))
            for one in vitals.timers[:_MOST_TIMERS]
        ]
        yield "timers", bracket(listed(timers), say("log.row.timers_note"))
    if vitals.checkpoints is not None and vitals.checkpoints.saves:
        yield "saves", _saves(vitals)


def _rate(rate: Rate) -> Arg:
    """All GPUs and one of them, as far as either is known."""
    if rate.per_gpu is None:
        return rate_text(rate.tokens_per_s)
    one = rate_text(rate.per_gpu)
    if rate.tokens_per_s is None:
        return say("log.row.rate_one", per_gpu=one)
    return say("log.row.rate_value", rate=rate_text(rate.tokens_per_s), per_gpu=one)


def _printed(vitals: LogVitals) -> Arg:
    printed = vitals.printed
    assert printed is not None
    parts: list[Arg] = []
    if printed.tflops_per_gpu is not None:
        parts.append(say("log.row.printed_tflops", tflops=printed.tflops_per_gpu))
    if printed.mfu is not None:
        parts.append(say("log.row.printed_mfu", mfu=fine_share(printed.mfu)))
    if printed.implied_peak_tflops is not None:
        parts.append(say("log.row.printed_peak", peak=printed.implied_peak_tflops))
    if printed.share_of_peak is not None and printed.gpu_peak_tflops is not None:
        share = fine_share(printed.share_of_peak)
        parts.append(say("log.row.printed_share", share=share, peak=printed.gpu_peak_tflops))
    return bracket(listed(parts), printed.basis)


def _saves(vitals: LogVitals) -> Arg:
    saves = vitals.checkpoints
    assert saves is not None
    parts: list[Arg] = [say("log.row.saves_value", n=saves.saves)]
    if saves.interval_steps is not None and saves.at_risk_s is not None:
        parts.append(say("log.row.saves_interval", steps=saves.interval_steps, risk=long_text(saves.at_risk_s)))
    if saves.stall_s is not None:
        parts.append(say("log.row.saves_stall", stall=long_text(saves.stall_s)))
    return listed(parts)


def _losses(vitals: LogVitals, goodput: Goodput, width: int) -> list[str]:
    head = [str(say(f"log.table.{name}")) for name in ("what", "time", "share", "times", "steps", "where")]
    whole = goodput.window_s or 1.0
    rows = [
        _useful(goodput, whole),
        *(_loss(loss, whole, len(vitals.files) > 1) for loss in _told(goodput)),
        [str(say("log.table.window")), long_text(goodput.window_s), "100 %", "", "", ""],
    ]
    lines = [line.rstrip() for line in table(head, rows, (1, 2, 3, 4), width)]
    return [*lines, *wrapped(one_line(str(_window(goodput))), width)]


def _told(goodput: Goodput) -> list[Loss]:
    """The losses, the largest first, without those that would read as nothing."""
    losses = sorted(goodput.losses, key=lambda one: -one.seconds)
    return [loss for loss in losses if loss.seconds >= _NOTHING_S or loss.seconds >= _NOTHING * goodput.window_s]


def _window(goodput: Goodput) -> Message:
    """What bounds the window, and its ends as the lines show them."""
    if goodput.begins_s is None or goodput.ends_s is None:
        return say("log.window", window=goodput.window)
    begins, ends = stamp_text(goodput.begins_s), stamp_text(goodput.ends_s)
    return say("log.window.between", window=goodput.window, begins=begins, ends=ends)


def _useful(goodput: Goodput, whole: float) -> list[str]:
    time, share = long_text(goodput.useful_s), fine_share(goodput.useful_s / whole)
    return [str(say("log.table.useful")), time, share, "", f"{goodput.steps:,}", ""]


def _loss(loss: Loss, whole: float, several: bool) -> list[str]:
    where = ""
    if loss.longest_s is not None and loss.longest_line is not None:
        line = say("log.remark_line", line=loss.longest_line)
        place: Arg = f"{loss.longest_file}:{loss.longest_line}" if several else line
        where = one_line(str(say("log.table.longest", time=long_text(loss.longest_s), place=place)))
    return [
        str(say(f"training.loss.{loss.kind.value}")),
        long_text(loss.seconds),
        fine_share(loss.seconds / whole),
        str(loss.count) if loss.count else "",
        f"{loss.steps:,}" if loss.steps else "",
        where,
    ]


def _remark(remark: LogRemark) -> Arg:
    if not remark.line:
        return remark.what
    place = say("log.remark_line", line=remark.line)
    if remark.count > 1:
        place = say("log.remark_often", n=remark.count, line=remark.line)
    return say("log.remark", what=remark.what, place=place)


def _item(text: Arg, width: int) -> list[str]:
    return wrapped(one_line(str(text)), width, "- ", _INDENT)
