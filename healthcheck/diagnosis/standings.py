"""Where every node and every link stands, given the evidence. The rules and their numbers: docs/localisation.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from healthcheck.diagnosis.evidence import LOSSES, link_odds
from healthcheck.diagnosis.weighing import LIKELY, Edge, Weighing
from healthcheck.model.search import LinkStanding, NodeStanding, Standing

FALSE_NAME_RATE = 0.01
"""Of all nodes together: about one false name in a hundred runs, as far as the noise model holds."""
FALSE_LINK_RATE = 0.001
"""A link that is slow loses a third and more; a small loss that came twice is more often a dip that came twice."""
LEAST_LOSS, CLEARED_BELOW = 0.045, 0.05
BEYOND_NOISE, LEAST_SHARE_SHOWN = 5.0, 0.8
"""A loss d shows as at least 0.8 d, five times the noise aside."""
OUT_OF_DOUBT, OUT_OF_DOUBT_ASKED, FEW_SICK = 0.03, 0.01, 0.03
PROVEN, PROVEN_LARGE, LARGE = 1e-5, 3e-6, 256
MOST_LINK_TRIES = 4
LEAF_WIDE_NODES, LEAF_WIDE_SHARE = 4, 0.6

CALM = (Standing.GOOD, Standing.CLEAR)


def node_standings(weighing: Weighing, sought: float) -> tuple[NodeStanding, ...]:
    """Every node; `sought` is the smallest loss that is looked for, as a fraction."""
    hosts = weighing.problem.hosts
    count = len(hosts)
    loss = [sum(p * d for p, d in zip(weights, LOSSES, strict=True)) for weights in weighing.belief]
    cleared = _slow_with_cleared(weighing, loss, sought)
    partners = _partners(weighing, range(len(weighing.ends)))
    ruled_out = _losses_ruled_out(weighing)
    proven = PROVEN if count <= LARGE else PROVEN_LARGE
    # Where many are sick, as many more would be cleared by luck. Who asks for a sensitivity wants it rather than speed.
    doubtless = OUT_OF_DOUBT if weighing.problem.sensitivity is None else OUT_OF_DOUBT_ASKED
    doubtless *= min(1.0, (FEW_SICK / weighing.sick_share) ** 2)
    first = next(place for place, d in enumerate(LOSSES) if d >= sought - 1e-9)
    found = []
    for node, host in enumerate(hosts):
        weights = weighing.belief[node]
        sick, large = 1 - weights[0], sum(weights[first:])
        odds = sick / weights[0] if weights[0] > 0 else float("inf")
        sure = odds > count / FALSE_NAME_RATE and loss[node] >= LEAST_LOSS and len(cleared[node]) >= 2
        if sure and not (_beyond_one_boundary(weighing, node, cleared[node]) or loss[node] > ruled_out[node]):
            standing = Standing.CONFIRMED
        elif not partners[node]:
            standing = Standing.UNTESTED
        elif sick > LIKELY:
            # Also where the loss is less than what is looked for: no good partner, and no reason to blame its links.
            standing = Standing.LIKELY
        elif large < proven:
            standing = Standing.GOOD
        elif large < doubtless:
            standing = Standing.CLEAR
        else:
            standing = Standing.SUSPECTED
        found.append(NodeStanding(host, standing, loss[node], sick, len(partners[node])))
    return _masked(weighing, found)


def _partners(weighing: Weighing, places: Sequence[int]) -> list[set[int]]:
    partners: list[set[int]] = [set() for _ in weighing.problem.hosts]
    for index in places:
        a, b = weighing.ends[index]
        partners[a].add(b)
        partners[b].add(a)
    return partners


def _slow_with_cleared(weighing: Weighing, loss: Sequence[float], sought: float) -> list[set[int]]:
    """For each node the partners that are themselves cleared and with which it was slow."""
    found: list[set[int]] = [set() for _ in loss]
    for index, (a, b) in enumerate(weighing.ends):
        slow = weighing.residual[index] < -max(sought / 2, weighing.known[index].noise)
        if slow and index not in weighing.explained:
            if loss[b] < CLEARED_BELOW:
                found[a].add(b)
            if loss[a] < CLEARED_BELOW:
                found[b].add(a)
    return found


def _beyond_one_boundary(weighing: Weighing, node: int, cleared: set[int]) -> bool:
    """Whether all it was slow with lie on one other leaf: then it may as well be what lies between the two leaves."""
    leaves = weighing.problem.leaves
    others = {leaves[partner] for partner in cleared}
    return len(others) == 1 and leaves[node] not in others


def _losses_ruled_out(weighing: Weighing) -> list[float]:
    """For each node the smallest loss that one of its readings was far too good for, in any noise; 1 for none.

    A node hides its loss in every job. Who was once as fast as others is not slow itself; its links may be.
    """
    ruled_out = [1.0] * len(weighing.problem.hosts)
    for index, ends in enumerate(weighing.ends):
        if index not in weighing.explained:
            most = (BEYOND_NOISE * weighing.known[index].noise - weighing.residual[index]) / LEAST_SHARE_SHOWN
            for node in ends:
                ruled_out[node] = min(ruled_out[node], most)
    return ruled_out


def _masked(weighing: Weighing, nodes: Sequence[NodeStanding]) -> tuple[NodeStanding, ...]:
    """Nodes heard only beside confirmed ones, or over slow paths, are untested."""
    heard = _partners(weighing, [i for i in range(len(weighing.ends)) if i not in weighing.explained])
    confirmed = {place for place, node in enumerate(nodes) if node.standing is Standing.CONFIRMED}
    return tuple(
        replace(node, standing=Standing.UNTESTED, masked=True)
        if place not in confirmed and node.partners and heard[place] <= confirmed
        else node
        for place, node in enumerate(nodes)
    )


def link_standings(weighing: Weighing, nodes: Sequence[NodeStanding], sought: float) -> tuple[LinkStanding, ...]:
    """Edges that are slow though both ends are well elsewhere, and edges that a confirmed end hides."""
    by_edge: dict[Edge, list[int]] = {}
    for index, (a, b) in enumerate(weighing.ends):
        if index not in weighing.explained:
            by_edge.setdefault((min(a, b), max(a, b)), []).append(index)
    found = []
    for edge, places in sorted(by_edge.items()):
        ends = [nodes[end].standing for end in edge]
        slow = [i for i in places if weighing.residual[i] < -max(3 * weighing.known[i].noise, 0.6 * sought)]
        if Standing.CONFIRMED in ends:
            state = "masked"
        elif slow and all(standing in CALM for standing in ends):
            state = _link_state(len(slow), len(places), link_odds(weighing.weights[edge]), len(by_edge))
            if state == "confirmed" and Standing.CLEAR in ends:
                state = "likely"
        else:
            continue
        loss = -median(weighing.residual[i] for i in slow or places)
        found.append(LinkStanding(nodes[edge[0]].host, nodes[edge[1]].host, state, loss, len(places)))
    return tuple(found)


def _link_state(slow: int, times: int, odds: float, edges: int) -> str:
    if times == 1:
        return "open"
    if slow == times and odds > edges / FALSE_LINK_RATE:
        return "confirmed"
    return "open" if slow == times and times < MOST_LINK_TRIES else "one_off"


def intermittent(nodes: Sequence[NodeStanding], links: Sequence[LinkStanding]) -> tuple[NodeStanding, ...]:
    """A calm node at which two links are slow is itself suspected: it may be sick only now and then."""
    at: dict[str, int] = {}
    for link in links:
        if link.state in ("confirmed", "likely"):
            at[link.a] = at.get(link.a, 0) + 1
            at[link.b] = at.get(link.b, 0) + 1
    return tuple(
        replace(node, standing=Standing.SUSPECTED, intermittent=True)
        if at.get(node.host, 0) >= 2 and node.standing in CALM
        else node
        for node in nodes
    )


def leaf_wide(nodes: Sequence[NodeStanding], leaf: Mapping[str, str]) -> tuple[str, ...]:
    """Leaves most of whose nodes are sick: the leaf switch, or something its nodes share."""
    sick: dict[str, int] = {}
    size: dict[str, int] = {}
    for node in nodes:
        name = leaf[node.host]
        size[name] = size.get(name, 0) + 1
        sick[name] = sick.get(name, 0) + (node.standing in (Standing.CONFIRMED, Standing.LIKELY))
    return tuple(
        name
        for name in sorted(size)
        if name and sick[name] >= LEAF_WIDE_NODES and sick[name] >= LEAF_WIDE_SHARE * size[name]
    )
