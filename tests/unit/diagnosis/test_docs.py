"""docs/checks.md names every check id and cause code there is, and none that is gone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import healthcheck
from healthcheck.diagnosis.causes import CAUSES, FOLLOWS, NOT_MEASURED, UNEXPLAINED
from healthcheck.probes import PROBES

PACKAGE = Path(healthcheck.__file__).parent
DOCUMENT = PACKAGE.parent / "docs" / "checks.md"


def documented(section: str) -> list[str]:
    text = DOCUMENT.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([a-z_.]+)` \|", text, re.MULTILINE)


def check_ids() -> set[str]:
    """Constants called CHECK or *_CHECK, and ids written out where a CheckResult is made."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for item in ast.walk(ast.parse(path.read_text())):
            value: ast.expr | None = None
            if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
                value = item.value if re.fullmatch(r"(?:\w+_)?CHECK", item.targets[0].id) else None
            elif isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and item.func.id == "CheckResult":
                named = {keyword.arg: keyword.value for keyword in item.keywords}
                value = item.args[0] if item.args else named.get("check")
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and "." in value.value:
                found.add(value.value)
    return found


def test_every_check_is_documented_once_and_none_is_invented() -> None:
    names = documented("Checks")
    assert sorted(names) == sorted(check_ids())


def test_the_checks_of_the_probes_are_among_them() -> None:
    assert {check for probe in PROBES.values() for check in probe.checks} <= set(documented("Checks"))


def test_every_cause_is_documented_once_and_none_is_invented() -> None:
    causes = {cause.code for cause in (*CAUSES.values(), FOLLOWS, NOT_MEASURED, UNEXPLAINED)}
    assert sorted(documented("Causes")) == sorted(f"cause.{code}" for code in causes)


def test_every_rule_of_the_catalogue_is_named() -> None:
    text = DOCUMENT.read_text()
    assert [rule for rule in CAUSES if f"`{rule}`" not in text] == []
