"""Runs the command line as a process of its own with a pseudo-terminal for standard error, as a user would see it."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tests.unit.cli.screen import Screen

PATIENCE_S = 60


class Shown(Struct, frozen=True):
    """Exit code, standard output, everything that was written to the terminal, and what stands on it."""

    code: int
    out: str
    raw: str
    screen: Screen


def on_a_terminal(
    words: Sequence[str],
    folder: Path,
    columns: int = 96,
    *,
    environ: Mapping[str, str] | None = None,
    interrupt_at: str = "",
    times: int = 1,
) -> Shown:
    """Run `healthcheck WORDS` in `folder`; a Ctrl-C, so many times, once `interrupt_at` was written."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "COLUMNS", "LANG")}
    process = subprocess.Popen(
        [sys.executable, "-m", "healthcheck", *words],
        cwd=folder,
        env={**kept, "TERM": "xterm-256color", **(environ or {})},
        stdout=subprocess.PIPE,
        stderr=slave,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    os.close(slave)
    received: list[bytes] = []
    reader = threading.Thread(target=_read, args=(master, received), daemon=True)
    reader.start()
    if interrupt_at:
        _wait_for(interrupt_at, received, process)
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
    out, _ = process.communicate(timeout=PATIENCE_S)
    reader.join(10)
    raw = b"".join(received).decode()
    screen = Screen(columns)
    screen.feed(raw)
    return Shown(process.returncode, out, raw, screen)


def _wait_for(text: str, received: list[bytes], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while text.encode() not in b"".join(received) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)


def _read(master: int, received: list[bytes]) -> None:
    try:
        while data := os.read(master, 65536):
            received.append(data)
    except OSError:  # the other end was closed: Linux says EIO
        pass
    os.close(master)
