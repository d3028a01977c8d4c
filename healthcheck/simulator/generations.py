"""The software of a simulated node: what a cluster of one age has installed, each version with its own way to speak."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace


class Generation(Struct, frozen=True):
    """One set of versions as they were installed together. Texts as the tools print them.

    `open_modules`: the NVIDIA kernel modules are the open ones, so that GPUDirect RDMA may go through DMA-BUF.
    """

    name: str
    driver: str
    cuda: str
    nccl: str
    vbios: str
    kernel: str
    ofed: str
    os: str
    open_modules: bool = False

    @property
    def driver_major(self) -> int:
        """535 of `535.104.12`; decides how nvidia-smi names its fields."""
        return int(self.driver.partition(".")[0])

    @property
    def nccl_version(self) -> tuple[int, int]:
        """(2, 18) of `2.18.3`; decides how NCCL words its log."""
        major, minor, *_ = self.nccl.split(".")
        return int(major), int(minor)


GENERATIONS = (
    Generation(
        "2024",
        driver="550.90.07",
        cuda="12.4",
        nccl="2.21.5",
        vbios="92.00.A0.00.01",
        kernel="5.15.0-113-generic",
        ofed="MLNX_OFED_LINUX-5.8-4.1.5.0:",
        os="Ubuntu 22.04.4 LTS",
    ),
    Generation(
        "2023",
        driver="525.147.05",
        cuda="12.0",
        nccl="2.16.5",
        vbios="92.00.45.00.03",
        kernel="5.4.0-164-generic",
        ofed="MLNX_OFED_LINUX-5.4-3.7.5.0:",
        os="Ubuntu 20.04.6 LTS",
    ),
    Generation(
        "2025",
        driver="570.133.20",
        cuda="12.8",
        nccl="2.27.5",
        vbios="92.00.BF.00.01",
        kernel="6.8.0-60-generic",
        ofed="OFED-internal-24.10-2.1.8:",
        os="Ubuntu 24.04.2 LTS",
        open_modules=True,
    ),
)
"""The first one is that of seed 0; the seed of a cluster chooses."""


def of_seed(seed: int, oldest_driver: int = 0) -> Generation:
    """The software of a cluster with this seed, of those whose driver (major number) is not older."""
    usable = [one for one in GENERATIONS if one.driver_major >= oldest_driver] or GENERATIONS
    return usable[seed % len(usable)]


def of_nccl(version: str) -> Generation:
    """The software of the time of an NCCL version (`2.21.5`), with that version. ValueError for what is none."""
    words = version.split(".")
    if len(words) != 3 or not all(word.isdecimal() for word in words):
        raise ValueError(f"{version!r} is not an NCCL version; write for example 2.21.5")
    wanted = replace(GENERATIONS[0], nccl=version).nccl_version
    by_age = sorted(GENERATIONS, key=lambda one: one.nccl_version)
    return replace(next((one for one in reversed(by_age) if one.nccl_version <= wanted), by_age[0]), nccl=version)
