"""What a node says about the paths inside it: who reaches whom, over which links, and through what."""

from __future__ import annotations

import re

from msgspec import Struct

NEAR = ("PIX", "PSB", "PXB")
"""Cells of `nvidia-smi topo -m` for a way that stays below the processor, nearest first."""

_WAYS = (*NEAR, "PHB", "C2C", "NODE", "SYS", "SOC")


def links_of(cell: str) -> int:
    """12 of `NV12`; 0 for a way over PCIe."""
    return int(cell.removeprefix("NV")) if cell.startswith("NV") else 0


def distance(cell: str) -> int:
    """How far a way over PCIe is, 0 for the nearest."""
    return _WAYS.index(cell) if cell in _WAYS else len(_WAYS)


class Topology(Struct, frozen=True):
    """`nvidia-smi topo -m`, one row a GPU.

    `gpus` are the labels as printed (`GPU0`); `nics` are (label, device), the same word twice where the driver prints
    the device name. `cells` has for each GPU its cells to all GPUs, then to all NICs (`X`, `NV12`, `PXB`, ...);
    `rows` are the same lines as printed.
    """

    gpus: tuple[str, ...]
    nics: tuple[tuple[str, str], ...]
    cells: tuple[tuple[str, ...], ...]
    rows: tuple[str, ...]

    def index(self, row: int) -> int:
        """The index nvidia-smi gives the GPU of a row."""
        return int(self.gpus[row].removeprefix("GPU"))


class PciLink(Struct, frozen=True):
    """A PCIe link: transfers a second and lane in GT/s, and the number of lanes. None where the kernel cannot say."""

    speed_gt_s: float | None
    lanes: int | None

    @property
    def rate_gbit_s(self) -> float | None:
        """What its lanes carry in one direction, in Gb/s, before the overhead of packets; None when not told."""
        if self.speed_gt_s is None or self.lanes is None:
            return None
        return self.speed_gt_s * self.lanes * _coding(self.speed_gt_s)


def _coding(speed_gt_s: float) -> float:
    """The share of the bits that is payload: 8b/10b up to Gen2, 128b/130b up to Gen5, 242 of 256 bytes in Gen6."""
    if speed_gt_s <= 5.0:
        return 8 / 10
    return 128 / 130 if speed_gt_s <= 32.0 else 242 / 256


class PciDevice(Struct, frozen=True):
    """An NVIDIA GPU (`hca` None) or the card behind an HCA, as sysfs shows it.

    `link` is what was negotiated, `most` what the device can, `slot` what the port above it can; `above` are the
    bridges on the way to the processor, nearest last. `printed` maps names of files to what they hold.
    """

    bus_id: str
    hca: str | None
    link: PciLink
    most: PciLink
    slot: PciLink
    above: tuple[str, ...]
    printed: tuple[tuple[str, str], ...] = ()


class AcsPort(Struct, frozen=True):
    """A downstream port of a PCIe switch, and its `ACSCtl` line as printed."""

    bus_id: str
    control: str

    @property
    def redirects(self) -> bool:
        """True when requests from one device to another are sent up to the processor."""
        return "SrcValid+" in self.control or "ReqRedir+" in self.control


_SWITCHED_ON = frozenset({"intel_iommu=on", "amd_iommu=on"})


def _passes(word: str) -> bool | None:
    """What a word of the command line asks for, spelled in any way the kernel takes; None: nothing of the kind.

    https://docs.kernel.org/admin-guide/kernel-parameters.html
    """
    name, _, value = word.partition("=")
    if name == "iommu":
        options = value.split(",")
        return True if "pt" in options else False if "nopt" in options else None
    if name != "iommu.passthrough":
        return None
    value = value.lower()
    return (
        True if value.startswith(("y", "t", "1", "on")) else False if value.startswith(("n", "f", "0", "of")) else None
    )


class Iommu(Struct, frozen=True):
    """Whether DMA addresses are translated. `words` are the words about it on the kernel's command line.

    `domains` are the kinds of domain of the GPUs (`DMA-FQ`, `identity`), empty on kernels that do not tell. `machine`
    is the hypervisor, `none` on bare metal.
    """

    groups: int
    units: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    machine: str = "none"

    @property
    def virtual(self) -> bool:
        """True in a virtual machine."""
        return self.machine != "none"

    @property
    def mode(self) -> str:
        """`off`, `passthrough`, `translating` or `unknown`.

        The domains of the GPUs say it best, the command line else. Where neither does it is as the kernel was built
        (CONFIG_IOMMU_DEFAULT_PASSTHROUGH), which nothing tells.
        """
        if not self.groups:
            return "off"
        if self.domains:
            translated = any(domain.startswith("DMA") for domain in self.domains)
            return "translating" if translated else "passthrough"
        asked = [passes for word in self.words if (passes := _passes(word)) is not None]
        if asked:
            return "passthrough" if asked[-1] else "translating"
        return "translating" if _SWITCHED_ON & set(self.words) else "unknown"


_BACKPORTING = re.compile(r"^4\.18\.0-\d.*\.el8", re.ASCII)


class GpuDirect(Struct, frozen=True):
    """What lets a NIC reach GPU memory. `modules` are the lines of /proc/modules about it, `driver` and `kernel` as
    printed, `installed` is where nvidia_peermem lies on disk, `complaints` are kernel lines of a failed load.
    """

    modules: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    driver: str | None = None
    kernel: str | None = None
    installed: str | None = None
    complaints: tuple[str, ...] = ()

    def has(self, *names: str) -> bool:
        """Whether one of these modules is loaded. Names with underscores; a hand-made build may print dashes."""
        return any(line.partition(" ")[0].replace("-", "_") in names for line in self.modules)

    @property
    def peermem(self) -> bool:
        """Whether the module that shows GPU memory to NICs is loaded, under either of its names."""
        return self.has("nvidia_peermem", "nv_peer_mem")

    @property
    def dma_buf(self) -> bool:
        """Whether the driver can hand out GPU memory by DMA-BUF: open modules on a kernel of at least 5.12."""
        return self.open_modules and _version(self.kernel) >= (5, 12)

    @property
    def open_modules(self) -> bool:
        """Whether the driver has the open kernel modules."""
        return "Open Kernel Module" in (self.driver or "")

    @property
    def dma_buf_unknown(self) -> bool:
        """Open modules on a kernel whose number says little: that of RHEL 8 (4.18.0-553.el8) carries later code."""
        return self.open_modules and not self.dma_buf and _BACKPORTING.search(self.kernel or "") is not None


def _version(kernel: str | None) -> tuple[int, int]:
    major, _, rest = (kernel or "").partition(".")
    minor = rest.partition(".")[0].partition("-")[0]
    return (int(major), int(minor)) if _number(major) and _number(minor) else (0, 0)


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5
