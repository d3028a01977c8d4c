"""The NCCL log of every rank: written on its host, brought to the run directory, gone from the host."""

from __future__ import annotations

import signal

import pytest

from tests.testbed.checkup import CheckUp
from tests.testbed.lab import Lab

pytestmark = pytest.mark.testbed

TWO = ("n001", "n002")


def assert_logs_of(check_up: CheckUp, stage: str, each: int) -> None:
    """`each` logs from every host, written by ranks of that host."""
    kept = check_up.kept_logs(stage)
    assert {host: len(logs) for host, logs in kept.items()} == dict.fromkeys(TWO, each)
    for host, logs in kept.items():
        for log in logs:
            assert {line.partition(":")[0] for line in log.splitlines() if "NCCL INFO" in line} == {host}


def in_the_middle(lab: Lab, stage: str) -> CheckUp:
    """A check-up whose ranks have written their logs and go on for long."""
    for host in TWO:
        lab.standin(host, "delay", "1500")
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=TWO, timeout_s=90, stall_s=30).start()
    check_up.wait_for_rows(stage)
    return check_up


@pytest.mark.both_mpis
def test_a_healthy_run_keeps_one_log_a_node_and_a_clean_table(lab: Lab) -> None:
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=TWO).start().wait()

    check_up.assert_ended(0)
    assert_logs_of(check_up, "single_node", 1)
    assert_logs_of(check_up, "multi_node", 1)
    assert all("via NET/" in log for logs in check_up.kept_logs("multi_node").values() for log in logs)
    for path in check_up.folder.glob("raw/*/*/stdout"):
        assert "NCCL INFO" not in path.read_text()
    check_up.assert_no_logs_left()
    assert not [note for note in check_up.record.notes if note.code == "run.logs_left"]


def test_started_from_here_the_logs_are_those_of_the_nodes(lab: Lab) -> None:
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=TWO).start("--launch-from", "local").wait()

    check_up.assert_ended(0)
    assert_logs_of(check_up, "multi_node", 1)
    check_up.assert_no_logs_left()


@pytest.mark.parametrize("stage", ["single_node", "multi_node"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_still_brings_the_logs_and_leaves_none(lab: Lab, stage: str, number: int) -> None:
    check_up = in_the_middle(lab, stage)
    check_up.signal(number)
    check_up.wait(60)

    assert check_up.record.state == "interrupted"
    assert_logs_of(check_up, stage, 2)
    check_up.assert_no_logs_left()


@pytest.mark.both_mpis
def test_of_a_job_that_hangs_every_rank_is_heard(lab: Lab) -> None:
    lab.fault("n002", "hang after=1 only=multi stubborn")
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=TWO).start().wait()

    check_up.assert_ended(1)
    assert_logs_of(check_up, "single_node", 1)
    assert_logs_of(check_up, "multi_node", 2)
    check_up.assert_no_logs_left()


def test_what_a_killed_run_left_is_deleted_by_clean(lab: Lab) -> None:
    check_up = in_the_middle(lab, "multi_node")
    check_up.signal(signal.SIGKILL)
    check_up.wait()
    check_up.assert_nothing_left(seconds=45)
    assert all(check_up.logs_on(host) for host in TWO)

    run_id = check_up.record.run_id
    check_up.command("clean", run_id, "-o", str(check_up.results)).wait()
    assert check_up.exit_code == 0, check_up.stderr
    check_up.assert_no_logs_left()
