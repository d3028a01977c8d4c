"""`junit.xml`: one test case a check, as GitLab, Jenkins and others read it. Always English: programs compare it.

After the schema of Jenkins' xUnit plugin (`junit-10.xsd`); GitLab takes up to 30 MB, and of two cases with one class
name and one name only the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isfinite
from xml.etree import ElementTree

from msgspec import Struct

from healthcheck.model.finding import CheckResult
from healthcheck.model.record import HostRecord, JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.figures import duration_s, gbyte_s, instant, number, one_line
from healthcheck.reporting.summary import stdout_line

MOST_CASES = 250_000
"""With more results than this, those that PASS or were SKIPPED become one case a check (4,096 nodes: 17 MB)."""
SHORT = 300
"""Where the `message` of a failure is cut, in characters; its text is whole."""
MOST_EVIDENCE = 10


class _Case(Struct, frozen=True):
    """One test case. `text` is what stands inside its failure, error or skipped; the first line is its message."""

    suite: str
    classname: str
    name: str
    verdict: Verdict
    text: tuple[str, ...] = ()
    seconds: float | None = None


def render_junit(record: RunRecord) -> str:
    """The file. The run itself is a case, too: a run that measured nothing must not look like one without failures."""
    cases = tuple(_distinct(_cases(record)))
    suites: dict[str, list[_Case]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    root = ElementTree.Element("testsuites", {"name": f"healthcheck {one_line(record.run_id)}", **_counts(cases)})
    del root.attrib["skipped"]
    seconds = duration_s(record)
    if seconds is not None:
        root.set("time", f"{seconds:.3f}")
    properties = _properties(record)
    began = instant(record.started_at)
    for name, inside in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, **_counts(inside)})
        known = [case.seconds for case in inside if case.seconds is not None]
        if known:
            suite.set("time", f"{sum(known):.3f}")
        if began is not None:  # in UTC: the schema of Ant knows no time zones
            suite.set("timestamp", f"{began:%Y-%m-%dT%H:%M:%S}")
        if record.owner.machine:
            suite.set("hostname", one_line(record.owner.machine))
        box = ElementTree.SubElement(suite, "properties")
        for key, value in properties:
            ElementTree.SubElement(box, "property", {"name": key, "value": value})
        for case in inside:
            _write(suite, case)
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _write(suite: ElementTree.Element, case: _Case) -> None:
    element = ElementTree.SubElement(suite, "testcase", {"classname": case.classname, "name": case.name})
    if case.seconds is not None:
        element.set("time", f"{case.seconds:.3f}")
    if case.verdict is Verdict.PASS:
        return
    kind = {Verdict.SKIPPED: "skipped", Verdict.INCONCLUSIVE: "error"}.get(case.verdict, "failure")
    first = case.text[0] if case.text else case.verdict.name
    short = first if len(first) <= SHORT else f"{first[: SHORT - 3]}..."
    inside = ElementTree.SubElement(element, kind, {"type": case.verdict.name, "message": short})
    inside.text = "\n".join(case.text) or first  # GitLab shows the text, Jenkins the message


def _counts(cases: tuple[_Case, ...] | list[_Case]) -> dict[str, str]:
    found = Counter(case.verdict for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(found[Verdict.FAIL] + found[Verdict.DEGRADED]),
        "errors": str(found[Verdict.INCONCLUSIVE]),
        "skipped": str(found[Verdict.SKIPPED]),
    }


def _properties(record: RunRecord) -> tuple[tuple[str, str], ...]:
    known = (
        ("run_id", record.run_id),
        ("verdict", record.verdict.name),
        ("state", record.state),
        ("exit_code", "" if record.exit_code is None else str(record.exit_code)),
        ("simulated", "true" if record.simulated else "false"),
        ("started_at", record.started_at),
        ("finished_at", record.finished_at or ""),
        ("platform", "" if record.platform is None else record.platform.name),
        ("playbook", record.playbook.name),
        ("playbook_sha256", record.provenance.playbook_sha256),
        ("tool", record.provenance.tool),
        ("reused", "; ".join(note.english for note in record.notes if note.code == "gate.note.reused")),
    )
    return tuple((key, one_line(value)) for key, value in known if value)


def _cases(record: RunRecord) -> Iterator[_Case]:
    yield _Case("run", "run", "verdict", record.verdict, (stdout_line(record),), duration_s(record))
    yield from (_host(host) for host in _untold(record))
    jobs = {job.id: job for job in record.jobs}
    timed: set[str] = set()
    folded: dict[tuple[str, str, Verdict], list[CheckResult]] = {}
    many = len(record.checks) > MOST_CASES
    for check in record.checks:
        job = jobs.get(check.job)
        if many and check.verdict in (Verdict.PASS, Verdict.SKIPPED):
            folded.setdefault((_suite(check), _name(check, job), check.verdict), []).append(check)
            continue
        # A job is judged by several checks: with its time at the first of them, sums are right.
        seconds = None if job is None or job.id in timed else _time(job.duration_s)
        timed.add(check.job)
        component = one_line(str(check.component))
        yield _Case(_suite(check), component, _name(check, job), check.verdict, _told(check), seconds)
    for (suite, name, verdict), checks in folded.items():
        text = (f"{len(checks)} of them, the first: {checks[0].component}: {one_line(checks[0].message.english)}",)
        yield _Case(suite, f"all {verdict.name}", name, verdict, () if verdict is Verdict.PASS else text)


def _distinct(cases: Iterator[_Case]) -> Iterator[_Case]:
    """A look that is repeated after the benchmarks, and a job that is judged again, get a number behind their name."""
    seen: Counter[tuple[str, str]] = Counter()
    for case in cases:
        key = (case.classname, case.name)
        seen[key] += 1
        if seen[key] == 1:
            yield case
        else:
            name = f"{case.name} #{seen[key]}"
            yield _Case(case.suite, case.classname, name, case.verdict, case.text, case.seconds)


def _suite(check: CheckResult) -> str:
    return one_line(".".join(part for part in (check.stage, check.check.partition(".")[0]) if part))


def _name(check: CheckResult, job: JobRecord | None) -> str:
    """The id of the check; of a job also what was measured, which GitLab would else take for one and the same."""
    return one_line(check.check if job is None else f"{check.check} ({job.stage}, {job.collective})")


def _told(check: CheckResult) -> tuple[str, ...]:
    if check.verdict is Verdict.PASS:
        return ()
    lines = [check.message.english]
    if check.verdict is not Verdict.SKIPPED:
        unit = f" {check.unit}" if check.unit else ""
        lines.append(f"rule: {check.rule}")
        lines += [f"observed: {_value(check, check.observed)}{unit}{_at(check)}"] if check.observed is not None else []
        lines += [f"expected: {_value(check, check.expected)}{unit}"] if check.expected is not None else []
        lines += [f"job: {check.job}"] if check.job else []
        lines += [f"rule {said.rule}: {said.verdict.name}, {said.message.english}" for said in check.rules]
        lines += [f"against: {message.english}" for message in check.against]
        lines += [f"{quote.source}: {quote.text}" for quote in check.evidence[:MOST_EVIDENCE]]
        left = len(check.evidence) - MOST_EVIDENCE
        lines += [f"{left} more in record.json"] if left > 0 else []
    return tuple(map(one_line, lines))


def _untold(record: RunRecord) -> list[HostRecord]:
    """Hosts whose verdict none of their checks tells: never reached, or broken off before anything was asked."""
    worst: dict[str, Verdict] = {}
    aside: set[str] = set()
    for check in record.checks:
        host = check.component.host
        if host is not None:
            worst[host] = max(check.verdict, worst.get(host, Verdict.SKIPPED))
            if check.sets_aside:
                aside.add(host)
    return [
        host
        for host in record.hosts
        if (
            host.name not in aside
            if host.verdict is Verdict.SKIPPED
            else worst.get(host.name, Verdict.SKIPPED) < host.verdict
        )
    ]


def _host(host: HostRecord) -> _Case:
    why = tuple(one_line(reason.english) for reason in host.reasons)
    return _Case("hosts", one_line(host.name), "host", host.verdict, why)


def _time(seconds: float) -> float | None:
    return seconds if isfinite(seconds) and seconds > 0 else None


def _value(check: CheckResult, value: float) -> str:
    """A bandwidth with one decimal, as everywhere else."""
    return gbyte_s(value) if check.unit == "GB/s" else number(value)


def _at(check: CheckResult) -> str:
    """The size of a reading that is not the number of its job: the rule that decided looks at one size."""
    size_gib = check.message.args.get("size_gib")
    return f" at {size_gib:g} GiB" if isinstance(size_gib, int | float) else ""
