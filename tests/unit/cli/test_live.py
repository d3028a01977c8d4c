"""Progress on a real pseudo-terminal: what stays, what is drawn again, and what is left of it at the end."""

from __future__ import annotations

import os
import pty
import threading

import pytest

from healthcheck.cli.live import LiveConsole
from healthcheck.cli.progress import Head
from healthcheck.model.language import Language, speaking
from healthcheck.model.message import say
from healthcheck.model.progress import Begun, Counted, Over
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.text_width import width_of
from healthcheck.simulator.transport import VirtualClock
from tests.unit.cli.drawn import HEAD, START, Terminal, drawn
from tests.unit.cli.story import SINGLE, alone, looks, search, story

WHOLE = """\
healthcheck 1.0.0   30 nodes   playbook monthly
writing reports/20260314T021503Z-qhzt

  probe        29 of 30   1:34   gpu030 it let us in but ran no probe: exit...; 1 more not PASS
  single_node  28 of 28   0:52   median 231.5 GB/s, 77 % of peak 300; gpu027 150.0 DEGRADED
  multi_node     1 of 1   1:14   27 nodes 96.8 GB/s, 48 % of peak 200 FAIL
  localise     3 rounds   2:02   suspects 27 > 2 > gpu013 > gpu013/hca:mlx5_5
               26 nodes together are as fast as expected: 191.6 GB/s at 8 GiB, 192.0 expected"""


@pytest.fixture(autouse=True)
def _own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_each_finished_stage_leaves_one_line_and_nothing_else_is_left() -> None:
    screen = drawn(story(), 96, slowly=True)
    assert screen.text == WHOLE
    assert screen.cursor_shown


@pytest.mark.parametrize("columns", [96, 80, 40])
def test_two_lines_are_drawn_again_and_none_is_wider_than_the_terminal(columns: int) -> None:
    screen = drawn(story(), columns, slowly=True)
    assert screen.overflowed == 0
    assert 1 <= screen.most_up <= 2  # two once, when the line below them was begun at the end
    assert len(screen.text.splitlines()) == len(WHOLE.splitlines()) + (columns == 40)
    assert max(map(width_of, screen.text.splitlines())) <= columns


def test_while_a_stage_runs_its_count_its_slowest_node_and_the_time_left_are_seen() -> None:
    counted = Event(SINGLE, say("progress.answered"), "gpu002", Verdict.PASS, Counted(12, 28, 228.4))
    terminal = Terminal(96)
    terminal.tell([alone()[0], (110.0, counted)])
    assert terminal.screen("about 40 s to go").text.splitlines()[-2:] == [
        "  single_node  12 of 28   0:15   slowest gpu002 228.4 GB/s",
        "               about 40 s to go; Ctrl-C stops and keeps what is known",
    ]
    assert len(terminal.close().text.splitlines()) == len(HEAD.lines) + 2


def test_while_it_searches_the_suspects_shrink_and_the_budget_is_seen() -> None:
    terminal = Terminal(96)
    terminal.tell(search()[:4])
    assert terminal.screen("budget 30 min").text.splitlines()[-2:] == [
        "  localise      round 3   0:47   suspects 27 > gpu[012-013]   now: gpu[002-027]",
        "               about 60 s to go, budget 30 min; Ctrl-C stops and keeps what is known",
    ]
    terminal.close()


def test_a_stage_that_was_broken_off_is_seen_as_far_as_it_came() -> None:
    screen = drawn(alone()[:20], 96)
    assert screen.text.splitlines()[-1].startswith("  single_node   9 of 28   0:10   slowest gpu002 231.5 GB/s")


def test_the_wish_to_stop_is_said_where_it_spoils_nothing() -> None:
    terminal = Terminal(96)
    terminal.tell(alone()[:20])
    assert terminal.console.stopping()
    assert "stopping the jobs on the nodes" in terminal.screen("stopping the jobs").text.splitlines()[-1]
    screen = terminal.close()
    assert "stopping" not in screen.text, "it is drawn again, and gone with the rest"
    assert len(screen.text.splitlines()) == 4 and screen.cursor_shown


def test_with_verbose_every_event_leaves_a_line_too() -> None:
    lines = drawn(story(), 96, verbose=True).text.splitlines()
    assert "  probe        gpu002 answered" in lines
    assert sum(line.endswith("77 % of peak 300") for line in lines) == 2 * 27
    assert set(WHOLE.splitlines()) <= set(lines)


HOSTILE = (
    "\x1b[2J\x1b[31mred",
    "\u202eevil\u202c",
    "[bold]markup[/bold]",
    "[/]",
    ":smile:",
    "{{7*7}}",
    "a\r\nb",
    "x" * 10_000,
)


@pytest.mark.parametrize("foreign", HOSTILE)
def test_foreign_text_is_shown_as_text(foreign: str) -> None:
    """The screen itself refuses any escape sequence that is not ours."""
    told = [
        (0.0, Event(SINGLE, say("report.verbatim", text=foreign), step=Begun(2, 10.0))),
        (1.0, Event(SINGLE, say("report.verbatim", text=foreign), f"node-{foreign}", Verdict.FAIL, Counted(1, 2, 1.0))),
        (2.0, Event("other", say("report.verbatim", text=foreign), foreign, Verdict.FAIL)),
        (3.0, Event(SINGLE, say("report.verbatim", text=foreign), step=Over(2, 2, ((Verdict.FAIL, 2),)))),
    ]
    for verbose in (False, True):
        screen = drawn(told, 80, verbose=verbose, slowly=True)
        assert screen.overflowed == 0
        shown = screen.text.replace(" ", "").replace("\n", "")
        for part in foreign.split("\x1b"):
            assert one_line("".join(part.split()))[:8] in shown


def test_chinese_takes_two_columns_and_stays_within_the_terminal() -> None:
    chinese = {code: "约" * 8 + template for code, template in CATALOGUE_EN.items() if code.startswith("progress.")}
    with speaking(Language("zh-Hans", chinese)):
        screen = drawn(story(), 80, slowly=True)
    assert "约约" in screen.text and screen.overflowed == 0


def test_a_terminal_that_was_stopped_holds_up_no_run() -> None:
    """Nobody reads the other end: what fits into its buffer is written, and the workflow goes on all the same."""
    master, slave = pty.openpty()
    clock = VirtualClock(START)
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        console = LiveConsole(clock, Head(tuple("x" * 90 for _ in range(2000)), 1), stream)

        def tell() -> None:
            for _, event in looks() * 20:
                console.event(event)

        workflow = threading.Thread(target=tell, daemon=True)
        workflow.start()
        workflow.join(60)
        assert not workflow.is_alive()
        closed = threading.Thread(target=console.close)
        closed.start()
        closed.join(0.3)
        assert closed.is_alive(), "what was said before is not lost while the terminal may still go on"
        os.close(master)  # the terminal goes away
        closed.join(20)
        assert not closed.is_alive()
        console.event(looks()[0][1])


def test_nothing_is_drawn_of_a_run_without_events() -> None:
    assert drawn([], 96).text == "\n".join(HEAD.lines)
