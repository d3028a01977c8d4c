"""Which ports of a node belong to the compute network?

The platform says how many compute ports of which link layer a node has. Other link layers never count. Where a node
has more ports of the right kind than promised, those next to a GPU are the compute ports; where that leaves a choice,
the kind of card and its firmware may tell them apart. How a port is doing never decides: a broken compute port would
be taken for a storage port, and a storage port for it. What stays open is named with all candidates, never one card
by guess. Where the platform does not say how many there are, none is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from msgspec import Struct

from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.platform import EFA, NicSpec, Platform
from healthcheck.probes.nearness import UNKNOWN, Nearness, nearness

INFINIBAND, ETHERNET = "infiniband", "ethernet"


class ComputePorts(Struct, frozen=True):
    """The ports that `sure`ly are compute ports, and `candidates` of which `places` are some more.

    `doubtful`: the way the GPUs are wired suggests that a compute port is missing, and that no candidate is one.
    """

    sure: tuple[Hca, ...]
    candidates: tuple[Hca, ...] = ()
    places: int = 0
    doubtful: bool = False

    @property
    def likely(self) -> tuple[Hca, ...]:
        """The sure ones, or all candidates where none is sure."""
        return self.sure or self.candidates

    @property
    def possible(self) -> tuple[Hca, ...]:
        """All that may be compute ports."""
        return (*self.sure, *self.candidates)


def compute_of(facts: NodeFacts, platform: Platform | None) -> ComputePorts:
    """The compute ports of a node; none where its cards were not seen."""
    return compute_ports(facts.hcas.value or (), platform, nearness(facts))


def compute_ports(ports: Sequence[Hca], platform: Platform | None, ways: Nearness = UNKNOWN) -> ComputePorts:
    """The compute ports as far as they can be told; see the head of this file.

    Without a platform: the ports of the link layer that most ports have, so that a storage card of another kind does
    not count; of these, the ones next to a GPU are sure.
    """
    if platform is None:
        common = Counter(port.link_layer for port in ports).most_common(1)
        alike = [port for port in ports if port.link_layer == common[0][0]]
        near = tuple(port for port in alike if port.device in ways.near)
        return ComputePorts(near, tuple(port for port in alike if port not in near))
    return _promised(of_kind(ports, platform.nics), platform.nics.count, ways)


def of_kind(ports: Sequence[Hca], promised: NicSpec) -> list[Hca]:
    """The ports with the link layer of the platform, or with one that was not told."""
    layer = promised.link_layer.lower()
    if layer == EFA:
        return [port for port in ports if port.efa]
    return [port for port in ports if not port.efa and port.link_layer.lower() in ("", layer)]


def _promised(ports: list[Hca], count: int, ways: Nearness) -> ComputePorts:
    if count == 0:
        return ComputePorts(())
    near = [port for port in ports if port.device in ways.near]
    if len(ports) <= count and not (near and ways.uneven):
        return ComputePorts(tuple(ports))
    for pool in (_nearest(near, ways), near, [port for port in ports if port.device not in ways.far]):
        if len(pool) == count:
            return ComputePorts(tuple(pool))
    if 0 < len(near) < count:
        # A compute card in the wrong slot, or one that is gone.
        rest = _alike([port for port in ports if port not in near], near)
        if len(near) + len(rest) <= count:
            return ComputePorts((*near, *rest))
        return ComputePorts(tuple(near), tuple(rest), count - len(near), doubtful=ways.uneven)
    pool = near or ports
    boards = [group for group in _groups(pool, _board) if len(group) >= count]
    if len(boards) == 1:
        (pool,) = boards
    # Within one kind of card another firmware may as well be drift, so it must fit exactly.
    firmwares = [group for group in _groups(pool, _firmware) if len(group) == count]
    if len(pool) == count or len(firmwares) == 1:
        return ComputePorts(tuple(pool if len(pool) == count else firmwares[0]))
    enabled = [port for port in pool if "disabled" not in port.physical_state.lower()]
    return ComputePorts((), tuple(enabled if len(enabled) >= count else pool), count)


def _nearest(near: Sequence[Hca], ways: Nearness) -> list[Hca]:
    least = min((ways.near[port.device] for port in near), default=0)
    return [port for port in near if ways.near[port.device] == least]


def _alike(ports: Sequence[Hca], known: Sequence[Hca]) -> list[Hca]:
    """Those on the kind of card the known ones are on. What was not told speaks against nothing."""
    boards = {_board(port) for port in known}
    return [port for port in ports if _board(port) in (boards | {None}) or None in boards]


def _board(port: Hca) -> str | None:
    return port.board_id or port.hca_type


def _firmware(port: Hca) -> str | None:
    return port.firmware


def _groups(ports: Sequence[Hca], key: Callable[[Hca], Hashable]) -> Iterator[list[Hca]]:
    for value in dict.fromkeys(map(key, ports)):
        yield [port for port in ports if key(port) == value]
