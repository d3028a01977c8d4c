"""A table as nccl-tests of a chosen version prints it; usable line by line.

`render_layouts` says what differs between versions, `render_head` and `render_row` print; the versions of `LAYOUTS`
come out byte for byte as the true programs print them.
"""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow
from healthcheck.simulator.render_head import SIMULATED_LINE, head
from healthcheck.simulator.render_layouts import ERAS, LAYOUTS, REDUCING, ROOTED, Device, Extras, Layout, TableHead
from healthcheck.simulator.render_row import row_pieces

__all__ = [
    "ERAS",
    "LAYOUTS",
    "SIMULATED_LINE",
    "Device",
    "Extras",
    "Layout",
    "TableHead",
    "average_busbw",
    "footer",
    "head",
    "printed_size",
    "redop_and_root",
    "render_table",
    "row",
    "row_pieces",
]
_MEMORY_LINE = (
    "# GPU memory usage     : Initialization 700 MB | User-Allocated 192 MB | Collective 0.00 B | Total  892 MB\n"
)
_ASTERISKS_LINE = "# Errors with asterisks indicate errors that have exceeded the maximum threshold.\n"


def row(table: TableHead, measured: CollectiveRow) -> str:
    """One row. A half that is None prints nothing (it does not occur); None inside a half prints as `-nan`/`N/A`."""
    return "".join(row_pieces(table, measured))


def footer(table: TableHead, avg_busbw_gbyte_s: float | None, out_of_bounds: int) -> str:
    """The last lines; with wrong results also what each version prints after the footer."""
    layout = table.layout
    average = "-nan" if avg_busbw_gbyte_s is None else f"{avg_busbw_gbyte_s:g}"
    mark = "" if layout.first else "#"
    lines = [_ASTERISKS_LINE] if layout.rccl in ("nranks", "version") and table.check else []
    lines += [
        f"{mark} Out of bounds values : {out_of_bounds} {'FAILED' if out_of_bounds else 'OK'}\n",
        f"{mark} Avg bus bandwidth    : {average} \n",
        f"{mark}\n",
    ]
    if layout.starting_line:
        lines.append(f"# Collective test concluded: {table.collective.binary}\n")
    if table.extras.memory:
        lines.append(_MEMORY_LINE)
    if layout.end_line:
        lines.append("#\n")
    lines.append("\n" if layout.group else "")
    if out_of_bounds and layout.failed_source_line is not None:
        processes = dict.fromkeys((device.host, device.pid) for device in table.devices)
        lines.extend(
            f" .. {host} pid {pid}: Test failure common.cu:{layout.failed_source_line}\n" for host, pid in processes
        )
    return "".join(lines)


def render_table(
    table: TableHead,
    rows: Sequence[CollectiveRow],
    avg_busbw_gbyte_s: float | None,
    out_of_bounds: int,
    simulated: bool = True,
) -> str:
    """A complete output."""
    return (
        head(table, simulated)
        + "".join(row(table, one) for one in rows)
        + footer(table, avg_busbw_gbyte_s, out_of_bounds)
    )


def average_busbw(rows: Sequence[CollectiveRow]) -> float | None:
    """What the footer prints: the mean over all rows and both halves; None (nan) when nothing was timed."""
    values = [half.busbw_gbyte_s for one in rows for _, half in one.placements]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def printed_size(table: TableHead, asked_bytes: int, n_ranks: int) -> tuple[int, int]:
    """(size, count) as printed: shared buffers are cut to what divides evenly among the ranks; float elements."""
    if not table.collective.size_is_of_all_ranks:
        return asked_bytes // 4 * 4, asked_bytes // 4
    step = table.layout.size_step
    elements = asked_bytes // 4 // (n_ranks * max(1, step // 4)) * max(1, step // 4)
    return elements * n_ranks * 4, elements


def redop_and_root(table: TableHead) -> tuple[str | None, int]:
    """What stands in the two columns: (redop or None, root or -1)."""
    collective = table.collective
    root = 0 if collective in ROOTED else -1
    if collective in REDUCING or (collective is Collective.SENDRECV and table.layout.wrong_count):
        return "sum", root
    named = table.layout.wrong_count and table.layout.redop_named and collective is not Collective.HYPERCUBE
    return ("none" if named else None), root
