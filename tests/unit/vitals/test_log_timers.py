"""What the timers of a log say of the collectives of a step: by the names they print, and no more than they show."""

from __future__ import annotations

import pytest

from healthcheck.model.training import EventKind
from healthcheck.model.vitals_log import LogVitals
from healthcheck.reporting.vitals_log import log_lines
from healthcheck.vitals.log_vitals import Asked
from healthcheck.vitals.log_window import parse_window
from healthcheck.vitals.logs.megatron_timers import timed_in
from tests.unit.vitals.logs.reading import fixture
from tests.unit.vitals.training_world import World, judged


def timed(world: World, **ranks: tuple[float, float]) -> World:
    """One step of two seconds, and below it the block of the timers as Megatron-LM prints it since 2023."""
    world.steps(1).lines.append("(min, max) time across ranks (ms):\n")
    for name, (least, most) in ranks.items():
        dotted = (name.replace("_", "-") + " ").ljust(48, ".")
        world.lines.append(f"    {dotted}: ({least:.2f}, {most:.2f})\n")
    return world


def by_name(vitals: LogVitals) -> dict[str, tuple[float, float]]:
    return {timer.name: (timer.median_s, timer.share) for timer in vitals.timers}


def test_the_slowest_rank_is_told_beside_its_share_of_a_step() -> None:
    world = World().start()
    for step in range(20):
        slow = 9000.0 if step == 0 else 300.0  # the first one builds the communicators
        timed(world, forward_backward=(1500, 1501), all_grads_sync=(80, slow), params_all_gather=(9, 12))
    vitals = judged(world.lines)
    assert by_name(vitals) == {
        "all-grads-sync": pytest.approx((0.3, 0.15)),
        "params-all-gather": pytest.approx((0.012, 0.006)),
    }
    text = " ".join(" ".join(log_lines(vitals, 96)).split())
    assert "Collectives all-grads-sync 300 ms (15.0 %), params-all-gather 12.0 ms (0.6 %) (of a step" in text


def test_timers_that_are_printed_from_some_step_on_stay_with_their_steps() -> None:
    first = World().start()
    for _ in range(10):
        timed(first, all_grads_sync=(80, 100))
    later = World().start()
    later.now, later.step = first.now + 60, first.step
    later.steps(30)
    for _ in range(30):
        timed(later, all_grads_sync=(80, 500))
    both = judged(first.lines, later.lines)
    assert by_name(both) == {"all-grads-sync": pytest.approx((0.5, 0.25))}
    assert [timer.reports for timer in both.timers] == [39]
    early = judged(first.lines, later.lines, asked=Asked(window=parse_window("1..40")))
    assert by_name(early) == {"all-grads-sync": pytest.approx((0.1, 0.05))}


def test_the_older_line_is_of_one_rank_and_a_number_that_was_cut_is_none() -> None:
    log = fixture("megatron/timers.log")
    told = [(event.step, event.text, event.took_s) for event in log.events if event.kind is EventKind.TIMED]
    assert told == [
        (20, "backward-params-all-reduce", 0.02143),
        (20, "backward-layernorm-all-reduce", 0.00002),
        (20, "backward-embedding-all-reduce", 0.00003),
        (20, "backward-reduce-model-grads", 0.02152),
        (20, "backward-gather-model-params", 0.0),
        (30, "backward-params-all-reduce", 0.02115),
        (30, "backward-layernorm-all-reduce", 0.00001),
        (30, "backward-embedding-all-reduce", 0.00003),
        (30, "backward-reduce-model-grads", 0.02124),
        (30, "backward-gather-model-params", 0.00001),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("    all-grads-sync .................................: (76.32, 78.10)", [("all-grads-sync", 0.0781)]),
        ("[default0]:    params-all-gather ......................: 20.10", [("params-all-gather", 0.0201)]),
        ("    all-grads-sync .................................: (76.32, 78.", []),
        ("    all-grads-sync .................................: 78.1", []),
        ("    forward-recv ...................................: (0.02, 400.10)", []),
        ("    optimizer ......................................: (90.01, 91.10)", []),
        (
            "3: time (ms) | backward-params-all-reduce: 56.50 | optimizer: 10.2",
            [("backward-params-all-reduce", 0.0565)],
        ),
        ("time (ms) | backward-params-all-reduce: 56.5", []),
    ],
)
def test_only_a_whole_number_of_a_collective_counts(line: str, told: list[tuple[str, float]]) -> None:
    assert timed_in(line) == told


def test_a_log_without_timers_tells_nothing_of_collectives() -> None:
    vitals = judged(World().start().steps(20).lines)
    assert vitals.timers == ()
    assert "Collectives" not in "\n".join(log_lines(vitals, 96))
