"""The past on a terminal: a table of runs, then the nodes that have something to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar

from healthcheck.model.history_story import BadNow, Changed, Falling, FleetPast, HostLine, HostPast, RunLine
from healthcheck.model.message import say
from healthcheck.reporting.figures import one_line, size
from healthcheck.reporting.joining import in_a_row, pair
from healthcheck.reporting.sparkline import sparkline
from healthcheck.reporting.text_table import table
from healthcheck.reporting.text_width import wrapped

_T = TypeVar("_T")

MOST_NODES = 20
MOST_CHANGES = 6  # of one run or node; all of them are in --json and in the page
# Below this the column of dates is left out: a run id begins with its date.
WIDE = 90
# Width of all columns of the fleet but the medians.
_BESIDE_MEDIANS = 62
_INDENT = "  "


def fleet_lines(past: FleetPast, width: int, levels: str) -> list[str]:
    """The fleet in lines of at most `width` characters; `levels` are the characters of a sparkline."""
    hosts = max(run.hosts for run in past.runs)
    about = say(
        "history.fleet.title",
        runs=len(past.runs),
        nodes=hosts,
        first=date(past.runs[0].started_at),
        last=date(past.runs[-1].started_at),
    )
    lines = [_marked(str(about), past.simulated), ""]
    columns = list(dict.fromkeys((one.stage, one.collective) for run in past.runs for one in run.medians))
    lines += _fleet_table(past.runs, columns, width)
    for unit in units(past):
        lines += wrapped(unit, width)
    lines += _section(
        str(say("history.fleet.bad", n=len(past.bad_now))), past.bad_now, lambda one: _bad_lines(one, width), width
    )
    lines += _section(
        str(say("history.fleet.flapping", n=len(past.flapping))),
        past.flapping,
        lambda one: wrapped(
            str(say("history.fleet.flaps", host=one_line(one.host), times=one.times, verdict=one_line(one.verdict))),
            width,
            _INDENT,
        ),
        width,
    )
    lines += _section(
        str(say("history.fleet.falling", n=len(past.falling))),
        past.falling,
        lambda one: _falling_lines(one, width, levels),
        width,
    )
    if not (past.bad_now or past.flapping or past.falling):
        lines += ["", str(say("history.fleet.quiet"))]
    return lines


def host_lines(past: HostPast, width: int, levels: str) -> list[str]:
    """One host, likewise."""
    host = one_line(past.host)
    if past.median_gbyte_s is None:
        lines = [_marked(str(say("history.host.unmeasured", host=host, runs=len(past.runs))), past.simulated)]
    else:
        measured = [line.busbw_gbyte_s for line in past.runs if line.busbw_gbyte_s is not None]
        title = say(
            "history.host.title",
            host=host,
            what=one_line(f"{past.stage} {past.collective}"),
            size=size(past.size_bytes),
        )
        lines = [_marked(str(title), past.simulated)]
        lines += wrapped(
            str(
                say(
                    "history.host.numbers",
                    n=len(measured),
                    runs=len(past.runs),
                    median_gbyte_s=f"{past.median_gbyte_s:.1f}",
                    last_gbyte_s=f"{measured[-1]:.1f}",
                    change=signed(100 * (measured[-1] / past.median_gbyte_s - 1)),
                )
            ),
            width,
            _INDENT,
        )
        newest = past.runs[-(width - len(_INDENT)) :]
        lines.append(f"{_INDENT}{sparkline([line.busbw_gbyte_s for line in newest], levels)}".rstrip())
    lines += ["", *_host_table(past.runs, width)]
    if past.bad_now is not None:
        lines += ["", *_bad_lines(past.bad_now, width, "")]
    if past.flaps:
        code = "history.host.flapping" if past.flapping else "history.host.flaps"
        lines += ["", *wrapped(str(say(code, times=past.flaps)), width)]
    if past.falling is not None:
        lines += ["", *_falling_lines(past.falling, width, levels, "")]
    return lines


def units(past: FleetPast) -> list[str]:
    """What the numbers of the columns are, once for each collective and size."""
    found = dict.fromkeys((one.collective, one.size_bytes) for run in past.runs for one in run.medians)
    return [
        str(say("history.fleet.unit", collective=one_line(name), size=size(size_bytes))) for name, size_bytes in found
    ]


def date(iso: str) -> str:
    """The day of an ISO time."""
    return one_line(iso)[:10]


def change_text(change: Changed) -> str:
    """`driver 550.90.07 -> 570.124.06 on 1024 nodes`; a single node by its name."""
    was, now, name = one_line(change.before), one_line(change.after), one_line(change.name)
    if not change.nodes:
        return str(say("history.changed.run", name=name, before=was, after=now))
    if change.count == 1:
        return str(say("history.changed.node", name=name, before=was, after=now, node=one_line(change.nodes)))
    return str(say("history.changed.nodes", name=name, before=was, after=now, n=change.count))


def state_text(state: str) -> str:
    """What a run that did not come to its end is marked with; nothing for one that did."""
    if state == "complete":
        return ""
    return str(say("history.state.interrupted") if state == "interrupted" else say("history.state.incomplete"))


def _marked(title: str, simulated: bool) -> str:
    return in_a_row((title, say("report.simulated")), "text.comma") if simulated else title


def signed(percent: float) -> str:
    """`-1.2 %`; what rounds to nothing has no sign."""
    return f"{percent:+.1f} %" if abs(percent) >= 0.05 else "0.0 %"


def _fleet_table(runs: Sequence[RunLine], columns: Sequence[tuple[str, str]], width: int) -> list[str]:
    several = len({collective for _, collective in columns}) > 1
    titles = [one_line(f"{stage} {collective}" if several else stage) for stage, collective in columns]
    # As many as stand in a line; all of them are in --json and in the page.
    ends = accumulate(len(title) + 2 for title in titles)
    n = max(sum(end <= width - _BESIDE_MEDIANS for end in ends), min(1, len(titles)))
    dates = [_head("date")] if width >= WIDE else []
    head = (*dates, _head("run"), _head("verdict"), "PASS", *titles[:n], _head("lowest"))
    rows = [(*([date(run.started_at)] if dates else []), *_fleet_row(run, columns[:n])) for run in runs]
    below = [_shortened([change_text(change) for change in run.changed]) for run in runs]
    numbers = range(head.index("PASS"), len(head) - 1)
    return table(head, rows, set(numbers), width, below)


def _fleet_row(run: RunLine, columns: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The cells of a run after its date."""
    medians = {(one.stage, one.collective): one.busbw_gbyte_s for one in run.medians}
    values = [medians.get(column) for column in columns]
    lowest = next((one.lowest for one in run.medians if one.lowest is not None), None)
    remark = "" if lowest is None else f"{one_line(lowest.host)} {signed(lowest.change_percent)}"
    return (
        one_line(run.run_id),
        one_line(run.verdict),
        f"{run.passed}/{run.hosts}" if run.state == "complete" else "-",
        *("-" if value is None else f"{value:.1f}" for value in values),
        in_a_row((remark, state_text(run.state)), "text.comma"),
    )


def _head(column: str) -> str:
    return str(say(f"history.head.{column}"))


def _host_table(runs: Sequence[HostLine], width: int) -> list[str]:
    several = len({line.nodes for line in runs if line.busbw_gbyte_s is not None}) > 1
    head = (
        *([_head("date")] if width >= WIDE else []),
        _head("run"),
        _head("verdict"),
        "GB/s",
        _head("change"),
        *([_head("nodes")] if several else []),
        _head("rule"),
    )
    rows = [
        (
            *([date(line.started_at)] if width >= WIDE else []),
            one_line(line.run_id),
            one_line(line.verdict),
            "-" if line.busbw_gbyte_s is None else f"{line.busbw_gbyte_s:.1f}",
            "" if line.change_percent is None else signed(line.change_percent),
            *([str(line.nodes)] if several else []),
            in_a_row((one_line(line.rule or reason_text(line)), state_text(line.state)), "text.comma"),
        )
        for line in runs
    ]
    first = head.index("GB/s")
    return table(head, rows, set(range(first, len(head) - 1)), width, [[] for _ in rows])


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_CHANGES:
        return lines
    return [*lines[:MOST_CHANGES], str(say("history.changed.more", n=len(lines) - MOST_CHANGES))]


def _section(title: str, found: Sequence[_T], tell: Callable[[_T], list[str]], width: int) -> list[str]:
    if not found:
        return []
    lines = ["", *wrapped(title, width)]
    lines += [line for one in found[:MOST_NODES] for line in tell(one)]
    if len(found) > MOST_NODES:
        lines.append(f"{_INDENT}{say('history.more', n=len(found) - MOST_NODES)}")
    return lines


def reason_text(of: BadNow | HostLine) -> str:
    """What was said against a node, in the language of the reader where that is known."""
    return of.reason if of.message is None else str(of.message)


def _bad_lines(bad: BadNow, width: int, indent: str = _INDENT) -> list[str]:
    """Since when, what fired there, and what changed there."""
    reason = reason_text(bad)
    told = pair(bad.rule, reason) if bad.rule and reason else bad.rule or reason
    why = one_line(told) or str(say("report.not_recorded"))
    code = "history.bad.since" if bad.was_pass else "history.bad.always"
    text = say(
        code,
        host=one_line(bad.host),
        verdict=bad.verdict,
        date=date(bad.started_at),
        run_id=one_line(bad.run_id),
        n=bad.runs,
        why=why,
    )
    lines = wrapped(str(text), width, indent, f"{indent}{_INDENT}")
    below = [change_text(change) for change in bad.changed]
    if bad.was_pass:
        told = ", ".join(below[:MOST_CHANGES]) or str(say("history.changed.nothing"))
        lines += wrapped(str(say("history.bad.changed", changes=told)), width, f"{indent}{_INDENT}")
    return lines


def loss_text(one: Falling) -> str:
    """Who lost how much of what, at once or slowly."""
    code = "history.falling.step" if one.run_id else "history.falling.slow"
    return str(
        say(
            code,
            host=one_line(one.host) or str(say("history.falling.fleet")),
            what=one_line(f"{one.stage} {one.collective}"),
            loss=f"{one.loss_percent:.1f}",
            noise=f"{one.noise_percent:.1f}",
            n=one.runs,
            run_id=one_line(one.run_id),
        )
    )


def _falling_lines(one: Falling, width: int, levels: str, indent: str = _INDENT) -> list[str]:
    line = sparkline(one.values[-(width - 2 * len(indent) - len(_INDENT)) :], levels)
    return [*wrapped(loss_text(one), width, indent, f"{indent}{_INDENT}"), f"{indent}{_INDENT}{line}".rstrip()]
