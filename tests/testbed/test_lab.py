"""The testbed itself: if these fail, nothing else here means anything."""

from __future__ import annotations

import time

import pytest

from tests.testbed.checkup import CheckUp
from tests.testbed.lab import Lab

pytestmark = [pytest.mark.testbed, pytest.mark.both_mpis]


def test_hosts_are_separate_machines(lab: Lab) -> None:
    lab.run("n001", "touch", "/tmp/mine", "/root/.cache/mine")
    lab.hide("n001", lab.mpi.folder / "mpirun")

    seen = lab.run("head", "ssh", "n002", "hostname; ls /tmp/mine /root/.cache/mine; command -v mpirun; nvidia-smi -L")
    assert seen.stdout.splitlines()[0] == "n002"
    assert "mine" not in seen.stdout
    assert str(lab.mpi.folder / "mpirun") in seen.stdout
    assert seen.stdout.count("A100") == 2
    assert lab.run("n001", "sh", "-c", "command -v mpirun").stdout.strip() != str(lab.mpi.folder / "mpirun")


def test_a_real_mpirun_prints_a_table_and_what_it_leaves_is_seen(lab: Lab) -> None:
    program = lab.mpi.build() / "all_reduce_perf"
    hostfile = lab.folder / "four"
    hostfile.write_text("".join(f"{host} slots=2\n" for host in lab.hosts[:4]))
    mpirun = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-x", "HEALTHCHECK_TOKEN=t"]
    job = [*mpirun, "--hostfile", str(hostfile), "-np", "8", str(program), "-b", "1G", "-e", "2G", "-f", "2", "-g", "1"]

    done = lab.run("n001", *job)
    assert done.returncode == 0, done.stderr
    assert "# Avg bus bandwidth" in done.stdout
    assert done.stdout.count("A100-SXM4-80GB") == 8
    assert not lab.left_after(30)

    lab.fault("n003", "hang")
    hanging = lab.start("n001", *job, stdout=lab.folder / "out", stderr=lab.folder / "err")
    while not {process.host for process in lab.processes()} >= {"n001", "n002", "n003", "n004"}:
        assert hanging.poll() is None
        time.sleep(0.05)
    assert hanging.poll() is None
    lab.kill_all()
    hanging.wait(60)
    assert not lab.left_after(30)


def test_a_whole_check_up(lab: Lab) -> None:
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}").start().wait()

    check_up.assert_ended(0)
    record = check_up.record
    assert record.state == "complete"
    assert record.healthy_hosts == lab.hosts
    assert [job.n_ranks for job in record.jobs if job.stage == "multi_node"] == [16]
    assert sum(job.stage == "single_node" for job in record.jobs) == 8
    assert all(len(job.rows) == 3 for job in record.jobs)
    check_up.assert_nothing_left()

    again = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=lab.hosts[:2]).start().wait()
    again.assert_ended(0)
