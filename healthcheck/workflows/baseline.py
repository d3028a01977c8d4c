"""What the nodes of a run used to read: the baseline that was given, else their own past in the results folder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from healthcheck.evaluation.past_of import Asking
from healthcheck.model.baseline import Baseline, Usual
from healthcheck.model.command import CollectiveJob, JobOutcome
from healthcheck.model.message import Message, say
from healthcheck.model.playbook import BENCHMARK_STAGES, PROBE_STAGE
from healthcheck.parsing.baseline import encode_baseline, hosts_of
from healthcheck.parsing.nodeset import fold
from healthcheck.ports import Event
from healthcheck.workflows.engine import Engine

if TYPE_CHECKING:
    from healthcheck.workflows.ledger import Ledger

STORED = "inputs/baseline.json"


class KnownPast:
    """A baseline, at hand for one job as for a whole stage. Without one it knows nothing."""

    def __init__(self, baseline: Baseline | None = None) -> None:
        self.baseline = baseline
        self._by_hosts: dict[str, list[Usual]] = {}
        for usual in baseline.usual if baseline is not None else ():
            self._by_hosts.setdefault(usual.hosts, []).append(usual)

    def of(self, job: CollectiveJob) -> Baseline | None:
        """Only what is known of the hosts of one job: a job is judged as it ends, and there are thousands."""
        if self.baseline is None:
            return None
        hosts = job.hosts[0] if len(job.hosts) == 1 else fold(job.hosts)
        return replace(self.baseline, usual=tuple(self._by_hosts.get(hosts, ())))

    def hosts(self) -> frozenset[str]:
        """Everybody something is known of."""
        return frozenset(host for named in self._by_hosts.values() for host in hosts_of(named[0]))


def settle_baseline(ledger: Ledger, engine: Engine) -> None:
    """Find what the nodes used to read, now that their machine type is known, and keep it beside the inputs.

    What was given is used as it is, and a note says what it cannot speak of; else the results folder is asked.
    """
    request, platform = ledger.request, ledger.platform
    if platform is None or not any(request.wants(stage) for stage in BENCHMARK_STAGES):
        return
    if ledger.past.baseline is not None:
        tell_limits(ledger, ledger.past.baseline, platform.name)
    elif engine.memory is not None:
        hosts = frozenset(host.name for host in request.hosts)
        found = engine.memory.usual(Asking(request.run_id, platform.name, ledger.simulated, hosts))
        ledger.notes.extend(found.notes)
        ledger.past = KnownPast(found.baseline)
        if found.baseline is not None:
            covered = len(hosts & ledger.past.hosts())
            known = say("baseline.past", source=found.baseline.source, covered=covered, hosts=len(hosts))
            engine.observer.event(Event(PROBE_STAGE, known))
    if ledger.past.baseline is not None:
        engine.store.write(STORED, encode_baseline(ledger.past.baseline))


def tell_limits(ledger: Ledger, baseline: Baseline, platform: str) -> None:
    """A baseline that cannot speak of all nodes is never silently ignored."""
    kind = _other_kind(baseline, ledger.simulated)
    if kind is not None:
        ledger.notes.append(kind)
        return
    if baseline.platform != platform:
        other = say("baseline.other_platform", source=baseline.source, made_of=baseline.platform, judged_as=platform)
        ledger.notes.append(other)
        return
    unknown = [host.name for host in ledger.request.hosts if host.name not in ledger.past.hosts()]
    if unknown:
        ledger.notes.append(say("baseline.uncovered", source=baseline.source, hosts=fold(unknown), n=len(unknown)))


def usual_for(ledger: Ledger, outcomes: Iterable[JobOutcome], *, of: CollectiveJob | None = None) -> Baseline | None:
    """The baseline that `outcomes` are held against, all of it or only for one job; None where there is none.

    A stand-in behind real ssh is known by what its program prints. Its numbers are never held against those of real
    machines, nor real ones against a model's.
    """
    baseline = ledger.past.baseline if of is None else ledger.past.of(of)
    if baseline is None:
        return None
    simulated = ledger.simulated or any(
        warning.code == "simulated" for outcome in outcomes for warning in outcome.output.warnings
    )
    kind = _other_kind(baseline, simulated)
    if kind is None:
        return baseline
    if kind not in ledger.notes:
        ledger.notes.append(kind)
    return None


def _other_kind(baseline: Baseline, simulated: bool) -> Message | None:
    """Why numbers of a model and of machines are not held against each other."""
    if baseline.simulated is simulated:
        return None
    source = baseline.source
    return say("baseline.of_real", source=source) if simulated else say("baseline.of_simulated", source=source)
