"""A run that is taken up again: what it measured counts where the nodes are still what they were then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from healthcheck.evaluation.fresh import BOOT, Change, overtaken_by, passport
from healthcheck.model.command import JobOutcome
from healthcheck.model.gate import Passport
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.parsing.nodeset import fold
from healthcheck.ports import Event
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.launching import measured
from healthcheck.workflows.ledger import Ledger


def still_true(earlier: Mapping[str, JobOutcome], ledger: Ledger, engine: Engine) -> dict[str, JobOutcome]:
    """The results of before that count, after the first look at the nodes; of the others a note says why they do not.

    A job holds for all of its hosts or not at all. Who was not reached now takes part in no job.
    """
    now = {name: passport(facts) for name, facts in ledger.facts.items()}
    kept: dict[str, JobOutcome] = {}
    moved: dict[str, Change] = {}
    for job_id, outcome in earlier.items():
        found = {
            name: change
            for name in outcome.job.hosts
            if name in now and (change := overtaken_by(outcome.passports.get(name, Passport()), now[name])) is not None
        }
        if not found:
            kept[job_id] = outcome
        elif measured(outcome.job, earlier):
            moved |= found
    for note in _notes(moved, [host.name for host in ledger.request.hosts]):
        ledger.notes.append(note)
        engine.observer.event(Event(PROBE_STAGE, note))
    return kept


def _notes(moved: Mapping[str, Change], order: Iterable[str]) -> Iterator[Message]:
    """One for all nodes of which the same is to be said."""
    alike: dict[str, tuple[Message, list[str]]] = {}
    for name in order:
        if name in moved:
            why = _why(moved[name])
            alike.setdefault(why.english, (why, []))[1].append(name)
    for why, names in alike.values():
        yield say("resumed.again", hosts=fold(names), why=why)


def _why(change: Change) -> Message:
    if change.before is None or change.after is None:
        return say("resumed.unknown", what=change.what)
    if change.what.code == BOOT:  # two ids, which tell a person nothing
        return say("resumed.booted")
    return say("resumed.changed", what=change.what, before=change.before, after=change.after)
