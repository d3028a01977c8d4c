"""Which ports of a node belong to the compute network?

The platform says how many compute ports of which link layer and rate a node has. Other link layers never count.
Where a node has more ports of the right kind than promised, the ones that are up at the promised rate are taken
first; when they are enough, the others are storage or management ports and produce no finding. When they are not
enough, the firmware most of the good ones run tells compute cards from others; where even that leaves a choice, the
node is named with all candidates, never one card by guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from healthcheck.model.node import Hca
from healthcheck.model.platform import NicSpec, Platform

INFINIBAND, ETHERNET = "infiniband", "ethernet"


def of_kind(ports: Sequence[Hca], promised: NicSpec) -> list[Hca]:
    """The ports with the link layer of the platform, or with one that was not told."""
    return [port for port in ports if port.link_layer.lower() in ("", promised.link_layer.lower())]


def compute_ports(of_kind: list[Hca], promised: NicSpec) -> tuple[list[Hca], list[Hca]]:
    """(ports that surely are compute ports, candidates for the places still open); see the head of this file."""
    if len(of_kind) <= promised.count:
        return of_kind, []
    good = [port for port in of_kind if port.active and (port.rate_gbit_s or 0) >= promised.rate_gbit_s]
    if len(good) >= promised.count:
        return good[: promised.count], []
    rest = [port for port in of_kind if port not in good]
    places = promised.count - len(good)
    for likely in (
        _same_firmware(rest, good),
        [port for port in rest if "disabled" not in port.physical_state.lower()],
    ):
        narrowed = [port for port in rest if port in likely]
        if len(narrowed) >= places:
            rest = narrowed
    return ([*good, *rest], []) if len(rest) == places else (good, rest)


def surely_compute(ports: Sequence[Hca], platform: Platform | None) -> list[Hca]:
    """The compute ports as far as they are certain.

    Without a platform: the ports of the link layer that most ports have, so that a storage card of another kind does
    not count.
    """
    if platform is not None:
        return compute_ports(of_kind(ports, platform.nics), platform.nics)[0]
    common = Counter(port.link_layer for port in ports).most_common(1)
    return [port for port in ports if port.link_layer == common[0][0]]


def _same_firmware(rest: list[Hca], good: list[Hca]) -> list[Hca]:
    common = Counter(port.firmware for port in good if port.firmware is not None).most_common(1)
    return [port for port in rest if common and port.firmware == common[0][0]]
