"""What the judgement of a run rests on besides raw output: kept beside it, so that it can be judged again."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from healthcheck.model.gate import Measured, Passport
from healthcheck.model.thresholds import AskedThresholds

SCHEMA = "healthcheck.circumstances/1"


class LookMade(Struct, frozen=True):
    """One look at a node whose answer was kept: the mark of its frames, its length, when it was asked and answered.

    Times in seconds since 1970 by our own clock: what the clock of the node is compared with.
    """

    nonce: str
    asked_s: float
    answered_s: float
    characters: int


class Circumstances(Struct, frozen=True, forbid_unknown_fields=True):
    """`raw/circumstances.json`, as of the record beside it.

    `before` and `after` are the looks by host, `began_at` when the first benchmark began (seconds since 1970),
    `verified` the hosts that a search proved together, in rank order. `passports` say what each host was, and
    `platform_sha256` what it was judged as, `baseline_sha256` what --baseline (or the playbook) held it against, empty
    for nothing, `alone` how much the stage of single nodes measured: by them a later gate knows whether a pass still
    holds, and by `oldest_job`, when the first job began that counts (UTC, `2026-03-14T02:15:03Z`), how old it is: a run
    that was taken up again has jobs of before.
    """

    before: dict[str, LookMade] = {}
    after: dict[str, LookMade] = {}
    began_at: float | None = None
    verified: tuple[str, ...] = ()
    thresholds: AskedThresholds | None = None
    allow_busy: bool = False
    allow_degraded: bool = False
    launcher: Literal["mpirun", "hydra", "srun"] = "mpirun"
    passports: dict[str, Passport] = {}
    platform_sha256: str = ""
    baseline_sha256: str = ""
    oldest_job: str = ""
    alone: Measured | None = None
    schema: str = SCHEMA
