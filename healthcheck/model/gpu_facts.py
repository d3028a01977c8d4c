"""What a node tells about its GPUs and what connects them. Unknown is None, never 0."""

from __future__ import annotations

from msgspec import Struct


class GpuState(Struct, frozen=True, gc=False):
    """One row of `nvidia-smi --query-gpu`; texts as printed, None where the tool tells nothing that is understood.

    `throttle` is the bit mask of the reasons that hold its clocks down, `row` is the line itself. `absent` names the
    fields the driver knows and answered with N/A, `unreadable` those it answered with an error or an unknown word.
    """

    index: int
    uuid: str | None
    name: str | None
    row: str
    vbios: str | None = None
    persistence: str | None = None
    compute_mode: str | None = None
    mig: str | None = None
    ecc: str | None = None
    ecc_pending: str | None = None
    ecc_uncorrected: int | None = None
    ecc_corrected: int | None = None
    sram_uncorrected: int | None = None
    retired_single: int | None = None
    retired_double: int | None = None
    retired_pending: str | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    sm_mhz: int | None = None
    sm_max_mhz: int | None = None
    throttle: int | None = None
    temperature_c: int | None = None
    fabric_state: str | None = None
    fabric_status: str | None = None
    recovery: str | None = None
    absent: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


class GpuStates(Struct, frozen=True):
    """The whole answer: its first line, which names the fields, and one state a GPU."""

    header: str
    gpus: tuple[GpuState, ...]


class RemappedRows(Struct, frozen=True):
    """One row of `nvidia-smi --query-remapped-rows`. Counts of memory rows, None where the GPU cannot remap.

    `unreadable`: a cell held something else than a value or N/A.
    """

    uuid: str
    row: str
    correctable: int | None = None
    uncorrectable: int | None = None
    pending: bool | None = None
    failure: bool | None = None
    unreadable: bool = False


class NvLink(Struct, frozen=True):
    """One link of a GPU. `speed_gbyte_s` as printed, with coding overhead; None: inactive."""

    number: int
    speed_gbyte_s: float | None


class LinkCounter(Struct, frozen=True):
    """One error counter of one link, under the name the tool gives it (`Replay Errors`)."""

    link: int
    label: str
    count: int


class GpuLinks(Struct, frozen=True, gc=False):
    """The NVLinks of one GPU, each number once. `all_inactive`: the tool says so and lists none.

    `trouble`: anything else it says.
    """

    index: int
    name: str
    links: tuple[NvLink, ...] = ()
    counters: tuple[LinkCounter, ...] = ()
    all_inactive: bool = False
    trouble: str = ""
    uuid: str = ""

    @property
    def active(self) -> int:
        """How many links carry traffic."""
        return sum(link.speed_gbyte_s is not None for link in self.links)


class NvSwitch(Struct, frozen=True):
    """One NVSwitch on the PCIe bus; `device` is its PCI id without vendor (`1af1`)."""

    bus_id: str
    device: str


class Fabric(Struct, frozen=True):
    """What runs the NVSwitches of a node.

    `service` is what systemd says of nvidia-fabricmanager (`active`, `failed`, `not-found`, ...), None where there is
    no systemd to ask. `process`: one is running, None where that could not be looked for. `gpus` counts the NVIDIA
    GPUs on the PCIe bus. In a `container` the devices of its host are visible, its processes are not.
    """

    switches: tuple[NvSwitch, ...]
    gpus: int
    virtual: bool
    service: str | None = None
    process: bool | None = None
    version: str | None = None
    container: bool = False
