"""A machine type: what a node of it has and how fast it should be. Every number carries its source."""

from __future__ import annotations

import re

from msgspec import Struct

from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.gpu_models import FULL_BOARD, board_gpu, has_nvls
from healthcheck.model.message import Message

_NVLINK_GBYTE_S = 100.0  # a ring over PCIe ends far below, even of the sixth generation; NVLink boards begin above
_CARDS = ("PCIE", "NVL")
_VERBS_LAYERS, EFA = ("infiniband", "ethernet"), "efa"


class Sourced(Struct, frozen=True, forbid_unknown_fields=True):
    """A number and where it was published or measured."""

    value: float
    source: str


class GpuSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`names` are parts of what nvidia-smi prints; any one of them may match."""

    names: tuple[str, ...]
    count: int

    def means(self, printed: str) -> bool:
        """Is this the GPU of that name? H20 is not meant by H200, B200 not by GB200, nor H100 by the card H100 PCIe."""
        return any(_means(name, printed) for name in self.names)


def _means(name: str, printed: str) -> bool:
    if re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?!\d)", printed, re.IGNORECASE) is None:
        return False
    return all(form in name.upper() for form in _CARDS if form in printed.upper())


class NicSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The compute HCAs of a node; storage and management ports do not count. Rate in Gb/s, line rate.

    `count` 0: nobody says how many such a node has, so nothing between nodes is judged. `link_layer`: InfiniBand,
    Ethernet (RoCE), or EFA, the adapters of Amazon. `slot_gbyte_s`: what the PCIe slot of one NIC carries, where that
    is less than its line rate.
    """

    count: int
    rate_gbit_s: float
    link_layer: str
    source: str
    slot_gbyte_s: Sourced | None = None

    @property
    def each_gbyte_s(self) -> float:
        """What one NIC carries: min(line rate, slot)."""
        line = self.rate_gbit_s / 8
        return line if self.slot_gbyte_s is None else min(line, self.slot_gbyte_s.value)


class OfFewer(Struct, frozen=True, forbid_unknown_fields=True):
    """The ring peak of a job that uses only so many GPUs of a node, in GB/s: on boards without switches a pair has
    only the links between its two."""

    gpus: int
    value: float
    source: str


class KnownGood(Struct, frozen=True, forbid_unknown_fields=True):
    """What healthy machines of this kind measure at large sizes: bus bandwidth in GB/s.

    For jobs of `min_nodes` to `max_nodes` nodes (None: and more) that use `gpus` GPUs a node (None: all of them).
    `algorithm` None is what NCCL chooses by itself; any other holds for jobs that force it, and tells a cause where a
    job reads that number without having forced it (ring where NVLS was expected).
    """

    value: float
    source: str
    min_nodes: int
    max_nodes: int | None = None
    collective: Collective = Collective.ALL_REDUCE
    gpus: int | None = None
    algorithm: Algorithm | None = None


class Thresholds(Struct, frozen=True, forbid_unknown_fields=True):
    """Fractions of peak: at or above `healthy` PASS, below `broken` FAIL, between them DEGRADED."""

    healthy: float
    broken: float


class Platform(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of `platforms/`. Bandwidths in GB/s (10^9), one direction.

    `intra_busbw_gbyte_s` is the ring peak inside a node per GPU; `peak_basis` says whether it is the line rate
    (`raw`) or what the topology can deliver (`effective`, with the line rate in `line_rate_gbyte_s`).
    `nvlink_nodes` nodes are joined by NVLink (18 trays of a rack); beyond them no peak is published.
    `thresholds` maps a stage name to its own fractions. `pins` as in a playbook.
    """

    name: str
    title: str
    gpu: GpuSpec
    nics: NicSpec
    intra_busbw_gbyte_s: Sourced
    peak_basis: str = "raw"
    line_rate_gbyte_s: Sourced | None = None
    intra_of_fewer_gbyte_s: tuple[OfFewer, ...] = ()
    nvlink_nodes: int = 1
    thresholds: dict[str, Thresholds] = {}
    known_good_gbyte_s: tuple[KnownGood, ...] = ()
    pins: dict[str, str] = {}

    @property
    def nic_sum_gbyte_s(self) -> float:
        """All compute NICs of a node together."""
        return self.nics.count * self.nics.each_gbyte_s

    @property
    def has_nvlink(self) -> bool:
        """Are the GPUs of a node joined by NVLink?"""
        return self.intra_busbw_gbyte_s.value >= _NVLINK_GBYTE_S

    @property
    def has_bridges(self) -> bool:
        """Do some of its GPUs, if not all, share NVLinks?"""
        return self.has_nvlink or any(fewer.value >= _NVLINK_GBYTE_S for fewer in self.intra_of_fewer_gbyte_s)

    @property
    def has_nvls(self) -> bool:
        """Can the switches between the GPUs add up by themselves (NVLS)?"""
        return self.has_nvlink and any(has_nvls(name, self.gpu.count) for name in self.gpu.names)

    @property
    def is_mesh(self) -> bool:
        """Are the GPUs of a node joined by links of their own, without switches? Then fewer GPUs have fewer links."""
        boards = [board for name in self.gpu.names if (board := board_gpu(name)) is not None]
        small = self.gpu.count < FULL_BOARD
        return self.has_nvlink and not self.has_nvls and any(small or not board.switched for board in boards)

    @property
    def has_rdma(self) -> bool:
        """Are there ports for the GPUs that need no TCP: InfiniBand, RoCE or EFA?"""
        return self.nics.count > 0 and self.nics.link_layer.lower() in (*_VERBS_LAYERS, EFA)

    @property
    def has_verbs(self) -> bool:
        """Are they ports that NCCL drives itself (InfiniBand or RoCE)? EFA needs a plugin, with ways of its own."""
        return self.has_rdma and self.nics.link_layer.lower() != EFA


class Limit(Struct, frozen=True):
    """What one reading is held against. `peak` in `unit`; `source` names where the expectation came from.

    `origin` is `source` as a message; None in records of earlier versions. Above `ceiling` no algorithm can be: what
    reads higher was not measured on such a machine.
    """

    check: str
    stage: str
    collective: str
    peak: float
    healthy: float
    broken: float
    unit: str
    source: str
    ceiling: float | None = None
    origin: Message | None = None
