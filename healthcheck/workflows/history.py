"""Which of the stored runs are told of: real ones or simulated ones, of which machine type, since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
    each other one.
    """

    runs: tuple[PastRun, ...]
    simulated: bool
    left_out: int
    of_this_sort: int
    platform: str = ""
    other_types: tuple[tuple[str, int], ...] = ()
    unreadable: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()


def choose_runs(
    index: HistoryIndex,
    simulated: bool,
    since: datetime | None,
    platform: str | None = None,
    host: str | None = None,
) -> Chosen:
    """Real runs where there are any, or the simulated ones where `simulated` or nothing else is there; never both.

    A trend over machines and models of machines would be one of neither, and so would one over two machine types: it is
    of `platform`, else of the machine type of the newest run (that names `host`). `since` is in UTC. InputError for a
    `platform` that no run is of.
    """
    past = index.past()
    real = [run for run in past.runs if not run.simulated]
    models = [run for run in past.runs if run.simulated]
    kept, left_out = (models, len(real)) if simulated or not real else (real, len(models))
    newer = kept if since is None else [run for run in kept if instant(run.started_at) >= since]
    types = Counter(run.platform for run in newer if run.platform)
    if platform is not None and types and platform not in types:
        raise InputError("--platform", f"no run is of {platform!a}; there are runs of {', '.join(sorted(types))}")
    wanted = platform or _newest_type(newer, host)
    told = tuple(run for run in newer if run.platform in ("", wanted))
    others = tuple(sorted((name, n) for name, n in types.items() if name != wanted))
    return Chosen(told, simulated or not real, left_out, len(kept), wanted, others, past.unreadable, past.notes)


def _newest_type(oldest_first: Sequence[PastRun], host: str | None) -> str:
    """Machine type of the newest run that knows its own and names `host`; where none names it, of the newest."""
    known = [run for run in reversed(oldest_first) if run.platform]
    naming = (run for run in known if host is None or any(each.name == host for each in run.hosts))
    found = next(naming, known[0] if known else None)
    return "" if found is None else found.platform
