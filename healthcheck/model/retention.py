"""What is known of a stored run where it is decided how long it stays."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from healthcheck.model.message import Message
from healthcheck.model.record import Owner


class KeptRun(Struct, frozen=True):
    """One run directory. `part` is the one stage that was asked for, empty for all of the playbook; `gate`: it was one.

    `stamp` is (bytes, time of change in ns) of its record, by which it is known whether it is still the same.
    """

    run_id: str
    playbook: str
    part: str
    gate: bool
    simulated: bool
    state: Literal["incomplete", "complete", "interrupted"]
    owner: Owner
    stamp: tuple[int, int]

    @property
    def kind(self) -> tuple[str, str, bool, bool]:
        """Runs of one kind displace each other: an afternoon of gates does not displace two years of check-ups."""
        return self.playbook, self.part, self.gate, self.simulated


class Left(Struct, frozen=True):
    """What stays although it is old, or is no run of ours, and why."""

    folder: str
    why: Message
