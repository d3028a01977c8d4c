"""Two check-ups and one cluster: what the second one says, and what is left of the first."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from healthcheck.edge.host_locks import LOCKS, lock_name
from healthcheck.edge.owner import boot_id, current_owner, pid_space
from healthcheck.model.lock import Holder
from healthcheck.parsing.nodeset import fold
from tests.walk.cli import Shell

LONG_S = 300


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """The words that name four simulated nodes behind real SSH, whose jobs take long enough to come in between."""
    folder = tmp_path_factory.mktemp("cluster") / "lab"
    command = [sys.executable, "-m", "healthcheck", "simulate", "4", "-o", str(folder), "--job-seconds", "6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        hosts = server.stdout.readline().strip()
        server.stdout.readline()
        yield ("-H", hosts, "--ssh-config", str(folder / "ssh_config"))
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def begin(results: Path, words: tuple[str, ...]) -> subprocess.Popen[str]:
    """A check-up of its own process that has locked its hosts."""
    command = [sys.executable, "-m", "healthcheck", "run", "quick", *words, "-o", str(results)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(LONG_S * 10):
        if len(locked(results)) == 4:
            return process
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("nothing was locked")


@contextlib.contextmanager
def held_up(process: subprocess.Popen[str]) -> Iterator[None]:
    """Stopped where it is, so that it holds its hosts however long the block takes."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def locked(results: Path) -> list[str]:
    return sorted(path.name for path in (results / LOCKS).glob("*.lock"))


def test_the_second_run_names_the_first_and_touches_nothing_and_all_is_released(
    shell: Shell, cluster: tuple[str, ...]
) -> None:
    shell.results.mkdir()
    first = begin(shell.results, cluster)
    with held_up(first):
        said = shell("run", "quick", *cluster)
    assert said.code == 3
    second = shell.record()
    told = {str(check.message) for check in second.checks if check.rule == "busy.locked"}
    assert len(told) == 1
    assert f"process {first.pid}, since " in told.pop()
    assert {host.verdict.name for host in second.hosts} == {"SKIPPED"} and second.jobs == ()
    assert f"process {first.pid}" in said.err
    # It asked nobody, and so could disturb nobody.
    assert not (shell.folders()[-1] / "raw" / "probe").exists()
    assert len(locked(shell.results)) == 4
    first.communicate(timeout=LONG_S)
    assert first.returncode == 0
    assert locked(shell.results) == []


def test_what_was_not_measured_for_a_lock_is_judged_so_again(shell: Shell, cluster: tuple[str, ...]) -> None:
    shell.results.mkdir()
    first = begin(shell.results, cluster)
    with held_up(first):
        shell("run", "quick", *cluster, "-q")
    folder = shell.folders()[-1]
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=LONG_S)
    assert shell("rejudge", str(folder), "-q").code == 3
    before, after = (json.loads((folder / name / "record.json").read_bytes()) for name in ("", "rejudged"))
    assert [host["verdict"] for host in after["hosts"]] == [host["verdict"] for host in before["hosts"]]
    assert [host["reasons"] for host in after["hosts"]] == [host["reasons"] for host in before["hosts"]]


def hold(results: Path, *hosts: str) -> str:
    """Hosts that this process, which is alive, checks up by another run."""
    mine = current_owner()
    holder = Holder(
        "other", mine.user, mine.machine, mine.pid, mine.pid_started, boot_id(), pid_space(), "2026-03-14T02:15:03Z"
    )
    (results / LOCKS).mkdir(parents=True, exist_ok=True)
    for host in hosts:
        (results / LOCKS / lock_name(host)).write_bytes(msgspec.json.encode(holder))
    return f"healthcheck run other of {mine.user}@{mine.machine}, process {mine.pid}, since 2026-03-14T02:15:03Z"


@pytest.mark.parametrize(
    ("named", "held", "more", "free"),
    [
        ("node[01-02]", ("node01", "node02"), (), ()),
        ("node[02-03]", ("node02",), (), ("node03",)),
        ("node[02-04]", ("node02",), ("--min-nodes", "3", "--healthy-hosts", "ok.hosts"), ("node03", "node04")),
    ],
)
def test_a_gate_that_can_prove_nothing_says_who_has_the_nodes_and_keeps_none(
    shell: Shell,
    cluster: tuple[str, ...],
    named: str,
    held: tuple[str, ...],
    more: tuple[str, ...],
    free: tuple[str, ...],
) -> None:
    who = hold(shell.results, *held)
    said = shell("gate", "-H", named, *cluster[2:], *more)
    record = shell.record()
    assert said.code == 3
    assert said.out.startswith("INCONCLUSIVE 0/")
    assert f"cause fabric too few nodes are free: {fold(held)} in use by {who}" in said.out, said.out
    page = (shell.folders()[-1] / "report.md").read_text()
    assert f"too few nodes are free: {fold(held)} in use by {who}" in page
    assert {check.component.host for check in record.checks if check.rule == "busy.let_go"} == set(free)
    assert {host.verdict.name for host in record.hosts} == {"SKIPPED"} and record.jobs == ()
    assert not (shell.folders()[-1] / "raw" / "probe").exists(), "nobody was asked"
    assert locked(shell.results) == [f"{host}.lock" for host in held]
    again = shell("rejudge", str(shell.folders()[-1]), "-q")
    assert (again.code, again.out) == (3, said.out)


def test_a_check_up_measures_the_one_node_that_is_free(shell: Shell, cluster: tuple[str, ...]) -> None:
    hold(shell.results, "node01", "node02")
    said = shell("run", "quick", "-H", "node[01-03]", *cluster[2:], "-q")
    assert said.code == 3 and "too few nodes are free: node[01-02] in use by" in said.out
    assert [job.hosts for job in shell.record().jobs] == [("node03",)]


def test_after_ctrl_c_nothing_is_locked(shell: Shell, cluster: tuple[str, ...]) -> None:
    shell.results.mkdir()
    first = begin(shell.results, cluster)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=LONG_S)
    assert first.returncode == 130 and locked(shell.results) == []


def test_a_run_that_was_killed_is_told_by_doctor_and_cleaned(shell: Shell, cluster: tuple[str, ...]) -> None:
    shell.results.mkdir()
    first = begin(shell.results, cluster)
    first.kill()
    first.communicate(timeout=LONG_S)
    doctor = json.loads(shell("doctor", "--json").out)
    (told,) = [look for look in doctor["checks"] if look["check"] == "locks"]
    assert told["ok"] is None and told["message_en"].startswith("4 hosts are locked by runs that are gone")
    cleaned = shell("clean", "--ssh-config", cluster[-1], "--json")
    assert json.loads(cleaned.out)["locks_removed"] == ["node01", "node02", "node03", "node04"]
    assert f"was removed: healthcheck run {shell.folders()[0].name}" in cleaned.err
    assert locked(shell.results) == []


def test_clean_leaves_the_lock_of_another_machine_and_says_what_to_do(shell: Shell) -> None:
    (shell.results / LOCKS).mkdir(parents=True)
    mine = current_owner()
    holder = Holder("r", mine.user, "head2", mine.pid, "1", boot_id(), pid_space(), "2026-03-14T02:15:03Z")
    path = shell.results / LOCKS / lock_name("gpu01")
    path.write_bytes(msgspec.json.encode(holder))
    said = shell("clean")
    assert said.code == 0 and path.exists()
    assert "the lock of gpu01 was left: in use by healthcheck run r" in said.err
    assert f"if it does not, delete {Path('reports') / LOCKS / path.name}" in said.err
    path.write_bytes(msgspec.json.encode(replace(holder, machine=mine.machine)))
    assert "the lock of gpu01 was removed" in shell("clean").err and not path.exists()
