"""What lies between the nodes of a job: links, leaves, and what gets through between neighbours of its ring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from healthcheck.model.collective import Collective
from healthcheck.simulator.bandwidth import UNHINDERED, Edge
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.healthy import SPREADS_TO_ALL

ACROSS_SHARE = 0.99
"""Of the bandwidth of two nodes of one leaf, what two nodes of different leaves have."""


def edges(cluster: SimCluster, hosts: Sequence[str], collective: Collective) -> tuple[Edge, ...]:
    """What lies between each host and the next one in rank order, the last with the first; nothing for a single host.

    Of collectives in which everybody sends to everybody the worst of all pairs stands for each edge: what is slow
    between two hosts carries a small part of their traffic only.
    """
    if len(hosts) < 2:
        return ()
    if collective in SPREADS_TO_ALL:
        return (_to_all(cluster, hosts),) * len(hosts)
    return tuple(_between(cluster, one, other) for one, other in zip(hosts, (*hosts[1:], hosts[0]), strict=True))


def _between(cluster: SimCluster, one: str, other: str) -> Edge:
    leaf, other_leaf = cluster.nodes[one].leaf, cluster.nodes[other].leaf
    link = cluster.links.get(_ordered(one, other), UNHINDERED)
    if leaf == other_leaf:
        return Edge(link)
    return Edge(min(link, cluster.paths.get(_ordered(leaf, other_leaf), UNHINDERED)), ACROSS_SHARE)


def _to_all(cluster: SimCluster, hosts: Sequence[str]) -> Edge:
    present = set(hosts)
    others = len(hosts) - 1
    members = Counter(cluster.nodes[host].leaf for host in hosts)
    carried = [rate * others for (one, other), rate in cluster.links.items() if {one, other} <= present]
    carried += [
        rate * others / max(members[one], members[other])
        for (one, other), rate in cluster.paths.items()
        if members[one] and members[other]
    ]
    return Edge(min(carried, default=UNHINDERED), ACROSS_SHARE if len(members) > 1 else 1.0)


def _ordered(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)
