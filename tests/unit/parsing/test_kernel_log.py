"""Lines of the kernel log: every spelling of an Xid, and nothing read into lines that only look like one."""

from __future__ import annotations

import time

import pytest

from healthcheck.model.system_facts import EventKind
from healthcheck.parsing.kernel_log import pci_place, read_events, stamp_of

BOOT = 1_700_000_000.0


@pytest.mark.parametrize(
    ("line", "code", "bus_id", "fatal"),
    [
        ("NVRM: Xid (PCI:0000:07:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen", 79, "0000:07:00", None),
        ("NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus.", 79, "0000:07:00", None),
        ("NVRM: Xid (0000:07:00): 31, Ch 00000010, engmask 00000101", 31, "0000:07:00", None),
        ("NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x4)", 149, "0018:01:00", True),
        ("NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 08", 149, "0018:01:00", False),
        ("gpu-01 kernel: NVRM: Xid (PCI:0000:07:00): 48", 48, "0000:07:00", None),
    ],
)
def test_every_spelling_of_an_xid(line: str, code: int, bus_id: str, fatal: bool | None) -> None:
    (event,) = read_events([f"[  100.500000] {line}"], BOOT)
    assert (event.kind, event.code, event.bus_id, event.fatal) == (EventKind.XID, code, bus_id, fatal)
    assert event.at == BOOT + 100.5
    assert event.text.endswith(line)


@pytest.mark.parametrize(
    ("line", "kind", "fatal"),
    [
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 48 LTSSM Fault Up", EventKind.SXID, True),
        ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress", EventKind.SXID, False),
        ("nvidia 0000:07:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer", EventKind.AER, None),
        ("nvidia 0000:07:00.0: PCIe Bus Error: severity=Correctable, type=Data Link Layer", EventKind.AER, None),
        ("nvidia 0000:07:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Trans", EventKind.AER, True),
        ("nvidia 0000:07:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type", EventKind.AER, False),
        ("mlx5_core 0000:12:00.0 ib1: Link down", EventKind.LINK_DOWN, None),
        ("mlx5_core 0000:12:00.0: Port module event: module 0, Cable unplugged", EventKind.LINK_DOWN, None),
        ("bnxt_en 0000:17:00.0 eth2: NIC Link is Down", EventKind.LINK_DOWN, None),
        ("mlx5_core 0000:12:00.0 ib1: Link up", EventKind.LINK_UP, None),
        ("Memory cgroup out of memory: Killed process 4321 (python3) total-vm:1kB", EventKind.OOM, None),
        ("Out of memory: Kill process 4321 (python3) score 900 or sacrifice child", EventKind.OOM, None),
        ("INFO: task nvidia-smi:4400 blocked for more than 122 seconds.", EventKind.HUNG, True),
        ("INFO: task nvme_scan:4401 blocked for more than 122 seconds.", EventKind.HUNG, False),
        ("nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context", EventKind.PEERMEM, None),
    ],
)
def test_other_lines(line: str, kind: EventKind, fatal: bool | None) -> None:
    (event,) = read_events([f"[  100.500000] {line}"], BOOT)
    assert (event.kind, event.fatal) == (kind, fatal)


def test_a_narrow_slot_is_read_with_what_it_lets_through() -> None:
    line = "mlx5_core 0000:54:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:53"
    (event,) = read_events([f"[    9.102938] {line}"], BOOT)
    assert (event.kind, event.bus_id, event.available_gbit_s) == (EventKind.PCIE_LIMITED, "0000:54:00.0", 126.024)


@pytest.mark.parametrize(
    "line",
    [
        "mlx5_core 0000:12:00.0: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)",
        "nvidia_peermem: loading out-of-tree module taints kernel.",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.90.07",
        "pcieport 0000:00:01.0: AER: enabled with IRQ 34",
        "systemd[1]: Reached target Shutdown.",
        "",
    ],
)
def test_ordinary_lines_are_no_events(line: str) -> None:
    assert read_events([f"[   12.000000] {line}"], BOOT) == ()


def test_times_of_both_tools_are_read_and_a_missing_one_is_none() -> None:
    assert stamp_of("[   12.345678][ T2231] NVRM: x") == 12.345678
    assert stamp_of("[12345.678901] host kernel: NVRM: x") == 12345.678901
    assert stamp_of("NVRM: x [12.3]") is None


def test_an_address_is_the_same_in_every_spelling() -> None:
    assert pci_place("00000000:07:00.0") == pci_place("0000:07:00") == pci_place("07:00.0") == (0, 7, 0)
    assert pci_place("0018:01:00") == (0x18, 1, 0)
    assert pci_place("0000:0F:00.0") == pci_place("0000:0f:00")
    for text in (None, "", "N/A", "[Unknown Error]", "1:2:3:4", "zz:00.0"):
        assert pci_place(text) is None


def test_hostile_lines_take_no_time() -> None:
    lines = ["NVRM: Xid (" * 180, "0000:07:00.0: " * 140, "nvidia-peermem " * 130, ": Link " * 280] * 1000
    started = time.process_time()
    read_events(lines, BOOT)
    assert time.process_time() - started < 5
