"""The jobs of a search: what they split, what they force, how long they take."""

from __future__ import annotations

import pytest

from healthcheck.evaluation.integrity import judge_integrity
from healthcheck.launchers.mpirun import command
from healthcheck.launchers.site import LaunchSite
from healthcheck.model.collective import Collective
from healthcheck.model.host import Host
from healthcheck.model.node import MpiFlavour
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.search import Pair, Purpose
from healthcheck.model.units import Bytes
from healthcheck.model.verdict import Verdict
from healthcheck.planning.estimate import search_costs
from healthcheck.planning.gpus import gpu_jobs
from healthcheck.planning.rails import PairWay, joint_job, pair_job, rail_job, rails_apart
from tests.unit.evaluation.builders import outcome, row

A, B = Host("a", "a", slots=8), Host("b", "b", slots=8)
STAGE = Stage("multi_node", sizes=Sizes(Bytes(1 << 30), Bytes(8 << 30)), env={"NCCL_TESTS_SPLIT": "DIV 2"})
PLAYBOOK = Playbook("p", (STAGE,))
PAIR = Pair("a", "b", Purpose.WALK)


def way(rails: int) -> PairWay:
    return PairWay(PLAYBOOK, STAGE, Collective.ALL_REDUCE, rails, 192.0 / rails)


def test_rails_are_measured_apart_in_one_job_by_the_slowest_rank() -> None:
    job = pair_job(3, PAIR, (A, B), "a", way(8))
    assert job.id == "localise-r03-a-b"
    assert dict(job.env) == {"NCCL_ALGO": "Ring", "NCCL_TESTS_SPLIT": "MOD 8"}
    argv = command(job, LaunchSite(MpiFlavour("openmpi", "4.1"), "/opt/all_reduce_perf", "t", "/f")).argv
    assert argv[-2:] == ("-a", "3") and "NCCL_TESTS_SPLIT=MOD 8" in argv
    assert (job.n_ranks, job.communicator_ranks) == (16, 2)


def test_whole_nodes_are_one_communicator() -> None:
    job = pair_job(2, PAIR, (A, B), "a", way(1))
    assert (job.groups, job.communicator_ranks, job.arguments) == (1, 16, ())


@pytest.mark.parametrize(
    ("tool", "version", "slots", "rails"),
    [
        ("nccl-tests", "2.17.10", 8, 8),
        (None, "2.14.0", 4, 4),
        ("nccl-tests", "2.13.11", 8, 1),
        ("nccl-tests", None, 8, 1),
        ("rccl-tests", "2.19.0", 8, 1),
        ("nccl-tests", "2.19.6", 1, 1),
    ],
)
def test_a_split_takes_a_version_that_is_known(tool: str | None, version: str | None, slots: int, rails: int) -> None:
    hosts = [Host("a", "a", slots=slots), Host("b", "b", slots=slots)]
    assert rails_apart(hosts, tool, version) == rails


def test_hosts_of_different_size_are_not_split() -> None:
    assert rails_apart([A, Host("b", "b", slots=4)], "nccl-tests", "2.19.6") == 1


def test_a_rail_by_itself_is_one_gpu_a_node_over_its_card() -> None:
    job = rail_job(A, B, 2, "mlx5_2", "a", way(1))
    assert job.ranks_per_host == (1, 1) and job.id == "localise-rail2-a-b"
    assert dict(job.env)["NCCL_IB_HCA"] == "=mlx5_2" and dict(job.env)["CUDA_VISIBLE_DEVICES"] == "2"
    assert "NCCL_IB_HCA" not in dict(rail_job(A, B, 2, None, "a", way(1)).env)


def test_a_joint_job_is_measured_as_the_slow_one_was() -> None:
    hosts = [B, A, Host("c", "c", slots=8)]
    job = joint_job("localise-r05-verify", hosts, "b", way(8), "multi_node")
    assert job.hosts == ("b", "a", "c") and job.stage == "multi_node"
    assert (job.min_bytes, job.max_bytes, job.iterations) == (1 << 30, 8 << 30, STAGE.iterations)


def test_a_table_of_one_group_is_whole_for_a_job_that_is_split() -> None:
    job = pair_job(2, PAIR, (A, B), "a", way(8))
    rows = (row(2 << 30, 24.0, 23.9, n_ranks=2),)
    assert judge_integrity(outcome(rows, of=job, n_ranks=2)).verdict is Verdict.PASS
    assert judge_integrity(outcome(rows, of=job, n_ranks=16)).rule == "integrity.ranks"


def test_the_gpus_of_a_node_meet_both_neighbours_and_their_half() -> None:
    jobs = gpu_jobs(PLAYBOOK, Stage("single_node"), A)
    assert [each.gpus for each in jobs][:2] == [(0, 1), (1, 2)] and jobs[7].gpus == (7, 0)
    assert [each.gpus for each in jobs][8:] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert dict(jobs[7].job.env)["CUDA_VISIBLE_DEVICES"] == "7,0" and jobs[7].job.n_ranks == 2
    assert gpu_jobs(PLAYBOOK, Stage("single_node"), Host("c", "c", slots=2)) == ()


def test_a_search_is_told_at_its_shortest_and_at_its_longest() -> None:
    clean, worst = search_costs(64, 20.0, 40.0, 16, None)
    assert (clean.rounds, clean.seconds, worst.rounds, worst.seconds) == (3, 80.0, 15, 600.0)
    assert worst.node_hours == pytest.approx(64 * 600 / 3600)
    assert search_costs(8, 20.0, 40.0, 16, None)[0].rounds == 8
    assert search_costs(64, 20.0, 40.0, 16, 300.0)[1].seconds == 300.0
