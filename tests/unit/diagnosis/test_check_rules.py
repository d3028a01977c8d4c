"""What `explain` says a check can end with is what the looks do end with, and leaves out no rule of the catalogue."""

from __future__ import annotations

from healthcheck.diagnosis.causes import BY_RULE, UNEXPLAINED, WARN, cause_of
from healthcheck.diagnosis.check_rules import rules_of
from healthcheck.diagnosis.lookup import known_checks
from healthcheck.evaluation.fresh import CHECK
from healthcheck.model.text_limits import LIMIT_TEXTS
from healthcheck.model.verdict import Verdict
from tests.unit.diagnosis.test_docs import DOCUMENT
from tests.unit.diagnosis.test_rules import recorded


def test_every_check_leads_somewhere_and_every_rule_comes_from_a_check() -> None:
    by_check = {check: {rule for rule, _ in rules_of(check)} for check in known_checks()}
    assert [check for check, rules in by_check.items() if not rules] == [CHECK]  # what does not hold is measured
    named = {rule for rule in BY_RULE if not rule.startswith(WARN)}
    assert named - set[str]().union(*by_check.values()) == set()


def test_what_recorded_nodes_end_with_is_among_it() -> None:
    missing = {
        (check.check, check.rule)
        for check in recorded()
        if check.verdict > Verdict.PASS
        and cause_of(check.rule) is not UNEXPLAINED
        and cause_of(check.rule) not in [cause for _, cause in rules_of(check.check)]
    }
    assert missing == set()


def test_a_line_of_nccl_may_end_in_any_cause_that_has_a_signature() -> None:
    assert {"warn.retry_exceeded", "warn.nccl_error"} <= {rule for rule, _ in rules_of("nccl.warning")}


def test_a_limit_is_told_in_the_words_of_the_page() -> None:
    rows = {line.split("`")[1]: line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")}
    for code, limit in LIMIT_TEXTS.items():
        assert limit in rows[code.removeprefix("limit.")], code
