"""What history, comparison and baselines need of a run: the measurements and versions of its record, and no more.

The wire names are those of `record.json`, read without building the rest: of 1,024 nodes a record has 14 MB, of which
most is command lines, messages and evidence.
"""

from __future__ import annotations

from typing import Union

from msgspec import Struct

from healthcheck.model.fleet import FleetSetting
from healthcheck.model.measurement import CollectiveRow
from healthcheck.model.message import Arg, Message

DigestArg = Union[str, int, float, "DigestMessage"]


class DigestMessage(Struct, frozen=True):
    """A message as it was stored: its code, its English text, and what fills it.

    An argument that is a number without a spelling in JSON is an object with a `float`: here a message that says
    nothing, like any other object that is none.
    """

    code: str = ""
    message_en: str = ""
    args: dict[str, DigestArg] = {}

    @property
    def message(self) -> Message | None:
        """The message itself, to be told in any language; None where this version would say it differently."""
        found = self._whole()
        return found if found is not None and found.english == self.message_en else None

    def _whole(self) -> Message | None:
        args: dict[str, Arg] = {}
        for name, arg in self.args.items():
            whole = arg._whole() if isinstance(arg, DigestMessage) else arg
            if whole is None:
                return None
            args[name] = whole
        return Message(self.code, args) if self.code else None


class DigestHost(Struct, frozen=True):
    """One host that was named; `verdict` by its name, as in the record."""

    name: str
    verdict: str
    reasons: tuple[DigestMessage, ...] = ()


class DigestJob(Struct, frozen=True):
    """One job with its rows. `hosts` in rank order; repeats are jobs of their own."""

    id: str
    stage: str
    collective: str
    hosts: tuple[str, ...]
    n_ranks: int
    verdict: str | None
    rows: tuple[CollectiveRow, ...] = ()
    started_at: str = ""
    reasons: tuple[DigestMessage, ...] = ()


class DigestStage(Struct, frozen=True):
    """One stage of the playbook, as far as it decides what was run."""

    name: str
    collectives: tuple[str, ...] = ()
    env: dict[str, str] = {}
    iterations: int | None = None
    warmup: int | None = None
    repeats: int | None = None


class DigestPlaybook(Struct, frozen=True):
    """The playbook that was run."""

    name: str
    stages: tuple[DigestStage, ...] = ()
    env: dict[str, str] = {}
    launcher: str = ""


class DigestNics(Struct, frozen=True):
    """The compute NICs the platform promises."""

    count: int
    rate_gbit_s: float


class DigestPlatform(Struct, frozen=True):
    """The machine type it was judged as."""

    name: str
    nics: DigestNics


class DigestLimit(Struct, frozen=True):
    """What the readings of a stage were held against: a peak and the fractions of it."""

    check: str
    stage: str
    collective: str
    peak: float
    healthy: float
    broken: float


class DigestProvenance(Struct, frozen=True):
    """Who measured, with which playbook text, command line and limits; `only` is the one stage that was asked for."""

    tool: str = ""
    playbook_sha256: str = ""
    limits: tuple[DigestLimit, ...] = ()
    arguments: tuple[str, ...] = ()
    only: str = ""


class RunDigest(Struct, frozen=True):
    """One run. `verdict` by its name; times as in the record (UTC, `2026-03-14T02:15:03Z`)."""

    run_id: str
    state: str
    verdict: str
    simulated: bool
    started_at: str
    finished_at: str | None
    playbook: DigestPlaybook
    platform: DigestPlatform | None = None
    hosts: tuple[DigestHost, ...] = ()
    jobs: tuple[DigestJob, ...] = ()
    healthy_hosts: tuple[str, ...] = ()
    fleet: tuple[FleetSetting, ...] = ()
    provenance: DigestProvenance = DigestProvenance()
