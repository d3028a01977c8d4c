"""How surely and how soon the search names what slows a job, in a model of a cluster, beside two other schemes.

    nice python -m benchmarks.localise [--quick] [--only bars|noise|limits|speed] [--row TEXT] [--seeds FIRST]

Rows are those of the table of bars in docs/localisation.md, once with whole-node pairs and once with pairs per rail.
The seeds start at 40,000, one a cluster; none of them was used for tuning. Tuning took seeds below 1,000; those from
10,000 to 40,000 were looked at before the method was final. A seed whose
first look is not slow starts no search and is not counted; the next one is taken. Node-minutes: every node of every job
for one minute. --quick takes few seeds of each row. What is printed is what was measured, bars missed included.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.localise_others import padded_bisection, two_pass
from benchmarks.localise_rows import BARS, LIMITS, NOISE, Row
from benchmarks.localise_world import RAILS, Plan, World
from healthcheck.diagnosis.rails_of import slow_rails
from healthcheck.diagnosis.search import Ending, Read, Round, Searching
from healthcheck.model.search import FullReading, PairReading, PairRound, Standing
from healthcheck.planning.walk import between

FIRST_SEED = 40_000
LEAST_FOR_ROUNDS = 20
"""With fewer seeds, what 95 % of them did not exceed is the worst of them, and no bar is held against it."""
MOST_SECONDS, MOST_MEGABYTES = 2.0, 300.0


class Result(Struct, frozen=True):
    """One search: what it named, what it cost, how it ended."""

    named: frozenset[str]
    links: frozenset[tuple[str, str]]
    paths: frozenset[tuple[str, str]]
    rails: dict[str, frozenset[int]]
    rounds: int
    jobs: int
    node_minutes: int
    ending: Ending | None
    slowest_round_s: float


def search(world: World) -> Result:
    """Drive one search to its end."""
    searching = Searching(world.problem, world.expected)
    steps = searching.steps()
    jobs, node_minutes, slowest = 1, len(world.hosts), 0.0
    read: Read | None = None
    ending = None
    while True:
        began = time.process_time()
        try:
            step = next(steps) if read is None else steps.send(read)
        except StopIteration as stop:
            ending = stop.value
            break
        finally:
            slowest = max(slowest, time.process_time() - began)
        read = measured(world, step)
        jobs += len(read)
        node_minutes += sum(len(r.hosts) if isinstance(r, FullReading) else 2 for r in read)
    view = searching.view
    named = view.standing(Standing.CONFIRMED)
    well = view.standing(Standing.GOOD, Standing.CLEAR)
    rails = {host: slow_rails(host, searching.known.pairs, well) for host in named if world.plan.per_rail}
    return Result(
        frozenset(named),
        frozenset(between(a, b) for a, b in view.link_pairs("confirmed")),
        frozenset(view.paths),
        {h: frozenset(range(RAILS) if s.node_wide else s.rails) for h, s in rails.items() if s is not None},
        searching.round,
        jobs,
        node_minutes,
        ending,
        slowest,
    )


def measured(world: World, step: Round) -> list[PairReading] | list[FullReading]:
    """What the cluster reads in a round."""
    if isinstance(step, PairRound):
        return [world.pair(pair.a, pair.b, step.round, pair.purpose) for pair in step.pairs]
    return [world.full(order, step.round) for order in step.orders]


def worlds(plan: Plan, first: int, count: int) -> Iterator[tuple[int, World]]:
    """The next `count` clusters whose first look is slow, with their seeds."""
    seed = first
    while count:
        world = World(plan, seed)
        if world.slow:
            yield seed, world
            count -= 1
        seed += 1


class Tally(Struct):
    """One row of the table, added up."""

    rounds: list[int]
    seeds: tuple[int, int] = (0, 0)
    sick: int = 0
    found: int = 0
    wrong_nodes: int = 0
    wrong_others: int = 0
    exact: int = 0
    rails_right: int = 0
    rails_asked: int = 0
    jobs: int = 0
    node_minutes: int = 0
    seconds: float = 0.0

    def add(self, world: World, result: Result) -> None:
        sick = world.loss.keys()
        wrong_node = bool(result.named - sick)
        planted_link = frozenset() if world.link is None else frozenset((world.link,))
        planted_path = frozenset() if world.path is None else frozenset((world.path,))
        self.rounds.append(result.rounds)
        self.sick += len(sick)
        self.found += len(result.named & sick)
        self.wrong_nodes += wrong_node
        self.wrong_others += bool(result.links - planted_link or result.paths - planted_path)
        exact = result.named == sick and result.links == planted_link and result.paths == planted_path
        self.exact += exact
        for host in result.named & sick if world.plan.per_rail else ():
            self.rails_asked += 1
            self.rails_right += result.rails.get(host) == world.slow_rails[host]
        self.jobs += result.jobs
        self.node_minutes += result.node_minutes

    @property
    def count(self) -> int:
        return len(self.rounds)

    @property
    def usual_rounds(self) -> int:
        """Rounds that 95 % of the seeds did not exceed."""
        return sorted(self.rounds)[math.ceil(0.95 * self.count) - 1]


def tally(plan: Plan, first: int, count: int, verbose: bool = False) -> Tally:
    """Search `count` clusters."""
    found = Tally([])
    began = time.process_time()
    for seed, world in worlds(plan, first, count):
        result = search(world)
        before = found.exact
        found.add(world, result)
        found.seeds = (found.seeds[0] or seed, seed)
        if verbose and found.exact == before:
            planted = f"sick {sorted(world.loss)} link {world.link} path {world.path}"
            print(
                f"  seed {seed}: {planted}; named {sorted(result.named)} {set(result.links)} {set(result.paths)}",
                end="",
            )
            print(f" in {result.rounds} rounds, {result.ending}, look {world.shortfall:.3f}")
    found.seconds = time.process_time() - began
    return found


def missed(row: Row, found: Tally) -> list[str]:
    """Which bars of the row were missed; those on wrong names scale with the seeds played."""
    allowed = math.ceil(row.most_wrong * found.count / row.wrong_in) if row.most_wrong else 0
    wrong = found.wrong_nodes + (0 if row.only_nodes else found.wrong_others)
    named = found.exact / found.count if row.exact else found.found / found.sick if found.sick else 1.0
    checks = {
        "rounds": found.count >= LEAST_FOR_ROUNDS and found.usual_rounds > row.most_rounds,
        "named": named < row.least_named,
        "wrong": wrong > allowed,
        "rails": row.rails and found.rails_right < found.rails_asked,
    }
    return [name for name, is_missed in checks.items() if is_missed]


HEAD = (
    f"{'':52} {'walk':5} {'seeds':>13} {'rounds':>6} {'mean':>5} {'named':>9} {'exact':>8} "
    f"{'wrong node/other':>16} {'rails':>8} {'jobs':>7} {'node-min':>8} {'s/run':>6}  bar"
)


def line(name: str, walk: str, found: Tally, verdict: str) -> str:
    """One printed row."""
    count = found.count
    rails = f"{found.rails_right}/{found.rails_asked}" if found.rails_asked else "-"
    seeds = f"{found.seeds[0]}-{found.seeds[1]}"
    return (
        f"{name:52} {walk:5} {seeds:>13} {found.usual_rounds:6} {sum(found.rounds) / count:5.1f} "
        f"{f'{found.found}/{found.sick}':>9} {f'{found.exact}/{count}':>8} "
        f"{f'{found.wrong_nodes} / {found.wrong_others}':>16} {rails:>8} {found.jobs / count:7.0f} "
        f"{found.node_minutes / count:8.0f} {found.seconds / count:6.2f}  {verdict}"
    )


def play(rows: Sequence[Row], first: int, share: float, verbose: bool) -> int:
    """Print a table; how many bars were missed."""
    total = 0
    print(HEAD, flush=True)
    for row in rows:
        for plan in row.plans():
            found = tally(plan, first, max(row.least_seeds, round(row.seeds * share)), verbose)
            failed = missed(row, found) if row.has_bar else []
            verdict = ("MISSED " + ", ".join(failed) if failed else f"met {row.bar}") if row.has_bar else ""
            total += bool(failed)
            print(line(row.name, "rail" if plan.per_rail else "node", found, verdict), flush=True)
            if failed and row.note:
                print(f"  {row.note}", flush=True)
    return total


def others(first: int, share: float) -> None:
    """Other schemes on 64 nodes with 1-3 sick."""
    plan = Plan(nodes=64, sick=(1, 3))
    for name, scheme in (("two-pass suspect retest", two_pass), ("padded bisection", padded_bisection)):
        found = Tally([])
        for seed, world in worlds(plan, first, max(20, round(200 * share))):
            other = scheme(world)
            result = Result(
                frozenset(other.named),
                frozenset(),
                frozenset(),
                {},
                other.rounds,
                other.jobs,
                other.node_minutes,
                None,
                0.0,
            )
            found.add(world, result)
            found.seeds = (found.seeds[0] or seed, seed)
        print(line(f"64 nodes, 1-3 sick, 3 %: {name}", "node", found, "(beside)"), flush=True)
    for nodes in (64, 1024, 4096):
        print(f"{nodes} nodes: exhaustive pairs, counted: {nodes - 1} rounds, {nodes * (nodes - 1) // 2} jobs")


def speed(first: int) -> int:
    """Planning and inference of the slowest round for 4,096 nodes, and the memory of this process."""
    world = World(Plan(nodes=4096, sick=(20, 20)), first)
    result = search(world)
    status = Path("/proc/self/status").read_text() if Path("/proc/self/status").exists() else ""
    peak = next((int(text.split()[1]) / 1024 for text in status.splitlines() if text.startswith("VmHWM")), 0.0)
    over = result.slowest_round_s > MOST_SECONDS or peak > MOST_MEGABYTES
    print(
        f"4,096 nodes, slowest round, planning + inference: {result.slowest_round_s:.2f} s of {MOST_SECONDS:.0f} s; "
        f"memory of the process at most {peak:.0f} MB of {MOST_MEGABYTES:.0f} MB: {'MISSED' if over else 'met'}",
        flush=True,
    )
    return int(over)


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few seeds of each row, about 40 s")
    parser.add_argument("--only", choices=("bars", "noise", "limits", "speed"), help="one section")
    parser.add_argument("--row", default="", help="only rows whose name contains this")
    parser.add_argument("--seeds", type=int, default=FIRST_SEED, help="the first seed")
    parser.add_argument("--share", type=float, default=None, help="share of the seeds of each row")
    parser.add_argument("--verbose", action="store_true", help="say what each search that was not exact named")
    asked = parser.parse_args()
    share = asked.share if asked.share is not None else (0.05 if asked.quick else 1.0)
    missed_bars = 0
    if asked.only in (None, "speed") and not asked.row:
        missed_bars += speed(asked.seeds)
    sections = {"bars": ("Bars", BARS), "noise": ("Other noise", NOISE), "limits": ("Where it fails", LIMITS)}
    for name, (title, rows) in sections.items():
        if asked.only in (None, name):
            print(f"\n{title}")
            chosen = [row for row in rows if asked.row in row.name and not (asked.quick and row.slow)]
            missed_bars += play(chosen, asked.seeds, share, asked.verbose)
            if name == "bars" and not asked.row:
                others(asked.seeds, share)
    print(f"\n{missed_bars} bars missed")


if __name__ == "__main__":
    main()
