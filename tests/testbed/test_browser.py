"""The report of the demo in a real browser: it opens, it complains about nothing, it asks the network for nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.testbed

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--window-size=1200,900"),
    *("--enable-logging=stderr", "--net-log-capture-mode=Everything", "--virtual-time-budget=3000", "--dump-dom"),
)


@dataclass(frozen=True)
class Opened:
    """A page as the browser has it: its DOM as text, console lines, and what it wanted from the network."""

    dom: str
    console: tuple[str, ...]
    requests: tuple[str, ...]


def open_page(page: Path, scratch: Path) -> Opened:
    """Open a file in headless Chromium, in a network namespace of its own that leads nowhere."""
    log = scratch / "net.json"
    done = subprocess.run(
        [
            "unshare",
            "--net",
            "chromium",
            *FLAGS,
            f"--user-data-dir={scratch / 'chromium'}",
            f"--log-net-log={log}",
            page.as_uri(),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    console = tuple(line for line in done.stderr.splitlines() if ":CONSOLE" in line)
    # What the browser asks for on its own behalf has no origin; what a page asks for has one.
    asked = (event.get("params", {}) for event in json.loads(log.read_text())["events"])
    urls = {
        str(params["url"])
        for params in asked
        if params.get("initiator", "not an origin") != "not an origin" and not str(params["url"]).startswith("file:")
    }
    return Opened(done.stdout, console, tuple(sorted(urls)))


def test_a_bad_page_is_seen_as_bad(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<p id=x>hello</p><img src='http://198.51.100.7/x.png'><script>console.error('broken')</script>")
    opened = open_page(page, tmp_path)

    assert "hello" in opened.dom
    assert any("broken" in line for line in opened.console)
    assert any("198.51.100.7" in url for url in opened.requests)


def test_the_report_of_the_demo(tmp_path: Path) -> None:
    demo = [sys.executable, "-m", "healthcheck", "demo", "-o", str(tmp_path / "reports")]
    done = subprocess.run(demo, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    report = next((tmp_path / "reports").glob("*/report.html"))
    opened = open_page(report, tmp_path)

    assert opened.console == ()
    assert opened.requests == ()
    assert report.parent.name in opened.dom
    text = re.sub(r"<[^>]+>", " ", opened.dom)
    for word in ("simulated", "node05", "mlx5_2", "node07"):
        assert word in text, word
