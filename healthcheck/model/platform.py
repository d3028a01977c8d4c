"""A machine type: what a node of it has and how fast it should be. Every number carries its source."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.gpu_models import has_nvls

_NVLINK_GBYTE_S = 100.0  # a ring over PCIe ends far below, even of the sixth generation; NVLink boards begin above
_VERBS_LAYERS, EFA = ("infiniband", "ethernet"), "efa"


class Sourced(Struct, frozen=True, forbid_unknown_fields=True):
    """A number and where it was published or measured."""

    value: float
    source: str


class GpuSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`names` are matched as parts of what nvidia-smi prints."""

    names: tuple[str, ...]
    count: int


class NicSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The compute HCAs of a node; storage and management ports do not count. Rate in Gb/s, line rate.

    `link_layer`: InfiniBand, Ethernet (RoCE), or EFA, the adapters of Amazon.
    """

    count: int
    rate_gbit_s: float
    link_layer: str
    source: str


class Thresholds(Struct, frozen=True, forbid_unknown_fields=True):
    """Fractions of peak: at or above `healthy` PASS, below `broken` FAIL, between them DEGRADED."""

    healthy: float
    broken: float


class Platform(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of `platforms/`. Bandwidths in GB/s (10^9), one direction.

    `intra_busbw_gbyte_s` is the ring peak inside a node per GPU; `peak_basis` says whether it is the line rate
    (`raw`) or what the topology can deliver (`effective`). `thresholds` maps a stage name to its own fractions.
    `known_good_gbyte_s` maps a stage name to what healthy machines of this kind measure. `pins` as in a playbook.
    """

    name: str
    title: str
    gpu: GpuSpec
    nics: NicSpec
    intra_busbw_gbyte_s: Sourced
    peak_basis: str = "raw"
    thresholds: dict[str, Thresholds] = {}
    known_good_gbyte_s: dict[str, Sourced] = {}
    pins: dict[str, str] = {}

    @property
    def nic_sum_gbyte_s(self) -> float:
        """All compute NICs of a node together: Gb/s / 8."""
        return self.nics.count * self.nics.rate_gbit_s / 8

    @property
    def has_nvlink(self) -> bool:
        """Are the GPUs of a node joined by NVLink?"""
        return self.intra_busbw_gbyte_s.value >= _NVLINK_GBYTE_S

    @property
    def has_nvls(self) -> bool:
        """Can the switches between the GPUs add up by themselves (NVLS)?"""
        return self.has_nvlink and any(has_nvls(name, self.gpu.count) for name in self.gpu.names)

    @property
    def has_rdma(self) -> bool:
        """Are there ports for the GPUs that need no TCP: InfiniBand, RoCE or EFA?"""
        return self.nics.count > 0 and self.nics.link_layer.lower() in (*_VERBS_LAYERS, EFA)

    @property
    def has_verbs(self) -> bool:
        """Are they ports that NCCL drives itself (InfiniBand or RoCE)? EFA needs a plugin, with ways of its own."""
        return self.has_rdma and self.nics.link_layer.lower() != EFA


class Limit(Struct, frozen=True):
    """What one reading is held against. `peak` in `unit`; `source` names where the expectation came from."""

    check: str
    stage: str
    collective: str
    peak: float
    healthy: float
    broken: float
    unit: str
    source: str
