"""What simulated nodes answer: clean when healthy, and each planted fault where an operator would see it."""

from __future__ import annotations

import math

import pytest

from healthcheck.model.collective import Collective
from healthcheck.model.host import Host
from healthcheck.model.measurement import FailureKind, OutputState
from healthcheck.model.node import NodeFacts
from healthcheck.parsing.launcher_output import classify
from healthcheck.probes.batch import batch_argv, split
from healthcheck.probes.leftovers import parse_sweep, sweep_argv
from healthcheck.probes.read import probe_parts, read_node
from healthcheck.simulator.answers import answer
from healthcheck.simulator.cluster import SimCluster
from tests.unit.simulator.sim import HOSTFILE, busbw, cluster, mpirun, parsed, run_all, run_single


def facts(sim: SimCluster, name: str) -> NodeFacts:
    parts = probe_parts("/opt/nccl-tests/build", (Collective.ALL_REDUCE, Collective.ALLTOALL))
    reply = answer(sim, host(sim, name), batch_argv(parts, "n0nce"), {})
    return read_node(name, split(reply.stdout, "n0nce"))


def host(sim: SimCluster, name: str) -> Host:
    return next(one for one in sim.hosts() if one.name == name)


def test_a_healthy_node_is_read_without_a_gap() -> None:
    found = facts(cluster(), "node03")
    assert [gpu.name for gpu in found.gpus.value or ()] == ["NVIDIA A100-SXM4-80GB"] * 8
    assert [(hca.device, hca.active, hca.rate_gbit_s) for hca in found.hcas.value or ()] == [
        (f"mlx5_{index}", True, 200.0) for index in range(8)
    ]
    assert found.gpu_processes.value == ()
    assert found.mpi.value is not None
    assert (found.mpi.value.family, found.mpi.value.major) == ("openmpi", 4)
    assert found.binary.value is not None
    assert found.binary.value.mpi_built
    assert found.binary.value.missing_libraries == ()


def test_no_two_nodes_share_a_gpu() -> None:
    sim = cluster()
    uuids = [gpu.uuid for name in sim.nodes for gpu in facts(sim, name).gpus.value or ()]
    assert len(set(uuids)) == 64


def test_a_half_rate_hca_shows_its_rate_and_nothing_else_changes() -> None:
    rates = [hca.rate_gbit_s for hca in facts(cluster("node05:hca=mlx5_2,rate=0.5"), "node05").hcas.value or ()]
    assert rates == [200.0, 200.0, 100.0, 200.0, 200.0, 200.0, 200.0, 200.0]


def test_a_port_that_is_down_says_so() -> None:
    ports = facts(cluster("node05:hca=mlx5_2,down"), "node05").hcas.value or ()
    assert [port.device for port in ports if not port.active] == ["mlx5_2"]


def test_missing_gpus_are_not_listed_and_fail_the_job_as_the_true_program_does() -> None:
    sim = cluster("node03:gpus=7")
    assert len(facts(sim, "node03").gpus.value or ()) == 7
    for reply in (run_single(sim, "node03"), run_all(sim)):
        assert reply.exit_code == 5
        assert "Invalid number of GPUs: 8 requested but only 7 were found." in reply.stderr
        assert parsed(reply).state is OutputState.FAILED
    assert "Process name: [[48126,1],23]" in run_all(sim).stderr
    old = run_single(cluster("node03:gpus=7", version="2.16.9"), "node03")
    assert old.exit_code == 2
    assert "invalid device ordinal" in old.stdout


def test_a_busy_node_shows_whose_process_it_is() -> None:
    processes = facts(cluster("node08:busy"), "node08").gpu_processes.value or ()
    assert [(process.name, process.user, process.token) for process in processes] == [("python3", "mlteam", None)]


@pytest.mark.parametrize(("version", "exit_code"), [("2.10.1", 1), ("2.16.9", 1), ("2.17.10", 7), ("2.19.6", 7)])
def test_a_corrupt_node_fails_alone_and_with_others_and_spoils_no_job_without_it(version: str, exit_code: int) -> None:
    sim = cluster("node02:corrupt", version=version)
    for reply in (run_single(sim, "node02"), run_all(sim)):
        assert reply.exit_code == exit_code
        assert "FAILED" in reply.stdout
        failures = [failure.kind for failure in parsed(reply).failures]
        assert FailureKind.DATA_CHECK in failures
    assert parsed(run_single(sim, "node01")).state is OutputState.COMPLETE


def test_unchecked_wrong_values_stay_unseen() -> None:
    sim = cluster("node02:corrupt")
    argv = (*mpirun("--host localhost:8", 8)[:-1], "0")
    reply = answer(sim, host(sim, "node02"), argv, {})
    assert reply.exit_code == 0
    assert parsed(reply).verified is False


def test_a_hanging_node_prints_its_head_and_never_ends() -> None:
    sim = cluster("node07:hang", job_seconds=20.0)
    for reply in (run_single(sim, "node07"), run_all(sim)):
        assert math.isinf(reply.duration_s)
        assert "# Using devices" in reply.stdout
        assert parsed(reply).tables == () or parsed(reply).tables[0].rows == ()
    assert run_single(sim, "node01").duration_s == 20.0


def test_a_job_with_an_unreachable_host_ends_as_mpirun_does_and_names_it() -> None:
    reply = run_all(cluster("node04:unreachable"))
    failure = classify(reply.stdout, reply.stderr, reply.exit_code)
    assert reply.exit_code == 255
    assert failure is not None
    assert failure.host == "node04"


def test_slow_nvlinks_are_seen_on_their_own_node_only() -> None:
    sim = cluster("node03:nvlink=0.6")
    assert busbw(run_single(sim, "node03"))[-1] == pytest.approx(0.6 * 231.6, rel=0.02)
    assert busbw(run_single(sim, "node02"))[-1] == pytest.approx(231.6, rel=0.02)


def test_a_slow_hca_is_seen_between_nodes_only() -> None:
    sim = cluster("node05:hca=mlx5_2,rate=0.5")
    assert busbw(run_single(sim, "node05"))[-1] == pytest.approx(231.6, rel=0.02)
    assert busbw(run_all(sim))[-1] == pytest.approx(96, rel=0.02)


def test_the_same_seed_gives_the_same_bytes_and_repeats_differ() -> None:
    first, second = cluster(seed=4), cluster(seed=4)
    runs = [run_all(first).stdout, run_all(first).stdout]
    assert runs == [run_all(second).stdout, run_all(second).stdout]
    assert runs[0] != runs[1]
    assert runs[0] != run_all(cluster(seed=5)).stdout


def test_planted_noise_spreads_the_readings() -> None:
    def spread(*faults: str) -> float:
        sim = cluster(*faults, nodes=30)
        largest = [busbw(run_single(sim, name))[-1] for name in sim.nodes]
        return (max(largest) - min(largest)) / max(largest)

    assert spread() < 0.02 < spread("noise=0.03") < 0.3


def test_jobs_can_be_launched_from_the_machine_beside_the_cluster() -> None:
    sim = cluster(nodes=2)
    files = {HOSTFILE: b"node01 slots=8\nnode02 slots=8\n"}
    reply = answer(sim, Host("localhost", "localhost"), mpirun(f"--hostfile {HOSTFILE}", 16), files)
    assert parsed(reply).tables[0].hosts == ("node01", "node02")
    assert facts_of_localhost_are_clean(sim)


def facts_of_localhost_are_clean(sim: SimCluster) -> bool:
    reply = answer(sim, Host("localhost", "localhost"), batch_argv(probe_parts(None), "n0nce"), {})
    found = read_node("localhost", split(reply.stdout, "n0nce"))
    return found.mpi.observed and found.gpus.observed


def test_hydra_and_short_hostfile_lines_are_understood_too() -> None:
    sim = cluster(nodes=2)
    files = {HOSTFILE: b"node01:8\nnode02:8\n"}
    argv = ("mpirun", "-n", "16", "-f", HOSTFILE, "-genv", "A", "b", "/opt/all_gather_perf", "-b", "1G", "-e", "1G")
    reply = answer(sim, sim.hosts()[0], argv, files)
    assert parsed(reply).tables[0].n_ranks == 16
    assert parsed(reply).tables[0].hosts == ("node01", "node02")


@pytest.mark.parametrize(
    ("argv", "exit_code", "text"),
    [
        (mpirun("--host localhost:8", 9), 1, "There are not enough slots available in the system to satisfy the 9"),
        (mpirun("--hostfile /nowhere", 8), 1, "unable to open the hostfile"),
        (mpirun("--host node99:8", 8), 255, "Could not resolve hostname node99"),
        (mpirun("--host localhost:8", 8, sizes="-b 8G -e 1G"), 255, "invalid sizes for 'minbytes' and 'maxbytes'"),
        (("mpirun", "-np", "8", "/opt/nosuch_perf"), 132, "Executable: /opt/nosuch_perf"),
        (("rm", "-rf", "/"), 127, "only what healthcheck sends is answered"),
        (("sh", "-c", "touch /tmp/x"), 127, "only what healthcheck sends is answered"),
        ((), 127, "only what healthcheck sends is answered"),
        (("sha256sum", "/nowhere"), 1, "No such file or directory"),
    ],
)
def test_what_cannot_be_done_ends_with_the_text_and_code_of_the_real_thing(
    argv: tuple[str, ...], exit_code: int, text: str
) -> None:
    sim = cluster()
    reply = answer(sim, sim.hosts()[0], argv, {})
    assert reply.exit_code == exit_code
    assert text in reply.stderr


def test_a_sweep_finds_nothing_left() -> None:
    sim = cluster()
    reply = answer(sim, sim.hosts()[0], sweep_argv("t0", end=True), {})
    assert (reply.exit_code, parse_sweep(reply.stdout)) == (0, ())


def test_pushed_files_have_their_hash() -> None:
    sim = cluster()
    reply = answer(sim, sim.hosts()[0], ("sha256sum", "--", "/a"), {"/a": b"hello"})
    assert reply.stdout == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  /a\n"
    again = answer(sim, sim.hosts()[0], ("sh", "-c", "...", "healthcheck-hash", "/a"), {"/a": b"hello"})
    assert again.stdout == f"1000\n{reply.stdout}"
