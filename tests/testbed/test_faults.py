"""The fault table: whatever breaks, the right exit code, one sentence why, a whole report, and nothing left running.

Verdicts: what was never measured is INCONCLUSIVE (exit 3); what started and then broke or stopped is a FAIL (exit 1).
"""

from __future__ import annotations

import signal
import time

import pytest

from healthcheck.model.verdict import Verdict
from tests.testbed.checkup import CheckUp
from tests.testbed.lab import HERE, Lab, compiled

pytestmark = pytest.mark.testbed

FOUR = ("n001", "n002", "n003", "n004")


@pytest.fixture
def check_up(lab: Lab) -> CheckUp:
    """A check-up of four hosts with binaries that are pushed."""
    return CheckUp(lab, f"push: {lab.mpi.build()}", hosts=FOUR)


def assert_others_pass(check_up: CheckUp) -> None:
    """The healthy hosts were measured all the same, together."""
    assert {host: check_up.verdict(host) for host in FOUR if host != "n003"} == dict.fromkeys(
        ("n001", "n002", "n004"), Verdict.PASS
    )
    assert check_up.record.healthy_hosts == ("n001", "n002", "n004")


# Never reached


def test_host_down_before_start(lab: Lab, check_up: CheckUp) -> None:
    lab.cut("n003")
    check_up.start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "no answer on port 22")
    assert_others_pass(check_up)
    check_up.assert_nothing_left()


def test_sshd_stopped(lab: Lab, check_up: CheckUp) -> None:
    lab.stop_sshd("n003")
    check_up.start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "refused", "22")
    assert_others_pass(check_up)
    check_up.assert_nothing_left()


def test_unknown_host_key(lab: Lab, check_up: CheckUp) -> None:
    lab.forget_host_key("n003")
    before = lab.known_hosts.read_text()
    check_up.start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "host key not in known_hosts", "accept it with")
    assert lab.known_hosts.read_text() == before
    assert_others_pass(check_up)


def test_unknown_host_key_is_accepted_only_when_asked_for(lab: Lab, check_up: CheckUp) -> None:
    lab.forget_host_key("n003")
    check_up.start("--accept-new-host-keys").wait()

    check_up.assert_ended(0)
    assert "n003" in lab.known_hosts.read_text()


def test_changed_host_key(lab: Lab, check_up: CheckUp) -> None:
    keys = {line.split()[0].split(",")[0]: line for line in lab.known_hosts.read_text().splitlines()}
    keys["n003"] = f"n003 {keys['n004'].partition(' ')[2]}"
    lab.known_hosts.write_text("".join(f"{line}\n" for line in keys.values()))
    check_up.start("--accept-new-host-keys").wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "host key differs from known_hosts")
    assert_others_pass(check_up)


def test_wrong_key(lab: Lab, check_up: CheckUp) -> None:
    lab.refuse_key("n003")
    check_up.start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "login as root refused")
    assert_others_pass(check_up)


# Reached, but not ready to measure


def test_no_mpirun(lab: Lab, check_up: CheckUp) -> None:
    lab.hide("n003", lab.mpi.folder / "mpirun")
    if lab.mpi.path is not None:
        lab.hide("n003", HERE.joinpath("/usr/bin/mpirun"))
    check_up.start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "mpirun")
    assert_others_pass(check_up)
    check_up.assert_nothing_left()


def test_no_daemon_on_a_remote(lab: Lab, check_up: CheckUp) -> None:
    lab.hide("n003", lab.mpi.folder / lab.mpi.daemon)
    check_up.start().wait()

    check_up.assert_ended(3)
    if lab.mpi.name == "ompi4":  # seen by the probe; where Open MPI 5 keeps its daemon cannot be known before
        check_up.assert_why("n003", "orted")
        assert_others_pass(check_up)
    else:
        reasons = " ".join(str(reason) for job in check_up.record.jobs for reason in job.reasons)
        assert "n003" in reasons, reasons
        assert lab.mpi.daemon in reasons, reasons
        assert check_up.record.healthy_hosts == ()
    check_up.assert_nothing_left()


def test_binary_missing(lab: Lab) -> None:
    folder = lab.folder / "bin"
    folder.mkdir()
    program = folder / "all_reduce_perf"
    check_up = CheckUp(lab, f"path: {folder}", hosts=FOUR).start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", str(program))
    assert not check_up.record.jobs
    assert check_up.record.healthy_hosts == ()


def test_not_mpi_built(lab: Lab) -> None:
    folder = compiled("nompi", ["gcc", "-DNO_MPI"])
    check_up = CheckUp(lab, f"push: {folder}", hosts=FOUR).start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "MPI")
    assert not check_up.record.jobs
    check_up.assert_nothing_left()


def test_too_few_slots(lab: Lab, check_up: CheckUp) -> None:
    check_up.hosts = ("n001", "n002", "n003 slots=1", "n004")
    check_up.start().wait()

    check_up.assert_ended(3)
    check_up.assert_why("n003", "1 slot")
    assert_others_pass(check_up)
    check_up.assert_nothing_left()


# Started, and then broken


@pytest.mark.parametrize("only", ["single", "multi"])
def test_a_rank_that_crashes(lab: Lab, check_up: CheckUp, only: str) -> None:
    lab.fault("n003", f"segv after=1 only={only}")
    check_up.start().wait()

    check_up.assert_ended(1)
    reasons = " ".join(str(reason) for job in check_up.record.jobs for reason in job.reasons).lower()
    assert "signal" in reasons or "segmentation fault" in reasons, reasons
    if only == "single":
        assert check_up.verdict("n003") is Verdict.FAIL
        assert_others_pass(check_up)
    else:
        assert "n003" in reasons
        assert check_up.record.healthy_hosts == ()
    check_up.assert_nothing_left()


def test_a_rank_that_exits(lab: Lab, check_up: CheckUp) -> None:
    lab.fault("n003", "exit after=1 only=multi")
    check_up.start().wait()

    check_up.assert_ended(1)
    check_up.assert_nothing_left()


@pytest.mark.parametrize("only", ["single", "multi"])
def test_a_rank_that_hangs(lab: Lab, check_up: CheckUp, only: str) -> None:
    lab.fault("n003", f"hang after=1 only={only} stubborn")
    check_up.start().wait()

    check_up.assert_ended(1)
    reasons = " ".join(str(reason) for job in check_up.record.jobs for reason in job.reasons).lower()
    assert "hung" in reasons, reasons
    if only == "single":
        assert check_up.verdict("n003") is Verdict.FAIL
        assert_others_pass(check_up)
    check_up.assert_nothing_left()


def test_wrong_results(lab: Lab, check_up: CheckUp) -> None:
    lab.fault("n003", "sim:corrupt only=single")
    check_up.start().wait()

    check_up.assert_ended(1)
    assert check_up.verdict("n003") is Verdict.FAIL
    assert_others_pass(check_up)


def test_a_table_that_is_whole_counts_though_mpirun_never_ends(lab: Lab, check_up: CheckUp) -> None:
    lab.fault("n003", "teardown only=multi")
    check_up.timeout_s = 120
    check_up.start().wait()

    check_up.assert_ended(0)
    multi = next(job for job in check_up.record.jobs if job.stage == "multi_node")
    assert len(multi.rows) == 3
    assert "did not end" in " ".join(map(str, (*multi.reasons, *check_up.record.notes)))
    check_up.assert_nothing_left()


def cut_in_mid_run(lab: Lab, check_up: CheckUp) -> float:
    """Cut n003 off while all hosts work together; returns the time."""
    for host in FOUR:
        lab.standin(host, "delay", "1500")
    check_up.timeout_s = 120
    check_up.start()
    check_up.wait_for_rows("multi_node")
    lab.cut("n003")
    return time.monotonic()


def test_link_cut_in_mid_run(lab: Lab, check_up: CheckUp) -> None:
    began = cut_in_mid_run(lab, check_up)
    check_up.wait()

    check_up.assert_ended(1)
    check_up.assert_why("n003", "may still run there")
    notes = " ".join(map(str, check_up.record.notes))
    assert "n003: /tmp/healthcheck-" in notes, notes
    assert check_up.logs_on("n003"), "the note tells the truth"
    check_up.assert_no_logs_left("head", "n001", "n002", "n004")
    check_up.assert_nothing_left(hosts=("head", "n001", "n002", "n004"))
    # The daemon there hears nothing from mpirun any more, and ends long before its deadline.
    check_up.assert_nothing_left(seconds=max(1.0, began + 90 - time.monotonic()))


def test_link_cut_and_healed(lab: Lab, check_up: CheckUp) -> None:
    cut_in_mid_run(lab, check_up)
    check_up.signal(signal.SIGKILL)
    check_up.wait()
    check_up.assert_nothing_left(seconds=60, hosts=("head", "n001", "n002", "n004"))
    lab.heal("n003")

    check_up.assert_nothing_left(seconds=60)


def test_sick_port_found_by_the_probe(lab: Lab, check_up: CheckUp) -> None:
    lab.standin("n003", "hca.mlx5_1", "rate=100")
    check_up.start().wait()

    assert check_up.exit_code in (1, 4)
    assert "n003/hca:mlx5_1" in {
        str(check.component) for check in check_up.record.checks if check.verdict > Verdict.PASS
    }
