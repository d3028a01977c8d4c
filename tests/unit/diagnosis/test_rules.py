"""No verdict without a cause: every rule that the code can end a check with leads to a row of the catalogue."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import healthcheck
from healthcheck.diagnosis.causes import BY_RULE, CAUSES, UNEXPLAINED, cause_of, explains, urgency
from healthcheck.model.finding import CheckResult
from healthcheck.model.verdict import Verdict
from healthcheck.probes.judge import judge_node
from healthcheck.probes.read import read_node
from tests.unit.diagnosis.test_docs import check_ids
from tests.unit.diagnosis.test_explain import HEALTHY, NEEDS
from tests.unit.probes.fixtures import FOLDER, answer

PACKAGE = Path(healthcheck.__file__).parent
JUDGES = ("probes", "evaluation", "workflows")
RULE = re.compile(r"[a-z][a-z_0-9]*\.[a-z][a-z_0-9]*")
BAD = {"DEGRADED", "INCONCLUSIVE", "FAIL"}


def rules_beside_a_bad_verdict() -> Iterator[tuple[str, str]]:
    """(file, rule) of every rule written out in the arguments or the tuple where `Verdict.<bad>` stands, too."""
    ids = check_ids()
    for path in sorted(path for room in JUDGES for path in (PACKAGE / room).glob("*.py")):
        for item in ast.walk(ast.parse(path.read_text())):
            parts = item.args if isinstance(item, ast.Call) else item.elts if isinstance(item, ast.Tuple) else []
            if isinstance(item, ast.Call):
                parts = [*parts, *(keyword.value for keyword in item.keywords)]
            verdicts = {name for part in parts for name in verdicts_of(part)}
            texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            for text in texts[-1:]:  # the id of the check, where there is one, stands before the rule
                if verdicts & BAD and RULE.fullmatch(text) and text not in ids:
                    yield path.name, text


def verdicts_of(part: ast.expr) -> set[str]:
    """The names behind `Verdict.` in an argument that is one, or chooses between some."""
    if isinstance(part, ast.IfExp):
        return verdicts_of(part.body) | verdicts_of(part.orelse)
    named = isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "Verdict"
    return {part.attr} if named and isinstance(part, ast.Attribute) else set()


def recorded() -> Iterator[CheckResult]:
    """What every recorded answer of a node is judged to be, the other parts being well."""
    for probe in HEALTHY:
        for path in sorted((FOLDER / probe).glob("*.txt")):
            yield from judge_node(read_node("node01", HEALTHY | {probe: answer(probe, path.stem)}), NEEDS)


def test_the_search_finds_rules() -> None:
    found = {rule for _, rule in rules_beside_a_bad_verdict()}
    assert {"hca.link_downed", "ecc.grew", "transport.socket", "rows.pending"} <= found
    assert len(found) > 40


def test_every_rule_in_the_code_leads_to_a_cause() -> None:
    assert [found for found in rules_beside_a_bad_verdict() if cause_of(found[1]) is UNEXPLAINED] == []


def test_every_recorded_sickness_leads_to_a_cause() -> None:
    bad = {check.rule for check in recorded() if check.verdict > Verdict.PASS}
    assert len(bad) > 40
    assert {rule for rule in bad if cause_of(rule) is UNEXPLAINED} == set()


def test_a_cause_explains_no_rule_that_leads_to_a_more_urgent_one() -> None:
    """Such a word in `explains` would never do anything."""
    useless = {
        (cause.code, word)
        for cause in CAUSES
        for word in cause.explains
        if all(
            urgency(cause) > urgency(other) for rule, other in BY_RULE.items() if word in (rule, rule.partition(".")[0])
        )
    }
    assert useless == set()
    assert any(explains(cause, "peak.below_broken") for cause in CAUSES)
