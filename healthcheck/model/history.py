"""The past: each run as the few numbers that are asked of it later."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.fleet import FleetSetting
from healthcheck.model.message import Message


class PastHost(Struct, frozen=True, array_like=True, gc=False):
    """One host in one run. `verdict` by its name; `rule` is what fired, `reason` its English text; empty where PASS.

    `message` is the reason as it can be told in any language, None where this version cannot.
    """

    name: str
    verdict: str
    rule: str = ""
    reason: str = ""
    message: Message | None = None


class PastJob(Struct, frozen=True, array_like=True, gc=False):
    """One job in one run, all its repeats as one, as they were judged; pairs of a search are none.

    `hosts` in rank order. `out_of_place` and `in_place` are bus bandwidths in GB/s (10^9), one for each of `sizes`
    (bytes, rising): the median over the repeats; None where nothing was printed. `verdict` is the worst of the repeats.
    `judged` is what it was judged by (`model/judged.py`), GB/s.
    """

    stage: str
    collective: str
    hosts: tuple[str, ...]
    n_ranks: int
    verdict: str
    sizes: tuple[int, ...]
    out_of_place: tuple[float | None, ...]
    in_place: tuple[float | None, ...]
    judged: float | None = None


class PastRun(Struct, frozen=True, gc=False):
    """One run. Times as in the record (UTC, `2026-03-14T02:15:03Z`), `verdict` by its name, `healthy` a count.

    `state` is incomplete, complete or interrupted. `platform` is empty where the machine type was not known, `nics`
    None likewise. `settings` are the versions and settings of the fleet. `part` is the one stage that was asked for,
    empty for all of the playbook.
    """

    run_id: str
    folder: str
    state: str
    verdict: str
    simulated: bool
    started_at: str
    finished_at: str | None
    tool: str
    playbook: str
    playbook_sha256: str
    platform: str
    nics: int | None
    healthy: int
    hosts: tuple[PastHost, ...] = ()
    jobs: tuple[PastJob, ...] = ()
    settings: tuple[FleetSetting, ...] = ()
    part: str = ""


class Past(Struct, frozen=True):
    """All runs below one folder, oldest first, and what a user should know about how they were found.

    `unreadable` is one message for each record that cannot be read; `notes` say what else was left out or failed.
    """

    runs: tuple[PastRun, ...] = ()
    unreadable: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
