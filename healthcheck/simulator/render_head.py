"""Everything above the first row: who runs, with which settings, on which devices, in which columns."""

from __future__ import annotations

from healthcheck.simulator.render_layouts import Device, Layout, TableHead

SIMULATED_LINE = "# simulated by healthcheck: no GPU was measured\n"
_TITLE = "           out-of-place                       in-place          "
_IN_PLACE_TITLE = "           in-place          "
_FIRST_TITLE = "        out-of-place                    in-place"
_FIRST_TITLE_OUT = "        out-of-place"
_ITERATION_TITLE = f"{'':14}out-of-place (+ per-iteration){'':32}in-place (+ per-iteration)"
_ITERATION_NAMES = "    i_min    i_max    i_p99    i_cv%"
_ITERATION_UNITS = "     (us)     (us)     (us)      (%)"
_ALGORITHM_NAMES = "    algo   proto  nchannels"


def head(table: TableHead, simulated: bool = True) -> str:
    """Everything above the first row; `simulated` puts the line in front that says so."""
    layout = table.layout
    lines = [SIMULATED_LINE] if simulated else []
    if layout.version_line:
        name = "rccl" if layout.rccl == "synced" else "nccl"
        version, code = table.version, table.nccl_code
        lines.append(f"# {name}-tests version {version} {name}-headers={code} {name}-library={code}\n")
    if layout.starting_line:
        lines.append(f"# Collective test starting: {table.collective.binary}\n")
    lines.append(_config_line(table))
    if table.extras.per_iteration:
        lines.append("# Per-Iteration Report: CUDA event timing; i_* uses max over process rows \n")
    lines.append(_before_devices(table))
    lines.append("# Using devices\n")
    lines.extend(_device_line(layout, device) for device in table.devices)
    lines.append("\n" if layout.first else "#\n")
    lines.append(_first_header(table) if layout.first else _header(table))
    return "".join(lines)


def _config_line(table: TableHead) -> str:
    layout = table.layout
    step = f"{table.factor}(factor)" if table.factor > 1 else f"{table.step_bytes}(bytes)"
    if layout.rccl == "nranks":
        return (
            f"# nThreads: {table.threads} nGpus: {table.gpus} nRanks: 1 minBytes: {table.min_bytes} "
            f"maxBytes: {table.max_bytes} step: {step} warmupIters: {table.warmup} iters: {table.iterations} "
            f"validation: {table.check} \n"
        )
    text = (
        f"# nThread {table.threads} nGpus {table.gpus} minBytes {table.min_bytes} maxBytes {table.max_bytes} "
        f"step: {step} warmup iters: {table.warmup} iters: {table.iterations} "
    )
    if not layout.wrong_count:
        text = text.removeprefix("# ") if layout.first else text
        return f"{text}validation: {table.check} \n"
    text += f"agg iters: 1 validation: {table.check} graph: 0"
    return f"{text} unalign: 0\n" if layout.unalign else f"{text}\n"


def _before_devices(table: TableHead) -> str:
    if table.layout.first:
        return "# NCCL Tests compiled with NCCL 2.4\n"
    return f"#\nrccl-tests: Version {table.version}\n" if table.layout.rccl == "version" else "#\n"


def _device_line(layout: Layout, device: Device) -> str:
    bus = device.bus_id if layout.full_bus else f"0x{device.bus_id.split(':')[1]}"
    if layout.rccl in ("nranks", "version"):
        bus += ".0"
    start = f"#  Rank {device.rank:2d} Group {device.group:2d}" if layout.group else f"#   Rank {device.rank:2d}"
    pid = "" if layout.first else f" Pid {device.pid:6d}"
    return f"{start}{pid} on {device.host:>10} device {device.index:2d} [{bus}] {device.model}\n"


def _first_header(table: TableHead) -> str:
    words = {"redop": "op", "root": "root"}
    blank = "".join(f"  {'':>6}" for _ in table.columns)
    names = "".join(f"  {words[column]:>6}" for column in table.columns)
    half = f"  {'time':>7}  {'algbw':>5}  {'busbw':>5}  {'res':>7}"
    title = _FIRST_TITLE if len(table.halves) == 2 else _FIRST_TITLE_OUT
    return (
        f"# {'':>10}  {'':>12}  {'':>6}{blank}{title}\n"
        f"# {'bytes':>10}  {'N':>12}  {'type':>6}{names}{half * len(table.halves)}\n"
    )


def _header(table: TableHead) -> str:
    layout, extras = table.layout, table.extras
    blank = "".join(f"  {'':>6}" for _ in table.columns)
    names = "".join(f"  {column:>6}" for column in table.columns)
    wrong = "#wrong" if layout.wrong_count else "error"
    width = 7 if layout.fitted_numbers else 6
    time = "cputime" if extras.cpu_time else "time"
    half_names = f"  {time:>7}   algbw   busbw {wrong:>{width}}"
    half_units = f"     (us)  (GB/s)  (GB/s) {'':>{width}}"
    title = _TITLE if len(table.halves) == 2 else _IN_PLACE_TITLE
    if extras.per_iteration:
        half_names, half_units, title = half_names + _ITERATION_NAMES, half_units + _ITERATION_UNITS, _ITERATION_TITLE
    gap = "" if layout.wrong_count else " "
    end_names = end_units = " " * layout.header_end
    if extras.timestamps:
        end_names, end_units = f"{'timestamp':>20}", f"{'%Y-%m-%d %H:%M:%S':>20}"
    if extras.algorithm:
        end_names, end_units = _ALGORITHM_NAMES, " " * len(_ALGORITHM_NAMES)
    count = len(table.halves)
    kind = layout.type_width
    return (
        f"# {'':>10}  {'':>12}  {'':>{kind}}{blank}{gap}{title}\n"
        f"# {'size':>10}  {'count':>12}  {'type':>{kind}}{names}{half_names * count}{end_names}\n"
        f"# {'(B)':>10}  {'(elements)':>12}  {'':>{kind}}{blank}{half_units * count}{end_units}\n"
    )
