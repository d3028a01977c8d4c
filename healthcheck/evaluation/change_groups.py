"""Who moved beyond noise: every group of like jobs, each of its subjects, each of its sizes and placements.

A group is one stage, collective, number of nodes a job and of ranks, and one range of sizes. A subject is worse when
its median change is beyond the bar and either it stands out of the group by as much, or the group as a whole is worse.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct

from healthcheck.evaluation import change_noise as noise
from healthcheck.evaluation.change_frames import KIND
from healthcheck.evaluation.change_noise import Noise
from healthcheck.evaluation.change_told import Halves, Rows, change_percent, told_gbyte_s, told_halves
from healthcheck.model.comparison import CellChange, Direction, GroupChange, Moved
from healthcheck.model.message import Message, say

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from healthcheck.evaluation.change_noise import Floats

    Flags = NDArray[np.bool_]


class Grid(Struct, frozen=True):
    """One group: subjects x cells (size, placement). `change` are logarithms, NaN where a cell is not in both runs.

    `told` is (before, after) of each subject.
    """

    stage: str
    collective: str
    nodes: int
    ranks: int
    saturated: bool
    subjects: tuple[str, ...]
    cells: tuple[tuple[int, str], ...]
    change: Floats
    before: Floats
    after: Floats
    told: tuple[tuple[Halves, Halves], ...]
    repeats: tuple[int, int]
    launches: float
    """Standard deviation of the change as the repeats show it; NaN where there are none."""

    @property
    def questions(self) -> int:
        """How many changes are looked at: of the group, of each subject, of each cell, and of each cell of each."""
        subjects, cells = len(self.subjects), len(self.cells)
        return 1 + subjects + cells + (subjects * cells if self.saturated else 0)


def grids(both: pd.DataFrame, before: Rows, after: Rows) -> tuple[Grid, ...]:
    """The groups of the paired rows, in the order in which they were measured, large sizes first."""
    found = []
    for key, rows in both.groupby([*KIND, "saturated"], sort=False):
        found.append(_grid(key, rows, before, after))
    return tuple(sorted(found, key=lambda grid: not grid.saturated))


def _grid(key: Hashable, rows: pd.DataFrame, rows_before: Rows, rows_after: Rows) -> Grid:
    import numpy as np

    assert isinstance(key, tuple)
    stage, collective, nodes, ranks, saturated = key
    wide = rows.pivot(index="subject", columns=["size", "placement"], values=["change", "busbw_before", "busbw_after"])
    change, before, after = wide["change"], wide["busbw_before"], wide["busbw_after"]
    repeats = int(rows["repeats_before"].min()), int(rows["repeats_after"].min())
    launches = math.nan
    if min(repeats) > 1:
        own = sum(
            rows[f"scatter_{side}"] / (rows[f"repeats_{side}"] - 1) / rows[f"repeats_{side}"]
            for side in ("before", "after")
        )
        # All cells of one launch move together, so that their number makes nothing surer.
        launches = noise.MEDIAN_COSTS * math.sqrt(float(np.mean(own)))
    kind = (str(stage), str(collective), int(nodes), int(ranks))
    subjects = tuple(map(str, change.index))
    cells = tuple((int(size), str(placement)) for size, placement in change.columns)
    there = ~np.isnan(change.to_numpy(float))
    told = []
    for name, has in zip(subjects, there, strict=True):
        both = frozenset(cell for cell, known in zip(cells, has, strict=True) if known)
        told.append((told_halves(rows_before[*kind, name], both), told_halves(rows_after[*kind, name], both)))
    return Grid(
        *kind,
        saturated=bool(saturated),
        subjects=subjects,
        cells=cells,
        change=change.to_numpy(float),
        before=before.to_numpy(float),
        after=after.to_numpy(float),
        told=tuple(told),
        repeats=repeats,
        launches=launches,
    )


def judge(grid: Grid, questions: int) -> tuple[GroupChange, tuple[Moved, ...]]:
    """What moved in one group, when `questions` are asked of the whole comparison."""
    import numpy as np

    own = np.nanmedian(grid.change, axis=1)
    together = len(grid.subjects) >= noise.FEWEST_PEERS
    of_one, of_cells, why = _among_peers(grid, own) if together else _of_few(grid, own)
    bar = of_one.bar(questions)
    shift = float(np.median(own))
    fleet_bar = of_one.of_median(len(own)).bar(questions) if together else None
    fleet = Direction.SAME if fleet_bar is None else _way(shift, fleet_bar)
    beside = own - (shift if together else 0.0)
    worse, better = _moved(own, beside, bar, fleet)
    stays = ~worse & ~better & (np.abs(beside) >= bar) if together else np.zeros_like(worse)
    moved = [
        _one(grid, row, way, float(own[row]), bar, float(beside[row]) if together else None)
        for way, flags in ((Direction.WORSE, worse), (Direction.BETTER, better), (Direction.SAME, stays))
        for row in np.flatnonzero(flags).tolist()
    ]
    cells, bars, shifts = _cells(grid, of_cells, questions, together)
    if grid.saturated:
        moved += _in_one_cell(grid, worse | better | stays, bars, shifts)
    if not together:
        ways = {one.direction for one in moved}
        fleet = ways.pop() if len(ways) == 1 else Direction.SAME
    told_before, told_after = (told_gbyte_s(side) for side in zip(*grid.told, strict=True))
    change = GroupChange(
        stage=grid.stage,
        collective=grid.collective,
        nodes_a_job=grid.nodes,
        n_ranks=grid.ranks,
        saturated=grid.saturated,
        subjects=len(grid.subjects),
        before_gbyte_s=told_before,
        after_gbyte_s=told_after,
        change_percent=change_percent(told_before, told_after),
        median_change_percent=noise.percent(shift),
        noise_percent=100 * of_one.sigma,
        bar_percent=-noise.percent(-bar),
        fleet_bar_percent=None if fleet_bar is None else -noise.percent(-fleet_bar),
        noise_from=why,
        direction=fleet,
        cells=cells,
    )
    return change, tuple(moved)


def _middle(values: Floats) -> float:
    import numpy as np

    return float(np.median(np.nanmedian(values, axis=1)))


def _way(change: float, bar: float) -> Direction:
    if abs(change) < bar:
        return Direction.SAME
    return Direction.WORSE if change < 0 else Direction.BETTER


def _moved(own: Floats, beside: Floats, bar: float, fleet: Direction) -> tuple[Flags, Flags]:
    """Who is worse, who is better: beyond the bar, and not only because all others moved a little."""
    worse = (own <= -bar) & ((beside <= -bar) | (fleet is Direction.WORSE))
    better = (own >= bar) & ((beside >= bar) | (fleet is Direction.BETTER))
    return worse, better


class _Inside(Struct, frozen=True):
    """What the subjects show in themselves: how their sizes and placements scatter around their own median change."""

    of_cell: float
    of_median: float
    freedom: float
    cells: int


def _inside(grid: Grid, own: Floats) -> _Inside:
    import numpy as np

    rest = (grid.change - own[:, None])[~np.isnan(grid.change)]
    free = len(rest) - len(own)
    # Every median takes one degree of freedom, which makes the rest look closer together than it is.
    scatter = noise.spread(rest) * math.sqrt(len(rest) / free) if free > 0 else 0.0
    of_cell = math.hypot(scatter, noise.rounding(_middle(np.minimum(grid.before, grid.after))))
    cells = max(1, round(len(rest) / len(own)))
    return _Inside(of_cell, noise.MEDIAN_COSTS * of_cell / math.sqrt(cells), max(1.0, 0.8 * free), cells)


def _among_peers(grid: Grid, own: Floats) -> tuple[Noise, tuple[Noise, ...], Message]:
    """How far the subjects lie apart; where they are few, what each shows in itself has its say."""
    import numpy as np

    inside, launches = _inside(grid, own), noise.BETWEEN_LAUNCHES
    of_one = noise.measured(noise.spread(own), noise.degrees(len(own)), math.hypot(launches, inside.of_median))
    of_cells, lower = [], np.minimum(grid.before, grid.after)
    for column in range(len(grid.cells)):
        there = grid.change[:, column][~np.isnan(grid.change[:, column])]
        if len(there) < noise.FEWEST_PEERS:
            of_cells.append(Noise(math.inf, 1.0))
            continue
        sigma = math.hypot(noise.spread(there), noise.rounding(float(np.nanmedian(lower[:, column]))))
        of_cells.append(noise.measured(sigma, noise.degrees(len(there)), math.hypot(launches, inside.of_cell)))
    return of_one, tuple(of_cells), say("compare.noise.peers", n=len(own))


def _of_few(grid: Grid, own: Floats) -> tuple[Noise, tuple[Noise, ...], Message]:
    """Too few to see from each other how much a healthy one changes: what one shows in itself has to do."""
    inside, launches, seen = _inside(grid, own), noise.BETWEEN_LAUNCHES, 0.0
    why = say("compare.noise.few", n=len(own), cells=inside.cells, assumed=100 * launches)
    if not math.isnan(grid.launches):
        seen = float(sum(grid.repeats) - 2) * len(own)
        launches = noise.measured(grid.launches, seen, launches).sigma
        before, after = grid.repeats
        why = say("compare.noise.repeats", n=len(own), cells=inside.cells, before=before, after=after)
    freedom = inside.freedom + (seen or noise.ASSUMED_FREEDOM)
    of_cell = Noise(math.hypot(launches, inside.of_cell), freedom)
    return Noise(math.hypot(launches, inside.of_median), freedom), (of_cell,) * len(grid.cells), why


def _cells(
    grid: Grid, of_cells: tuple[Noise, ...], questions: int, together: bool
) -> tuple[tuple[CellChange, ...], Floats, Floats]:
    """Every size and placement over all subjects; the bars and shifts for one subject there."""
    import numpy as np

    shifts = np.nanmedian(grid.change, axis=0)
    bars = np.array([of_cell.bar(questions) for of_cell in of_cells])
    found = []
    for column, ((size, placement), of_cell) in enumerate(zip(grid.cells, of_cells, strict=True)):
        n = int(np.count_nonzero(~np.isnan(grid.change[:, column])))
        shift = float(shifts[column])
        way = _way(shift, of_cell.of_median(n).bar(questions)) if together else Direction.SAME
        before, after = (float(np.nanmedian(side[:, column])) for side in (grid.before, grid.after))
        told = change_percent(before, after)
        found.append(CellChange(size, placement, before, after, told, noise.percent(shift), way))
    return tuple(found), bars, shifts if together else np.zeros_like(shifts)


def _in_one_cell(grid: Grid, named: Flags, bars: Floats, shifts: Floats) -> list[Moved]:
    """Subjects whose median did not move, and one size and placement of theirs did: the one that moved most."""
    import numpy as np

    change = np.where(np.isnan(grid.change), 0.0, grid.change)
    beside = np.where(np.isnan(grid.change), 0.0, grid.change - shifts)
    beyond = (np.abs(change) >= bars) & (np.abs(beside) >= bars) & (np.sign(change) == np.sign(beside))
    beyond &= ~named[:, None]
    found = []
    for row in np.flatnonzero(beyond.any(axis=1)).tolist():
        column = int(np.argmax(np.where(beyond[row], np.abs(beside[row]), -1.0)))
        value, bar = float(change[row, column]), float(bars[column])
        size, placement = grid.cells[column]
        found.append(
            Moved(
                stage=grid.stage,
                collective=grid.collective,
                hosts=grid.subjects[row],
                nodes=grid.nodes,
                n_ranks=grid.ranks,
                direction=_way(value, bar),
                before_gbyte_s=float(grid.before[row, column]),
                after_gbyte_s=float(grid.after[row, column]),
                change_percent=noise.percent(value),
                median_change_percent=noise.percent(value),
                bar_percent=-noise.percent(-bar),
                size_bytes=size,
                placement=placement,
            )
        )
    return found


def _one(grid: Grid, row: int, way: Direction, change: float, bar: float, beside: float | None) -> Moved:
    before, after = (told_gbyte_s([side]) for side in grid.told[row])
    return Moved(
        stage=grid.stage,
        collective=grid.collective,
        hosts=grid.subjects[row],
        nodes=grid.nodes,
        n_ranks=grid.ranks,
        direction=way,
        before_gbyte_s=before,
        after_gbyte_s=after,
        change_percent=change_percent(before, after),
        median_change_percent=noise.percent(change),
        bar_percent=-noise.percent(-bar),
        saturated=grid.saturated,
        from_fleet_percent=None if beside is None else noise.percent(beside),
    )
