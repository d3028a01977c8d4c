"""A node as the probes found it."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.fabric_facts import AcsPort, GpuDirect, Iommu, PciDevice, Topology
from healthcheck.model.gpu_facts import Fabric, GpuLinks, GpuStates, RemappedRows
from healthcheck.model.network_facts import PortCounters, Verbs
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.system_facts import Cpu, KernelLog, Limits, NcclSettings, NodeClock, Software


class Gpu(Struct, frozen=True, gc=False):
    """One line of `nvidia-smi --query-gpu`. Texts as printed; None where the tool said N/A."""

    index: int
    uuid: str
    name: str
    bus_id: str
    driver: str | None = None


class Hca(Struct, frozen=True, gc=False):
    """One port of a host channel adapter. `rate_gbit_s` is the line rate in Gb/s, `rate_text` as printed.

    `mtu` is that of its network device `netdev`, `active_mtu` the one RDMA uses (only ibv_devinfo tells it), both in
    bytes. `source` is where it was read: the sysfs tree, or the name of a tool.
    """

    device: str
    port: int
    state: str
    physical_state: str
    rate_gbit_s: float | None
    rate_text: str
    link_layer: str
    firmware: str | None = None
    board_id: str | None = None
    hca_type: str | None = None
    lid: int | None = None
    sm_lid: int | None = None
    pci_address: str | None = None
    netdev: str | None = None
    mtu: int | None = None
    active_mtu: int | None = None
    driver: str | None = None
    source: str = "/sys/class/infiniband"

    @property
    def link_state(self) -> str:
        """DOWN, INIT, ARMED or ACTIVE, however the source spells it (`4: ACTIVE`, `Active`, `PORT_ACTIVE (4)`)."""
        word = self.state.upper().rpartition(":")[2].strip().removeprefix("PORT_").partition(" ")[0]
        return "INIT" if word == "INITIALIZING" else word

    @property
    def efa(self) -> bool:
        """Whether this is an Elastic Fabric Adapter of Amazon, whose link layer is neither InfiniBand nor Ethernet.

        sysfs and ibstat call it Unknown, ibv_devinfo Unspecified or, in older versions, InfiniBand
        (https://github.com/linux-rdma/rdma-core/pull/884); udev names the devices efa_0 or rdmap16s27.
        """
        if self.driver is not None:
            return self.driver == "efa"
        return self.device.startswith(("efa_", "rdmap")) or self.link_layer.lower() in ("unknown", "unspecified")

    @property
    def active(self) -> bool:
        """True when the port carries traffic."""
        return self.link_state == "ACTIVE"


class GpuProcess(Struct, frozen=True):
    """A process that holds a GPU. `token` is the run token found in its environment, None when unreadable."""

    pid: int
    name: str
    user: str | None = None
    token: str | None = None


class RunProcess(Struct, frozen=True):
    """A process of our own user that carries the token of a healthcheck run."""

    pid: int
    token: str
    name: str


class Binary(Struct, frozen=True):
    """The nccl-tests executable as found on a node; the first one that cannot be used where several were asked for.

    `state` is `ok`, `missing` or `not_executable`; `architecture` what the file was built for, empty if unknown.
    """

    path: str
    mpi_built: bool
    missing_libraries: tuple[str, ...] = ()
    architecture_ok: bool = True
    state: str = "ok"
    architecture: str = ""


class MpiFlavour(Struct, frozen=True):
    """Which mpirun a node has: family `openmpi` or `hydra`, and the version as printed.

    `daemon_missing` is True where other nodes could not start ranks here, for want of orted (Open MPI 4).
    """

    family: str
    version: str
    daemon_missing: bool = False

    @property
    def major(self) -> int:
        """First number of the version; decides between the Open MPI 4 and 5 spellings."""
        head = self.version.partition(".")[0]
        return int(head) if head.isdigit() else 0


class Identity(Struct, frozen=True):
    """Who we are on a node, and which boot of it this is. None where the node did not say."""

    uid: int
    user: str | None
    home: str
    arch: str | None = None
    hostname: str | None = None
    boot_id: str | None = None
    simulated: bool = False


class NodeFacts(Struct, frozen=True):
    """All readings of one node from one probe round.

    `asked_at` is when the question left and when the answer was there, in seconds since 1970 by our own clock.
    """

    host: str
    gpus: Reading[tuple[Gpu, ...]]
    hcas: Reading[tuple[Hca, ...]]
    gpu_processes: Reading[tuple[GpuProcess, ...]]
    binary: Reading[Binary]
    mpi: Reading[MpiFlavour]
    identity: Reading[Identity] | None = None
    leftovers: Reading[tuple[RunProcess, ...]] = Reading(ReadingState.UNPARSABLE)
    asked_at: tuple[float, float] | None = None
    clock: Reading[NodeClock] = Reading(ReadingState.UNPARSABLE)
    kernel_log: Reading[KernelLog] = Reading(ReadingState.UNPARSABLE)
    limits: Reading[Limits] = Reading(ReadingState.UNPARSABLE)
    cpu: Reading[Cpu] = Reading(ReadingState.UNPARSABLE)
    software: Reading[Software] = Reading(ReadingState.UNPARSABLE)
    nccl_settings: Reading[NcclSettings] = Reading(ReadingState.UNPARSABLE)
    gpu_state: Reading[GpuStates] = Reading(ReadingState.UNPARSABLE)
    gpu_memory: Reading[tuple[RemappedRows, ...]] = Reading(ReadingState.UNPARSABLE)
    nvlink: Reading[tuple[GpuLinks, ...]] = Reading(ReadingState.UNPARSABLE)
    fabric: Reading[Fabric] = Reading(ReadingState.UNPARSABLE)
    topology: Reading[Topology] = Reading(ReadingState.UNPARSABLE)
    pcie: Reading[tuple[PciDevice, ...]] = Reading(ReadingState.UNPARSABLE)
    gpudirect: Reading[GpuDirect] = Reading(ReadingState.UNPARSABLE)
    iommu: Reading[Iommu] = Reading(ReadingState.UNPARSABLE)
    acs: Reading[tuple[AcsPort, ...]] = Reading(ReadingState.UNPARSABLE)
    hca_counters: Reading[tuple[PortCounters, ...]] = Reading(ReadingState.UNPARSABLE)
    verbs: Reading[Verbs] = Reading(ReadingState.UNPARSABLE)
