"""What a node prints reaches the terminal as text, and a terminal that went away ends nothing."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from healthcheck.cli.console import Console
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.simulator.transport import VirtualClock


def _event(text: str, host: str = "node01") -> Event:
    message = say("job.failure", kind="nccl", host=host, text=text)
    return Event("single_node", message, host, Verdict.FAIL)


def test_escape_sequences_and_line_breaks_of_a_node_stay_text() -> None:
    shown = io.StringIO()
    console = Console(VirtualClock(datetime(2026, 1, 1, tzinfo=UTC)), shown)
    console.event(_event("\x1b]0;owned\x07\x1b[2J NCCL WARN\r\nPASS node02", host="node01/hca:\x1b[31m"))
    line = shown.getvalue()
    assert line.count("\n") == 1 and line.rstrip("\n").isprintable()
    assert "\\x1b]0;owned" in line


class _Gone(io.StringIO):
    """A reader that went away (`2>&1 | head`)."""

    tries = 0

    def write(self, text: str) -> int:
        self.tries += 1
        raise BrokenPipeError


def test_a_stream_that_nobody_reads_is_not_written_to_again() -> None:
    gone = _Gone()
    console = Console(VirtualClock(datetime(2026, 1, 1, tzinfo=UTC)), gone)
    console.event(_event("one"))
    console.event(_event("two"))
    assert gone.tries == 1


def test_a_stream_that_is_closed_ends_nothing() -> None:
    closed = io.StringIO()
    console = Console(VirtualClock(datetime(2026, 1, 1, tzinfo=UTC)), closed)
    closed.close()
    console.event(_event("one"))
    console.event(_event("two"))
    assert closed.closed
