"""Who reduces with whom: the groups that nccl-tests makes of the ranks of a job, with the GPUs and HCAs each has.

Without a split all ranks are one group. With one (`NCCL_TESTS_SPLIT="MOD 8"`: a group a rail) all groups run at the
same time, and HCAs that several of them need are shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.algorithm import forced
from healthcheck.model.collective import Collective
from healthcheck.simulator.bandwidth import SICK_PACE, Job, NodeCapability
from healthcheck.simulator.between import edges
from healthcheck.simulator.chance import draw, healthy_nvlink, healthy_pace
from healthcheck.simulator.cluster import SimCluster, SimNode
from healthcheck.simulator.rank_settings import allowed_hcas, group_of_rank, visible_gpus


class Placed(Struct, frozen=True):
    """The ranks of a job: how many processes on each host, how many GPUs each of them has, and their variables.

    With `whole_nodes` the GPUs of a node are all it shows, however few ranks stand for them.
    """

    hosts: tuple[str, ...]
    processes: tuple[int, ...]
    gpus_per_process: int
    variables: Mapping[str, str]
    whole_nodes: bool = False


class Group(Struct, frozen=True):
    """One communicator: its number, its hosts in rank order, GPUs and HCAs of each by position, its ranks."""

    number: int
    hosts: tuple[str, ...]
    gpus: tuple[tuple[int, ...], ...]
    hcas: tuple[tuple[int, ...], ...]
    n_ranks: int


def groups(cluster: SimCluster, placed: Placed) -> tuple[Group, ...]:
    """The groups of a job; the one of rank 0, which is printed, first."""
    number_of = group_of_rank(placed.variables, cluster.tool_version)
    seen = tuple(visible_gpus(placed.variables, cluster.nodes[host].gpus) for host in placed.hosts)
    each = placed.gpus_per_process
    if number_of is None:
        counts = tuple(processes * each for processes in placed.processes)
        used = tuple(gpus if placed.whole_nodes else gpus[:count] for gpus, count in zip(seen, counts, strict=True))
        return (_group(cluster, placed, 0, dict(zip(placed.hosts, used, strict=True)), sum(counts)),)
    members: dict[int, dict[str, tuple[int, ...]]] = {}
    rank = 0
    for host, processes, gpus in zip(placed.hosts, placed.processes, seen, strict=True):
        for process in range(processes):
            mine = members.setdefault(number_of(rank), {})
            mine[host] = (*mine.get(host, ()), *gpus[process * each : (process + 1) * each])
            rank += 1
    return tuple(
        _group(cluster, placed, number, gpus_of, sum(map(len, gpus_of.values()))) for number, gpus_of in members.items()
    )


def jobs(cluster: SimCluster, placed: Placed, collective: Collective, key: str) -> tuple[Job, ...]:
    """What the bandwidth model has to know of each group, in the order of `groups`.

    `key` decides which intermittent nodes are sick.
    """
    made = groups(cluster, placed)
    algorithm = forced(placed.variables.items())
    load = Counter((host, hca) for one in made for host, hcas in zip(one.hosts, one.hcas, strict=True) for hca in hcas)
    sick = {host for host in placed.hosts if draw(cluster.run_seed, host, key, "sick") < cluster.nodes[host].sick_jobs}

    def capability(host: str, gpus: tuple[int, ...], hcas: tuple[int, ...]) -> NodeCapability:
        node = cluster.nodes[host]
        rails = tuple(node.capability.rails[hca] * node.carried[hca] / load[host, hca] for hca in hcas)
        # The links that are inactive, as the probes tell it, are those of GPU 0.
        nvlink = (node.capability.nvlink if 0 in gpus else 1.0) * healthy_nvlink(cluster.seed, host)
        pace = healthy_pace(cluster.seed, host) * (SICK_PACE if host in sick else 1.0)
        return replace(node.capability, nvlink=nvlink, rails=rails, pace=pace)

    return tuple(
        Job(
            platform=cluster.platform,
            collective=collective,
            nodes=tuple(map(capability, one.hosts, one.gpus, one.hcas)),
            gpus_per_node=tuple(map(len, one.gpus)),
            n_ranks=one.n_ranks,
            edges=edges(cluster, one.hosts, collective),
            algorithm=algorithm,
        )
        for one in made
    )


def _group(
    cluster: SimCluster, placed: Placed, number: int, gpus_of: Mapping[str, tuple[int, ...]], n_ranks: int
) -> Group:
    hcas = tuple(_hcas(cluster, cluster.nodes[host], gpus, placed.variables) for host, gpus in gpus_of.items())
    return Group(number, tuple(gpus_of), tuple(gpus_of.values()), hcas, n_ranks)


def _hcas(cluster: SimCluster, node: SimNode, gpus: Sequence[int], variables: Mapping[str, str]) -> tuple[int, ...]:
    """The HCAs that carry a group's traffic on a node: those near its GPUs, else the next one it may use that is up."""
    near = _near(cluster, gpus)
    allowed = allowed_hcas(variables, node.hcas)
    used = tuple(hca for hca in allowed if hca in near)
    up = [hca for hca in allowed if node.capability.rails[hca] > 0.0]
    if not up or not set(up).isdisjoint(used):
        return used
    return (min(up, key=lambda hca: abs(hca - min(near, default=0))),)


def _near(cluster: SimCluster, gpus: Sequence[int]) -> set[int]:
    """Positions of the HCAs on the PCIe switches of these GPUs."""
    places, count = cluster.platform.gpu.count, cluster.platform.nics.count
    first = [gpu * count // places for gpu in gpus]
    last = [max(start + 1, (gpu + 1) * count // places) for gpu, start in zip(gpus, first, strict=True)]
    return {hca for start, end in zip(first, last, strict=True) for hca in range(start, end)}
