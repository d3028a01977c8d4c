"""The worked example of a search: 16 nodes on two leaves, rail 2 of node06 at half rate, one dip."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.evaluation.reading import told_at
from healthcheck.model.component import FABRIC, hca, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.message import say
from healthcheck.model.reading import Evidence
from healthcheck.model.record import RunRecord
from healthcheck.model.search import (
    FullLine,
    Kind,
    LinkStanding,
    NodeStanding,
    PairLine,
    Purpose,
    RailsRecord,
    RoundRecord,
    SearchRecord,
    Standing,
)
from healthcheck.model.verdict import Verdict
from tests.golden.records import healthy, multi, names

LEVEL = 47.6
WALK = (
    (48.6, 47.6, 24.3, 47.2, 48.0, 47.4, 48.0, 46.8),
    (40.5, 48.7, 24.6, 47.4, 47.7, 47.9, 47.7, 46.9),
)


def _pair(number: int, a: str, b: str, purpose: Purpose, value: float | None) -> PairLine:
    loss = 0.9 if value is None else round(1 - value / LEVEL, 4)
    return PairLine(a, b, purpose, value, LEVEL, loss, f"localise-r{number:02d}-{a}-{b}")


def _search(hosts: tuple[str, ...], rest: tuple[str, ...]) -> SearchRecord:
    ring = (*hosts, hosts[0])
    even, odd = (
        tuple(
            _pair(first + 2, ring[2 * place + first], ring[2 * place + first + 1], Purpose.WALK, value)
            for place, value in enumerate(WALK[first])
        )
        for first in (0, 1)
    )
    again = (
        _pair(4, "node02", "node03", Purpose.LINK, 47.8),
        _pair(4, "node04", "node07", Purpose.CONTROL, 46.4),
        _pair(4, "node08", "node10", Purpose.CONTROL, 48.2),
    )
    return SearchRecord(
        ending="verified",
        shortfall=0.4817,
        unseen=0.1,
        noise=0.012,
        rounds=(
            RoundRecord(1, Kind.SLOW_RUN, fulls=(FullLine(hosts, 184.0, 355.0, "multi_node.all_reduce.found"),)),
            RoundRecord(2, Kind.RAILS, pairs=even),
            RoundRecord(3, Kind.RAILS, pairs=odd),
            RoundRecord(4, Kind.RAILS, pairs=again, untested=(("node11", "node13"),)),
            RoundRecord(5, Kind.VERIFY, fulls=(FullLine(rest, 349.0, 355.0, "localise-r05-verify"),)),
        ),
        suspects=(NodeStanding("node06", Standing.CONFIRMED, 0.49, 1.0, 2),),
        links=(LinkStanding("node02", "node03", "one_off", 0.149, 2),),
        rails=(
            RailsRecord("node06", (0.0, 0.01, 0.5, 0.0, 0.0, 0.01, 0.0, 0.0), (2,), ("mlx5_0", "mlx5_1", "mlx5_2")),
        ),
    )


def searched() -> RunRecord:
    """node06 excluded, the others proven together."""
    hosts = names(16)
    rest = tuple(name for name in hosts if name != "node06")
    whole = healthy(16, per_leaf=8)
    slow = say("search.node.confirmed", percent=49, partners=2)
    rail = say("search.rail.confirmed", rail=2, device="mlx5_2", percent=50)
    ended = say("search.end.verified", hosts=15, measured=told_at(349.0, 8 << 30), expected=355.0)
    found = multi(hosts, 184.0, Verdict.FAIL, "multi_node.all_reduce.found")
    proven = multi(rest, 349.0, Verdict.PASS, "localise-r05-verify")
    alone = tuple(job for job in whole.jobs if len(job.hosts) == 1)
    reasons = {"node06": (slow, rail)}
    return replace(
        whole,
        verdict=Verdict.FAIL,
        exit_code=1,
        hosts=tuple(
            replace(host, verdict=Verdict.FAIL, reasons=reasons[host.name]) if host.name in reasons else host
            for host in whole.hosts
        ),
        jobs=(*alone, found, proven),
        checks=(
            *(check for check in whole.checks if check.stage == "single_node"),
            CheckResult("localise.node", node("node06"), Verdict.FAIL, slow, "slow_node.confirmed", "localise"),
            CheckResult("localise.search", FABRIC, Verdict.PASS, ended, "search.verified", "localise"),
        ),
        findings=(
            Finding(
                hca("node06", "mlx5_2"),
                Verdict.FAIL,
                Confidence.CONFIRMED,
                say("cause.slow_rail", rail=2, device="mlx5_2", percent=50),
                say("remedy.slow_rail", rail=2, device="mlx5_2", percent=50),
                evidence_for=(rail, slow),
                evidence=(
                    Evidence("round 2, with node05", "24.3 GB/s, 47.6 expected (-49 %)"),
                    Evidence("round 3, with node07", "24.6 GB/s, 47.6 expected (-48 %)"),
                ),
            ),
        ),
        healthy_hosts=rest,
        proven_together=rest,
        excluded_hosts=("node06",),
        search=_search(hosts, rest),
    )
