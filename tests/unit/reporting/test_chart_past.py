"""The chart of earlier runs: what it says of the last twelve, of gaps in them, and of the lowest node."""

from __future__ import annotations

import re

from healthcheck.model.earlier import EarlierRun, PastReading
from healthcheck.reporting.charts import charts
from tests.golden.records import healthy


def _texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def _past(*values: float | None) -> tuple[EarlierRun, ...]:
    """One run a month, each with one reading between the nodes, the last one slow."""
    verdicts = ["PASS"] * (len(values) - 1) + ["FAIL"]
    return tuple(
        EarlierRun(
            f"run{month}",
            f"{2025 + month // 12}-{month % 12 + 1:02d}-03T02:15:03Z",
            verdict,
            () if value is None else (PastReading("multi_node", "all_reduce", 8, value, value, "", verdict),),
        )
        for month, (value, verdict) in enumerate(zip(values, verdicts, strict=True))
    )


def test_the_last_twelve_runs_are_shown_with_a_shape_for_each_verdict() -> None:
    plot = charts(healthy(8), _past(*[190.0 + n / 10 for n in range(15)], 96.8)).plots[-1]
    assert plot.place == "past"
    assert plot.sentence.startswith(
        "This run: 96.8 GB/s, -49.3 % against 190.9 GB/s, the median of the 11 runs before it"
    )
    assert plot.table is not None and len(plot.table.rows) == 12
    assert len(set(re.findall(r'<use href="#([^"]+)"', plot.svg))) == 2
    assert plot.svg.count("<use") == 12
    assert "PASS from 140" in _texts(plot.svg)


def test_a_run_without_a_number_breaks_the_line_and_is_told() -> None:
    plot = charts(healthy(8), _past(190.0, 191.0, None, 190.0, 189.0)).plots[-1]
    assert plot.svg.count("<use") == 4
    assert plot.table is not None
    assert plot.table.rows[2][2:] == ("not measured", "0", "not measured")


def test_a_first_run_has_no_past() -> None:
    assert [plot.place for plot in charts(healthy(8), _past(96.8)).plots] == ["bandwidth"] * 4


def test_the_lowest_node_of_a_run_is_named_beside_its_past() -> None:
    runs = tuple(
        EarlierRun(
            f"run{hour}",
            f"2026-03-14T{hour:02d}:15:03Z",
            "PASS",
            (PastReading("single_node", "all_reduce", 8, 230.0, lowest, "node05", "PASS"),),
        )
        for hour, lowest in ((2, 229.0), (7, 213.1))
    )
    plot = charts(healthy(8), runs).plots[-1]
    assert plot.sentence.endswith("Lowest node: node05 at 213.1 GB/s.")
    assert {"02:15", "07:15"} <= set(_texts(plot.svg))
