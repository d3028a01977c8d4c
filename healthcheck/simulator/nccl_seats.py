"""Where does each rank of a job sit, and what does its node have for it? From the cluster to the seats of its ranks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from healthcheck.model.algorithm import Algorithm, forced
from healthcheck.simulator.chips import chip_named
from healthcheck.simulator.cluster import Ran, SimCluster, SimNode
from healthcheck.simulator.communicators import Placed, groups
from healthcheck.simulator.gpu_names import gpu_model
from healthcheck.simulator.healthy import FEWEST_FOR_NVLS
from healthcheck.simulator.nccl_topology import PCIE_GBYTE_S, Seat
from healthcheck.simulator.nics import is_efa
from healthcheck.simulator.nvlinks import cells, is_switched
from healthcheck.simulator.rank_settings import allowed_hcas, visible_gpus


class _Job(Struct, frozen=True):
    """What all ranks of a communicator share. `first_ranks` and the `devices` a host, by its name in `positions`."""

    positions: dict[str, int]
    first_ranks: tuple[int, ...]
    devices: tuple[tuple[int, ...], ...]
    fewest_nics: int
    all_gdr: bool
    all_nvls: bool


# By the identity of the cluster; every rank of a job asks in turn.
@lru_cache(maxsize=4)
def _jobs(cluster: SimCluster, ran: Ran) -> tuple[_Job, ...]:
    """The communicators of a job: one of all its ranks, or those nccl-tests splits it into."""
    variables = dict(ran.env)
    return tuple(
        _Job(
            positions={name: position for position, name in enumerate(one.hosts)},
            first_ranks=tuple(itertools.accumulate(map(len, one.gpus), initial=0)),
            devices=one.gpus,
            fewest_nics=min(len(_nics(cluster.nodes[name], variables)) for name in one.hosts),
            all_gdr=all(cluster.nodes[name].gdr and not cluster.nodes[name].socket for name in one.hosts),
            all_nvls=all(cluster.nodes[name].capability.nvls for name in one.hosts),
        )
        for one in groups(cluster, Placed(ran.hosts, ran.ranks, 1, variables))
    )


def seat_of(cluster: SimCluster, ran: Ran, host: str, local_rank: int) -> Seat:
    """The seat of a rank; ValueError for a host that is not in the job."""
    if host not in ran.hosts:
        raise ValueError(f"{host} is not a host of this job")
    variables = dict(ran.env)
    device = visible_gpus(variables, cluster.nodes[host].gpus)[local_rank]
    job = next(
        one for one in _jobs(cluster, ran) if host in one.positions and device in one.devices[one.positions[host]]
    )
    position, n_hosts = job.positions[host], len(job.positions)
    devices = job.devices[position]
    platform = cluster.platform
    spec, chip = platform.nics, chip_named(gpu_model(platform))
    one_rack = 1 < n_hosts <= platform.nvlink_nodes
    joined_gpus = job.first_ranks[-1] if one_rack else len(devices)
    may_add_up = forced(ran.env) in (None, Algorithm.NVLS) and joined_gpus >= FEWEST_FOR_NVLS
    return Seat(
        n_hosts=n_hosts,
        gpus=len(devices),
        position=position,
        local_rank=devices.index(device),
        first_rank=job.first_ranks[position],
        previous_rank=job.first_ranks[(position - 1) % n_hosts],
        next_rank=job.first_ranks[(position + 1) % n_hosts],
        n_ranks=job.first_ranks[-1],
        nics=_nics(cluster.nodes[host], variables),
        nic_gbyte_s=spec.each_gbyte_s,
        link_layer="EFA" if is_efa(spec) else "IB" if spec.link_layer == "InfiniBand" else "RoCE",
        nvlink_gbyte_s=platform.intra_busbw_gbyte_s.value if platform.has_nvlink else 0.0,
        rings=max(1, min(job.fewest_nics, len(devices))),
        gdr=cluster.nodes[host].gdr,
        all_gdr=job.all_gdr,
        hangs=cluster.nodes[host].hang,
        devices=devices,
        cuda_device=local_rank,
        joined=cells(platform),
        switched=is_switched(platform) or platform.nvlink_nodes > 1,
        pcie_gbyte_s=PCIE_GBYTE_S[chip.pcie],
        reads_peers=chip.reads_peers,
        nvls=cluster.nodes[host].capability.nvls if platform.has_nvls else None,
        adds_up=platform.has_nvls and job.all_nvls and may_add_up,
        one_rack=one_rack,
    )


def _nics(node: SimNode, variables: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    """(device, share of its rate) of the ports that are up and may be used, in NCCL's order; none with TCP."""
    if node.socket:
        return ()
    rails = node.capability.rails
    return tuple((node.hcas[at], rails[at]) for at in allowed_hcas(variables, node.hcas) if rails[at] > 0.0)
