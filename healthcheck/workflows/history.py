"""Which of the stored runs are told of: real ones or those of one seed, of which machine type, since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.history import PastRun
from healthcheck.model.message import Message
from healthcheck.parsing.run_history import instant
from healthcheck.ports import HistoryIndex


class Chosen(Struct, frozen=True):
    """The runs to tell of, oldest first, all real or all `simulated`; how many of the other sort were left out.

    `of_this_sort` is how many there are without a bound in time, `unreadable` and `notes` what is to be told, too.
    `platform` is the machine type of the runs, empty where none of them knows its own; `other_types` counts the runs of
    each other one. `seed` is that of the simulated machines, None for real ones and where nobody can tell;
    `other_seeds` counts the runs of each other one.
    """

    runs: tuple[PastRun, ...]
    simulated: bool
    left_out: int
    of_this_sort: int
    platform: str = ""
    other_types: tuple[tuple[str, int], ...] = ()
    seed: int | None = None
    other_seeds: tuple[tuple[int | None, int], ...] = ()
    unreadable: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()


def choose_runs(
    index: HistoryIndex,
    simulated: bool,
    since: datetime | None,
    platform: str | None = None,
    host: str | None = None,
    seed: int | None = None,
) -> Chosen:
    """Real runs where there are any, or the simulated ones where `simulated` or nothing else is there; never both.

    A trend over machines and models of machines would be one of neither, and so would one over two machine types: it is
    of `platform`, else of the machine type of the newest run (that names `host`). Another seed simulates other machines
    of the same names: simulated runs are those of `seed`, else of that of the newest run, likewise. `since` is in UTC.
    InputError for a `platform` or `seed` that no run is of.
    """
    past = index.past()
    real = [run for run in past.runs if not run.simulated]
    models = [run for run in past.runs if run.simulated]
    simulated = simulated or not real
    kept, left_out = (models, len(real)) if simulated else (real, len(models))
    newer = kept if since is None else [run for run in kept if instant(run.started_at) >= since]
    seeds = {run.run_id: index.seed_of(run) if simulated else None for run in newer}
    seed = _wanted_seed(newer, seeds, host, seed, simulated)
    other_seeds = Counter(found for found in seeds.values() if found != seed)
    newer = [run for run in newer if seeds[run.run_id] == seed]
    types = Counter(run.platform for run in newer if run.platform)
    if platform is not None and types and platform not in types:
        raise InputError("--platform", f"no run is of {platform!a}; there are runs of {', '.join(sorted(types))}")
    wanted = platform or _newest_type(newer, host)
    told = tuple(run for run in newer if run.platform in ("", wanted))
    others = tuple(sorted((name, n) for name, n in types.items() if name != wanted))
    return Chosen(
        runs=told,
        simulated=simulated,
        left_out=left_out,
        of_this_sort=len(kept),
        platform=wanted,
        other_types=others,
        seed=seed,
        other_seeds=tuple(sorted(other_seeds.items(), key=lambda item: (item[0] is None, item[0] or 0))),
        unreadable=past.unreadable,
        notes=past.notes,
    )


def _wanted_seed(
    oldest_first: Sequence[PastRun],
    seeds: Mapping[str, int | None],
    host: str | None,
    asked: int | None,
    simulated: bool,
) -> int | None:
    """The seed asked for, else that of the newest run; None for one that nobody can tell, and for real machines."""
    if asked is None:
        newest = _newest(oldest_first, host)
        return None if newest is None else seeds[newest.run_id]
    if not simulated:
        raise InputError("--seed", "real machines have no seed; it goes with --simulated")
    known = sorted({seed for seed in seeds.values() if seed is not None})
    if oldest_first and asked not in known:
        there = f"there are runs of {', '.join(map(str, known))}" if known else "nobody can tell the seed of these runs"
        raise InputError("--seed", f"no simulated run is of seed {asked}; {there}")
    return asked


def _newest_type(oldest_first: Sequence[PastRun], host: str | None) -> str:
    """Machine type of the newest run that knows its own and names `host`; where none names it, of the newest."""
    found = _newest([run for run in oldest_first if run.platform], host)
    return "" if found is None else found.platform


def _newest(oldest_first: Sequence[PastRun], host: str | None) -> PastRun | None:
    """The newest run that names `host`; where none names it, or none was asked for, the newest."""
    naming = (run for run in reversed(oldest_first) if any(each.name == host for each in run.hosts))
    return next(naming, oldest_first[-1] if oldest_first else None)
