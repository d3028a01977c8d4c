"""Where a simulated rank sits, and the topology NCCL prints of its node (subsystem GRAPH).

Two GPUs share a PCIe switch with the NICs near to them; the others a GPU reaches over NVLink, or by way of the
processors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from healthcheck.simulator.gpu_names import bus_of
from healthcheck.simulator.nccl_wording import Wording
from healthcheck.simulator.nvlinks import Cells, cycle

PCIE_GBYTE_S = {3: 12.0, 4: 24.0, 5: 48.0, 6: 96.0}
"""16 lanes of a generation as NCCL counts them."""
LIBFABRIC = "AWS Libfabric"
GPUS_OF_A_SWITCH = 2
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
    `nvlink_gbyte_s` is 0 where the GPUs are not all joined by NVLink; `joined` says which of the node share how many.
    `nvls`: its switches can add up, None: such machines cannot. `adds_up`: the job lets them. `one_rack`: NVLink joins
    the nodes, too.
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
    joined: Cells
    switched: bool
    pcie_gbyte_s: float
    reads_peers: bool
    nvls: bool | None
    adds_up: bool
    one_rack: bool

    @property
    def rank(self) -> int:
        """Number in the whole job."""
        return self.first_rank + self.local_rank

    @property
    def network(self) -> str:
        """`IB`, `AWS Libfabric` or `Socket`."""
        return "Socket" if not self.nics else LIBFABRIC if self.is_efa else "IB"

    @property
    def is_efa(self) -> bool:
        """A plugin drives the NICs."""
        return self.link_layer == "EFA"

    def way(self, one: int, other: int) -> str:
        """`NVL`, `PXB` below one PCIe switch, or `SYS`, between two GPUs of the node by local rank."""
        first, second = self.devices[one], self.devices[other]
        if self.joined[first][second] or self.nvlink_gbyte_s:
            return "NVL"
        return "PXB" if first // GPUS_OF_A_SWITCH == second // GPUS_OF_A_SWITCH else "SYS"

    def bus(self, gpu: int) -> str:
        """Where a GPU of its node is, by local rank."""
        return bus(self.devices[gpu])

    def entry(self, ring: int) -> int:
        """The GPU near to the NIC of a ring."""
        return ring * self.gpus // self.rings

    def order(self, ring: int) -> tuple[int, ...]:
        """The GPUs of a node as a ring visits them."""
        around = cycle(self.joined) if self.gpus == len(self.joined) else tuple(range(self.gpus))
        first = around.index(self.entry(ring))
        return (*around[first:], *around[:first])


def bus(gpu: int) -> str:
    """`b7000`: how NCCL writes the PCIe address of a GPU."""
    return f"{int(bus_of(gpu), 16):x}000"


def topology(seat: Seat, wording: Wording) -> Iterator[str]:
    """The tree, the paths of this GPU, and the graph that NCCL made of them."""
    number = wording.bandwidth.format
    pcie = seat.pcie_gbyte_s
    nvlink = seat.nvlink_gbyte_s * NVLINK_SHARE or pcie
    yield f"=== System : maxBw {nvlink:.1f} totalBw {nvlink:.1f} ==="
    for socket in range(2 if seat.gpus > 1 else 1):
        yield f"CPU/{socket} (1/2/-1)"
        gpus = range(socket * seat.gpus // 2, (socket + 1) * seat.gpus // 2) if seat.gpus > 1 else range(1)
        for gpu in gpus:
            yield f"+ PCI[{pcie:.1f}] - GPU/{seat.bus(gpu)} ({seat.first_rank + gpu})"
            yield from _links(seat, gpu, nvlink)
            for index, rate in _near(seat, gpu) if seat.n_hosts > 1 else ():
                yield f"+ PCI[{pcie:.1f}] - NIC/{seat.bus(gpu)[:-3]}1000"
                yield f"              + NET[{rate:.1f}] - NET/{index} (0/0/{number(rate)})"
    yield "=========================================="
    peers = " ".join(
        f"GPU/{seat.bus(gpu)} (0/{number(5000.0)}/LOC)"
        if gpu == seat.local_rank
        else f"GPU/{seat.bus(gpu)} (2/{number(nvlink)}/{seat.way(seat.local_rank, gpu)})"
        for gpu in range(seat.gpus)
    )
    yield f"GPU/{seat.bus(seat.local_rank)} :{peers} CPU/0 (3/{number(pcie)}/PHB)"
    yield _graph(seat, number)


def _links(seat: Seat, gpu: int, rate: float) -> Iterator[str]:
    """The NVLinks of a GPU: to the switches, or to each GPU that shares some with it."""
    if seat.switched:
        yield f"              + NVL[{rate:.1f}] - NVS/0"
        return
    shared = seat.joined[seat.devices[gpu]]
    for peer, device in enumerate(seat.devices):
        if shared[device]:
            yield f"              + NVL[{rate * shared[device] / sum(shared):.1f}] - GPU/{seat.bus(peer)}"


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
    around = seat.order(0)
    ways = {seat.way(one, other) for one, other in zip(around, (*around[1:], around[0]), strict=True) if one != other}
    inside = next((way for way in ("SYS", "PXB") if way in ways), "NVL")
    if seat.n_hosts == 1 or seat.one_rack:
        bandwidth = f"{number(20.0)}/{number(20.0)}"
        return f"Pattern 4, crossNic 0, nChannels 12, bw {bandwidth}, type {inside}/PIX, sameChannels 1"
    slowest = min((share for _, share in seat.nics), default=0.0) * seat.nic_gbyte_s or TCP_GBYTE_S
    bandwidth = f"{number(min(slowest, seat.pcie_gbyte_s))}/{number(min(slowest, seat.pcie_gbyte_s))}"
    kind = f"{inside}/PXB" if seat.gdr else f"{inside}/PHB"
    return f"Pattern 4, crossNic 0, nChannels {seat.rings}, bw {bandwidth}, type {kind}, sameChannels 1"
