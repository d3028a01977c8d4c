"""The past beside a run: the earlier run it is compared with, and what each of the last runs read."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.digest import RunDigest
from healthcheck.model.message import Message


class PastReading(Struct, frozen=True):
    """What one run read in one stage: the number its jobs were judged by (`model/judged.py`), GB/s.

    Of jobs on one node each: their median, the lowest of them and whose it is. Of jobs over several nodes: the first,
    as the nodes were found, which is its own lowest and nobody's. `nodes` is how many took part, `verdict` the worst.
    """

    stage: str
    collective: str
    nodes: int
    gbyte_s: float
    lowest_gbyte_s: float
    lowest: str
    verdict: str


class EarlierRun(Struct, frozen=True):
    """One run; `started_at` as in its record (UTC), `verdict` by its name."""

    run_id: str
    started_at: str
    verdict: str
    readings: tuple[PastReading, ...]


class Earlier(Struct, frozen=True):
    """What a run is held against on its pages: `before`, None where no earlier run of these nodes is known.

    `runs` are up to 11 earlier ones, oldest first, `before` among them; `notes` say which could not be used. `why`
    there is none, where it is not that nobody knows of one: such a past is never kept.
    """

    before: RunDigest | None = None
    runs: tuple[EarlierRun, ...] = ()
    notes: tuple[Message, ...] = ()
    why: Message | None = None
