"""The answer of `vitals mfu` as lines: the answer first, then how it came about, what is missing, what looks odd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from healthcheck.model.message import Message, say
from healthcheck.model.vitals_mfu import GIVEN_PEAK, Dtype, GpuPeak, GpuRow, MfuAnswer
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import left, width_of, wrapped

_DAY_S = 86400
_WIDTH = 110


def mfu_lines(found: MfuAnswer) -> list[str]:
    """The first line answers; every other one begins with what it is about."""
    return answer_lines(_line(found), tuple(_rows(found)))


def answer_lines(first: Message, rows: Sequence[tuple[Message, Message | str]]) -> list[str]:
    """The answer of a calculator, and below it rows of a name and a text."""
    told = [(one_line(str(name)), one_line(str(text))) for name, text in rows]
    widest = max((width_of(name) for name, _ in told), default=0)
    lines = [one_line(str(first))]
    for name, text in told:
        start = f"  {left(name, widest)}  "
        lines += wrapped(text, _WIDTH, start, " " * width_of(start))
    return lines


def gpu_lines(rows: Sequence[GpuRow]) -> list[str]:
    """The table of peaks, dense TFLOP/s by dtype; what is not known stays empty."""
    dtypes = [dtype for dtype in Dtype if any(dtype in row.dense_tflops for row in rows)]
    head = ("GPU", *(dtype.upper() for dtype in dtypes), "source")
    cells = [(row.gpu, *(_tflops(row, dtype) for dtype in dtypes), row.source) for row in rows]
    lines = table(head, cells, range(1, len(dtypes) + 1), 200)
    return [*lines, "Dense peaks in TFLOP/s, without sparsity."]


def _tflops(row: GpuRow, dtype: Dtype) -> str:
    value = row.dense_tflops.get(dtype)
    return f"{value:g}" if value is not None else ("no" if dtype in row.lacks else "?")


def _line(found: MfuAnswer) -> Message:
    if found.refused is not None:
        return say("mfu.line.refused", why=found.refused)
    assert found.mfu is not None
    if found.peak is None or found.achieved_tflops is None:
        was, was_step = 100 * (found.was_mfu or 0), found.was_step_time_s or 0
        return say("mfu.line.ratio", mfu=100 * found.mfu, was=was, was_step=was_step, step=found.step_time_s or 0)
    told = {"mfu": 100 * found.mfu, "tflops": found.achieved_tflops, "peak": found.peak.dense_tflops}
    if found.hfu is None:
        return say("mfu.line.no_hfu", what=_what(found.peak), **told)
    return say("mfu.line", hfu=100 * found.hfu, what=_what(found.peak), **told)


def _what(peak: GpuPeak) -> Message | str:
    dtype = peak.dtype.upper()
    return say("mfu.what.given", dtype=dtype) if peak.source == GIVEN_PEAK else f"{peak.gpu}, {dtype}"


def _rows(found: MfuAnswer) -> Iterator[tuple[Message, Message | str]]:
    if found.formula_text:
        name = "" if found.formula is None else f"{found.formula}: "
        yield say("mfu.row.formula"), f"{name}{found.formula_text}"
    if found.tokens_per_s_per_gpu is not None:
        yield say("mfu.row.tokens"), _tokens(found, found.tokens_per_s_per_gpu)
    if found.achieved_tflops is not None:
        yield say("mfu.row.achieved"), _achieved(found, found.achieved_tflops)
    if found.peak is not None:
        peak = found.peak
        yield (
            say("mfu.row.peak"),
            say("mfu.peak", peak=peak.dense_tflops, what=_what(peak), source=peak.source),
        )
    if found.training_s is not None and found.tokens_total is not None:
        days = found.training_s / _DAY_S
        yield say("mfu.row.time"), say("mfu.time", days=days, tokens=found.tokens_total)
    if found.was_mfu is not None and found.was_step_time_s is not None and found.peak is not None:
        yield say("mfu.row.before"), say("mfu.before", was=100 * found.was_mfu, step=found.was_step_time_s)
    for message in found.leaves_out:
        yield say("mfu.row.leaves_out"), message
    for message in found.would_fit:
        yield say("mfu.row.fits"), message
    for message in found.notes:
        yield say("mfu.row.note"), message


def _tokens(found: MfuAnswer, each: float) -> Message:
    if found.tokens_per_s is None or found.gpus is None:
        rate = say("mfu.tokens.each", each=each)
    else:
        rate = say("mfu.tokens.all", rate=found.tokens_per_s, gpus=found.gpus, each=each)
    if found.tokens_per_step is None or found.step_time_s is None:
        return rate
    return say("mfu.tokens.step", rate=rate, tokens=found.tokens_per_step, step=found.step_time_s)


def _achieved(found: MfuAnswer, tflops: float) -> Message:
    if found.hardware_tflops is None or found.hardware_tflops == tflops:
        return say("mfu.achieved", tflops=tflops)
    return say("mfu.achieved.hardware", tflops=tflops, hardware=found.hardware_tflops)
