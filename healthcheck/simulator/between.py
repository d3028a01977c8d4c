"""What lies between the nodes of a job: links, leaves, and what gets through between neighbours of its ring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from healthcheck.model.collective import Collective
from healthcheck.simulator.bandwidth import SPREADS_TO_ALL
from healthcheck.simulator.cluster import SimCluster

ACROSS_SHARE = 0.99
"""Of the bandwidth of two nodes of one leaf, what two nodes of different leaves have."""


def edge_shares(cluster: SimCluster, hosts: Sequence[str], collective: Collective) -> tuple[float, ...]:
    """The share that gets through between each host and the next one in rank order, the last with the first.

    Of collectives in which everybody sends to everybody the worst of all pairs stands for each edge: what is slow
    between two hosts carries a small part of their traffic only. Empty for a single host.
    """
    if len(hosts) < 2:
        return ()
    if collective in SPREADS_TO_ALL:
        return (_to_all(cluster, hosts),) * len(hosts)
    return tuple(_between(cluster, one, other) for one, other in zip(hosts, (*hosts[1:], hosts[0]), strict=True))


def _between(cluster: SimCluster, one: str, other: str) -> float:
    leaf, other_leaf = cluster.nodes[one].leaf, cluster.nodes[other].leaf
    link = cluster.links.get(_ordered(one, other), 1.0)
    if leaf == other_leaf:
        return link
    return ACROSS_SHARE * min(link, cluster.paths.get(_ordered(leaf, other_leaf), 1.0))


def _to_all(cluster: SimCluster, hosts: Sequence[str]) -> float:
    present = set(hosts)
    others = len(hosts) - 1
    members = Counter(cluster.nodes[host].leaf for host in hosts)
    shares = [rate * others for (one, other), rate in cluster.links.items() if {one, other} <= present]
    shares += [
        rate * others / max(members[one], members[other])
        for (one, other), rate in cluster.paths.items()
        if members[one] and members[other]
    ]
    return min([1.0, *shares]) * (ACROSS_SHARE if len(members) > 1 else 1.0)


def _ordered(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)
