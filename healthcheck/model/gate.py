"""A gate: what was asked of it, what it left out, and what of a node makes an earlier pass hold today."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.message import Message
from healthcheck.model.thresholds import AskedThresholds


class GateAsked(Struct, frozen=True):
    """The wishes of `healthcheck gate`. `budget_s` and `fresh_for_s` in seconds, 0 for no reuse.

    `min_nodes` None: every node that was named has to be proven. The files are as the user wrote them, empty for none.
    """

    budget_s: float
    fresh_for_s: float = 0.0
    min_nodes: int | None = None
    healthy_file: str = ""
    exclude_file: str = ""

    @property
    def wants_list(self) -> bool:
        """Whether a job is to be started with what it writes."""
        return bool(self.healthy_file or self.exclude_file)


class Reused(Struct, frozen=True):
    """A pass that was not measured again: of which run, and when it was measured (UTC, `2026-03-14T02:15:03Z`)."""

    host: str
    run_id: str
    measured_at: str


class GateRecord(Struct, frozen=True):
    """What became of a gate. `left_out` and `shortened` name what did not fit into the budget.

    `met`: as many nodes as `min_nodes` asks for were proven together; None where it asks for nothing. `unwritten` are
    the lists that were asked for and could not be written, each with the reason: a job has nothing to start with.
    `used_s` of the budget were used before the gate was interrupted and taken up again.
    """

    asked: GateAsked
    left_out: tuple[Message, ...] = ()
    shortened: tuple[Message, ...] = ()
    reused: tuple[Reused, ...] = ()
    met: bool | None = None
    unwritten: tuple[Message, ...] = ()
    used_s: float = 0.0


class Passport(Struct, frozen=True):
    """What a node was when it was looked at: a pass holds only for the same. None where the node did not tell.

    `nccl` is the version of the library that is installed, `firmware` that of every HCA, by device. `gpus` counts its
    GPUs and digests their identities: a job that is given half of a node sees others of them each time.
    """

    boot_id: str | None = None
    driver: str | None = None
    nccl: str | None = None
    firmware: str | None = None
    gpus: str | None = None


class Measured(Struct, frozen=True):
    """How much the stage of single nodes measured; a gate makes it shorter where time is short. Sizes in bytes."""

    collectives: tuple[str, ...]
    smallest: int
    largest: int
    iterations: int
    repeats: int

    def covers(self, other: Measured) -> bool:
        """Whether nothing of `other` was left out."""
        return (
            set(other.collectives) <= set(self.collectives)
            and self.smallest <= other.smallest
            and self.largest >= other.largest
            and self.iterations >= other.iterations
            and self.repeats >= other.repeats
        )


class EarlierPass(Struct, frozen=True):
    """What the newest earlier run that says something of a host alone found.

    `found` is the verdict by its name: of the host in that run where it was not PASS, else of its own jobs.
    `measured_s` in seconds since 1970. The digests are SHA-256 of the playbook text, of the platform as it was used and
    of the baseline that was given, empty for none. `measured` None: it is not known how much was.
    """

    host: str
    run_id: str
    measured_s: float
    found: str
    passport: Passport
    playbook_sha256: str
    platform_sha256: str
    thresholds: AskedThresholds | None = None
    baseline_sha256: str = ""
    measured: Measured | None = None
