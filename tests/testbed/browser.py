"""A real headless Chromium over its debugging pipe: opens a page at a size and in a scheme, and says what it did.

It runs in a network namespace of its own that leads nowhere. Commands and answers are JSON, ended by a NUL.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

BUILD = Path(__file__).parent / "build"
AXE = BUILD / "node_modules" / "axe-core" / "axe.min.js"
AXE_VERSION = "4"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)
LONGEST_S = 60.0

Json = dict[str, object]


def axe_source() -> str:
    """axe-core as text; fetched once, by npm, else as a wheel that carries the same file."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "axe.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two workers may want it at once
        if not AXE.is_file():
            _fetch_axe()
    return AXE.read_text(encoding="utf-8")


def _fetch_axe() -> None:
    """npm knows the authorities it was built with; where traffic is looked into, the system knows one more."""
    npm = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--silent", "--prefix", str(BUILD)]
    trusting = {"NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt", **os.environ}
    try:
        quiet = subprocess.DEVNULL
        subprocess.run([*npm, f"axe-core@{AXE_VERSION}"], stdin=quiet, env=trusting, check=True, timeout=40)
    except (OSError, subprocess.SubprocessError):
        wheel = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(BUILD)]
        subprocess.run([*wheel, "axe-playwright-python"], check=True, timeout=120)
        (file,) = BUILD.glob("axe_playwright_python-*.whl")
        AXE.parent.mkdir(parents=True, exist_ok=True)
        AXE.write_bytes(zipfile.ZipFile(file).read("axe_playwright_python/axe.min.js"))


class Page:
    """One page. `console` are the lines it wrote, `requests` what it asked for besides itself."""

    def __init__(self, pipe: _Pipe, session: str) -> None:
        self._pipe, self._session = pipe, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: object) -> Json:
        """One command of the debugging protocol, and its answer."""
        return self._pipe.ask(method, params, self._session)

    def look(self, width: int, height: int, scheme: str = "light") -> None:
        """From now on at this size, in light or dark."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, file: Path) -> None:
        """Load a file and wait until all of it is there."""
        self._pipe.events.clear()
        self.ask("Page.navigate", url=file.as_uri())
        self._pipe.wait_for("Page.loadEventFired", self._session)

    def run(self, script: str) -> object:
        """The value of an expression in the page; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return cast("Json", answer["result"]).get("value")

    def console(self) -> list[str]:
        """What the page or the browser complained about while it was open."""
        self.run("1")  # whatever was said before has arrived then
        said = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self._pipe.events if event.get("method") in said]

    def requests(self) -> list[str]:
        """Every address it asked for."""
        self.run("1")
        asked = [event for event in self._pipe.events if event.get("method") == "Network.requestWillBeSent"]
        return [str(cast("Json", cast("Json", event["params"])["request"])["url"]) for event in asked]

    def violations(self, axe: str) -> list[str]:
        """What axe-core calls serious or critical, each with the places."""
        self.run(axe)
        found = self.run("axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations))")
        serious = [one for one in json.loads(str(found)) if one["impact"] in ("serious", "critical")]
        return [
            f"{one['impact']} {one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:4]]}"
            for one in serious
        ]

    def picture(self) -> bytes:
        """All of it as PNG."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(str(answer["data"]))

    def paper(self) -> bytes:
        """As it is printed, PDF."""
        answer = self.ask("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        return base64.b64decode(str(answer["data"]))


class _Pipe:
    """Commands in, answers and events out."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._rest = b""
        self._last = 0
        self.events: list[Json] = []

    def ask(self, method: str, params: Json, session: str | None = None) -> Json:
        self._last += 1
        command: Json = {"id": self._last, "method": method, "params": params}
        if session is not None:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            message = self._next()
            if message.get("id") == self._last:
                assert "error" not in message, f"{method}: {message['error']}"
                return cast("Json", message["result"])
            self.events.append(message)

    def wait_for(self, method: str, session: str) -> None:
        while not any(one.get("method") == method and one.get("sessionId") == session for one in self.events):
            self.events.append(self._next())

    def _next(self) -> Json:
        until = time.monotonic() + LONGEST_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return cast("Json", json.loads(message))


@contextmanager
def browser(scratch: Path) -> Iterator[Page]:
    """A fresh Chromium with one empty page, without a network; ended at the end."""
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    # The browser reads commands from descriptor 3 and writes to 4, whatever ours are called.
    shell = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec unshare --net chromium "$@"'
    words = ["bash", "-c", shell, "bash", *FLAGS, f"--user-data-dir={scratch / 'chromium'}", "about:blank"]
    with (scratch / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(theirs_in, theirs_out)
        )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        pipe = _Pipe(ours_out, ours_in)
        target = pipe.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = pipe.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        yield Page(pipe, str(session))
    finally:
        os.close(ours_out)
        os.close(ours_in)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
