"""The looks at the network under the real shells of this machine, on made-up trees and with made-up tools."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from healthcheck.model.reading import ReadingState
from healthcheck.probes import hca_counters, hcas, verbs
from healthcheck.probes.batch import Part, PartOutput, batch_argv, split
from tests.contract.shells import SHELLS, folder_with_sh
from tests.unit.probes.fixtures import answer

NONCE = "0f3a9c"
PARTS = (hcas.part(), hca_counters.part(), verbs.part())
PORT = {
    "state": "4: ACTIVE",
    "phys_state": "5: LinkUp",
    "rate": "200 Gb/sec (4X HDR)",
    "lid": "0x1c",
    "sm_lid": "0x1",
    "counters/symbol_error": "5",
    "counters/link_downed": "N/A (no PMA)",
    "hw_counters/packet_seq_err": "7",
}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder whose `sh` is the shell under test; fake tools may be put beside it."""
    return folder_with_sh(tmp_path / "bin", request.param)


def ask(shell: Path, root: Path | None = None) -> dict[str, PartOutput]:
    """What the parts answer, with `root` in place of the file system they look at."""
    parts: tuple[Part, ...] = PARTS
    if root is not None:
        parts = tuple(
            Part(part.name, part.timeout_s, part.text.replace("/sys/class/", f"{root}/").replace("/dev/", f"{root}/"))
            for part in PARTS
        )
    done = subprocess.run(
        ["sh", *batch_argv(parts, NONCE)[1:]],
        executable=str(shell / "sh"),
        env={"PATH": f"{shell}:{os.environ['PATH']}"},
        capture_output=True,
        timeout=60,
    )
    return split(done.stdout.decode(), NONCE)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def card(root: Path, number: int, layer: str) -> None:
    folder = root / "infiniband" / f"mlx5_{number}"
    for name, value in {**PORT, "link_layer": layer}.items():
        write(folder / "ports" / "1" / name, value)
    for name in ("fw_ver", "hca_type", "board_id"):
        write(folder / name, f"a_{name}")
    pci = root / "devices" / f"0000:4b:00.{number}"
    (pci / "net" / f"ens{number}").mkdir(parents=True)
    (folder / "device").symlink_to(pci)
    write(root / "net" / f"ens{number}" / "mtu", "9000")
    write(root / "infiniband_verbs" / f"uverbs{number}" / "ibdev", f"mlx5_{number}")
    write(root / "infiniband" / f"uverbs{number}", "")


def test_two_cards_are_read_whole(shell: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    card(root, 0, "InfiniBand")
    card(root, 1, "Ethernet")
    write(root / "infiniband" / "mlx5_1" / "ports" / "1" / "gid_attrs" / "ndevs" / "0", "bond0")
    write(root / "net" / "bond0" / "mtu", "4200")
    (root / "infiniband" / "uverbs1").unlink()
    (root / "infiniband" / "uverbs1").mkdir()  # there, and cannot be opened
    parts = ask(shell, root)
    first, second = hcas.read(parts["hcas"]).value or ()
    assert (first.firmware, first.hca_type, first.board_id) == ("a_fw_ver", "a_hca_type", "a_board_id")
    assert (first.pci_address, first.lid, first.netdev) == ("0000:4b:00.0", 28, "ens0")
    assert (second.netdev, second.mtu) == ("bond0", 4200)
    counted = hca_counters.read(parts["hca_counters"]).value or ()
    assert [port.values for port in counted] == [(("symbol_error", 5), ("packet_seq_err", 7))] * 2
    found = verbs.read(parts["verbs"]).value
    assert found is not None
    assert [(node.name, node.device, node.access) for node in found.nodes] == [
        ("uverbs0", "mlx5_0", "ok"),
        ("uverbs1", "mlx5_1", "broken"),
    ]


def tool(shell: Path, name: str, fixture: str) -> None:
    text = shell / f"{name}.txt"
    text.write_text(answer("hcas", fixture).stdout.partition("\n")[2] + "\n")
    fake(shell, name, f"cat {text}")


def fake(shell: Path, name: str, line: str) -> None:
    (shell / name).write_text(f"#!/bin/sh\n{line}\n")
    (shell / name).chmod(0o755)


def test_without_a_tree_the_first_tool_that_answers_is_believed(shell: Path, tmp_path: Path) -> None:
    fake(shell, "ibstat", "echo 'ibpanic: cannot list' >&2; exit 1")
    tool(shell, "ibv_devinfo", "healthy_devinfo")
    fake(shell, "rdma", "echo 'link mlx5_0/1 state ACTIVE physical_state LINK_UP'")
    parts = ask(shell, tmp_path)
    assert [port.source for port in hcas.read(parts["hcas"]).value or ()] == ["ibv_devinfo"] * 8
    mtus = verbs.read(parts["verbs"]).value
    assert mtus is not None
    assert [path.active_mtu for path in mtus.mtus.value or ()] == [4096] * 8
    fake(shell, "ibv_devinfo", "echo 'No IB devices found' >&2; exit 255")
    assert [port.source for port in hcas.read(ask(shell, tmp_path)["hcas"]).value or ()] == ["rdma link"]


def test_a_node_without_cards_has_none_and_one_without_anything_is_not_known(shell: Path, tmp_path: Path) -> None:
    for name in ("ibstat", "ibv_devinfo", "rdma"):
        fake(shell, name, "exit 0")
    assert hcas.read(ask(shell, tmp_path)["hcas"]).state is ReadingState.TOOL_MISSING
    fake(shell, "ibstat", "echo 'ibpanic: cannot list' >&2; exit 1")
    assert hcas.read(ask(shell, tmp_path)["hcas"]).state is ReadingState.UNPARSABLE
    (tmp_path / "infiniband").mkdir()
    parts = ask(shell, tmp_path)
    assert hcas.read(parts["hcas"]).value == ()
    assert hca_counters.read(parts["hca_counters"]).state is ReadingState.TOOL_MISSING
