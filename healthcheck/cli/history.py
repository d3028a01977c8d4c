"""`healthcheck history`: the trend of the fleet or of one host over all stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from healthcheck.cli import options
from healthcheck.cli.language import on_stdout

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from msgspec import Struct

    from healthcheck.model.history import PastRun
    from healthcheck.model.history_story import FleetPast, HostPast
    from healthcheck.model.message import Message
    from healthcheck.workflows.history import Chosen

_SCHEMA = "healthcheck.history/1"
_WIDEST = 96
_SHOWN = 100
_STAGES = ("single_node", "multi_node")


def command(
    host: Annotated[str | None, typer.Option("--host", help="One host: each of its runs.")] = None,
    stage: Annotated[str | None, typer.Option("--stage", help="Only this stage: single_node or multi_node.")] = None,
    collective: Annotated[str | None, typer.Option("--collective", help="Only this collective.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only runs since this day (UTC): 2026-03-14.")] = None,
    platform: Annotated[
        str | None, typer.Option("--platform", help="Runs of this machine type. Default: that of the newest run.")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write one HTML page with plots, too.")] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="The simulated runs instead of the real ones.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Simulated runs of this seed. Default: that of the newest run.")
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    json: options.Json = False,
    lang: options.Lang = None,
) -> None:
    """Show how bandwidth and verdicts went over all stored runs: who is bad and since when, who flaps, who fades.

    Exit code: 0; 3 when there is nothing to tell.

    Example: healthcheck history --host gpu-07 --html gpu-07.html
    """
    from healthcheck.cli.exits import EXIT_INCONCLUSIVE, say
    from healthcheck.cli.html_page import check_place
    from healthcheck.edge.history_index import DirectoryIndex
    from healthcheck.edge.store import check_results
    from healthcheck.workflows.history import choose_runs

    begin = None if since is None else _day(since)
    if html is not None:
        check_place(html)
    check_results(results)
    chosen = choose_runs(DirectoryIndex(results), simulated, begin, platform, host, seed)
    for message in (*chosen.unreadable, *chosen.notes, *_left_out(chosen, simulated, results)):
        say(str(message))
    if not chosen.runs:
        say(str(_nothing(chosen, since, results)))
        if json:
            _print_nothing(chosen, host, stage, collective)
        raise typer.Exit(EXIT_INCONCLUSIVE)
    _check_names(chosen.runs, host, stage, collective)
    raise typer.Exit(0 if _tell(chosen, host, stage, collective, html, json, lang) else EXIT_INCONCLUSIVE)


def _tell(
    chosen: Chosen,
    host: str | None,
    stage: str | None,
    collective: str | None,
    html: Path | None,
    json: bool,
    lang: str | None,
) -> bool:
    """Print, and write the page; whether anything measured was among it."""
    from healthcheck.cli.document import print_document
    from healthcheck.cli.exits import out, say
    from healthcheck.cli.html_page import write_page
    from healthcheck.model.message import say as message
    from healthcheck.reporting.history_view import fleet_past, host_past

    story: FleetPast | HostPast
    if host is None:
        story = fleet_past(chosen.runs, stage, collective, chosen.left_out)
        measured = any(run.medians for run in story.runs)
    else:
        story = host_past(chosen.runs, host, stage, collective, chosen.left_out)
        measured = story.median_gbyte_s is not None
    page = "" if html is None else _page(story)
    if json:
        print_document(_SCHEMA, **_fields(story), **_choice(chosen))
    else:
        with on_stdout(lang):
            for line in _lines(story):
                out(line)
    if html is not None:
        write_page(html, page)
    if not measured:
        say(str(message("history.nothing_measured", n=len(chosen.runs))))
    return measured


def _lines(story: FleetPast | HostPast) -> list[str]:
    """The story as standard output can take it."""
    from healthcheck.model.history_story import FleetPast
    from healthcheck.reporting.history_text import fleet_lines, host_lines

    levels, width = _terminal()
    return fleet_lines(story, width, levels) if isinstance(story, FleetPast) else host_lines(story, width, levels)


def _page(story: FleetPast | HostPast) -> str:
    from healthcheck.model.history_story import FleetPast
    from healthcheck.reporting.history_html import render_fleet, render_host

    return render_fleet(story) if isinstance(story, FleetPast) else render_host(story)


def _print_nothing(chosen: Chosen, host: str | None, stage: str | None, collective: str | None) -> None:
    """The document as ever, with no run in it."""
    from healthcheck.cli.document import print_document
    from healthcheck.model.history_story import FleetPast, HostPast

    if host is None:
        fleet = FleetPast(chosen.simulated, chosen.left_out, (), (), (), ())
        print_document(_SCHEMA, **_fields(fleet), **_choice(chosen))
        return
    of_host = HostPast(
        host, chosen.simulated, chosen.left_out, stage or "", collective or "", 0, None, (), None, 0, False, None
    )
    print_document(_SCHEMA, **_fields(of_host), **_choice(chosen))


def _choice(chosen: Chosen) -> dict[str, object]:
    return {
        "platform": chosen.platform,
        "left_out_other_types": dict(chosen.other_types),
        "seed": chosen.seed,
        "left_out_other_seeds": {"unknown" if seed is None else str(seed): n for seed, n in chosen.other_seeds},
    }


def _fields(story: Struct) -> dict[str, object]:
    return {name: getattr(story, name) for name in story.__struct_fields__}


def _terminal() -> tuple[str, int]:
    """(the characters of a sparkline, the width) that standard output can take."""
    import shutil
    import sys

    from healthcheck.reporting.sparkline import levels_for

    width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns)
    return levels_for(getattr(sys.stdout, "encoding", None)), width


def _day(since: str) -> datetime:
    from datetime import UTC, datetime

    from healthcheck.errors import InputError

    try:
        at = datetime.fromisoformat(since)
    except ValueError:
        raise InputError("--since", f"{since!a} is no day; write it as 2026-03-14") from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _left_out(chosen: Chosen, asked: bool, results: Path) -> list[Message]:
    from healthcheck.model.message import say
    from healthcheck.reporting.figures import one_line

    found = []
    if chosen.left_out:
        real = say("history.left_out_real", n=chosen.left_out)
        found.append(real if chosen.simulated else say("history.left_out_simulated", n=chosen.left_out))
    if chosen.other_seeds:
        n = sum(n for _, n in chosen.other_seeds)
        known = [str(seed) for seed, _ in chosen.other_seeds if seed is not None]
        seeds = say("history.left_out_seeds", n=n, seeds=", ".join(known))
        found.append(seeds if known else say("history.left_out_unknown_seed", n=n))
    if chosen.other_types:
        n = sum(n for _, n in chosen.other_types)
        names = ", ".join(one_line(name) for name, _ in chosen.other_types)
        found.append(say("history.left_out_types", n=n, names=names, platform=one_line(chosen.platform)))
    if chosen.simulated and chosen.runs and not asked:
        found.append(say("history.only_simulated", results=str(results)))
    return found


def _nothing(chosen: Chosen, since: str | None, results: Path) -> Message:
    from healthcheck.model.message import say

    if chosen.of_this_sort and since is not None:
        return say("history.none_since", since=since, results=str(results))
    if chosen.left_out:
        return say("history.none_simulated", results=str(results))
    return say("history.none", results=str(results))


def _check_names(runs: Sequence[PastRun], host: str | None, stage: str | None, collective: str | None) -> None:
    """InputError with what there is for a host, stage or collective that nobody knows."""
    from healthcheck.errors import InputError
    from healthcheck.model.collective import Collective

    for option, name, known in (("--stage", stage, _STAGES), ("--collective", collective, [*map(str, Collective)])):
        if name is not None and name not in known:
            raise InputError(option, f"there is no {option[2:]} {name[:_SHOWN]!a}; there are {', '.join(known)}")
    if host is not None:
        names = dict.fromkeys(found.name for run in runs for found in run.hosts)
        if host not in names:
            raise InputError("--host", f"none of {len(runs)} runs names a host {host[:_SHOWN]!a}; {_near(host, names)}")


def _near(host: str, names: Collection[str]) -> str:
    import difflib

    from healthcheck.reporting.figures import one_line
    from healthcheck.reporting.names import folded

    near = difflib.get_close_matches(host[:_SHOWN], names, n=3, cutoff=0.6)
    if near:
        return f"did you mean {', '.join(map(one_line, near))}?"
    return f"they name {folded(names)[:_SHOWN]}"
