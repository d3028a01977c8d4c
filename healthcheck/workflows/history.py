"""Which of the stored runs are told of: real ones or simulated ones, since when."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from healthcheck.model.history import PastRun
from healthcheck.model.message import Message
from healthcheck.parsing.run_history import instant
from healthcheck.ports import HistoryIndex


class Chosen(Struct, frozen=True):
    """The runs to tell of, oldest first, all real or all `simulated`; how many of the other sort were left out.

    `of_this_sort` is how many there are without a bound in time, `unreadable` and `notes` what is to be told, too.
    """

    runs: tuple[PastRun, ...]
    simulated: bool
    left_out: int
    of_this_sort: int
    unreadable: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()


def choose_runs(index: HistoryIndex, simulated: bool, since: datetime | None) -> Chosen:
    """Real runs where there are any, or the simulated ones where `simulated` or nothing else is there; never both.

    A trend over machines and models of machines would be one of neither. `since` is in UTC.
    """
    past = index.past()
    real = [run for run in past.runs if not run.simulated]
    models = [run for run in past.runs if run.simulated]
    kept, left_out = (models, len(real)) if simulated or not real else (real, len(models))
    newer = kept if since is None else [run for run in kept if instant(run.started_at) >= since]
    return Chosen(tuple(newer), simulated or not real, left_out, len(kept), past.unreadable, past.notes)
