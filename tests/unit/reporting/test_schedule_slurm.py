"""Scripts for Slurm, run by a real shell: what they hand on, what they refuse, and that names in them are only data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.model.schedule import Every, Schedule
from healthcheck.model.schedule_cluster import UnderSlurm
from healthcheck.reporting.schedule.slurm import checkup_script, gate_script, health_script, prolog_script

ODD = 'it\'s "odd" $(touch pwned) `touch pwned` \\ *'
NODES = "g[1-2],login;touch pwned"
PLACE = UnderSlurm(4, 5400.0, gpus=8, partition="batch", spare=1)
OLD, NEW = "20260314T021503Z-aaaa", "20260315T021503Z-bbbb"


def schedule(folder: Path, **changes: object) -> Schedule:
    """A schedule whose program and folder have names nobody should choose; its program is in `folder`."""
    results = folder / ODD
    results.mkdir(exist_ok=True)
    every = Every("monthly", "monthly", "17 2 1 * *", named=True)
    made = Schedule("hc", (str(folder / f"run {ODD}"),), "monthly", "", str(results), every, 0, 24)
    return replace(made, options=("--nccl-tests", ODD), **changes)


def program(path: Path, *lines: str) -> None:
    """A program that writes down how it was called, a word a line, and then does `lines`."""
    path.write_text("\n".join(("#!/bin/bash", f'printf "%s\\n" "$@" >>{path.parent}/asked', *lines)) + "\n")
    path.chmod(0o755)


def run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """By bash, as slurmd does, with the programs of `folder` before all others."""
    file = folder / "script.sh"
    file.write_text(script)
    assert subprocess.run(["bash", "-n", str(file)], capture_output=True, check=False).stderr == b""
    env = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_NODELIST": NODES, "SLURM_JOB_ID": "77"}
    done = subprocess.run(
        ["bash", str(file)], cwd=folder, env=env | environment, check=False, capture_output=True, text=True, timeout=60
    )
    assert not list(folder.glob("**/pwned"))
    return done


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []


@pytest.mark.parametrize("code", [0, 1, 3, 4])
def test_a_check_up_is_of_the_allocation_and_ends_as_the_run_did(code: int, tmp_path: Path) -> None:
    made = schedule(tmp_path)
    program(Path(made.command[0]), f'[ "$1" = run ] && exit {code}', "exit 9")
    done = run(checkup_script(made, PLACE, f"/home/{ODD}"), tmp_path)
    assert (done.returncode, done.stderr) == (code, "")
    assert asked(tmp_path) == [*made.run()[1:], "-H", NODES, *made.prune()[1:]]


def test_what_is_asked_of_slurm_holds_nothing_that_it_could_misread(tmp_path: Path) -> None:
    def directives(script: str) -> list[str]:
        return [line for line in script.splitlines() if line.startswith("#SBATCH")]

    found = directives(checkup_script(schedule(tmp_path), PLACE, ODD))
    assert "#SBATCH --nodes=4" in found and "#SBATCH --time=90" in found and "#SBATCH --gres=gpu:8" in found
    gate = directives(gate_script(schedule(tmp_path), PLACE))
    assert "#SBATCH --nodes=5" in gate, "four and a spare one"
    assert not [line for line in gate if "time" in line], "how long the job behind it takes is not ours to say"
    bare = directives(checkup_script(schedule(tmp_path), UnderSlurm(4, 5400.0), ODD))
    assert not [line for line in bare if "gres" in line or "partition" in line]
    assert not [line for line in found if "odd" in line]


def test_a_gate_that_passes_starts_the_job_without_the_sick_node(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    lists = f"{made.results}/gate-77"
    program(Path(made.command[0]), 'while [ "$1" != --exclude-file ]; do shift; done', 'echo g2 >"$2.slurm"')
    program(tmp_path / "srun", "exit 0")
    done = run(gate_script(made, PLACE), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    words = asked(tmp_path)
    assert words[:2] == ["gate", "slurm-gate"]
    assert words[words.index("-H") :][:8] == [
        *("-H", NODES, "--min-nodes", "4"),
        *("--healthy-hosts", f"{lists}/healthy", "--exclude-file", f"{lists}/exclude"),
    ]
    step = ["--nodes=4", "--ntasks=4", "--ntasks-per-node=1", "--exclude=g2", "hostname"]
    assert words[words.index("--nodes=4") :] == step


def test_a_gate_that_leaves_nobody_out_excludes_nobody(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    program(Path(made.command[0]), 'while [ "$1" != --exclude-file ]; do shift; done', 'echo >"$2.slurm"')
    program(tmp_path / "srun", "exit 0")
    assert run(gate_script(made, PLACE), tmp_path).returncode == 0
    assert not [word for word in asked(tmp_path) if word.startswith("--exclude=")]


@pytest.mark.parametrize("code", [1, 3, 4])
def test_a_gate_that_does_not_pass_starts_nothing(code: int, tmp_path: Path) -> None:
    made = schedule(tmp_path)
    program(Path(made.command[0]), f"exit {code}")
    program(tmp_path / "srun", "exit 0")
    assert run(gate_script(made, PLACE), tmp_path).returncode == code
    assert "hostname" not in asked(tmp_path)


def stored(
    made: Schedule, run_id: str, *verdicts: tuple[str, int], simulated: bool = False, looked_only: bool = False
) -> None:
    """metrics.prom of one run as it is written."""
    folder = Path(made.results) / run_id
    folder.mkdir()
    label = ',simulated="true"' if simulated else ""
    lines = [f'healthcheck_host_verdict{{host="{host}"{label}}} {verdict}.0' for host, verdict in verdicts]
    lines += [] if looked_only else [f'healthcheck_jobs{{stage="single_node",verdict="PASS"{label}}} 8.0']
    text = "\n".join(("# HELP healthcheck_host_verdict x", "healthcheck_run_verdict 4.0", *lines))
    (folder / "metrics.prom").write_text(text + "\n")


def prolog(made: Schedule, folder: Path, node: str) -> int:
    """Its exit code; no command of Slurm may have been called, and nothing is waited for without end."""
    for name in ("scontrol", "squeue", "sinfo", "srun"):
        program(folder / name, "exit 0")
    done = run(prolog_script(made), folder, SLURMD_NODENAME=node)
    assert asked(folder) == []
    assert bool(done.stderr) == (done.returncode != 0)
    return done.returncode


def test_the_prolog_refuses_a_node_whose_newest_measurement_is_fail(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    stored(made, OLD, ("g1", 4), ("g2", 4), ("g3.example.org", 4), ("g4", 1), ("g5", 4), ("g6", 4))
    stored(made, NEW, ("g2", 1), ("g4", 2), ("g5", 3), ("g6", 0))
    stored(made, "20260316T021503Z-cccc", ("g4", 4), simulated=True)
    nodes = ("g1", "g2", "G3", "g4", "g5", "g6", "g7", "g")
    assert [prolog(made, tmp_path, node) for node in nodes] == [1, 0, 1, 0, 1, 1, 0, 0]


def test_a_look_clears_no_node_that_a_job_found_sick_and_may_find_one(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    stored(made, OLD, ("g1", 4), ("g2", 1), ("g3", 1))
    stored(made, NEW, ("g1", 1), ("g2", 4), ("g3", 2), looked_only=True)
    assert [prolog(made, tmp_path, node) for node in ("g1", "g2", "g3")] == [1, 1, 0]


def test_a_prolog_that_cannot_read_lets_the_job_start(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    assert prolog(made, tmp_path, "g1") == 0
    assert prolog(replace(made, results="/nowhere"), tmp_path, "g1") == 0
    (Path(made.results) / OLD).mkdir()
    assert prolog(made, tmp_path, "g1") == 0


def test_a_file_server_that_hangs_holds_up_no_prolog(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    (Path(made.results) / OLD).mkdir()
    os.mkfifo(Path(made.results) / OLD / "metrics.prom")
    assert prolog(made, tmp_path, "g1") == 0


def test_the_health_check_drains_once_a_run_with_a_reason_of_ours(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    script = health_script(made).replace("/run/healthcheck.drained", f"{tmp_path}/drained")
    program(tmp_path / "scontrol", "exit 0")
    stored(made, OLD, ("g1", 4), ("g2", 1))
    for node in ("g2", "g1", "g1"):
        assert run(script, tmp_path, SLURMD_NODENAME=node).returncode == 0
    drain = ["update", "nodename=g1", "state=drain", "reason=healthcheck {} verdict_fail"]
    assert asked(tmp_path) == [word.format(OLD) for word in drain]
    stored(made, NEW, ("g1", 4))
    run(script, tmp_path, SLURMD_NODENAME="g1")
    assert asked(tmp_path) == [word.format(one) for one in (OLD, NEW) for word in drain]


def test_a_drain_that_slurm_refused_is_tried_again(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    script = health_script(made).replace("/run/healthcheck.drained", f"{tmp_path}/drained")
    program(tmp_path / "scontrol", "exit 1")
    stored(made, OLD, ("g1", 4))
    for _ in range(2):
        run(script, tmp_path, SLURMD_NODENAME="g1")
    assert asked(tmp_path).count("update") == 2


def test_it_finds_scontrol_in_the_next_to_empty_environment_of_slurmd(tmp_path: Path) -> None:
    made = schedule(tmp_path)
    script = health_script(made).replace("/run/healthcheck.drained", f"{tmp_path}/drained")
    program(tmp_path / "scontrol", "exit 0")
    stored(made, OLD, ("g1", 4))
    (tmp_path / "script.sh").write_text(script.replace("/opt/slurm/bin", str(tmp_path)))
    done = subprocess.run(["/bin/bash", str(tmp_path / "script.sh")], env={"SLURMD_NODENAME": "g1"}, check=False)
    assert done.returncode == 0 and "nodename=g1" in asked(tmp_path)
