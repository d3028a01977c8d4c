"""A table as nccl-tests of a chosen version prints it, byte for byte; usable line by line.

Formats: the printf strings of nccl-tests 2.10.1, 2.13.10, 2.16.9, 2.17.10 and 2.19.6, and their true outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, Placement

SIMULATED_LINE = "# simulated by healthcheck: no GPU was measured\n"
_TITLE = "           out-of-place                       in-place          "
_ROOTED = frozenset({Collective.BROADCAST, Collective.REDUCE, Collective.GATHER, Collective.SCATTER})
_REDUCING = frozenset({Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.REDUCE})
_SHARED_COUNT = frozenset(
    {
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.ALLTOALL,
        Collective.ALLTOALLV,
        Collective.GATHER,
        Collective.SCATTER,
        Collective.HYPERCUBE,
    }
)


class Layout(Struct, frozen=True, kw_only=True):
    """What differs between versions; the defaults are those of the oldest.

    `wrong_count`: the columns redop, root and #wrong (before: only those a collective has, and `error`).
    `fitted_numbers`: as many decimals as fit, and what else came with 2.17.3. `size_step`: shared buffers are cut to
    multiples of so many bytes a rank. `failed_exit`: exit code of a run with wrong results, `failed_source_line`: where
    the line after the footer says it was found. `too_many_exit`: exit code when a rank has no GPU.
    """

    wrong_count: bool = False
    group: bool = False
    full_bus: bool = False
    starting_line: bool = False
    version_line: bool = False
    fitted_numbers: bool = False
    unalign: bool = False
    default_warmup: int = 5
    size_step: int = 1
    failed_exit: int = 1
    failed_source_line: int | None = None
    too_many_exit: int = 2


_V2_10 = Layout()
_V2_13 = replace(_V2_10, wrong_count=True, group=True)
_V2_16 = replace(_V2_13, full_bus=True, starting_line=True, default_warmup=1, size_step=16)
# The source line of 2.17.10 is a guess near its neighbours: no true output of that failure was at hand.
_V2_17 = replace(
    _V2_16, version_line=True, fitted_numbers=True, failed_exit=7, failed_source_line=1364, too_many_exit=5
)
_V2_19 = replace(_V2_17, unalign=True, failed_source_line=1454)
LAYOUTS: dict[str, Layout] = {
    "2.10.1": _V2_10,
    "2.13.10": _V2_13,
    "2.16.9": _V2_16,
    "2.17.10": _V2_17,
    "2.19.6": _V2_19,
}


class Device(Struct, frozen=True):
    """One device line. `bus_id` is `0000:07:00`, domain:bus:device in hex."""

    rank: int
    pid: int
    host: str
    index: int
    bus_id: str
    model: str


class TableHead(Struct, frozen=True):
    """All that stands above the rows. Sizes in bytes; `factor` 0 or 1 means steps of `step_bytes`."""

    version: str
    collective: Collective
    devices: tuple[Device, ...]
    min_bytes: int
    max_bytes: int
    factor: int = 2
    step_bytes: int = 1 << 20
    threads: int = 1
    gpus: int = 1
    warmup: int = 5
    iterations: int = 20
    check: int = 1
    nccl_code: int = 22907

    @property
    def layout(self) -> Layout:
        """How this version prints."""
        return LAYOUTS[self.version]


def head(table: TableHead, simulated: bool = True) -> str:
    """Everything above the first row; `simulated` puts the line in front that says so."""
    layout = table.layout
    lines = [SIMULATED_LINE] if simulated else []
    if layout.version_line:
        lines.append(
            f"# nccl-tests version {table.version} nccl-headers={table.nccl_code} nccl-library={table.nccl_code}\n"
        )
    if layout.starting_line:
        lines.append(f"# Collective test starting: {table.collective.binary}\n")
    lines.append(_config_line(table))
    lines.append("#\n# Using devices\n")
    lines.extend(_device_line(layout, device) for device in table.devices)
    lines.append("#\n")
    lines.append(_header(table))
    return "".join(lines)


def row(table: TableHead, measured: CollectiveRow) -> str:
    """One row. A half that is None prints nothing (it does not occur); None inside a half prints as `-nan`/`N/A`."""
    layout = table.layout
    left = f"{measured.size_bytes:12d}  {measured.count or 0:12d}  {measured.dtype:>8}"
    for column in _part_columns(table):
        left += f"  {_part(column, measured):>6}"
    halves = "".join(_half(layout, half) for half in (measured.out_of_place, measured.in_place) if half is not None)
    return f"{left}{halves}\n"


def footer(table: TableHead, avg_busbw_gbyte_s: float | None, out_of_bounds: int) -> str:
    """The last lines; with wrong results also what each version prints after the footer."""
    layout = table.layout
    average = "-nan" if avg_busbw_gbyte_s is None else f"{avg_busbw_gbyte_s:g}"
    lines = [
        f"# Out of bounds values : {out_of_bounds} {'FAILED' if out_of_bounds else 'OK'}\n",
        f"# Avg bus bandwidth    : {average} \n",
        "#\n",
    ]
    if layout.starting_line:
        lines.append(f"# Collective test concluded: {table.collective.binary}\n")
    if layout.fitted_numbers:
        lines.append("#\n")
    lines.append("\n" if layout.wrong_count else "")
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
    if table.collective not in _SHARED_COUNT:
        return asked_bytes // 4 * 4, asked_bytes // 4
    step = table.layout.size_step
    elements = asked_bytes // 4 // (n_ranks * max(1, step // 4)) * max(1, step // 4)
    return elements * n_ranks * 4, elements


def redop_and_root(collective: Collective) -> tuple[str | None, int]:
    """What stands in the two columns: (redop or None, root or -1)."""
    root = 0 if collective in _ROOTED else -1
    if collective is Collective.HYPERCUBE:
        return None, root
    return ("sum" if collective in _REDUCING or collective is Collective.SENDRECV else "none"), root


def _config_line(table: TableHead) -> str:
    step = f"{table.factor}(factor)" if table.factor > 1 else f"{table.step_bytes}(bytes)"
    text = (
        f"# nThread {table.threads} nGpus {table.gpus} minBytes {table.min_bytes} maxBytes {table.max_bytes} "
        f"step: {step} warmup iters: {table.warmup} iters: {table.iterations} "
    )
    if not table.layout.wrong_count:
        return f"{text}validation: {table.check} \n"
    text += f"agg iters: 1 validation: {table.check} graph: 0"
    return f"{text} unalign: 0\n" if table.layout.unalign else f"{text}\n"


def _device_line(layout: Layout, device: Device) -> str:
    bus = device.bus_id if layout.full_bus else f"0x{device.bus_id.split(':')[1]}"
    start = f"#  Rank {device.rank:2d} Group  0" if layout.group else f"#   Rank {device.rank:2d}"
    return f"{start} Pid {device.pid:6d} on {device.host:>10} device {device.index:2d} [{bus}] {device.model}\n"


def _part_columns(table: TableHead) -> tuple[str, ...]:
    """The columns between type and time."""
    if table.layout.wrong_count:
        return ("redop", "root")
    if table.collective is Collective.REDUCE:
        return ("redop", "root")
    if table.collective in _ROOTED:
        return ("root",)
    if table.collective in _REDUCING or table.collective is Collective.ALLTOALL:
        return ("redop",)
    return ()


def _part(column: str, measured: CollectiveRow) -> str:
    if column == "redop":
        return measured.redop or ""
    return "" if measured.root is None else str(measured.root)


def _header(table: TableHead) -> str:
    layout = table.layout
    columns = _part_columns(table)
    blank = "".join(f"  {'':>6}" for _ in columns)
    names = "".join(f"  {column:>6}" for column in columns)
    wrong = "#wrong" if layout.wrong_count else "error"
    width, end = (7, " ") if layout.fitted_numbers else (6, "")
    half_names = f"     time   algbw   busbw {wrong:>{width}}"
    half_units = f"     (us)  (GB/s)  (GB/s) {'':>{width}}"
    gap = "" if layout.wrong_count else " "
    return (
        f"# {'':>10}  {'':>12}  {'':>8}{blank}{gap}{_TITLE}\n"
        f"# {'size':>10}  {'count':>12}  {'type':>8}{names}{half_names}{half_names}{end}\n"
        f"# {'(B)':>10}  {'(elements)':>12}  {'':>8}{blank}{half_units}{half_units}{end}\n"
    )


def _half(layout: Layout, half: Placement) -> str:
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
