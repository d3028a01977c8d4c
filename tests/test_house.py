"""The rules of the house that a reviewer would otherwise have to remember."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "healthcheck"
MODULES = (
    sorted(PACKAGE.rglob("*.py")) + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "benchmarks").rglob("*.py"))
)
MOST_LINES = 350


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    long = {
        str(path.relative_to(ROOT)): n for path in MODULES if (n := len(path.read_text().splitlines())) > MOST_LINES
    }
    assert not long


def test_no_room_is_called_utils() -> None:
    assert not [path for path in MODULES if path.stem in ("utils", "util", "common", "helpers", "misc")]


def test_only_the_edge_reads_a_clock() -> None:
    asks = re.compile(r"\btime\.(time|monotonic|perf_counter|sleep)\(|datetime\.now\(|datetime\.utcnow\(")
    # The second one is the far side of a real SSH connection: its commands take real time.
    allowed = {PACKAGE / "edge" / "clock.py", PACKAGE / "simulator" / "commands.py"}
    assert {path for path in PACKAGE.rglob("*.py") if asks.search(path.read_text())} == allowed


def _message_codes() -> dict[str, list[tuple[str, set[str]]]]:
    """code -> [(file, names of the arguments)] of every `say("code", ...)` with a literal code."""
    codes: dict[str, list[tuple[str, set[str]]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say"):
                continue
            if not call.args or path.parent.name == "cli":  # `say` of the command line prints
                continue
            code = call.args[0]
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                if any(keyword.arg is None for keyword in call.keywords):
                    continue  # **arguments: checked where they are made
                names = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
                codes.setdefault(code.value, []).append((path.name, names))
    return codes


def test_every_message_has_a_template_and_fills_it() -> None:
    codes = _message_codes()
    assert len(codes) > 40
    missing = sorted(set(codes) - set(CATALOGUE_EN))
    assert not missing
    for code, uses in codes.items():
        wanted = {field for _, field, _, _ in string.Formatter().parse(CATALOGUE_EN[code]) if field}
        for file, given in uses:
            assert wanted <= given, f"{file}: {code} leaves {sorted(wanted - given)} empty"


def test_every_template_is_used() -> None:
    sources = "\n".join(
        path.read_text().replace("'", '"')
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".j2") and not path.name.startswith("text_")
    )
    # Put together from a prefix and the name of a launch failure, a cause, a stage, a state, a word, a rule, a verdict.
    words = r"word|term|speed|part|looks|unseen|needs|rule|confidence|verdict|search\.(?:purpose|standing)"
    report = rf"report\.(?:stage|state(?:\.short)?|{words})"
    training = r"training\.(?:part|col|event|loss|level|sign|fact|goodput)"
    training += r"|log\.(?:row|run|table)|joint\.(?:title|meaning|next|missing|source|column)"
    training += r"|vcompare\.(?:answer|metric|column|way|fact)"
    rooms = rf"{training}|launch|reading|history\.head|cause|remedy|why|against|probe|{report}|explain\.severity"
    built = re.compile(rf"(?:(?:{rooms}|hosts\.state)\.(?=\w+$)|(?:check|limit)\.)([\w.]+)")
    verdicts = {verdict.name.lower() for verdict in Verdict}
    unused = []
    for code in CATALOGUE_EN:
        part = built.fullmatch(code)
        names = {code} if part is None else {code, part[1], f"unseen.{part[1]}"}
        if verdicts.isdisjoint(names) and not any(f'"{name}"' in sources for name in names):
            unused.append(code)
    assert unused == ["report.verbatim"]  # for records whose texts no catalogue knows


def test_every_probe_has_fixtures_of_health_sickness_and_absence() -> None:
    for name in PROBES:
        folder = ROOT / "tests" / "fixtures" / "probes" / name
        kinds = {path.name.split(".")[0].rstrip("0123456789_-") for path in folder.iterdir()}
        for kind in ("healthy", "sick", "tool_missing"):
            assert any(found.startswith(kind) for found in kinds), f"{name}: no {kind} fixture"


def test_every_check_of_a_probe_is_documented() -> None:
    page = (ROOT / "docs" / "checks.md").read_text()
    for probe in PROBES.values():
        for check in probe.checks:
            assert f"`{check}`" in page


def test_every_limit_of_a_platform_has_a_source() -> None:
    platforms = shipped_platforms()
    assert len(platforms) >= 3
    for platform in platforms.values():
        assert platform.intra_busbw_gbyte_s.source.strip() and platform.nics.source.strip()
        assert all(number.source.strip() for number in platform.known_good_gbyte_s)


def test_architecture_names_every_room_and_only_files_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    for room in (path for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()):
        assert f"{room.name}/" in page, f"docs/architecture.md does not mention {room.name}/"
    named = set(re.findall(r"`((?:healthcheck/)?[a-z_]+/[a-z_/]+\.(?:py|yaml|j2))`", page))
    assert named
    gone = [name for name in named if not (ROOT / name).exists() and not (PACKAGE / name).exists()]
    assert not gone
