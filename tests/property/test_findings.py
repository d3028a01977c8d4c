"""Whatever results come in: each is told, each finding quotes something, no node looks better than it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from healthcheck.diagnosis.causes import BY_RULE, CONSEQUENCES
from healthcheck.diagnosis.explain import findings
from healthcheck.diagnosis.grouping import groups
from healthcheck.model.component import FABRIC, Component, gpu, hca, link, node
from healthcheck.model.finding import CheckResult, Finding
from healthcheck.model.message import Arg, Message
from healthcheck.model.reading import Evidence
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.model.verdict import Verdict
from tests.unit.model.test_texts import placeholders

HOSTS = ("a", "b", "c")
MEMBERS = {"multi": ("a", "b"), "single.a": ("a",), "single.b": ("b",), "single.c": ("c",)}
ARGS: dict[str, Arg] = {name: 2 for template in CATALOGUE_EN.values() for name in placeholders(template)}
COMPONENTS = (
    FABRIC,
    link("a", "b"),
    *(made for host in HOSTS for made in (node(host), gpu(host, 0), gpu(host, 3), hca(host, "mlx5_0"))),
)
RULES = sorted({*BY_RULE, *CONSEQUENCES, "integrity.whole", "later.rule"})


@st.composite
def results(draw: st.DrawFn) -> CheckResult:
    component: Component = draw(st.sampled_from(COMPONENTS))
    rule = draw(st.sampled_from(RULES))
    number = draw(st.integers(0, 10_000))
    evidence = draw(st.sampled_from(((), (Evidence("sysfs", f"line {number}"),))))
    job = draw(st.sampled_from(("", "unknown", *MEMBERS)))
    message = Message("made.up", ARGS | {"number": number})
    return CheckResult(
        "some.check", component, draw(st.sampled_from(list(Verdict))), message, rule, evidence=evidence, job=job
    )


def told(found: Finding) -> set[str]:
    return {str(message) for message in found.evidence_for}


@given(st.lists(results(), max_size=12))
def test_every_finding_quotes_something(checks: list[CheckResult]) -> None:
    for found in findings(checks, dict.fromkeys(HOSTS, Verdict.FAIL), "run", MEMBERS):
        assert found.evidence and found.evidence_for
        assert all(entry.source and entry.text for entry in found.evidence)
        assert "{" not in f"{found.cause} {found.remedy}"


@given(st.lists(results(), max_size=12))
def test_nothing_that_speaks_is_lost_and_no_node_looks_better_than_its_results(checks: list[CheckResult]) -> None:
    found = findings(checks, {}, "run", MEMBERS)
    said = {text for finding in found for text in told(finding)}
    speaking = [
        check
        for check in checks
        if check.rule not in CONSEQUENCES
        and (check.sets_aside if check.verdict is Verdict.SKIPPED else check.verdict is not Verdict.PASS)
    ]
    assert {str(check.message) for check in speaking} <= said
    for host in HOSTS:
        own = [check.verdict for check in speaking if check.component.host == host]
        shown = [finding.verdict for finding in found if finding.component.host == host]
        assert max(own, default=Verdict.SKIPPED) <= max(shown, default=Verdict.SKIPPED)


@given(st.lists(results(), max_size=12))
def test_one_fault_is_one_finding(checks: list[CheckResult]) -> None:
    found = findings(checks, {}, "run", MEMBERS)
    faults = [(finding.component, finding.cause.code) for finding in found]
    assert len(faults) == len(set(faults))


@given(st.lists(results(), max_size=12))
def test_the_order_of_the_results_decides_nothing_about_who_and_why(checks: list[CheckResult]) -> None:
    order = sorted(checks, key=lambda check: (str(check.message), check.rule))
    assert _faults(checks) == _faults(order) == _faults(list(reversed(order)))


def _faults(checks: list[CheckResult]) -> set[tuple[str, str, int]]:
    return {(str(group.component), group.cause.code, group.verdict) for group in groups(checks, MEMBERS)}
