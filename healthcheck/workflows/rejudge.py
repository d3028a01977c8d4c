"""`healthcheck rejudge`: new verdicts for a stored run, from its raw output, by the functions that judged it first.

Nothing is asked of any node and nothing is written: what comes out is another record. Where nothing has changed it is
the same one. What no raw output holds stands as it was (`carried`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.diagnosis.search_again import BREAKS_ALONE, SLOW, Change, Grounds, search_again
from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.model.baseline import Baseline
from healthcheck.model.circumstances import Circumstances
from healthcheck.model.command import Command, CommandResult, ExitKind, JobOutcome
from healthcheck.model.finding import CheckResult, Confidence
from healthcheck.model.host import Host
from healthcheck.model.message import Message, listed, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import BENCHMARK_STAGES, Stage
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import encode_record
from healthcheck.ports import Event, NeverStarted, PushFile, PushResult, Reached, Running, RunStore, Sink
from healthcheck.workflows.baseline import KnownPast, tell_limits
from healthcheck.workflows.carried import STAGE, Carried, Kind, carried, in_their_order
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.judging import judge_stage, judge_verification
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.look import AFTER, BEFORE, Look
from healthcheck.workflows.probing import judge_after, judge_before
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.search_round import read_job
from healthcheck.workflows.stored import missing_under_load, stored_facts, stored_outcomes


class StoredRun(Struct, frozen=True):
    """A run as it was judged: its record and what that rests on besides raw output."""

    record: RunRecord
    circumstances: Circumstances


class Rejudged(Struct, frozen=True):
    """The new record, and how many of its results stand as they were, by kind."""

    record: RunRecord
    standing: dict[Kind, int]


def as_asked(stored: StoredRun, tool: str, platforms: dict[str, Platform], baseline: Baseline | None) -> RunRequest:
    """What the run was asked to do, as far as it is judged by. `baseline` is the one it was judged by."""
    record, kept = stored.record, stored.circumstances
    return RunRequest(
        run_id=record.run_id,
        owner=record.owner,
        hosts=record.inventory,
        playbook=record.playbook,
        platform=record.platform,
        platforms=platforms,
        tool=tool,
        launcher=kept.launcher,
        only=record.provenance.only or None,
        allow_busy=kept.allow_busy,
        allow_degraded=kept.allow_degraded,
        thresholds=kept.thresholds,
        baseline=baseline,
        simulated=record.simulated,
        playbook_sha256=record.provenance.playbook_sha256,
        hostfile=record.provenance.hostfile,
        arguments=record.provenance.arguments,
    )


def rejudge(stored: StoredRun, request: RunRequest, store: RunStore, *, other_baseline: bool = False) -> Rejudged:
    """Judge a stored run as `request` says. `store` is its directory, `other_baseline`: not the one it had.

    `request.platform` None: the machine type is found among `request.platforms` once more.
    """
    again = _Again(stored, request, store)
    again.looks_before()
    again.baseline(other=other_baseline)
    again.jobs()
    again.looks_after()
    return again.rejudged()


class _Again:
    """The second way through a run: every step that judged, none that asked."""

    def __init__(self, stored: StoredRun, request: RunRequest, store: RunStore) -> None:
        self.stored, self.store = stored, store
        self.was, self.kept = stored.record, stored.circumstances
        nobody = _Nobody()
        self.engine = Engine(nobody, nobody, _Standing(), nobody, store)
        self.ledger = Ledger(request, self.engine)
        self.ledger.started_at = self.was.started_at
        self.ledger.gate = self.was.gate
        self.carried = carried(self.was.checks, self.kept.before)
        self.outcomes = stored_outcomes(self.was, store)
        self.standing: dict[Kind, int] = {}

    def _keep(self, found: Sequence[Carried]) -> None:
        """Results that stand, and the hosts they set aside."""
        for one in found:
            self.ledger.add_checks([one.check])
            self.standing[one.kind] = self.standing.get(one.kind, 0) + 1
            host = one.check.component.host
            if one.kind is Kind.REUSED and host is not None:
                self.ledger.measured.add(host)
            is_lost = one.kind is Kind.REACHED and (not one.later or one.check.rule == "connect.lost")
            if host is not None and (is_lost or (one.later and one.kind in (Kind.BUSY, Kind.ALLOCATION))):
                self.ledger.set_aside.setdefault(host, one.check.message)

    def looks_before(self) -> None:
        """What the nodes answered before the benchmarks, and who was set aside then or on the way."""
        ledger = self.ledger
        self._keep([one for one in self.carried if one.kind is Kind.REACHED and not one.later])
        for host in ledger.request.hosts:
            made = self.kept.before.get(host.name)
            if made is None:
                continue
            facts = stored_facts(host, BEFORE, made, self.store)
            if isinstance(facts, NodeFacts):
                ledger.add_facts(facts, made)
            else:
                ledger.add_checks([facts])
                ledger.set_aside[host.name] = facts.message
        given = [one for one in self.carried if one.kind is Kind.ALLOCATION and not one.later]
        allocated = {one.check.component.host: one.check for one in given}
        judge_before(ledger, self.engine, lambda host: allocated.get(host.name))
        self.standing |= {Kind.ALLOCATION: len(given)} if given else {}
        if self.carried or self.kept.before or self.was.exit_code is not None:
            for host in ledger.request.hosts:
                if host.name not in ledger.facts:
                    ledger.set_aside.setdefault(host.name, say("run.interrupted"))
        later = [one for one in self.carried if one.later or one.kind in (Kind.BUSY, Kind.NOT_RUN, Kind.REUSED)]
        self._keep([one for one in later if one.kind is not Kind.SEARCH])

    def baseline(self, *, other: bool) -> None:
        """What the nodes used to read, as the run knew it; of another one it is said whom it does not know."""
        ledger = self.ledger
        ledger.past = KnownPast(ledger.request.baseline)
        same_machine = self.was.platform is None or self.was.platform == ledger.platform
        if same_machine and not other:
            ledger.notes += [note for note in self.was.notes if note.code.startswith("baseline.")]
        elif ledger.request.baseline is not None and ledger.platform is not None:
            tell_limits(ledger, ledger.request.baseline, ledger.platform.name)

    def jobs(self) -> None:
        """All jobs, stage by stage as they were measured; then those of the search, and what it concluded."""
        ledger, playbook = self.ledger, self.ledger.request.playbook
        for stage in playbook.stages:
            own = [one for one in self.outcomes if one.job.stage == stage.name and not _searched(one.job.id)]
            if stage.name not in BENCHMARK_STAGES or not own:
                continue
            if stage.name == "multi_node":
                # They did take part, whatever is held against them now.
                for host in {host for outcome in own for host in outcome.job.hosts}:
                    ledger.excluded.pop(host, None)
            judge_stage(stage, own, ledger, self.engine)
        for outcome in self.outcomes:
            if _searched(outcome.job.id):
                self._job_of_search(outcome)
        alone: dict[str, list[JobOutcome]] = {}
        for outcome in self.outcomes:
            if len(outcome.job.hosts) == 1:
                alone.setdefault(outcome.job.hosts[0], []).append(outcome)
        ledger.add_checks(missing_under_load(self.was.checks, alone, self.store))
        self._search()

    def _job_of_search(self, outcome: JobOutcome) -> None:
        name = outcome.job.stage
        read_job(outcome, self.ledger, is_judged=name != STAGE)
        if name != STAGE:
            stage = self.ledger.request.playbook.stage(name) or Stage("multi_node")
            judge_verification(stage, outcome, self.ledger, self.engine)

    def _search(self) -> None:
        ledger, was = self.ledger, self.was
        # The last of each collective: a verification that was slow is followed by further rounds.
        joint = [job for job in ledger.jobs if _searched(job.id) and job.hosts == self.kept.verified]
        proof = {job.collective: job.verdict for job in joint}
        still = bool(proof) and all(verdict is Verdict.PASS for verdict in proof.values())
        before, after = _alone(was.checks), _alone(ledger.checks)
        grounds = Grounds(
            joint=Change(_joint(was, was.jobs), _joint(was, ledger.jobs)),
            alone={host: Change(before.get(host), after.get(host)) for host in before.keys() | after.keys()},
            verified=still or not self.kept.verified,
        )
        found = [one.check for one in self.carried if one.kind is Kind.SEARCH]
        told = tuple(search_again(found, was.search, grounds))
        self._keep([Carried(Kind.SEARCH, check) for check in told])
        for check in told:
            host = check.component.host
            if host is not None and (check.confidence is Confidence.CONFIRMED or check.rule == BREAKS_ALONE):
                ledger.excluded.setdefault(host, check.message)
        is_over = grounds.joint.now is Verdict.PASS and not grounds.joint.none
        ledger.search = None if is_over else was.search
        ledger.verified = self.kept.verified if still and not is_over else ()
        if was.search is not None and is_over:
            ledger.notes.append(say("rejudge.search_over"))
        elif was.search is None and grounds.joint.then is Verdict.PASS and grounds.joint.now in SLOW:
            ledger.notes.append(say("rejudge.search_missing"))

    def looks_after(self) -> None:
        """What the nodes answered after the benchmarks, against what they answered before."""
        ledger = self.ledger
        ledger.began_at = self.kept.began_at
        for host in ledger.request.hosts:
            made = self.kept.after.get(host.name)
            if made is None or host.name not in ledger.facts:
                continue
            facts = stored_facts(host, AFTER, made, self.store)
            if isinstance(facts, NodeFacts):
                judge_after(host, Look(host, facts=facts, made=made), ledger, self.engine)
            else:
                ledger.add_checks([facts])

    def rejudged(self) -> Rejudged:
        """The record, in the state and of the time of the one before it."""
        ledger, was = self.ledger, self.was
        ledger.notes += [note for note in was.notes if note.code.startswith(("allocation.", "resumed."))]
        ledger.checks = in_their_order(ledger.checks, was.checks)
        # A run that was cut off and tidied up is called interrupted, but was judged as it had been left.
        unfinished = was.exit_code is None
        signum = was.exit_code - 128 if was.exit_code is not None and was.state == "interrupted" else None
        record = ledger.record("incomplete" if unfinished else was.state, signum)
        return Rejudged(replace(record, state=was.state, finished_at=was.finished_at), self.standing)


def noted(rejudged: Rejudged, was: RunRecord, how: Sequence[Message]) -> RunRecord:
    """The new record; where it differs from the one before it, with a note that says what it is.

    `how`: what was given in place of what the run was judged by, empty where nothing was.
    """
    record = rejudged.record
    if encode_record(record) == encode_record(was):
        return record
    standing = say("rejudge.all_judged")
    if rejudged.standing:
        kinds = listed(_told(kind, n) for kind, n in rejudged.standing.items())
        n, total = sum(rejudged.standing.values()), len(record.checks)
        standing = say("rejudge.standing", n=n, total=total, kinds=kinds)
    told = say("rejudge.note_with", what=listed(how), standing=standing)
    note = told if how else say("rejudge.note", standing=standing)
    return replace(record, notes=(*record.notes, note))


def _told(kind: Kind, n: int) -> Message:
    match kind:
        case Kind.REACHED:
            return say("rejudge.kind.reached", n=n)
        case Kind.ALLOCATION:
            return say("rejudge.kind.allocation", n=n)
        case Kind.BUSY:
            return say("rejudge.kind.busy", n=n)
        case Kind.NOT_RUN:
            return say("rejudge.kind.not_run", n=n)
        case Kind.REUSED:
            return say("rejudge.kind.reused", n=n)
        case Kind.SEARCH:
            return say("rejudge.kind.search", n=n)


def _searched(job_id: str) -> bool:
    return job_id.startswith(f"{STAGE}-")


def _joint(record: RunRecord, jobs: Sequence[JobRecord]) -> Verdict | None:
    """The verdict of the job a search began with; where there was none, the worst of those over all nodes."""
    began = record.search.rounds[0].fulls[0].job if record.search is not None and record.search.rounds else None
    planned = [job for job in jobs if job.stage == "multi_node" and not _searched(job.id)]
    return max((job.judged_as for job in planned if began in (None, job.id)), default=None)


def _alone(checks: Iterable[CheckResult]) -> dict[str, Verdict]:
    """The bandwidth of each node by itself, as `search_gpus` looks at it."""
    found: dict[str, Verdict] = {}
    for check in checks:
        host = check.component.host
        if host is not None and check.check == BUSBW_CHECK and check.stage == "single_node":
            known = found.get(host)
            found[host] = check.verdict if check.verdict in SLOW or known not in SLOW else known
    return found


class _Standing:
    """A clock that stands: nothing is timed, and the times of the run are those it had."""

    def now(self) -> datetime:
        """No time that anybody reads."""
        return datetime.fromtimestamp(0, UTC)

    def monotonic(self) -> float:
        """Always the same."""
        return 0.0

    def sleep(self, seconds: float) -> None:
        """Nobody waits."""


class _Nobody:
    """No node is asked, and nobody watches: a stored run has nobody to be told of."""

    def event(self, event: Event) -> None:
        """It was told when it happened."""

    def connect(self, host: Host) -> Reached:
        """Nobody answers."""
        return Reached(_UNREACHABLE)

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """Nothing runs."""
        return NeverStarted(_UNREACHABLE)

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Nothing is copied."""
        return PushResult(None, reason=_UNREACHABLE.reason)

    def close(self) -> None:
        """There is nothing to close."""


_UNREACHABLE = CommandResult(ExitKind.UNREACHABLE, None, 0.0, say("rejudge.nobody"))
