"""What a number that is too low looks like: as fast as seven of eight NICs, as TCP, as a ring without NVLS.

A number alone proves nothing, so what is said here is never more than "consistent with". The fractions and ranges are
derived in docs/bandwidth.md from line rates and published cases. A number that any slow part may read (a GPU that
throttles, a link that is lost) looks like nothing here, and one reading cannot tell a slow node from a slow link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from healthcheck.evaluation.known_good import reference
from healthcheck.evaluation.limits import gpus_a_node
from healthcheck.evaluation.peaks import peak
from healthcheck.model.algorithm import Algorithm, forced
from healthcheck.model.collective import Collective
from healthcheck.model.command import CollectiveJob
from healthcheck.model.gpu_models import board_gpu
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Platform

HEALTHY = 0.90
"""From this part of what is usual a number is no fault, and looks like nothing."""
_USUAL_OF_LINE = 0.95  # ports deliver 92 to 97 % of their line rate
_TOLERANCE = 0.15
_RING_TOLERANCE = 0.03  # the same ring on the same machine differs by no more
_STEP = 0.2  # of one NIC: what lies in the middle between two counts tells neither
_MOST_NICS = 16  # of more of them one makes less than noise does
_ALONE_SHARE = 4  # up to a quarter of the NICs nothing else bounds them: they run at their own rate
_HALF = (0.45, 0.55)
_THROUGH_CPU = (0.60, 0.70)
_HOST_STAGED = (5.5, 15.0)  # of nodes that carry 100 GB/s and more
_STAGED_FROM = 100.0
_TCP = (2.0, 5.5)
_ETHERNET = ((100, 10.0, 12.0), (10, 0.94, 1.27), (1, 0.094, 0.127))  # Gb/s of the port, GB/s it reads
_PCIE = ((18.0, 25.0),)
_PCIE_NEWER = ((18.0, 25.0), (35.0, 55.0))  # PCIe 5 came with the GPUs whose switches can add up
_HOST_MEMORY = (8.0, 14.0)
_NETWORK_INSIDE = 5.0
_CAPPED_LINKS, _CAPPED_TOLERANCE = 8, 0.05  # A800 and H800 have eight of the links of an A100 or H100

# What flows around a ring, so that its bus bandwidth is the rate of a link.
_OF_LINKS = frozenset(
    {
        Collective.ALL_REDUCE,
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.BROADCAST,
        Collective.REDUCE,
    }
)


class Shape(Struct, frozen=True):
    """What a job was, as far as its bandwidth depends on it. `gpus` a node, None for all; `algorithm` that it forced,
    None where NCCL chose."""

    nodes: int
    collective: Collective = Collective.ALL_REDUCE
    gpus: int | None = None
    algorithm: Algorithm | None = None


def shape_of(job: CollectiveJob, platform: Platform) -> Shape:
    """The shape of a job that was run."""
    return Shape(len(job.hosts), job.collective, gpus_a_node(job, platform), forced(job.env))


class Hint(Struct, frozen=True):
    """One thing a number is consistent with: the code of a cause, and the sentence with the numbers."""

    cause: str
    message: Message


def hints(platform: Platform, shape: Shape, busbw_gbyte_s: float) -> tuple[Hint, ...]:
    """What a bus bandwidth in GB/s is consistent with, the narrowest first; nothing for a healthy number, and nothing
    for one between two shapes."""
    usual = _usual_gbyte_s(platform, shape)
    if shape.collective not in _OF_LINKS or busbw_gbyte_s <= 0 or usual is None or busbw_gbyte_s >= HEALTHY * usual:
        return ()
    looks: tuple[_Look, ...] = _INSIDE if shape.nodes <= platform.nvlink_nodes else _BETWEEN
    return tuple(hint for look in looks for hint in look(platform, shape, busbw_gbyte_s, usual))


def _usual_gbyte_s(platform: Platform, shape: Shape) -> float | None:
    """What healthy machines read in such a job; where nobody has published it, the lower edge of what may pass."""
    known = reference(platform, shape.nodes, shape.collective, gpus=shape.gpus, algorithm=shape.algorithm)
    if known is not None:
        return known.value
    bound = peak(platform, shape.nodes, shape.collective, gpus=shape.gpus)
    if bound is None:
        return None
    inside = shape.nodes <= platform.nvlink_nodes
    return bound.busbw_gbyte_s * (0.70 / HEALTHY if inside else _USUAL_OF_LINE)


def _without_nvls(platform: Platform, shape: Shape, busbw: float, usual: float) -> Iterator[Hint]:
    if shape.algorithm is not None or not platform.has_nvls:
        return
    ring = reference(platform, shape.nodes, shape.collective, gpus=shape.gpus, algorithm=Algorithm.RING)
    if ring is not None and ring.value < HEALTHY * usual and abs(busbw / ring.value - 1) <= _RING_TOLERANCE:
        yield Hint("nvls_unused", say("hint.ring", ring_gbyte_s=ring.value, usual_gbyte_s=usual))


def _capped(platform: Platform, shape: Shape, busbw: float, usual: float) -> Iterator[Hint]:
    board = board_gpu(platform.gpu.names[0])
    if board is None or board.links <= _CAPPED_LINKS:
        return
    ring = reference(platform, shape.nodes, shape.collective, gpus=shape.gpus, algorithm=Algorithm.RING)
    share = _CAPPED_LINKS / board.links
    for value in (usual, *((ring.value,) if ring is not None else ())):
        if abs(busbw / (share * value) - 1) <= _CAPPED_TOLERANCE:
            yield Hint("capped_links", say("hint.capped", links=_CAPPED_LINKS, expected=board.links))
            return


def _over_pcie(platform: Platform, _shape: Shape, busbw: float, _usual: float) -> Iterator[Hint]:
    ranges = _PCIE_NEWER if platform.has_nvls else _PCIE
    if platform.has_nvlink and any(low <= busbw <= high for low, high in ranges):
        yield Hint("pcie_speed", say("hint.pcie"))


def _over_host_memory(_platform: Platform, _shape: Shape, busbw: float, _usual: float) -> Iterator[Hint]:
    if _HOST_MEMORY[0] <= busbw <= _HOST_MEMORY[1]:
        yield Hint("host_memory_speed", say("hint.host_memory"))


def _over_network(_platform: Platform, _shape: Shape, busbw: float, _usual: float) -> Iterator[Hint]:
    if busbw < _NETWORK_INSIDE:
        yield Hint("network_inside", say("hint.network_inside"))


def _fewer_nics(platform: Platform, shape: Shape, busbw: float, usual: float) -> Iterator[Hint]:
    """Only where the NICs are what bounds the job: with a tree two nodes exceed their sum, and hide a lost one."""
    count, total = _nics(platform, shape)
    if not 1 < count <= _MOST_NICS or usual > total:
        return
    for used in range(1, count):
        alone = used * _ALONE_SHARE <= count
        each = total / count * _USUAL_OF_LINE if alone else usual / count
        if abs(busbw / each - used) <= min(_STEP, _TOLERANCE * used):
            yield Hint(
                "fewer_nics",
                say("hint.fewer_nics", used=used, count=count, each_gbyte_s=round(each, 1)),
            )


def _half(platform: Platform, shape: Shape, busbw: float, usual: float) -> Iterator[Hint]:
    _, total = _nics(platform, shape)
    if usual <= total and _HALF[0] <= busbw / total <= _HALF[1]:
        yield Hint("half_of_nics", say("hint.half", total_gbyte_s=round(total, 1)))


def _through_cpu(platform: Platform, shape: Shape, busbw: float, usual: float) -> Iterator[Hint]:
    _, total = _nics(platform, shape)
    if usual <= total and _THROUGH_CPU[0] <= busbw / usual <= _THROUGH_CPU[1]:
        yield Hint("through_cpu", say("hint.through_cpu", usual_gbyte_s=round(usual, 1)))


def _staged(platform: Platform, shape: Shape, busbw: float, _usual: float) -> Iterator[Hint]:
    _, total = _nics(platform, shape)
    if total >= _STAGED_FROM and _HOST_STAGED[0] <= busbw <= _HOST_STAGED[1]:
        yield Hint("gdr_lost", say("hint.staged"))


def _over_tcp(platform: Platform, _shape: Shape, busbw: float, _usual: float) -> Iterator[Hint]:
    if platform.has_rdma and _TCP[0] <= busbw < _TCP[1]:
        yield Hint("tcp_speed", say("hint.tcp"))


def _over_ethernet(platform: Platform, _shape: Shape, busbw: float, _usual: float) -> Iterator[Hint]:
    for rate, low, high in _ETHERNET:
        if low <= busbw <= high and rate != platform.nics.rate_gbit_s:
            yield Hint("ethernet_speed", say("hint.ethernet", rate_gbit_s=rate))


def _nics(platform: Platform, shape: Shape) -> tuple[int, float]:
    """(NICs that such a job uses, what they carry together in GB/s)."""
    gpus = platform.gpu.count if shape.gpus is None else min(shape.gpus, platform.gpu.count)
    count = -(-platform.nics.count * gpus // platform.gpu.count)
    return count, count * platform.nics.each_gbyte_s


_Look = Callable[[Platform, Shape, float, float], Iterator[Hint]]
_INSIDE: tuple[_Look, ...] = (_without_nvls, _capped, _over_pcie, _over_host_memory, _over_network)
_BETWEEN: tuple[_Look, ...] = (
    *(_without_nvls, _fewer_nics, _half, _through_cpu),
    *(_staged, _over_tcp, _over_ethernet),
)
