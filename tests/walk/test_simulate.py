"""`healthcheck simulate` as a person uses it."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from healthcheck.parsing.hostfile import parse_hostfile


def simulate(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "healthcheck", "simulate", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_serves_until_ctrl_c_and_says_that_it_is_simulated(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    with simulate("3", "--fault", "node02:corrupt", "-o", str(folder)) as process:
        assert process.stdout is not None
        hostfile = Path(process.stdout.readline().strip())
        words = shlex.split(process.stdout.readline())
        hosts = parse_hostfile(hostfile.read_text(), str(hostfile))
        assert words[:5] == ["healthcheck", "run", "quick", "-H", str(hostfile)]
        assert words[5:7] == ["--ssh-config", str(folder / "ssh_config")]
        assert [host.name for host in hosts] == ["node01", "node02", "node03"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert all(line.startswith("simulated: ") for line in errors.splitlines())
    assert "planted node02:corrupt" in errors
    assert not folder.exists()


def test_with_json_one_document_says_how_to_reach_it(tmp_path: Path) -> None:
    with simulate("2", "--json", "-o", str(tmp_path / "lab")) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not lines or lines[-1] != "}\n":
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
    document = json.loads("".join(lines))
    assert rest == ""
    assert (document["schema"], document["nodes"]) == ("healthcheck.simulate/1", 2)
    assert document["hostfile"] in shlex.split(document["command"])


def test_a_fault_that_does_not_fit_is_exit_2_and_serves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    with simulate("3", "--fault", "node04:hang", "-o", str(folder)) as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert errors == "error: --fault: there is no node 'node04'; the nodes are node01 to node03\n"
    assert not folder.exists()
