"""A part of a log, by its steps or by the time of its lines."""

from __future__ import annotations

import pytest

from healthcheck.model.vitals_log import LossKind
from healthcheck.vitals.log_vitals import Asked
from healthcheck.vitals.log_window import parse_window
from tests.unit.vitals.training_world import World, adds_up, judged, lacks, losses


def test_a_part_of_the_log() -> None:
    world = World(2.0).start(took=500).steps(100).save(50).steps(100)
    world.wait(300, LossKind.RESTART).start(loaded=200).steps(100)
    part = judged(world.lines, asked=Asked(window=parse_window("50..150")))
    assert part.goodput is not None and part.goodput.steps == 101
    assert losses(part) == {LossKind.CHECKPOINT: pytest.approx(50)}
    assert (part.first_step, part.last_step, part.starts) == (50, 150, 1)
    last = judged(world.lines, asked=Asked(window=parse_window("2026-01-14T02:15:00..")))
    assert last.goodput is not None and last.goodput.window_s < 600
    assert adds_up(part) and adds_up(last)


def test_a_part_whose_lines_have_no_times_is_measured_by_its_steps() -> None:
    lines = World(2.0).start().steps(200).lines
    half = [line if place < 150 else line.split("]", 1)[1] for place, line in enumerate(lines)]
    part = judged(half, asked=Asked(window=parse_window("180..")))
    assert part.goodput is not None and not part.goodput.wall_clock
    assert part.goodput.window_s == pytest.approx(21 * 2.0)
    assert "log.missing.clock" in lacks(part)
    assert adds_up(part)
