"""healthcheck itself is ended, in every stage and in every way: what stays, what goes on, what is cleaned."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest

from tests.testbed.checkup import CheckUp
from tests.testbed.lab import Lab, compiled

pytestmark = pytest.mark.testbed

TWO = ("n001", "n002")
STAGES = ("probe", "single_node", "multi_node")


def begin(lab: Lab, stage: str, slow_ms: int = 1500) -> CheckUp:
    """A check-up that is in the middle of `stage`."""
    for host in TWO:
        lab.standin(host, "delay", str(slow_ms))
    if stage == "probe":
        lab.standin("n002", "slow", "15")
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=TWO, timeout_s=90, stall_s=30).start()
    if stage == "probe":
        check_up.wait_for_processes("n002")
    else:
        check_up.wait_for_rows(stage)
    return check_up


def finish_by_resume(check_up: CheckUp) -> None:
    """`--resume` completes the run, and what was complete is not measured again."""
    lab = check_up.lab
    run_id = check_up.record.run_id
    kept = {job.id: job.started_at for job in check_up.record.jobs if len(job.rows) == 3}
    for host in TWO:
        lab.standin(host, "delay", None)
        lab.standin(host, "slow", None)
    check_up.start("--resume", run_id).wait()

    check_up.assert_ended(0)
    record = check_up.record
    assert (record.run_id, record.state) == (run_id, "complete")
    assert record.healthy_hosts == TWO
    after = {job.id: job.started_at for job in record.jobs}
    assert kept == {job: after[job] for job in kept}
    check_up.assert_nothing_left()
    check_up.assert_no_logs_left()


def survivor_of(lab: Lab, token: str) -> subprocess.Popen[bytes]:
    """A process of a dead run on n002 that no signal but KILL ends, as on a host whose wrapper was killed too."""
    out = lab.folder / "out"
    program = compiled("nompi", ["gcc", "-DNO_MPI"]) / "all_reduce_perf"
    lab.fault("n002", "hang after=1 stubborn")
    words = ("setsid", "env", f"HEALTHCHECK_TOKEN={token}", str(program))
    survivor = lab.start("n002", *words, stdout=out, stderr=lab.folder / "err")
    while not (out.exists() and b" float " in out.read_bytes()):
        assert survivor.poll() is None
        time.sleep(0.05)
    lab.fault("n002", None)
    return survivor


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_to_stop(lab: Lab, stage: str, number: int, exit_code: int) -> None:
    check_up = begin(lab, stage)
    check_up.signal(number)
    check_up.wait(60)  # its jobs may go on for 90 s

    check_up.assert_ended(exit_code)
    assert check_up.record.state == "interrupted"
    check_up.assert_nothing_left()
    check_up.assert_no_logs_left()
    finish_by_resume(check_up)


@pytest.mark.parametrize("stage", STAGES)
def test_killed(lab: Lab, stage: str) -> None:
    check_up = begin(lab, stage)
    check_up.signal(signal.SIGKILL)
    check_up.wait()

    # Nobody is left to end anything: the wrappers see their channel close.
    check_up.assert_nothing_left(seconds=45)
    assert check_up.record.state == "incomplete"
    finish_by_resume(check_up)


def test_what_a_killed_run_left_makes_a_host_busy_until_it_is_cleaned(lab: Lab) -> None:
    check_up = begin(lab, "multi_node")
    check_up.signal(signal.SIGKILL)
    check_up.wait()
    check_up.assert_nothing_left(seconds=45)
    dead = check_up.record
    for host in TWO:
        lab.standin(host, "delay", None)
    survivor = survivor_of(lab, dead.owner.token)

    check_up.start().wait()
    check_up.assert_ended(3)
    assert dead.run_id in check_up.stderr
    check_up.assert_why("n002", dead.owner.token)
    assert survivor.poll() is None

    check_up.command("clean", dead.run_id, "-o", str(check_up.results)).wait()
    assert check_up.exit_code == 0, check_up.stderr
    check_up.assert_nothing_left()
    check_up.start().wait()
    check_up.assert_ended(0)


def test_run_with_clean_ends_what_a_dead_run_left(lab: Lab) -> None:
    check_up = begin(lab, "single_node")
    check_up.signal(signal.SIGKILL)
    check_up.wait()
    for host in TWO:
        lab.standin(host, "delay", None)
    survivor_of(lab, check_up.record.owner.token)

    check_up.start("--clean").wait()
    check_up.assert_ended(0)
    check_up.assert_nothing_left()
