"""The looks at the system of a node under the real shells of this machine, with tools made up for the purpose."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import ReadingState
from healthcheck.model.system_facts import EventKind
from healthcheck.probes import clock, cpu, kernel_log, limits, nccl_settings, software
from healthcheck.probes.batch import batch_argv, split
from healthcheck.probes.read import read_node
from tests.contract.shells import SHELLS, folder_with_sh

PARTS = (clock.part(), limits.part(), cpu.part(), nccl_settings.part(), kernel_log.part(), software.part())


@pytest.fixture(params=SHELLS)
def tools(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder before all others in PATH, whose `sh` is the shell under test."""
    return folder_with_sh(tmp_path / "tools", request.param)


def tool(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def ask(folder: Path, **environment: str) -> NodeFacts:
    argv = batch_argv((*PARTS, clock.end_part()), "0f3a9c")
    env = {**os.environ, **environment, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", *argv[1:]], executable=str(folder / "sh"), env=env, capture_output=True, timeout=60)
    return read_node("here", split(done.stdout.decode(), "0f3a9c"))


def test_the_kernel_log_is_filtered_where_it_is(tools: Path) -> None:
    lines = "\n".join(f"[ {number}.000000] usb 1-1: new device" for number in range(10_000, 12_000))
    (tools / "log").write_text(
        "[    9.100000] mlx5_core 0000:54:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8\n"
        f"{lines}\n[20000.500000] NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus.\n"
    )
    tool(tools, "dmesg", f"cat {tools}/log")
    log = ask(tools).kernel_log.value
    assert log is not None
    assert (log.source, log.last_s) == ("dmesg", 20_000.5)
    assert [event.kind for event in log.events] == [EventKind.PCIE_LIMITED, EventKind.XID]
    assert log.events[1].at == pytest.approx(log.now - log.uptime_s + 20_000.5)


def test_where_dmesg_is_refused_the_journal_answers(tools: Path) -> None:
    tool(tools, "dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1")
    tool(tools, "journalctl", "echo '[ 9000.100000] gpu-01 kernel: NVRM: Xid (PCI:0000:07:00): 48, pid=1'")
    log = ask(tools).kernel_log.value
    assert log is not None
    assert log.source.startswith("journalctl -k -b")
    assert [event.code for event in log.events] == [48]


def test_where_both_are_refused_that_is_said(tools: Path) -> None:
    tool(tools, "dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1")
    tool(tools, "journalctl", "echo '-- No entries --'; echo 'Hint: You are not seeing system messages' >&2")
    reading = ask(tools).kernel_log
    assert reading.state is ReadingState.DENIED
    assert "Operation not permitted" in reading.evidence[0].text


def test_the_clock_is_read_at_both_ends_and_its_keeper_asked(tools: Path) -> None:
    tool(tools, "timedatectl", "exit 1")
    tool(tools, "chronyc", "printf 'Reference ID    : 0A000001\\nLeap status     : Not synchronised\\n'")
    found = ask(tools).clock.value
    assert found is not None
    assert found.synchronised is False
    assert found.last >= found.first
    tool(tools, "timedatectl", "echo yes")
    again = ask(tools).clock.value
    assert again is not None
    assert again.synchronised is True


def test_limits_and_processors_of_this_machine_are_read(tools: Path) -> None:
    facts = ask(tools)
    assert facts.limits.value is not None
    assert facts.cpu.value is not None


def test_settings_come_from_environment_and_files_and_nothing_else_does(tools: Path, tmp_path: Path) -> None:
    (tmp_path / ".nccl.conf").write_text("# NCCL_ALGO=Tree\nNCCL_ALGO=Ring\nSECRET=hidden\n")
    found = ask(tools, HOME=str(tmp_path), NCCL_P2P_DISABLE="1", OTHER_SECRET="hidden").nccl_settings.value
    assert found is not None
    mine = [setting for setting in found.found if not setting.source.startswith("/etc/")]
    assert [(setting.name, setting.value, setting.source) for setting in mine] == [
        ("NCCL_P2P_DISABLE", "1", "environment"),
        ("NCCL_ALGO", "Ring", f"{tmp_path}/.nccl.conf:2"),
    ]
    assert "hidden" not in str(found)


def test_versions_are_read_from_the_tools(tools: Path) -> None:
    (tools / "libnccl.so.2.21.5").write_text("")
    (tools / "libnccl.so.2").symlink_to("libnccl.so.2.21.5")
    tool(tools, "ldconfig", f"printf '\\tlibnccl.so.2 (libc6,x86-64) => {tools}/libnccl.so.2\\n'")
    tool(tools, "ofed_info", "echo MLNX_OFED_LINUX-5.8-4.1.5.0:")
    tool(tools, "nvidia-smi", "echo '| NVIDIA-SMI 550.90.07   Driver Version: 550.90.07   CUDA Version: 12.4     |'")
    found = ask(tools).software.value
    assert found is not None
    assert (found.nccl, found.ofed, found.cuda) == ("2.21.5", "MLNX_OFED_LINUX-5.8-4.1.5.0", "12.4")
    assert found.kernel == os.uname().release
