"""Reports in a real browser: nothing complains, nothing is asked for, everything fits, and axe-core agrees."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.__main__ import run
from healthcheck.model.component import node
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.reading import Evidence
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.html import render_html
from healthcheck.reporting.training_page import render_training
from tests.golden.records import healthy, interrupted, text
from tests.golden.training import training
from tests.testbed.browser import Page, axe_source, browser

pytestmark = pytest.mark.testbed

HOSTILE = "<script>alert(1)</script>{{7*7}}\u202e\x1b[31m" + "x" * 10_000
SICK = ("node13:hca=mlx5_5,slow=0.5", "node22:unreachable", "node30:busy", "node21:driver=535.54.03")
SCREENS = ((1200, 900), (420, 800))
MOST_SHEETS = 6
COVERED = """JSON.stringify([...document.querySelectorAll('svg.plot')].flatMap(svg => {
  const all = svg.getBoundingClientRect();
  const found = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  const out = found.filter(([, a]) => a.left < all.left - 4 || a.right > all.right + 4).map(([text]) => [text]);
  const over = found.flatMap(([text, a], place) => found.slice(place + 1)
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
    .map(([other]) => [text, other]));
  return [...out, ...over];
}))"""
"""The texts of charts that leave their chart, and the pairs of which one covers the other."""


def _demo(folder: Path) -> Path:
    demo = [sys.executable, "-m", "healthcheck", "demo", "-o", str(folder)]
    done = subprocess.run(demo, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*/report.html"))


def _searched(folder: Path) -> Path:
    """A sick cluster whose slow node was searched for, with a healthy run of the same nodes before it."""
    words = ["run", "full", "--simulate", "32", "--seed", "3", "-o", str(folder), "-q"]
    assert run(words) == 0
    assert run([*words, *(word for fault in SICK for word in ("--fault", fault))]) == 1
    return max(folder.glob("*/report.html"), key=lambda path: path.stat().st_mtime_ns)


def _hostile() -> RunRecord:
    record = healthy(8)
    names = (HOSTILE, "node02`$(reboot)`", "x" * 253)
    hosts = tuple(HostRecord(name, Verdict.FAIL, (text(HOSTILE),), (("leaf", HOSTILE),)) for name in names)
    findings = tuple(
        Finding(
            node(name),
            Verdict.FAIL,
            Confidence.LIKELY,
            text(HOSTILE),
            text(HOSTILE),
            evidence_for=(text(HOSTILE),),
            commands=(HOSTILE,),
            evidence=(Evidence(HOSTILE, HOSTILE),),
        )
        for name in names
    )
    return replace(record, hosts=(*record.hosts, *hosts), findings=findings, verdict=Verdict.FAIL, exit_code=1)


def _many() -> RunRecord:
    """1,024 nodes, 20 of them sick, of which six sit beside each other."""
    record = healthy(1024, per_leaf=32)
    sick = {*range(64, 70), *range(100, 1024, 70), 1023}
    hosts = tuple(
        replace(host, verdict=Verdict(2 + place % 3), reasons=(text("port down"),)) if place in sick else host
        for place, host in enumerate(record.hosts)
    )
    left = tuple(host.name for host in hosts if host.verdict is Verdict.PASS)
    return replace(record, hosts=hosts, verdict=Verdict.FAIL, exit_code=1, healthy_hosts=left)


RECORDS: dict[str, Callable[[], RunRecord]] = {
    "healthy": healthy,
    "interrupted": interrupted,
    "hostile": _hostile,
    "1024 nodes": _many,
}
RUNS: dict[str, Callable[[Path], Path]] = {"demo": _demo, "searched": _searched}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A report by its name, made once."""
    made: dict[str, Path] = {}

    def report(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp("reports")
            if name in RUNS:
                made[name] = RUNS[name](folder)
            else:
                made[name] = folder / "report.html"
                made[name].write_text(render_html(RECORDS[name]()), encoding="utf-8")
        return made[name]

    return report


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One browser for all pages."""
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


def test_a_bad_page_is_seen_as_bad(chromium: Page, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text(
        "<title>bad</title><p style='color:#bbb;width:900px'>hello</p><img src='http://198.51.100.7/x.png'>"
        "<script>console.error('broken')</script>"
    )
    chromium.look(420, 800)
    chromium.open(page)
    assert any("broken" in line for line in chromium.console())
    assert any("198.51.100.7" in url for url in chromium.requests())
    assert chromium.run("document.documentElement.scrollWidth") != 420
    found = "\n".join(chromium.violations(axe_source()))
    assert "color-contrast" in found
    assert "image-alt" in found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [*RUNS, *RECORDS])
def test_a_report(name: str, scheme: str, chromium: Page, pages: Callable[[str], Path]) -> None:
    report = pages(name)
    for width, height in SCREENS:
        chromium.look(width, height, scheme)
        chromium.open(report)
        assert chromium.console() == []
        assert chromium.requests() == [report.as_uri()]
        assert chromium.run("document.documentElement.scrollWidth") == width
        for what in (".stamp", "h1"):
            assert _bottom(chromium, what) <= height, what
        assert chromium.violations(axe_source()) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_training(scheme: str, chromium: Page, tmp_path: Path) -> None:
    page = tmp_path / "vitals.html"
    page.write_text(render_training(training()), encoding="utf-8")
    for width, height in SCREENS:
        chromium.look(width, height, scheme)
        chromium.open(page)
        assert chromium.console() == []
        assert chromium.requests() == [page.as_uri()]
        assert chromium.run("document.documentElement.scrollWidth") == width
        assert _bottom(chromium, "header .cause") <= height
        assert json.loads(str(chromium.run(COVERED))) == []
        chromium.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert chromium.run("document.documentElement.scrollWidth") == width
        assert chromium.violations(axe_source()) == []


def _bottom(page: Page, what: str) -> float:
    """How far down the first screen the last line of an element ends, in pixels."""
    found = page.run(f"document.querySelector('{what}').getBoundingClientRect().bottom")
    assert isinstance(found, int | float)
    return float(found)


def test_what_is_collapsed_fits_and_is_accessible_as_well(chromium: Page, pages: Callable[[str], Path]) -> None:
    chromium.look(420, 800)
    chromium.open(pages("searched"))
    chromium.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert chromium.run("document.documentElement.scrollWidth") == 420
    assert chromium.violations(axe_source()) == []


@pytest.mark.parametrize("name", [*RUNS, "healthy"])
def test_no_label_of_a_chart_covers_another_or_is_cut(name: str, chromium: Page, pages: Callable[[str], Path]) -> None:
    for width, height in SCREENS:
        chromium.look(width, height)
        chromium.open(pages(name))
        assert chromium.run("document.querySelectorAll('svg.plot text').length")
        assert json.loads(str(chromium.run(COVERED))) == [], width


def test_a_name_that_is_a_script_is_shown_and_never_run(chromium: Page, pages: Callable[[str], Path]) -> None:
    chromium.look(1200, 900)
    chromium.open(pages("hostile"))
    shown = str(chromium.run("document.body.textContent"))
    assert "<script>alert(1)</script>{{7*7}}" in shown
    assert chromium.run("document.scripts.length") == 0


def test_one_click_selects_a_whole_command(chromium: Page, pages: Callable[[str], Path]) -> None:
    chromium.look(1200, 900)
    chromium.open(pages("searched"))
    chromium.run("document.querySelector('.todo .cmd').scrollIntoView()")
    place = "document.querySelector('.todo .cmd').getBoundingClientRect()"
    x, y = (chromium.run(f"Math.round({place}.{edge} + 12)") for edge in ("left", "top"))
    for kind in ("mousePressed", "mouseReleased"):
        chromium.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    wanted = chromium.run("document.querySelector('.todo .cmd').textContent")
    assert chromium.run("getSelection().toString()") == wanted


def test_a_report_of_a_sick_cluster_prints_on_few_sheets(chromium: Page, pages: Callable[[str], Path]) -> None:
    chromium.look(1200, 900)
    chromium.open(pages("searched"))
    assert len(re.findall(rb"/Type\s*/Page\b", chromium.paper())) <= MOST_SHEETS


def test_the_report_of_the_demo_names_what_was_planted(pages: Callable[[str], Path]) -> None:
    words = re.sub(r"<[^>]+>", " ", pages("demo").read_text(encoding="utf-8"))
    for word in ("simulated", "node05", "mlx5_2", "node07"):
        assert word in words, word
