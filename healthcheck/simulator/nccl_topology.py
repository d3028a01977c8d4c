"""Where a simulated rank sits, and the topology NCCL prints of its node (subsystem GRAPH).

As on HGX boards: two GPUs share a PCIe switch with the NICs near to them, and all GPUs reach each other over NVSwitch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from healthcheck.simulator.gpu_names import bus_of
from healthcheck.simulator.nccl_wording import Wording

PCIE_GBYTE_S = 24.0
"""PCIe 4.0 x16 as NCCL counts it."""
TCP_GBYTE_S = 12.5
NVLINK_SHARE = 0.8
"""What NCCL counts of the NVLink line rate: 20 of 25 GB/s a link."""


class Seat(Struct, frozen=True):
    """One rank of a job on one node. Equal seats write equal logs, but for names and process numbers.

    `gpus` ranks sit on its node, from `first_rank` on; `previous_rank` and `next_rank` are the first ones of the nodes
    before and behind it.
    `nics` are (device, share of its rate) as NCCL numbers them, empty where it takes TCP; `rings` is what the poorest
    node of the job allows; `all_gdr`: every node of the job reaches GPU memory from its NICs. `devices` are the GPUs of
    the local ranks as the node numbers them, `cuda_device` is how the process of this rank numbers its own.
    """

    n_hosts: int
    gpus: int
    position: int
    local_rank: int
    first_rank: int
    n_ranks: int
    previous_rank: int
    next_rank: int
    nics: tuple[tuple[str, float], ...]
    nic_gbyte_s: float
    link_layer: str
    nvlink_gbyte_s: float
    rings: int
    gdr: bool
    all_gdr: bool
    hangs: bool
    devices: tuple[int, ...]
    cuda_device: int

    @property
    def rank(self) -> int:
        """Number in the whole job."""
        return self.first_rank + self.local_rank

    @property
    def network(self) -> str:
        """`IB` or `Socket`."""
        return "IB" if self.nics else "Socket"

    def bus(self, gpu: int) -> str:
        """Where a GPU of its node is, by local rank."""
        return bus(self.devices[gpu])

    def entry(self, ring: int) -> int:
        """The GPU near to the NIC of a ring."""
        return ring * self.gpus // self.rings

    def order(self, ring: int) -> tuple[int, ...]:
        """The GPUs of a node as a ring visits them."""
        first = self.entry(ring)
        return tuple((first + step) % self.gpus for step in range(self.gpus))


def bus(gpu: int) -> str:
    """`b7000`: how NCCL writes the PCIe address of a GPU."""
    return f"{int(bus_of(gpu), 16):x}000"


def topology(seat: Seat, wording: Wording) -> Iterator[str]:
    """The tree, the paths of this GPU, and the graph that NCCL made of them."""
    number = wording.bandwidth.format
    nvlink = seat.nvlink_gbyte_s * NVLINK_SHARE
    yield f"=== System : maxBw {nvlink:.1f} totalBw {nvlink:.1f} ==="
    for socket in range(2 if seat.gpus > 1 else 1):
        yield f"CPU/{socket} (1/2/-1)"
        gpus = range(socket * seat.gpus // 2, (socket + 1) * seat.gpus // 2) if seat.gpus > 1 else range(1)
        for gpu in gpus:
            yield f"+ PCI[{PCIE_GBYTE_S:.1f}] - GPU/{seat.bus(gpu)} ({seat.first_rank + gpu})"
            yield f"              + NVL[{nvlink:.1f}] - NVS/0"
            for index, rate in _near(seat, gpu) if seat.n_hosts > 1 else ():
                yield f"+ PCI[{PCIE_GBYTE_S:.1f}] - NIC/{seat.bus(gpu)[:-3]}1000"
                yield f"              + NET[{rate:.1f}] - NET/{index} (0/0/{number(rate)})"
    yield "=========================================="
    peers = " ".join(
        f"GPU/{seat.bus(gpu)} (0/{number(5000.0)}/LOC)"
        if gpu == seat.local_rank
        else f"GPU/{seat.bus(gpu)} (2/{number(nvlink)}/NVL)"
        for gpu in range(seat.gpus)
    )
    yield f"GPU/{seat.bus(seat.local_rank)} :{peers} CPU/0 (3/{number(PCIE_GBYTE_S)}/PHB)"
    yield _graph(seat, number)


def _near(seat: Seat, gpu: int) -> Iterator[tuple[int, float]]:
    """(number, GB/s) of the NICs on the switch of a GPU."""
    if not seat.nics:
        if gpu == 0:
            yield 0, TCP_GBYTE_S
        return
    for index, (_, share) in enumerate(seat.nics):
        if index * seat.gpus // len(seat.nics) == gpu:
            yield index, seat.nic_gbyte_s * share


def _graph(seat: Seat, number: Callable[[float], str]) -> str:
    if seat.n_hosts == 1:
        return f"Pattern 4, crossNic 0, nChannels 12, bw {number(20.0)}/{number(20.0)}, type NVL/PIX, sameChannels 1"
    slowest = min((share for _, share in seat.nics), default=0.0) * seat.nic_gbyte_s or TCP_GBYTE_S
    bandwidth = f"{number(min(slowest, PCIE_GBYTE_S))}/{number(min(slowest, PCIE_GBYTE_S))}"
    kind = "NVL/PXB" if seat.gdr else "NVL/PHB"
    return f"Pattern 4, crossNic 0, nChannels {seat.rings}, bw {bandwidth}, type {kind}, sameChannels 1"
