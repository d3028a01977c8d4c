"""The events of an invented run of 30 nodes, as its workflow would tell them; all times in seconds since its start."""

from __future__ import annotations

from healthcheck.evaluation.reading import told_at
from healthcheck.model.message import say
from healthcheck.model.progress import Begun, Counted, Over, RoundBegun, RoundRead
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event

SIZE, PAIR_SIZE = 8 << 30, 2 << 30

Moment = tuple[float, Event]
PROBE, SINGLE, MULTI, SEARCH = "probe", "single_node", "multi_node", "localise"
NODES = tuple(f"gpu{number:03d}" for number in range(1, 31))


def _busbw(value: float, percent: int, peak: float) -> tuple[str, dict[str, str | float]]:
    return "bandwidth.of_peak", {
        "what": "busbw",
        "observed_gbyte_s": value,
        "placement": "out-of-place",
        "percent": percent,
        "peak_gbyte_s": peak,
    }


def looks() -> list[Moment]:
    """All nodes are looked at; one does not answer, one is busy."""
    silent, busy = say("probe.no_output", code=255), say("report.verbatim", text="busy: Slurm job 881204")
    told: list[Moment] = [(0.0, Event(PROBE, say("progress.who", hosts=30), step=Begun(30)))]
    for place, name in enumerate(NODES[:-1], start=1):
        told.append((place * 0.1, Event(PROBE, say("progress.answered"), name, step=Counted(place, 30))))
    told.append((94.0, Event(PROBE, silent, NODES[-1], Verdict.INCONCLUSIVE, Counted(29, 30))))
    told.append((94.0, Event(PROBE, busy, NODES[0], Verdict.SKIPPED)))
    machine = say("progress.platform_found", name="a100-sxm4-8gpu-8x200")
    return [*told, (94.0, Event(PROBE, machine, step=Over(29, 30)))]


def alone() -> list[Moment]:
    """28 nodes by themselves, twice each; one is a straggler."""
    begins = say("progress.begins_for", hosts=28, jobs=56, time=say("progress.time_s", seconds=50))
    told: list[Moment] = [(95.0, Event(SINGLE, begins, step=Begun(28, 50.0)))]
    for place, name in enumerate(NODES[1:-1], start=1):
        sick = name == "gpu027"
        value, verdict = (150.0, Verdict.DEGRADED) if sick else (231.5, Verdict.PASS)
        code, args = _busbw(value, 50 if sick else 77, 300.0)
        for again in (0, 1):
            step = Counted(place - 1 + again, 28, value)
            told.append((95.0 + place + again / 2, Event(SINGLE, say(code, **args), name, verdict, step)))
    headline = say("progress.median", busbw="231.5", percent=77, peak="300")
    counts = ((Verdict.DEGRADED, 1), (Verdict.PASS, 27))
    return [*told, (147.0, Event(SINGLE, headline, verdict=Verdict.DEGRADED, step=Over(28, 28, counts)))]


def together() -> list[Moment]:
    """One job over 27 nodes, which is slow."""
    begins = say("progress.begins_for", hosts=27, jobs=1, time=say("progress.time_s", seconds=20))
    code, args = _busbw(96.8, 48, 200.0)
    read = say("progress.joint", hosts=27, collective="all_reduce", what=say(code, **args))
    headline = say("progress.together", hosts=27, busbw="96.8", percent=48, peak="200")
    return [
        (148.0, Event(MULTI, begins, step=Begun(1, 20.0))),
        (222.0, Event(MULTI, read, verdict=Verdict.FAIL, step=Counted(1, 1, 96.8))),
        (222.0, Event(MULTI, headline, verdict=Verdict.FAIL, step=Over(1, 1, ((Verdict.FAIL, 1),)))),
    ]


def search() -> list[Moment]:
    """Three rounds name one card of one node."""
    begins = say("search.begins", hosts=27, measured=told_at(96.8, SIZE), expected=192.0, way=say("search.way.rails"))
    pairs = tuple((NODES[place], NODES[place + 1]) for place in range(1, 27, 2))
    doubt = say("progress.suspects", names="gpu[012-013]")
    first = say(
        "progress.pairs_read", round=2, pairs=13, a="gpu012", b="gpu013", busbw=told_at(12.1, PAIR_SIZE), doubt=doubt
    )
    verify = say(
        "progress.joint_read",
        round=3,
        hosts=26,
        busbw=told_at(191.6, SIZE),
        expected="192.0",
        doubt=say("progress.suspects", names="gpu013"),
    )
    named = say("search.rail.confirmed", rail=5, device="mlx5_5", percent=50)
    ended = say("search.end.verified", hosts=26, measured=told_at(191.6, SIZE), expected=192.0)
    return [
        (223.0, Event(SEARCH, begins, step=Begun(0, budget_s=1800.0, suspects=27))),
        (224.0, Event(SEARCH, say("search.round", round=2, jobs=13), step=RoundBegun(2, pairs, 240.0))),
        (270.0, Event(SEARCH, first, step=RoundRead(2, ("gpu012", "gpu013")))),
        (270.0, Event(SEARCH, say("search.round", round=3, jobs=1), step=RoundBegun(3, (NODES[1:27],), 60.0))),
        (330.0, Event(SEARCH, verify, step=RoundRead(3, ("gpu013",)))),
        (340.0, Event(SEARCH, named, "gpu013/hca:mlx5_5", Verdict.FAIL)),
        (345.0, Event(SEARCH, ended, step=Over(3, 0))),
    ]


def story() -> list[Moment]:
    """All of it."""
    started = say("run.started", run_id="20260314T021503Z-qhzt", playbook="monthly", hosts=30)
    ended = say("run.ended", ready=26, hosts=30)
    return [
        (0.0, Event("run", started)),
        *looks(),
        *alone(),
        *together(),
        *search(),
        (346.0, Event("run", ended, verdict=Verdict.FAIL)),
    ]
