"""Output of nccl-tests with a bandwidth that somebody has published."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveRow, Placement
from healthcheck.simulator.render import Device, TableHead, average_busbw, render_table

GIB = 1 << 30


def printed(
    busbw_gbyte_s: float, nodes: int = 1, gpus: int = 8, model: str = "NVIDIA GPU", algbw_gbyte_s: float | None = None
) -> str:
    """An all_reduce of 1 to 8 GiB as nccl-tests 2.17.10 prints it; `algbw_gbyte_s` where it does not fit busbw."""
    devices = tuple(
        Device(node * gpus + gpu, 4000 + gpu, f"node{node + 1:02d}", gpu, f"0000:{gpu:02x}:00", model)
        for node in range(nodes)
        for gpu in range(gpus)
    )
    algbw = busbw_gbyte_s / Collective.ALL_REDUCE.factor(len(devices)) if algbw_gbyte_s is None else algbw_gbyte_s
    rows = []
    for size in (GIB, 2 * GIB, 4 * GIB, 8 * GIB):
        half = Placement(round(size / algbw / 1e3, 2), round(algbw, 2), round(busbw_gbyte_s, 2), 0.0)
        rows.append(CollectiveRow(size, size // 4, "float", "sum", -1, half, half))
    head = TableHead("2.17.10", Collective.ALL_REDUCE, devices, GIB, 8 * GIB)
    return render_table(head, rows, average_busbw(rows), 0, simulated=False)
