"""`metrics.prom`: the run for the textfile collector of node_exporter (docs/howto/metrics.md). Always English.

Names and units as Prometheus wants them: bytes per second, seconds, ratios. What is not known has no sample. Up to
four series a host and collective, none a message size or GPU, so that 4,000 nodes stay below 20,000 series.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING

from msgspec import Struct

from healthcheck.evaluation.limits import BUSBW_CHECK
from healthcheck.model.fleet import PINNABLE
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import limit_of
from healthcheck.reporting.figures import duration_s, instant, one_line
from healthcheck.reporting.measured import measured, together
from healthcheck.reporting.search_jobs import evidence_of

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily

PREFIX = "healthcheck"
MOST_VALUES = 20
"""Values of one version that are told; more of them are no versions."""
_GBYTE = 1e9
_VERDICTS = ", ".join(f"{verdict.value} {verdict.name}" for verdict in Verdict)
_EXIT_CODES = (
    "Exit code: 0 PASS, 1 FAIL, 3 INCONCLUSIVE, 4 DEGRADED (0 with --allow-degraded), 128 + number of a signal."
)
_KNOWN_GOOD = "known_good"
_NOT_JUDGED = "not_judged"


Labels = tuple[str, ...]


class Metric(Struct, frozen=True):
    """One metric: its samples by the values of `labels`; `simulated` is a label of all of them."""

    name: str
    help: str
    labels: Labels
    samples: Mapping[Labels, float]


def render_metrics(record: RunRecord) -> str:
    """The file, without times of samples: the textfile collector refuses a file that has any."""
    # Here, not above: it brings a web server along, and `--help` must not pay for it.
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(record))
    return generate_latest(registry).decode()


class _Collector:
    """What the library asks for its metrics."""

    def __init__(self, record: RunRecord) -> None:
        self._record = record

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Each metric that has a sample, in the order of `metrics`."""
        from prometheus_client.core import GaugeMetricFamily

        simulated = "true" if self._record.simulated else "false"
        for metric in metrics(self._record):
            family = GaugeMetricFamily(f"{PREFIX}_{metric.name}", metric.help, labels=(*metric.labels, "simulated"))
            for values, number in metric.samples.items():
                family.add_metric((*values, simulated), number)
            if metric.samples:
                yield family


def metrics(record: RunRecord) -> Iterator[Metric]:
    """Every metric of a run; host names and versions are data, made one visible line each."""
    yield from _run(record)
    yield from _hosts(record)
    yield from _bandwidths(record)
    jobs = ((one_line(job.stage), _NOT_JUDGED if job.verdict is None else job.verdict.name) for job in record.jobs)
    yield _counted("jobs", "Jobs by stage and verdict; those of a search are not judged.", ("stage", "verdict"), jobs)
    evidence = ((one.part.value, one.speed.value) for one in evidence_of(record))
    text = "Jobs of a search, which are evidence and have no verdict: slow, fast, stuck, or beside for comparison."
    yield _counted("search_jobs", text, ("part", "speed"), evidence)
    checks = ((check.verdict.name,) for check in record.checks)
    yield _counted("checks", "Results of checks by verdict.", ("verdict",), checks)
    causes = ((finding.verdict.name, one_line(finding.cause.code)) for finding in record.findings)
    yield _counted("findings", "Findings by verdict and cause.", ("verdict", "cause"), causes)


def _run(record: RunRecord) -> Iterator[Metric]:
    versions = {"tool": record.provenance.tool, **_most_common(record)}
    known = {
        "run_id": record.run_id,
        "state": record.state,
        "playbook": record.playbook.name,
        "playbook_sha256": record.provenance.playbook_sha256,
        "platform": "" if record.platform is None else record.platform.name,
        **versions,
    }
    told = {name: one_line(value) for name, value in known.items() if value}
    yield Metric("run_info", "The run; of versions the most common one.", tuple(told), {tuple(told.values()): 1})
    for name, text, value in (
        ("run_verdict", f"Verdict of the run: {_VERDICTS}.", float(record.verdict.value)),
        ("run_exit_code", _EXIT_CODES, _float(record.exit_code)),
        ("run_complete", "1 if the run came to its end, 0 if not.", float(record.state == "complete")),
        ("run_started_timestamp_seconds", "Unix time at which the run began.", _unix(record.started_at)),
        ("run_finished_timestamp_seconds", "Unix time at which the run ended.", _unix(record.finished_at)),
        ("run_duration_seconds", "From the beginning of the run to its end.", duration_s(record)),
    ):
        yield Metric(name, text, (), {} if value is None else {(): value})


def _hosts(record: RunRecord) -> Iterator[Metric]:
    counted = Counter(host.verdict for host in record.hosts)
    by_verdict: dict[Labels, float] = {(verdict.name,): float(counted[verdict]) for verdict in Verdict}
    yield Metric("hosts", "Hosts by verdict.", ("verdict",), by_verdict)
    for name, text, hosts in (
        ("healthy_hosts", "Hosts to start on: proven together and PASS (healthy.hosts).", record.healthy_hosts),
        ("proven_hosts", "Hosts of the job that proved them together.", record.proven_together),
        ("excluded_hosts", "Hosts that were named and left out (exclude.hosts).", record.excluded_hosts),
    ):
        yield Metric(name, text, (), {(): float(len(hosts))})
    if record.gate is not None:
        text = "Hosts that a gate did not measure alone again: a pass of an earlier run held (--fresh-for)."
        yield Metric("reused_hosts", text, (), {(): float(len(record.gate.reused))})
    verdicts = (((one_line(host.name),), float(host.verdict.value)) for host in record.hosts)
    yield Metric("host_verdict", f"Verdict of a host: {_VERDICTS}.", ("host",), _each(verdicts, max))
    values: dict[Labels, float] = {
        (one_line(setting.name), one_line(value.value)): float(value.count)
        for setting in record.fleet
        if setting.name.partition("[")[0] in PINNABLE
        for value in setting.values[:MOST_VALUES]
    }
    yield Metric("version_hosts", "Hosts by installed version.", ("name", "value"), values)


class _Number(Struct, frozen=True):
    """One bandwidth in GB/s and what it is held against, as far as that is known."""

    labels: Labels
    n_hosts: int
    busbw_gbyte_s: float
    peak_gbyte_s: float | None
    known_good_gbyte_s: float | None


def _bandwidths(record: RunRecord) -> Iterator[Metric]:
    alone: list[_Number] = []
    joint: list[_Number] = []
    proven = frozenset(record.proven_together or record.healthy_hosts)
    good = _known_good(record)
    for job in _measured_jobs(record, proven):
        value = measured(job).slower
        if value is None or not isfinite(value):
            continue
        single = len(job.hosts) == 1
        who = one_line(job.hosts[0]) if single else "proven" if frozenset(job.hosts) == proven else "found"
        limit = limit_of(record, job.stage, job.collective)
        peak = None if limit is None else limit.peak
        labels = (one_line(job.stage), one_line(job.collective), who)
        (alone if single else joint).append(_Number(labels, len(job.hosts), value, peak, good.get(job.id)))
    yield from _numbers("host_busbw", "a host by itself", "host", alone)
    yield from _numbers("fabric_busbw", "several hosts together (set: as found, or proven)", "set", joint)
    counts = _each(((one.labels, float(one.n_hosts)) for one in joint), max)
    yield Metric("fabric_busbw_hosts", "Hosts in the job over several hosts.", ("stage", "collective", "set"), counts)


def _numbers(name: str, of: str, label: str, numbers: list[_Number]) -> Iterator[Metric]:
    labels = ("stage", "collective", label)
    speeds = ((one.labels, float(round(one.busbw_gbyte_s * _GBYTE))) for one in numbers)
    text = f"Bus bandwidth of {of}: median of the judged sizes, slower placement."
    yield Metric(f"{name}_bytes_per_second", text, labels, _each(speeds, min))
    peak = ((one.labels, _ratio(one.busbw_gbyte_s, one.peak_gbyte_s)) for one in numbers)
    yield Metric(f"{name}_peak_ratio", "The same as a fraction of peak.", labels, _each(peak, min))
    good = ((one.labels, _ratio(one.busbw_gbyte_s, one.known_good_gbyte_s)) for one in numbers)
    text = "The same as a fraction of what healthy machines of this kind read."
    yield Metric(f"{name}_known_good_ratio", text, labels, _each(good, min))


def _measured_jobs(record: RunRecord, proven: frozenset[str]) -> Iterator[JobRecord]:
    """Jobs of the benchmark stages, and of a search the one that proved the healthy set."""
    yield from together(record)
    for job in record.jobs:
        if job.stage == "localise" and len(job.hosts) > 1 and frozenset(job.hosts) == proven:
            yield job


def _known_good(record: RunRecord) -> dict[str, float]:
    """What healthy machines read, in GB/s, by the job that was held against it."""
    found: dict[str, float] = {}
    for check in record.checks:
        for said in check.rules if check.check == BUSBW_CHECK else ():
            if said.rule == _KNOWN_GOOD and said.expected is not None:
                found[check.job] = said.expected
    return found


def _counted(name: str, text: str, labels: Labels, each: Iterable[Labels]) -> Metric:
    return Metric(name, text, labels, {key: float(count) for key, count in Counter(each).items()})


def _most_common(record: RunRecord) -> dict[str, str]:
    """The most common value of each version that has no subject of its own (a firmware has: its card)."""
    return {one.name: one.values[0].value for one in record.fleet if one.name in PINNABLE and one.values}


def _each(
    samples: Iterable[tuple[Labels, float | None]], worse: Callable[[float, float], float]
) -> dict[Labels, float]:
    """Known samples, each series once, the worse of two: a second one makes Prometheus refuse the whole file."""
    kept: dict[Labels, float] = {}
    for labels, value in samples:
        if value is not None:
            kept[labels] = worse(kept[labels], value) if labels in kept else value
    return kept


def _ratio(value: float, of: float | None) -> float | None:
    return round(value / of, 4) if of is not None and isfinite(of) and of > 0 else None


def _unix(iso: str | None) -> float | None:
    at = instant(iso or "")
    return None if at is None else at.timestamp()


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)
