"""What a simulated node says about its operating system."""

from __future__ import annotations

from collections.abc import Callable

from healthcheck.simulator.cluster import SimCluster, SimNode


def clock(cluster: SimCluster, node: SimNode, text: str) -> str:
    """The time of day, and that it is kept by a time server."""
    return f"now {cluster.now():.9f}\nsynchronised yes\n"


PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {
    "clock": clock,
    "clock_end": clock,
}
"""By name of the part of the probe batch; the last argument is the text of the part."""
