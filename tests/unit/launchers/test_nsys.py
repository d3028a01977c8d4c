"""Training commands under nsys: the words, who is recorded, and what a node answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from healthcheck.launchers.nsys import PLACE, Range, is_megatron, profiled, starts_elsewhere, with_megatron_range
from healthcheck.launchers.nsys_node import look_argv, read_list, read_look

TRAIN = ("torchrun", "--nproc-per-node", "8", "train.py")


def test_in_front_of_a_launcher_nsys_records_the_range_and_nothing_that_slows_the_host() -> None:
    words = profiled(TRAIN, "/opt/nsys", "/tmp/r", 3, (0,))
    assert words[:2] == ("/opt/nsys", "profile") and words[-4:] == TRAIN
    assert {
        "--trace=cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--capture-range=cudaProfilerApi",
        "--capture-range-end=stop-shutdown",
        "--kill=sigterm",
        "--cuda-graph-trace=node",
        "--output=/tmp/r/node3",
    } <= set(words)


@pytest.mark.parametrize("variable", ["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"])
@pytest.mark.parametrize(("rank", "recorded"), [("0", False), ("1", True), ("11", False), (None, False)])
def test_behind_a_launcher_only_the_chosen_ranks_start_under_nsys(
    tmp_path: Path, variable: str, rank: str | None, recorded: bool
) -> None:
    nsys = tmp_path / "n sys"
    nsys.write_text('#!/bin/sh\nfor w; do case $w in --output=*) echo "$w";; esac; done\n')
    nsys.chmod(0o755)
    words = profiled(("env", PLACE, "echo", "it's $HOME"), str(nsys), "/tmp/r", 0, (1, 8))
    environment = {"PATH": os.environ["PATH"], **({variable: rank} if rank else {})}
    said = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == ("--output=/tmp/r/rank1\n" if recorded else "it's $HOME\n")
    assert ("no variable tells this process its rank" in said.stderr) == (rank is None)


def test_megatron_is_told_the_steps_and_what_the_user_said_stays() -> None:
    words = with_megatron_range(("python", "pretrain_gpt.py", "--profile-step-end=40"), Range(20, 3), (0, 8))
    assert words[2:] == (
        "--profile-step-end=40",
        "--profile",
        "--profile-step-start",
        "20",
        "--profile-ranks",
        "0",
        "8",
    )
    assert is_megatron(words) and is_megatron(("torchrun", "/opt/Megatron-LM/pretrain_bert.py"))
    assert not is_megatron(TRAIN) and not is_megatron(("python", "megatron_gpt_pretraining.py"))


def test_launchers_whose_ranks_are_not_their_children_are_known() -> None:
    assert starts_elsewhere(("/usr/bin/srun", "-N2")) == "srun"
    assert starts_elsewhere(("mpirun",)) == "mpirun"
    assert starts_elsewhere(TRAIN) is None


def test_a_node_says_what_it_has(tmp_path: Path) -> None:
    def look(nsys: str, cwd: str, folder: str) -> str:
        return (
            "welcome\n"
            + subprocess.run(look_argv(nsys, cwd, folder), capture_output=True, text=True, check=True).stdout
        )

    ready = read_look(look(sys.executable, str(tmp_path), str(tmp_path / "new" / "folder")))
    assert (ready.whole, ready.nsys, ready.cwd, ready.folder) == (True, sys.executable, True, True)
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o777 == 0o700
    lacking = read_look(look("nsys-of-nobody", str(tmp_path / "gone"), "/proc/no"))
    assert (lacking.whole, lacking.nsys, lacking.cwd, lacking.folder) == (True, None, False, False)
    assert not read_look("welcome\n").whole


def test_a_list_that_is_cut_is_none_and_a_strange_name_is_passed_over() -> None:
    mark = "healthcheck-capture:"
    assert read_list(f"{mark} file 12 rank0.nsys-rep\n") is None
    found = read_list(f"motd\n{mark} file 12 rank0.nsys-rep\n{mark} file 3 a b\n{mark} file 3 ../x\n{mark} end\n")
    assert found is not None
    assert [(file.name, file.size_bytes, file.is_report) for file in found] == [("rank0.nsys-rep", 12, True)]
