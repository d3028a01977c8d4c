"""A search as it is kept: every round with what it read, what was expected of it, and where the suspects stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from healthcheck.diagnosis.levels import Level
from healthcheck.diagnosis.localise import NOISE_SOUGHT, View, in_order
from healthcheck.diagnosis.rails_of import SlowRails
from healthcheck.diagnosis.standings import CALM, LEAST_LOSS
from healthcheck.model.search import (
    FullLine,
    FullReading,
    Kind,
    PairLine,
    PairReading,
    Problem,
    RailsRecord,
    RoundRecord,
    SearchRecord,
)


class Played(Struct, frozen=True):
    """A round that was measured: what it read, and the pairs that could not be measured."""

    round: int
    kind: Kind
    pairs: tuple[PairReading, ...] = ()
    fulls: tuple[FullReading, ...] = ()
    untested: tuple[tuple[str, str], ...] = ()


class Phase(Struct, frozen=True):
    """Rounds with one kind of pairs: all they read, and where everybody stands after it."""

    problem: Problem
    view: View
    readings: tuple[PairReading, ...]


class Found(Struct, frozen=True):
    """Everything a search found. `phases` in their order: rail by rail, then, where that named nobody, whole nodes.

    `verified` are the hosts proven together at the end, in rank order; none where that did not come about. `devices`
    are the HCAs of each rail of a host, "" where not known.
    """

    phases: tuple[Phase, ...]
    played: tuple[Played, ...]
    ending: str
    slow_run: FullReading
    verified: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    rails: tuple[SlowRails, ...] = ()
    devices: dict[str, tuple[str, ...]] = {}

    @property
    def phase(self) -> Phase:
        """The last one that read anything; the first where none did."""
        return next((phase for phase in reversed(self.phases) if phase.readings), self.phases[0])


def search_record(found: Found) -> SearchRecord:
    """The search in the shape of the record."""
    levels = {_key(reading): (level, residual) for phase in found.phases for reading, level, residual in _judged(phase)}
    view = found.phase.view
    slow = found.slow_run
    first = RoundRecord(1, Kind.SLOW_RUN, fulls=(_full(slow),))
    return SearchRecord(
        ending=str(found.ending),
        shortfall=slow.shortfall,
        # What was asked for may be less than the noise lets anybody see.
        unseen=max(view.sought, LEAST_LOSS, NOISE_SOUGHT * view.noise),
        noise=view.noise,
        rounds=(
            first,
            *(
                RoundRecord(
                    played.round,
                    played.kind,
                    tuple(_pair(reading, *levels[_key(reading)]) for reading in played.pairs),
                    tuple(map(_full, played.fulls)),
                    played.untested,
                )
                for played in found.played
            ),
        ),
        suspects=tuple(node for node in view.nodes if node.standing not in CALM),
        links=view.links,
        paths=view.paths,
        leaves=view.leaf_wide,
        rails=tuple(
            RailsRecord(rails.host, rails.losses, rails.rails, found.devices.get(rails.host, ()))
            for rails in found.rails
        ),
        gone=found.gone,
    )


def _judged(phase: Phase) -> Iterable[tuple[PairReading, Level, float]]:
    return zip(in_order(phase.readings), phase.view.levels, phase.view.residuals, strict=True)


def _key(reading: PairReading) -> tuple[int, str, str, str]:
    return reading.round, reading.a, reading.b, reading.job


def _pair(reading: PairReading, level: Level, residual: float) -> PairLine:
    return PairLine(
        a=reading.a,
        b=reading.b,
        purpose=reading.purpose,
        measured_gbyte_s=reading.busbw_gbyte_s,
        expected_gbyte_s=round(level.value, 2),
        loss=round(-residual, 4),
        job=reading.job,
    )


def _full(reading: FullReading) -> FullLine:
    return FullLine(reading.hosts, reading.busbw_gbyte_s, round(reading.expected_gbyte_s, 2), reading.job)


def untested(found: Found) -> Sequence[str]:
    """Hosts of the slow run that no pair was measured with and no verification proved."""
    heard = {host for phase in found.phases for reading in phase.readings for host in (reading.a, reading.b)}
    return [host for host in found.slow_run.hosts if host not in heard and host not in set(found.verified)]
