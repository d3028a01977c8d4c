"""The past as one self-contained page for light and dark: plots, and every number of them in a table. No network."""

from __future__ import annotations

from healthcheck.model.history_story import FleetPast, HostPast
from healthcheck.parsing.run_history import instant
from healthcheck.reporting.figures import one_line, size
from healthcheck.reporting.history_text import change_text, date, loss_text, reason_text, signed, state_text
from healthcheck.reporting.plots import Point, line_plot
from healthcheck.reporting.templating import environment

_CLASSES = {"PASS": "pass", "DEGRADED": "degr", "INCONCLUSIVE": "inc", "FAIL": "fail"}


def render_fleet(past: FleetPast) -> str:
    """The fleet over all runs."""
    plots = []
    columns = list(
        dict.fromkeys((one.stage, one.collective, one.size_bytes) for run in past.runs for one in run.medians)
    )
    for place, (stage, collective, size_bytes) in enumerate(columns):
        found = [
            (run, one) for run in past.runs for one in run.medians if (one.stage, one.collective) == (stage, collective)
        ]
        middle = [Point(instant(run.started_at), one.busbw_gbyte_s) for run, one in found]
        lowest = [
            Point(instant(run.started_at), one.lowest.busbw_gbyte_s) for run, one in found if one.lowest is not None
        ]
        plots.append((stage, collective, size_bytes, line_plot(middle, lowest, key=f"past{place}"), bool(lowest)))
    return _page("history_fleet.html.j2", past=past, plots=plots, columns=columns)


def render_host(past: HostPast) -> str:
    """One host over all its runs."""
    points = [Point(instant(line.started_at), line.busbw_gbyte_s, line.verdict) for line in past.runs]
    plot = "" if past.median_gbyte_s is None else line_plot(points, reference=past.median_gbyte_s)
    return _page("history_host.html.j2", past=past, plot=plot)


def _page(template: str, **context: object) -> str:
    made = environment(autoescape=True)
    made.filters["css"] = lambda verdict: _CLASSES.get(verdict, "skip")
    made.filters["day"] = date
    made.filters["line"] = one_line
    made.filters["bytes"] = size
    made.filters["signed"] = signed
    made.filters["loss"] = loss_text
    made.filters["change"] = change_text
    made.filters["state"] = state_text
    made.filters["reason"] = reason_text
    return made.get_template(template).render(**context).lstrip()
