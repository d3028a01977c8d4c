"""A bandwidth that nothing measured explains: what its number is consistent with, and what speaks for and against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from healthcheck.diagnosis.causes import BY_CODE
from healthcheck.diagnosis.fingerprints import Hint, Shape, hints
from healthcheck.evaluation.rules import reading_gbyte_s
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.message import Arg, Message, listed, say
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict

UNEXPLAINED_SLOWNESS = frozenset({"far_below_peak", "below_peak", "below_known_good", "slow_vs_peers", "slow_vs_past"})
"""Causes that only say that a number is low."""
_BUSBW = "bandwidth.busbw"

SPEAKS_FOR: Mapping[str, tuple[str, ...]] = {
    "tcp_speed": ("transport.as_asked",),
    "ethernet_speed": ("transport.as_asked",),
    "gdr_lost": ("gdr.as_asked",),
    "network_inside": ("transport.as_asked", "p2p.as_asked"),
    "host_memory_speed": ("p2p.as_asked",),
    "pcie_speed": ("p2p.as_asked",),
    "capped_links": ("gpu.other_model",),
    "nvls_unused": ("nvls.as_asked",),
    "fewer_nics": ("nics.as_asked",),
    "half_of_nics": ("gdr.as_asked",),
    "through_cpu": ("gdr.as_asked",),
}
"""Rules of other results that speak for a cause. Whatever is a fault by itself explains the number, so nobody asks what
it looks like; these are ways that a run asked for, and a GPU that is not what it is taken for."""


class Looks(Struct, frozen=True):
    """What a slow job looks like: the code of a cause with the arguments of its texts, the sentence, and how sure."""

    cause: str
    args: dict[str, Arg]
    message: Message
    confidence: Confidence


class Hinting:
    """The looks and lines of a run, asked about one slow job after the other.

    `shapes` maps a job to what it was, `members` to its hosts; a job without a shape looks like nothing.
    """

    def __init__(
        self,
        platform: Platform | None,
        shapes: Mapping[str, Shape],
        checks: Iterable[CheckResult],
        members: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._platform = platform
        self._shapes = shapes
        self._members = members
        named = {rule for rules in SPEAKS_FOR.values() for rule in rules}
        named |= {rule for code in SPEAKS_FOR for rule in BY_CODE[code].contradicted}
        self._told: dict[str, dict[str, Verdict]] = {}
        for check in checks if shapes else ():
            host = check.component.host
            if host is not None:
                for name in named.intersection((check.rule, check.check)):
                    told = self._told.setdefault(name, {})
                    told[host] = max(check.verdict, told.get(host, check.verdict))

    def of(self, slow: Sequence[CheckResult]) -> Looks | None:
        """What the results of one fault look like; what a log or a look speaks for goes first.

        None where it is no bandwidth, and for what every host of the job has disproved.
        """
        reading = next((check for check in slow if check.check == _BUSBW and reading_gbyte_s(check) is not None), None)
        observed = None if reading is None else reading_gbyte_s(reading)
        shape = self._shapes.get(reading.job) if reading is not None else None
        if self._platform is None or reading is None or observed is None or shape is None:
            return None
        host = reading.component.host
        hosts = self._members.get(reading.job) or ((host,) if host is not None else ())
        found = [hint for hint in hints(self._platform, shape, observed) if not self._disproved(hint.cause, hosts)]
        if not found:
            return None
        found.sort(key=lambda hint: not self._spoken_for(hint.cause, hosts))
        first = found[0]
        sure = Confidence.LIKELY if self._spoken_for(first.cause, hosts) else Confidence.SUSPECTED
        return Looks(first.cause, first.message.args, consistent(observed, found), sure)

    def _spoken_for(self, code: str, hosts: Iterable[str]) -> bool:
        return any(
            self._told.get(rule, {}).get(host, Verdict.PASS) is not Verdict.PASS
            for rule in SPEAKS_FOR[code]
            for host in hosts
        )

    def _disproved(self, code: str, hosts: Sequence[str]) -> bool:
        return any(
            bool(hosts) and all(self._told.get(rule, {}).get(host) is Verdict.PASS for host in hosts)
            for rule in BY_CODE[code].contradicted
        )


def consistent(observed_gbyte_s: float, found: Sequence[Hint]) -> Message:
    """All that a number is consistent with, in one sentence."""
    looks = listed((hint.message for hint in found), "text.or")
    return say("hint.consistent", observed_gbyte_s=round(observed_gbyte_s, 2), looks=looks)
