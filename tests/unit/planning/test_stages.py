"""Which jobs follow from a playbook, and that their ids hold from run to run."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.model.host import Host
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.units import Bytes
from healthcheck.planning.estimate import job_seconds, stage_seconds
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs

BOOK = Playbook(name="x", stages=())
HOSTS = tuple(Host(f"n{i}", f"n{i}", slots=8) for i in range(4))


def test_every_node_collective_and_repeat_has_one_job_with_an_id_of_its_own() -> None:
    stage = Stage(name="single_node", collectives=(Collective.ALL_REDUCE, Collective.ALL_GATHER), repeats=3)
    jobs = single_node_jobs(BOOK, stage, HOSTS)
    assert len(jobs) == 4 * 2 * 3 == len({job.id for job in jobs})
    assert all(job.hosts == (job.launch_host,) and job.n_ranks == 8 for job in jobs)
    assert jobs == single_node_jobs(BOOK, stage, HOSTS)


def test_a_fabric_job_takes_all_nodes_and_another_set_of_nodes_is_another_job() -> None:
    stage = Stage(name="multi_node")
    (job,) = multi_node_jobs(BOOK, stage, HOSTS, "n0")
    assert job.hosts == ("n0", "n1", "n2", "n3") and job.n_ranks == 32
    (other,) = multi_node_jobs(BOOK, stage, (*HOSTS[:3], Host("n9", "n9", slots=8)), "n0")
    assert other.id != job.id


def test_two_nodes_are_forced_onto_a_ring_unless_the_playbook_says_otherwise() -> None:
    stage = Stage(name="multi_node")
    assert ("NCCL_ALGO", "Ring") in multi_node_jobs(BOOK, stage, HOSTS[:2], "n0")[0].env
    assert not multi_node_jobs(BOOK, stage, HOSTS, "n0")[0].env
    chosen = Playbook(name="x", stages=(), env={"NCCL_ALGO": "Tree"})
    assert ("NCCL_ALGO", "Tree") in multi_node_jobs(chosen, stage, HOSTS[:2], "n0")[0].env


def test_one_node_is_no_fabric() -> None:
    assert multi_node_jobs(BOOK, Stage(name="multi_node"), HOSTS[:1], "n0") == ()


def test_sizes_are_those_of_the_sweep() -> None:
    stage = Stage(name="single_node", sizes=Sizes(Bytes.parse("512M"), Bytes.parse("8G"), 2))
    (job,) = single_node_jobs(BOOK, stage, HOSTS[:1])
    assert job.sizes == tuple((512 << 20) << n for n in range(5))


def test_jobs_on_different_nodes_run_at_once_and_those_on_one_node_do_not() -> None:
    stage = Stage(name="single_node", repeats=2)
    jobs = single_node_jobs(BOOK, stage, HOSTS)
    assert stage_seconds(jobs, 230.0) == 2 * job_seconds(jobs[0], 230.0)


def test_an_estimate_never_exceeds_the_deadline() -> None:
    (job,) = single_node_jobs(BOOK, Stage(name="single_node"), HOSTS[:1])
    assert job_seconds(job, 0.001) == job.timeout_s
