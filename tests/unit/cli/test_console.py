"""What a node prints reaches the terminal as text, and a terminal that went away ends nothing."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from healthcheck.cli.console import Console
from healthcheck.cli.terminal import has_colour, may_redraw
from healthcheck.model.message import say
from healthcheck.model.progress import Begun, Counted
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.simulator.transport import VirtualClock
from tests.unit.cli.story import NODES, SINGLE, Moment, story

PLAIN = """\
02:15:03Z run         20260314T021503Z-qhzt, playbook monthly, 30 nodes
02:16:37Z probe       gpu030 INCONCLUSIVE it let us in but ran no probe: exit code 255 and no answer
02:16:37Z probe       gpu001 SKIPPED busy: Slurm job 881204
02:16:37Z probe       done 29 of 30, platform a100-sxm4-8gpu-8x200 (detected), 1 min 34 s
02:16:38Z single_node 28 nodes, 56 jobs, about 50 s
02:17:04Z single_node gpu027 DEGRADED busbw 150.0 GB/s (out-of-place), 50 % of peak 300
02:17:30Z single_node done 28 of 28, median 231.5 GB/s, 77 % of peak 300, 1 DEGRADED, 27 PASS, 52 s
02:17:31Z multi_node  27 nodes, 1 job, about 20 s
02:18:45Z multi_node  done 1 of 1, FAIL 27 nodes 96.8 GB/s, 48 % of peak 200, 1 min 14 s
02:18:46Z localise    27 nodes together read 96.8 GB/s at 8 GiB where 192.0 are expected: searching for who slows \
them, in pairs rail by rail
02:19:33Z localise    round 2: 13 pairs, slowest gpu012 with gpu013 12.1 GB/s at 2 GiB; suspects gpu[012-013]
02:20:33Z localise    round 3: 26 nodes together 191.6 GB/s at 8 GiB, 192.0 expected; suspects gpu013
02:20:43Z localise    gpu013/hca:mlx5_5 FAIL rail 5 (mlx5_5) loses about 50 % by itself, the other rails of the node \
do not
02:20:48Z localise    3 rounds, 26 nodes together are as fast as expected: 191.6 GB/s at 8 GiB, 192.0 expected, \
2 min 02 s
02:20:49Z run         FAIL 26 of 30 nodes ready, now writing the report
"""


def _told(told: list[Moment], *, verbose: bool = False, stream: io.StringIO | None = None) -> str:
    shown = stream or io.StringIO()
    clock = VirtualClock(datetime(2026, 3, 14, 2, 15, 3, tzinfo=UTC))
    console = Console(clock, shown, verbose=verbose)
    for at, event in told:
        clock.advance_to(at)
        console.event(event)
    console.close()
    return shown.getvalue()


def test_without_a_terminal_each_event_worth_it_is_one_line_with_its_time() -> None:
    assert _told(story()) == PLAIN


def test_with_verbose_every_event_is_a_line() -> None:
    lines = _told(story(), verbose=True).splitlines()
    assert set(PLAIN.splitlines()) < set(lines)
    assert "02:15:03Z probe       gpu003 answered" in lines
    assert sum(line.endswith("PASS busbw 231.5 GB/s (out-of-place), 77 % of peak 300") for line in lines) == 2 * 27
    assert "02:18:47Z localise    round 2: 13 jobs" in lines


def test_thousands_of_sick_nodes_are_counted_and_a_long_stage_is_heard_of_every_minute() -> None:
    begins = Event(SINGLE, say("progress.who", hosts=4000), step=Begun(4000))
    sick, well = say("report.verbatim", text="slow"), say("report.verbatim", text="fine")
    told: list[Moment] = [(0.0, begins)]
    for place in range(2000):
        told.append((1.0, Event(SINGLE, sick, f"n{place}", Verdict.FAIL, Counted(place, 4000, 1.0))))
    for place in range(2000, 4000):
        told.append((place / 10, Event(SINGLE, well, f"n{place}", Verdict.PASS, Counted(place, 4000, 2.0))))
    lines = _told(told).splitlines()
    assert len(lines) < 75
    assert lines[65].endswith("counted and not listed one by one; -v lists them")
    assert lines[66].endswith("single_node 2000 of 4000 so far") and lines[67][:9] == "02:19:23Z"


def test_a_node_is_told_again_only_when_it_is_worse_than_before() -> None:
    told: list[Moment] = [(0.0, Event(SINGLE, say("progress.who", hosts=2), step=Begun(2)))]
    for verdict in (Verdict.DEGRADED, Verdict.DEGRADED, Verdict.FAIL, Verdict.DEGRADED):
        told.append((1.0, Event(SINGLE, say("report.verbatim", text="low"), NODES[0], verdict, Counted(1, 2, 1.0))))
    assert [line.split()[2:4] for line in _told(told).splitlines()[1:]] == [["gpu001", "DEGRADED"], ["gpu001", "FAIL"]]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "colour", "redraw"),
    [
        (XTERM, True, True),
        ({**XTERM, "CI": "true"}, True, False),
        ({**XTERM, "CI": "false"}, True, True),
        ({**XTERM, "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "unknown"}, False, False),
        ({}, False, False),
    ],
)
def test_what_may_be_coloured_and_redrawn(environ: dict[str, str], colour: bool, redraw: bool) -> None:
    assert (has_colour(_Terminal(), environ), may_redraw(_Terminal(), environ)) == (colour, redraw)
    assert not has_colour(io.StringIO(), environ) and not may_redraw(None, environ)


def test_colour_is_for_terminals_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "gpu027 \x1b[33mDEGRADED\x1b[0m busbw" in _told(story(), stream=_Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert _told(story(), stream=_Terminal()) == PLAIN


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


def test_ten_looks_at_one_missing_card_are_one_line() -> None:
    message = say("job.stopped")
    events = [Event("probe", message, step=Begun(2))]
    events += [Event("probe", message, host=name, verdict=Verdict.FAIL) for name in ("gpu001", "gpu001", "gpu002")]
    told = _told([(1.0, event) for event in events])
    assert [line.split()[2] for line in told.splitlines()] == ["gpu001", "gpu002"]
    assert len(_told([(1.0, event) for event in events], verbose=True).splitlines()) == 4
