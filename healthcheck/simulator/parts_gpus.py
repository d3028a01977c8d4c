"""What a simulated node says about its GPUs, NVLinks, fabric and topology."""

from __future__ import annotations

from collections.abc import Callable

from healthcheck.simulator.cluster import SimCluster, SimNode

PARTS: dict[str, Callable[[SimCluster, SimNode, str], str]] = {}
"""By name of the part of the probe batch; the last argument is the text of the part."""
