"""What is told of a search round by round: who is measured with whom now, what that read, who is still in doubt."""

from __future__ import annotations

from collections.abc import Sequence

from healthcheck.diagnosis.search import Read, Round, Searching
from healthcheck.evaluation.reading import told_at
from healthcheck.model.command import CollectiveJob
from healthcheck.model.message import Message, say
from healthcheck.model.progress import RoundBegun, RoundRead
from healthcheck.model.search import FullReading, PairReading, PairRound, Standing
from healthcheck.parsing.nodeset import fold
from healthcheck.planning.estimate import search_costs, stage_seconds
from healthcheck.ports import Event
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.request import RunRequest

STAGE = "localise"
MOST_NAMED = 8
IN_DOUBT = (Standing.CONFIRMED, Standing.LIKELY, Standing.SUSPECTED, Standing.UNTESTED)
RETESTS = 1
"""Rounds of retests that most searches need on top of the walk."""


class SearchTelling:
    """Tells the rounds of one search over `nodes` hosts to whoever watches."""

    def __init__(self, nodes: int, request: RunRequest, engine: Engine) -> None:
        self._nodes = nodes
        self._request = request
        self._observer = engine.observer

    def begins(self, number: int, jobs: Sequence[CollectiveJob], expected_gbyte_s: float) -> None:
        """A round begins; its jobs are expected to read so much."""
        groups = tuple(job.hosts for job in jobs)
        step = RoundBegun(number, groups, self._left_s(number, stage_seconds(jobs, expected_gbyte_s)))
        self._observer.event(Event(STAGE, say("search.round", round=number, jobs=len(jobs)), step=step))

    def _left_s(self, number: int, round_s: float) -> float | None:
        """By plan, for one culprit; None once it took more rounds than that, for then nobody can say."""
        usual, _ = search_costs(self._nodes, round_s, round_s, self._request.max_rounds, None)
        left = usual.rounds + RETESTS - (number - 2)  # the slow run was the first round
        return left * round_s if left > 0 else None

    def read(self, step: Round, read: Read, searching: Searching) -> None:
        """A round has been read and weighed: `searching` knows what follows from it."""
        in_doubt = searching.view.standing(*IN_DOUBT)
        suspects = tuple(host for host in in_doubt if host not in searching.gone)
        message = _read(step, read, _doubt(suspects))
        self._observer.event(Event(STAGE, message, step=RoundRead(step.round, suspects)))


def _doubt(suspects: Sequence[str]) -> Message:
    if len(suspects) > MOST_NAMED:
        return say("progress.suspects_many", n=len(suspects))
    return say("progress.suspects", names=fold(suspects)) if suspects else say("progress.suspects_none")


def _read(step: Round, read: Read, doubt: Message) -> Message:
    if isinstance(step, PairRound):
        return _pairs(step.round, [one for one in read if isinstance(one, PairReading)], doubt)
    full = [one for one in read if isinstance(one, FullReading)]
    slowest = max(full, key=lambda one: one.shortfall, default=None)
    if slowest is None or slowest.busbw_gbyte_s is None:
        hosts = 0 if slowest is None else len(slowest.hosts)
        return say("progress.joint_stuck", round=step.round, hosts=hosts, doubt=doubt)
    busbw = told_at(slowest.busbw_gbyte_s, slowest.size_bytes)
    expected = f"{slowest.expected_gbyte_s:.1f}"
    hosts = len(slowest.hosts)
    return say("progress.joint_read", round=step.round, hosts=hosts, busbw=busbw, expected=expected, doubt=doubt)


def _pairs(number: int, pairs: Sequence[PairReading], doubt: Message) -> Message:
    if not pairs:
        return say("progress.pairs_none", round=number, doubt=doubt)
    low = min(pairs, key=lambda one: -1.0 if one.busbw_gbyte_s is None else one.busbw_gbyte_s)
    if low.busbw_gbyte_s is None:
        return say("progress.pairs_stuck", round=number, pairs=len(pairs), a=low.a, b=low.b, doubt=doubt)
    busbw = told_at(low.busbw_gbyte_s, low.size_bytes)
    return say("progress.pairs_read", round=number, pairs=len(pairs), a=low.a, b=low.b, busbw=busbw, doubt=doubt)
