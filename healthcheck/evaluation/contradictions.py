"""Does a machine type contradict itself? What is published about it must fit below what can be reached at most."""

from __future__ import annotations

from collections.abc import Iterator

from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS, verdict_of_fraction
from healthcheck.evaluation.peaks import ceiling_gbyte_s, peak, possible_algorithms
from healthcheck.evaluation.reading import tenths
from healthcheck.model.collective import Collective
from healthcheck.model.message import Message, say
from healthcheck.model.platform import KnownGood, Platform
from healthcheck.model.verdict import Verdict

_MANY = 4096

Place = tuple[str | int, ...]
"""The key path in the file, such as `("known_good_gbyte_s", 1, "value")`."""


def contradictions(platform: Platform) -> Iterator[tuple[Place, Message]]:
    """Where, and what is wrong there; nothing for a type that agrees with itself."""
    for index, known in enumerate(platform.known_good_gbyte_s):
        yield from _of_reading(("known_good_gbyte_s", index), known, platform)


def _of_reading(place: Place, known: KnownGood, platform: Platform) -> Iterator[tuple[Place, Message]]:
    if known.algorithm is not None and known.algorithm not in possible_algorithms(platform):
        yield (*place, "algorithm"), say("platform.contradiction.algorithm", algorithm=known.algorithm.value)
        return
    # A range that holds for any number of nodes must hold for many.
    ceilings = [
        ceiling_gbyte_s(platform, nodes, known.collective, gpus=known.gpus, algorithm=known.algorithm)
        for nodes in (known.min_nodes, known.max_nodes or _MANY)
    ]
    ceiling = min((found for found in ceilings if found is not None), default=None)
    if ceiling is None or None in ceilings:
        yield (*place, "min_nodes"), say("platform.contradiction.no_bound")
    elif known.value > ceiling:
        yield (*place, "value"), say("platform.contradiction.ceiling", value=known.value, ceiling_gbyte_s=ceiling)
    elif (problem := _slow(known, platform)) is not None:
        yield (*place, "value"), problem


def _slow(known: KnownGood, platform: Platform) -> Message | None:
    """What is called healthy here would be slow by the thresholds; they are made for the all-reduce."""
    for nodes in (known.min_nodes, known.max_nodes or _MANY):
        top = peak(platform, nodes, known.collective, gpus=known.gpus)
        limits = platform.thresholds.get("single_node" if nodes == 1 else "multi_node", DEFAULT_THRESHOLDS)
        if top is None:
            continue
        fraction = known.value / top.busbw_gbyte_s
        verdict, _ = verdict_of_fraction(fraction, limits.healthy, limits.broken)
        others = known.collective is not Collective.ALL_REDUCE
        if verdict is Verdict.FAIL or (verdict is Verdict.DEGRADED and not others):
            return say(
                "platform.contradiction.slow",
                value=known.value,
                percent=tenths(fraction, limits.healthy, limits.broken),
                peak_gbyte_s=top.busbw_gbyte_s,
                verdict=verdict.name,
            )
    return None
