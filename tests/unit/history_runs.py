"""Past runs for tests: as few words as a test needs."""

from __future__ import annotations

from collections.abc import Mapping

from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.history import PastHost, PastJob, PastRun

GIB = 1 << 30
SIZES = (4 * GIB, 8 * GIB)


def single(host: str, gbyte_s: float | None, verdict: str = "PASS", n_ranks: int = 8) -> PastJob:
    """The job of one node, in place a little slower."""
    in_place = None if gbyte_s is None else gbyte_s
    out_of_place = None if gbyte_s is None else gbyte_s + 1
    return PastJob(
        "single_node",
        "all_reduce",
        (host,),
        n_ranks,
        verdict,
        SIZES,
        (out_of_place, out_of_place),
        (in_place, in_place),
    )


def past_run(
    month: int,
    hosts: Mapping[str, tuple[str, float | None]],
    *,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    state: str = "complete",
    simulated: bool = False,
) -> PastRun:
    """A run in month `month` from January 2024 on: host -> (verdict, GB/s); settings: name -> value -> nodes."""
    started = f"{2024 + month // 12}-{month % 12 + 1:02d}-03T02:15:03Z"
    run_id = f"{started[:10].replace('-', '')}T021503Z-{'abcdefghijklmnopqrstuvwxyz'[month % 26] * 4}"
    return PastRun(
        run_id=run_id,
        folder=run_id,
        state=state,
        verdict=max((verdict for verdict, _ in hosts.values()), default="INCONCLUSIVE"),
        simulated=simulated,
        started_at=started,
        finished_at=None,
        tool="healthcheck 0.1.0",
        playbook="full",
        playbook_sha256="",
        platform="a100",
        nics=8,
        healthy=0,
        hosts=tuple(
            PastHost(name, verdict, *(() if verdict == "PASS" else ("peak.below_healthy", "it is slow")))
            for name, (verdict, _) in hosts.items()
        ),
        jobs=tuple(single(name, value, verdict) for name, (verdict, value) in hosts.items() if value is not None),
        settings=tuple(
            FleetSetting(name, tuple(FleetValue(value, nodes, 1) for value, nodes in values.items()))
            for name, values in (settings or {}).items()
        ),
    )
