"""What a node says about its operating system."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class NodeClock(Struct, frozen=True):
    """The clock of a node, seconds since 1970 by itself, at the beginning and at the end of one look.

    `step_s`: how far apart two readings are at least (1.0 where `date` knows only whole seconds). `synchronised` None:
    the node has nothing that would know.
    """

    first: float
    last: float
    step_s: float = 0.0
    synchronised: bool | None = None


class EventKind(StrEnum):
    """What a line of the kernel log is about."""

    XID = "xid"
    SXID = "sxid"
    AER = "aer"
    LINK_DOWN = "link_down"
    LINK_UP = "link_up"
    PCIE_LIMITED = "pcie_limited"
    PEERMEM = "peermem"
    OOM = "oom"
    HUNG = "hung"


class KernelEvent(Struct, frozen=True, gc=False):
    """One line of the kernel log. `text` is the whole line as printed.

    `code` is the number of an Xid or SXid; `bus_id` the PCI address as printed; `stamp_s` seconds since boot and `at`
    seconds since 1970 by the node's own clock, None where the line carries no time. `fatal`: the line itself says so,
    None where it does not say. `available_gbit_s` of PCIE_LIMITED: what the slot lets through.
    """

    kind: EventKind
    text: str
    code: int | None = None
    bus_id: str | None = None
    stamp_s: float | None = None
    at: float | None = None
    fatal: bool | None = None
    available_gbit_s: float | None = None


class KernelLog(Struct, frozen=True):
    """What the kernel of a node logged about GPUs, links and memory since it was booted.

    `now` (seconds since 1970) and `uptime_s` are of one moment; `last_s` is the time of the newest line of the whole
    log, of interest or not, in seconds since boot.
    """

    source: str
    now: float
    uptime_s: float
    last_s: float | None = None
    events: tuple[KernelEvent, ...] = ()


class Limits(Struct, frozen=True):
    """The limits of a process started over ssh, and the shared memory. Sizes in bytes, None = unlimited.

    `may_lock`: the limit on locked memory does not bind us (CAP_IPC_LOCK). `shm_free` None: it could not be read.
    `nccl_files` counts what NCCL keeps in shared memory. `shm_line` is the line of df.
    """

    memlock: int | None
    open_files: int | None
    stack: int | None
    may_lock: bool = False
    shm_size: int | None = None
    shm_free: int | None = None
    shm_line: str = ""
    nccl_files: int = 0


class Cpu(Struct, frozen=True):
    """The processors of a node. `governors` are (name, how many CPUs), most first; empty where none is offered."""

    governors: tuple[tuple[str, int], ...] = ()
    driver: str | None = None
    numa_nodes: int | None = None
    numa_balancing: str | None = None
    model: str | None = None


class Software(Struct, frozen=True):
    """Versions as installed. Texts as printed, None where the node has no such thing or does not say."""

    os: str | None = None
    kernel: str | None = None
    cuda: str | None = None
    nccl: str | None = None
    ofed: str | None = None
    modules: str | None = None
    container: str | None = None


class NcclSetting(Struct, frozen=True):
    """One NCCL variable that is set on the node. `source`: `/etc/nccl.conf:3`, or `environment`."""

    name: str
    value: str
    source: str


class NcclSettings(Struct, frozen=True):
    """The variables in the order NCCL takes them: the first of a name counts. `unread`: files we may not read."""

    found: tuple[NcclSetting, ...] = ()
    unread: tuple[str, ...] = ()
