"""All real looks in one command, on a machine whose tools hang, lie or shout."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from msgspec.structs import replace

from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartState, batch_argv, deadline_s, split
from healthcheck.probes.judge import judge_node
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import probe_parts, read_node
from healthcheck.probes.settings import settings

NONCE = "4be1d0"
TOOLS = (
    *("nvidia-smi", "lspci", "dmesg", "journalctl", "mpirun", "mpiexec", "timedatectl", "chronyc", "systemctl"),
    *("ibstat", "ibv_devinfo", "rdma", "ofed_info", "ldconfig", "nv-fabricmanager", "modinfo", "df"),
)


def _parts(timeout_s: int) -> tuple[Part, ...]:
    return tuple(replace(part, timeout_s=timeout_s) for part in probe_parts("/opt/nccl-tests/build"))


def _run(tmp_path: Path, tool: str, parts: tuple[Part, ...]) -> tuple[str, float]:
    """The batch, with every tool of the looks replaced by the script `tool`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).write_text(f"#!/bin/sh\n{tool}\n")
        (folder / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    begin = time.monotonic()
    done = subprocess.run(batch_argv(parts, NONCE), env=env, capture_output=True, timeout=deadline_s(parts) + 30)
    return done.stdout.decode(errors="replace"), time.monotonic() - begin


def test_the_script_ends_within_its_deadline_when_half_of_its_looks_hang(tmp_path: Path) -> None:
    parts = _parts(1)
    text, took = _run(tmp_path, "sleep 300", parts)
    answers = split(text, NONCE)
    hung = {name for name, answer in answers.items() if answer.state is PartState.TIMED_OUT}
    assert took < deadline_s(parts)
    assert set(answers) == {part.name for part in parts}
    assert len(hung) >= len(parts) // 5
    asks_driver = [part.name for part in parts if part.group]
    assert asks_driver[0] in hung and hung.isdisjoint(asks_driver[1:])
    assert all(answers[name].state is PartState.NOT_ASKED for name in asks_driver[1:])
    assert answers["identity"].state is PartState.ENDED
    facts = read_node("node01", answers)
    assert facts.identity is not None and facts.identity.observed
    assert not facts.gpus.observed
    assert facts.nvlink.state is ReadingState.UNPARSABLE and "not asked" in str(facts.nvlink.detail)
    about_links = [check for check in judge_node(facts, Needs(None, "token")) if check.check == "nvlink.links"]
    assert [check.verdict for check in about_links] == [Verdict.INCONCLUSIVE]


def test_tools_that_exit_0_with_an_error_text_are_never_health(tmp_path: Path) -> None:
    parts = _parts(5)
    text, _ = _run(tmp_path, "echo 'Erreur: impossible de communiquer avec le pilote'; exit 0", parts)
    facts = read_node("node01", split(text, NONCE))
    results = judge_node(facts, Needs(None, "token"))
    about_gpus = [result for result in results if result.check.startswith(("gpu.", "nvlink.", "fabric."))]
    assert about_gpus
    assert all(result.verdict is not Verdict.PASS for result in about_gpus)
    assert not facts.gpus.observed
    assert "driver" not in dict(settings(facts))


def test_ten_megabytes_of_garbage_move_nothing_from_one_look_into_another(tmp_path: Path) -> None:
    parts = _parts(5)
    text, _ = _run(tmp_path, "head -c 10000000 /dev/urandom | tr -d '\\000'; echo '@@4be1d0 hcas out'; exit 0", parts)
    answers = split(text, NONCE)
    assert set(answers) == {part.name for part in parts}
    facts = read_node("node01", answers)
    assert facts.identity is not None and facts.identity.observed
    for result in judge_node(facts, Needs(None, "token")):
        if result.check.startswith(("gpu.", "nvlink.", "fabric.")):
            assert result.verdict is not Verdict.PASS, result
