"""One row, in the number formats of each era."""

from __future__ import annotations

from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.simulator.render_layouts import Layout, TableHead

_TIMESTAMP = "  2026-01-02 03:04:05"
_ALGORITHM = "    RING   LL128         16"
_US_PER_MS = 1000


def row_pieces(table: TableHead, measured: CollectiveRow) -> tuple[str, ...]:
    """A row in the pieces in which it is written: its left part, then each half; the last one ends the line.

    A half that is None prints nothing (it does not occur); None inside a half prints as `-nan` or `N/A`.
    """
    layout, extras = table.layout, table.extras
    left = f"{measured.size_bytes:12d}  {measured.count or 0:12d}  {measured.dtype:>{layout.type_width}}"
    for column in table.columns:
        left += f"  {_part(column, measured):>6}"
    halves = {"out_of_place": measured.out_of_place, "in_place": measured.in_place}
    pieces = [left]
    for name in table.halves:
        half = halves[name]
        if half is not None:
            pieces.append(_half(layout, half) + (_iterations(half) if extras.per_iteration else ""))
    pieces[-1] += _TIMESTAMP if extras.timestamps else ""
    pieces[-1] += _ALGORITHM if extras.algorithm else ""
    return (*pieces[:-1], pieces[-1] + "\n")


def _part(column: str, measured: CollectiveRow) -> str:
    if column == "redop":
        return measured.redop or ""
    return "" if measured.root is None else str(measured.root)


def _half(layout: Layout, half: Placement) -> str:
    if layout.first:
        delta = "  \tN/A" if half.max_delta is None else f"  {half.max_delta:7.0e}"
        time_ms = "-nan" if half.time_us is None else f"{half.time_us / _US_PER_MS:.3f}"
        bandwidths = f"{_two_decimals(half.algbw_gbyte_s):>5}  {_two_decimals(half.busbw_gbyte_s):>5}"
        return f"  {time_ms:>7}  {bandwidths}{delta}"
    if layout.fitted_numbers:
        time = _fitted(half.time_us, 7)
        algbw, busbw = _fitted(half.algbw_gbyte_s, 6), _fitted(half.busbw_gbyte_s, 6)
        wrong = "    N/A" if half.wrong is None else f"{half.wrong:6g}"
        return f"  {time:>7}  {algbw:>6}  {busbw:>6}  {wrong}"
    time = _early_time(half.time_us)
    bandwidths = f"{_two_decimals(half.algbw_gbyte_s):>6}  {_two_decimals(half.busbw_gbyte_s):>6}"
    if layout.wrong_count:
        wrong = "  N/A" if half.wrong is None else f"{half.wrong:5g}"
    else:
        wrong = "  N/A" if half.max_delta is None else f"{half.max_delta:5.0e}"
    return f"  {time:>7}  {bandwidths}  {wrong}"


def _iterations(half: Placement) -> str:
    time = half.time_us or 0.0
    numbers = (time * 0.97, time * 1.03, time * 1.03, 1.5)
    return "".join(f"  {_fitted(number, 7):>7}" for number in numbers)


def _early_time(time_us: float | None) -> str:
    if time_us is None:
        return "-nan"
    decimals = 0 if time_us >= 10_000 else 1 if time_us >= 100 else 2
    return f"{time_us:.{decimals}f}"


def _two_decimals(value: float | None) -> str:
    return "-nan" if value is None else f"{value:.2f}"


def _fitted(value: float | None, width: int) -> str:
    """As many decimals as fit (since 2.17.3); beyond that the exponent form."""
    if value is None:
        return "-nan"
    for decimals in (2, 1, 0):
        text = f"{value:.{decimals}f}"
        if len(text) <= width:
            return text
    text = f"{value:.1e}"
    return text if len(text) <= width else f"{value:.0e}"
