"""docs/checks.md names every check id and cause code there is, and none that is gone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import healthcheck
from healthcheck.diagnosis.causes import CAUSES
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.probes import PROBES

PACKAGE = Path(healthcheck.__file__).parent
DOCUMENT = PACKAGE.parent / "docs" / "checks.md"


def documented(section: str) -> list[str]:
    text = DOCUMENT.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([a-z0-9_.]+)` \|", text, re.MULTILINE)


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


def test_every_check_has_its_sentence_for_explain() -> None:
    assert {f"check.{name}" for name in documented("Checks")} == {
        code for code in CATALOGUE_EN if code.startswith("check.")
    }


def rows(section: str) -> dict[str, list[str]]:
    """First cell without its ticks -> the other cells of its row."""
    text = DOCUMENT.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if "`" in line[:4]]
    return {first.strip("`"): rest for first, *rest in cells}


def test_every_cause_is_documented_once_and_none_is_invented() -> None:
    assert sorted(documented("Causes")) == sorted(f"cause.{cause.code}" for cause in CAUSES)


def test_every_rule_and_every_signature_stands_beside_its_cause() -> None:
    shown = rows("Causes")
    for cause in CAUSES:
        leads = shown[f"cause.{cause.code}"][0]
        assert [rule for rule in cause.rules if f"`{rule}`" not in leads] == [], cause.code
        assert ("a line of NCCL" in leads) == bool(cause.signature), cause.code


def test_the_page_says_what_the_catalogue_says() -> None:
    """In the words an operator reads in a finding; `{n:one|many}` is written as `many`."""
    for cause in CAUSES:
        _, means, do = rows("Causes")[f"cause.{cause.code}"]
        assert (means, do) == tuple(written(f"{what}.{cause.code}") for what in ("cause", "remedy"))


def written(code: str) -> str:
    text = re.sub(r"\{\w+:[\w ]+\\?\|([\w ]+)\}", r"\1", CATALOGUE_EN[code])
    return text.replace("<", "&lt;").replace("|", "\\|")
