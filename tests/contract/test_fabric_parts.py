"""The looks at PCIe, GPUDirect, ACS, IOMMU and topology under the real shells of this machine, on a made-up node."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from healthcheck.model.fabric_facts import AcsPort, PciLink
from healthcheck.model.reading import ReadingState
from healthcheck.probes import acs, gpudirect, iommu, pcie, topology
from healthcheck.probes.batch import Part, PartOutput, PartState
from tests.contract.shells import SHELLS, words
from tests.unit.probes.fixtures import answer

SWITCH = "devices/pci0000:00/0000:00:01.1/0000:01:00.0"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def tool(folder: Path, name: str, text: str) -> None:
    write(folder / name, f"#!/bin/sh\n{text}")
    (folder / name).chmod(0o755)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node with one GPU and one card below one switch, a card of another maker, and no tools yet."""
    sys, proc = tmp_path / "sys", tmp_path / "proc"
    for bus_id, vendor, kind in (
        ("0000:07:00.0", "0x10de", "0x030200"),
        ("0000:08:00.0", "0x10de", "0x068000"),
        ("0000:0c:00.0", "0x15b3", "0x020700"),
    ):
        port = sys / SWITCH / f"0000:02:0{bus_id[6]}.0"
        write(port / "max_link_speed", "16.0 GT/s PCIe")
        write(port / "max_link_width", "16")
        device = port / bus_id
        write(device / "vendor", vendor)
        write(device / "class", kind)
        write(device / "current_link_speed", "16.0 GT/s PCIe")
        write(device / "current_link_width", "8" if vendor == "0x15b3" else "16")
        write(device / "max_link_speed", "32.0 GT/s PCIe")
        write(device / "max_link_width", "16")
        write(device / "iommu_group" / "type", "DMA-FQ")
        (sys / "bus/pci/devices").mkdir(parents=True, exist_ok=True)
        (sys / "bus/pci/devices" / bus_id).symlink_to(device)
    (sys / "class/infiniband/mlx5_0").mkdir(parents=True)
    (sys / "class/infiniband/mlx5_0/device").symlink_to(sys / SWITCH / "0000:02:0c.0" / "0000:0c:00.0")
    for name in ("kernel/iommu_groups/0", "kernel/iommu_groups/1", "class/iommu/ivhd0", "class/iommu/ivhd1"):
        (sys / name).mkdir(parents=True)
    write(proc / "cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 amd_iommu=on quiet *")
    write(proc / "cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu vme svm\n")
    write(proc / "modules", "mlx5_ib 389120 0 - Live 0x0\nnvidia_peermem 16384 0 - Live 0x0\nnvidia 1 1 - Live 0x0")
    write(proc / "driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07")
    write(proc / "sys/kernel/osrelease", "5.15.0-113-generic")
    write(sys / "module/nvidia_peermem/version", "550.90.07")
    (tmp_path / "bin").mkdir()
    return tmp_path


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return words(request.param)


def run(part: Part, node: Path, shell: list[str]) -> PartOutput:
    text = re.sub(r"(?<![\w/])/(sys|proc)/", rf"{node}/\1/", part.text)
    path = f"{node}/bin:{os.environ['PATH']}"
    done = subprocess.run(
        [*shell, "-c", text],
        env={"PATH": path, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    out, err = done.stdout.decode().rstrip("\n"), done.stderr.decode().rstrip("\n")
    return PartOutput(part.name, done.returncode, out, err, PartState.ENDED)


def test_devices_their_slots_and_their_way_are_found(node: Path, shell: list[str]) -> None:
    reading = pcie.read(run(pcie.part(), node, shell))
    assert reading.value is not None, reading.evidence
    gpu, card = reading.value
    assert (gpu.bus_id, gpu.hca, gpu.link) == ("0000:07:00.0", None, PciLink(16.0, 16))
    assert (card.bus_id, card.hca, card.link) == ("0000:0c:00.0", "mlx5_0", PciLink(16.0, 8))
    assert (card.most, card.slot) == (PciLink(32.0, 16), PciLink(16.0, 16))
    assert card.above == ("0000:00:01.1", "0000:01:00.0", "0000:02:0c.0")


def test_a_node_without_a_bus_says_so(node: Path, shell: list[str]) -> None:
    shutil.rmtree(node / "sys")
    assert pcie.read(run(pcie.part(), node, shell)).state is ReadingState.TOOL_MISSING
    assert iommu.read(run(iommu.part(), node, shell)).state is ReadingState.TOOL_MISSING


def test_the_iommu_is_read_with_the_domain_of_the_gpu(node: Path, shell: list[str]) -> None:
    tool(node / "bin", "systemd-detect-virt", "echo none; exit 1")
    found = iommu.read(run(iommu.part(), node, shell)).value
    assert found is not None
    assert (found.groups, found.units, found.words) == (2, ("ivhd0", "ivhd1"), ("amd_iommu=on",))
    assert (found.domains, found.machine, found.mode) == (("DMA-FQ",), "none", "translating")


def test_a_virtual_machine_is_known_by_the_tool_or_by_the_flag(node: Path, shell: list[str]) -> None:
    tool(node / "bin", "systemd-detect-virt", "echo kvm")
    found = iommu.read(run(iommu.part(), node, shell)).value
    assert found is not None and found.machine == "kvm"
    tool(node / "bin", "systemd-detect-virt", "exit 1")
    write(node / "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor svm\n")
    found = iommu.read(run(iommu.part(), node, shell)).value
    assert found is not None and found.virtual


def test_modules_driver_and_kernel_are_read(node: Path, shell: list[str]) -> None:
    found = gpudirect.read(run(gpudirect.part(), node, shell)).value
    assert found is not None
    assert found.peermem
    assert not found.dma_buf
    assert (len(found.modules), found.kernel) == (2, "5.15.0-113-generic")
    assert found.versions[0].endswith("/module/nvidia_peermem/version 550.90.07")


def test_a_module_that_is_not_loaded_is_looked_for_and_its_refusal_quoted(node: Path, shell: list[str]) -> None:
    write(node / "proc/modules", "mlx5_ib 389120 0 - Live 0x0")
    tool(node / "bin", "modinfo", "echo /lib/modules/5.15/nvidia-peermem.ko")
    tool(node / "bin", "dmesg", "echo '[1.0] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)'")
    found = gpudirect.read(run(gpudirect.part(), node, shell)).value
    assert found is not None
    assert found.installed == "/lib/modules/5.15/nvidia-peermem.ko"
    assert "Unknown symbol" in found.complaints[0]


def test_bridges_are_read_as_root_and_hidden_without(node: Path, shell: list[str]) -> None:
    bridge = "0000:02:04.0 PCI bridge: Broadcom / LSI PEX880xx (rev b0)"
    lines = r"\tCapabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00\n\t\tACSCtl:\tSrcValid+ ReqRedir+"
    tool(node / "bin", "lspci", f"printf '{bridge}\\n\\tControl: I/O+\\n{lines}\\n'")
    assert acs.read(run(acs.part(), node, shell)).value == (AcsPort("0000:02:04.0", "ACSCtl:\tSrcValid+ ReqRedir+"),)
    tool(node / "bin", "lspci", f"printf '{bridge}\\n\\tCapabilities: <access denied>\\n'")
    assert acs.read(run(acs.part(), node, shell)).state is ReadingState.DENIED
    tool(node / "bin", "lspci", "exit 0")
    assert acs.read(run(acs.part(), node, shell)).value == ()
    tool(node / "bin", "lspci", "echo 'lspci: Cannot find any working access method.' >&2; exit 1")
    assert acs.read(run(acs.part(), node, shell)).state is ReadingState.UNPARSABLE


def test_the_matrix_is_asked_of_nvidia_smi(node: Path, shell: list[str]) -> None:
    (node / "matrix").write_text(answer("topology", "healthy").stdout)
    tool(node / "bin", "nvidia-smi", f'[ "$*" = "topo -m" ] && cat "{node}/matrix"')
    found = topology.read(run(topology.part(), node, shell)).value
    assert found is not None and len(found.gpus) == 8


@pytest.mark.parametrize("part", [topology.part(), acs.part()], ids=lambda part: part.name)
def test_without_its_tool_a_look_says_so(part: Part, shell: list[str], tmp_path: Path) -> None:
    done = subprocess.run([*shell, "-c", part.text], env={"PATH": str(tmp_path)}, capture_output=True, timeout=30)
    assert done.returncode == 127


def test_no_part_is_hard_to_carry_through_a_login_shell() -> None:
    for part in (pcie.part(), gpudirect.part(), acs.part(), iommu.part(), topology.part()):
        assert "!" not in part.text and "\n" not in part.text
