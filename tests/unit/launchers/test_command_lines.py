"""The command lines themselves: read them as a person who has to debug one at night would."""

from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace

from healthcheck.launchers import LAUNCHERS
from healthcheck.launchers.files import launch_files
from healthcheck.launchers.rank_log import RANK_SCRIPT
from healthcheck.launchers.site import LaunchSite
from healthcheck.launchers.srun import FORGOTTEN
from healthcheck.model.command import CollectiveJob
from healthcheck.model.host import Host
from healthcheck.model.node import MpiFlavour
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.slurm import SlurmJob
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs

BOOK = Playbook(name="x", stages=(), env={"NCCL_DEBUG": "WARN"})
HOSTS = tuple(Host(name, name, slots=8) for name in ("gpu01", "gpu02", "gpu03"))
FOLDER = "/home/op/.cache/healthcheck/run/t0"


def _jobs() -> tuple[CollectiveJob, CollectiveJob]:
    alone = single_node_jobs(BOOK, Stage(name="single_node"), HOSTS[:1])[0]
    return alone, multi_node_jobs(BOOK, Stage(name="multi_node"), HOSTS, "gpu01")[0]


def _line(family: str, version: str, job: CollectiveJob, folder: str | None) -> str:
    site = LaunchSite(MpiFlavour(family, version), PROGRAM, "t0", folder)
    return shlex.join(LAUNCHERS[family](job, site).argv)


PROGRAM = "/opt/nccl-tests/build/all_reduce_perf"
PLACE = {"single_node": "/tmp/healthcheck-t0.79be5a43", "multi_node": "/tmp/healthcheck-t0.93a84835"}
NCCL = "-b 536870912 -e 8589934592 -f 2 -g 1 -n 20 -w 5 -c 1"


def _rank(job: CollectiveJob) -> str:
    """Its deadline, the few words that give it a place for its log, the program."""
    return f"timeout -k 5 600 sh -c {shlex.quote(RANK_SCRIPT)} healthcheck-rank {PLACE[job.stage]} {PROGRAM}"


def test_the_words_in_front_of_a_rank() -> None:
    assert RANK_SCRIPT == (
        'p=$1; shift; if [ -z "${NCCL_DEBUG_FILE+set}" ]; then '
        'if d=$(umask 077; mktemp -d "$p.XXXXXXXX" 2>/dev/null); then '
        "NCCL_DEBUG_FILE=$d/nccl.%h.%p; NCCL_DEBUG=${NCCL_DEBUG:-INFO}; "
        "NCCL_DEBUG_SUBSYS=${NCCL_DEBUG_SUBSYS:-INIT,ENV,NET,GRAPH,TUNING}; "
        "export NCCL_DEBUG_FILE NCCL_DEBUG_SUBSYS; fi; "
        'NCCL_DEBUG=${NCCL_DEBUG:-WARN}; export NCCL_DEBUG; fi; exec "$@"'
    )


def test_one_node_is_eight_processes_of_one_gpu_each() -> None:
    alone, _ = _jobs()
    expected = (
        "mpirun -np 8 --host localhost:8 --map-by slot --bind-to none -x HEALTHCHECK_TOKEN=t0 -x NCCL_DEBUG=WARN "
        f"{_rank(alone)} {NCCL}"
    )
    assert _line("openmpi", "4.1.4", alone, None) == expected
    assert _line("openmpi", "5.0.11", alone, None) == expected


def test_open_mpi_4_over_nodes() -> None:
    assert _line("openmpi", "4.1.4", _jobs()[1], FOLDER) == (
        f"mpirun -np 24 --hostfile {FOLDER}/hostfile --leave-session-attached "
        "--mca orte_launch_agent 'env HEALTHCHECK_TOKEN=t0 timeout -k 5 600 orted' "
        f"--mca plm_rsh_args '-F {FOLDER}/ssh_config' --mca plm_rsh_no_tree_spawn 1 "
        "--mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 4 "
        f"--map-by slot --bind-to none -x HEALTHCHECK_TOKEN=t0 -x NCCL_DEBUG=WARN {_rank(_jobs()[1])} {NCCL}"
    )


def test_open_mpi_5_spells_it_differently() -> None:
    line = _line("openmpi", "5.0.11", _jobs()[1], FOLDER)
    assert "--prtemca prte_launch_agent 'env HEALTHCHECK_TOKEN=t0 timeout -k 5 600 prted'" in line
    assert f"--prtemca plm_ssh_args '-F {FOLDER}/ssh_config' --prtemca plm_ssh_no_tree_spawn 1" in line
    assert "--prtemca oob_tcp_keepalive_time 10" in line
    assert "orted" not in line and "plm_rsh" not in line


def test_hydra_takes_a_program_for_ssh_and_genv_for_the_environment() -> None:
    assert _line("hydra", "5.0.2", _jobs()[1], FOLDER) == (
        f"mpirun -n 24 -f {FOLDER}/hostfile -launcher ssh -launcher-exec {FOLDER}/ssh "
        f"-genv HEALTHCHECK_TOKEN t0 -genv NCCL_DEBUG WARN {_rank(_jobs()[1])} {NCCL}"
    )


FORGET = " ".join(f"-u {name}" for name in FORGOTTEN)
STEP = "srun --jobid=4711 --overlap --export=ALL --chdir=/ --cpu-bind=none --wait=0"
END = "--kill-on-bad-exit=1 --quit-on-interrupt --time=11"


def _step(slurm: SlurmJob, job: CollectiveJob) -> str:
    site = LaunchSite(MpiFlavour("srun", slurm.version), PROGRAM, "t0", slurm=slurm)
    return shlex.join(LAUNCHERS["srun"](job, site).argv)


def test_srun_over_nodes_is_one_step_of_the_job() -> None:
    assert _step(SlurmJob("4711", "22.05.8", "pmix"), _jobs()[1]) == (
        f"env {FORGET} SLURM_PMIX_FENCE=ring {STEP} --mpi=pmix {END} "
        "'--nodelist=gpu[01-03]' --nodes=3 --ntasks=24 --ntasks-per-node=8 "
        f"env HEALTHCHECK_TOKEN=t0 NCCL_DEBUG=WARN {_rank(_jobs()[1])} {NCCL}"
    )


def test_srun_on_one_node_with_gpus_that_slurm_counts() -> None:
    assert _step(SlurmJob("4711", "23.11.4", "pmi2", gpus_per_node=8), _jobs()[0]) == (
        f"env {FORGET} {STEP} --mpi=pmi2 {END} --nodelist=gpu01 --nodes=1 --ntasks=8 --ntasks-per-node=8 "
        f"--gpus-per-node=8 --gpu-bind=none env HEALTHCHECK_TOKEN=t0 NCCL_DEBUG=WARN {_rank(_jobs()[0])} {NCCL}"
    )


def test_srun_sorts_nodes_so_that_another_order_names_the_node_of_every_rank() -> None:
    hosts = tuple(Host(name, name, slots=2) for name in ("gpu03", "gpu01"))
    job = multi_node_jobs(BOOK, Stage(name="multi_node"), hosts, None)[0]
    line = _step(SlurmJob("4711", "22.05.8"), job)
    assert "--nodelist=gpu03,gpu03,gpu01,gpu01 --nodes=2 --ntasks=4 --distribution=arbitrary" in line


def test_srun_is_given_the_names_of_racks_one_by_one() -> None:
    hosts = tuple(Host(name, name, slots=2) for name in ("rack1-node5", "rack2-node5"))
    line = _step(SlurmJob("4711", "22.05.8"), multi_node_jobs(BOOK, Stage(name="multi_node"), hosts, None)[0])
    assert "--nodelist=rack1-node5,rack2-node5 --nodes=2 --ntasks=4 --ntasks-per-node=2" in line


def test_srun_before_20_11_knows_no_overlap() -> None:
    assert "--overlap" not in _step(SlurmJob("4711", "20.02.7"), _jobs()[1])


def test_srun_puts_nothing_of_the_users_environment_on_a_command_line() -> None:
    assert "--export=ALL " in _step(SlurmJob("4711"), _jobs()[1])


@pytest.mark.parametrize("family", LAUNCHERS)
def test_a_wrapper_stands_between_what_we_put_in_front_of_a_rank_and_its_program(family: str) -> None:
    wrapper = ("apptainer", "exec", "--nv", "/images/nccl tests.sif")
    for job in _jobs():
        bare = LaunchSite(MpiFlavour(family, "5.0"), PROGRAM, "t0", FOLDER)
        argv = LAUNCHERS[family](job, replace(bare, wrapper=wrapper)).argv
        place = argv.index("healthcheck-rank") + 2
        assert argv[place : place + 5] == (*wrapper, PROGRAM)
        assert (*argv[:place], *argv[place + 4 :]) == LAUNCHERS[family](job, bare).argv


def test_the_outer_deadline_is_later_than_that_of_the_ranks() -> None:
    job = _jobs()[1]
    site = LaunchSite(MpiFlavour("openmpi", "4"), "/x/all_reduce_perf", "t0", FOLDER)
    assert LAUNCHERS["openmpi"](job, site).deadline_s > job.timeout_s


def test_root_is_allowed_only_where_the_login_is_root() -> None:
    alone, _ = _jobs()
    as_root = LaunchSite(MpiFlavour("openmpi", "4"), "/x/all_reduce_perf", "t0", as_root=True)
    assert "--allow-run-as-root" in LAUNCHERS["openmpi"](alone, as_root).argv
    assert "--allow-run-as-root" not in _line("openmpi", "4.1.4", alone, None)


def test_the_launchers_ssh_obeys_the_hostfile_and_never_asks() -> None:
    hosts = (Host("gpu01", "10.0.0.1", port=2222, user="op", slots=8), Host("gpu02", "gpu02", slots=4))
    known = ("gpu01,[10.0.0.1]:2222 ssh-ed25519 AAAA",)
    files = launch_files("openmpi", hosts, (8, 4), known, FOLDER)
    assert files["hostfile"] == "gpu01 slots=8\ngpu02 slots=4\n"
    assert files["known_hosts"] == known[0] + "\n"
    config = files["ssh_config"]
    assert "Host gpu01\n    HostName 10.0.0.1\n    Port 2222\n    User op\n" in config
    assert "Host gpu02" not in config
    for rule in ("BatchMode yes", "StrictHostKeyChecking yes", "ConnectTimeout 10"):
        assert rule in config
    # In ssh the first value wins: ours have to stand before the user's own.
    assert config.index("StrictHostKeyChecking") < config.index("Include ~/.ssh/config")


def test_hydra_gets_its_own_hostfile_and_an_ssh_script() -> None:
    files = launch_files("hydra", HOSTS[:2], (8, 8), (), FOLDER)
    assert files["hostfile"] == "gpu01:8\ngpu02:8\n"
    assert files["ssh"] == f'#!/bin/sh\nexec ssh -F {FOLDER}/ssh_config "$@"\n'
