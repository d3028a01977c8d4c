"""Which charts a report has, what each of them says and shows, at 1, 8, 32 and 1,024 nodes."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from msgspec.structs import replace

from healthcheck.model.platform import Limit
from healthcheck.model.record import HostRecord, JobRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.chart import Scale, around, from_zero, spread
from healthcheck.reporting.chart_curves import curves
from healthcheck.reporting.chart_pairs import pair_pictures
from healthcheck.reporting.chart_strips import Strip, strips
from healthcheck.reporting.charts import charts
from healthcheck.reporting.curve_drawing import CurveDrawing
from healthcheck.reporting.figures import held, size
from healthcheck.reporting.html import render_html
from healthcheck.reporting.strip_drawing import StripDrawing
from healthcheck.reporting.yardsticks import Yardstick, bullet, yardsticks
from tests.golden.records import GIB, healthy, multi, names, rows, sick, single
from tests.golden.searched import searched

HOSTILE = "<script>alert(1)</script>$x$\u202e"


def _slow(count: int, slow: Mapping[str, float], per_leaf: int = 8) -> RunRecord:
    """A healthy cluster in which some nodes read that much inside."""
    record = healthy(count, per_leaf)
    jobs = tuple(
        replace(job, rows=rows(slow[job.hosts[0]], 8), verdict=Verdict.FAIL)
        if len(job.hosts) == 1 and job.hosts[0] in slow
        else job
        for job in record.jobs
    )
    return replace(record, jobs=jobs)


def _inside(record: RunRecord) -> Strip:
    return next(strip for strip in strips(record, yardsticks(record)) if strip.alone)


def _texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def _drawing(strip: Strip) -> StripDrawing:
    return StripDrawing(
        tuple((row.title, tuple((s.name, s.gbyte_s, s.verdict) for s in row.spots)) for row in strip.rows),
        frozenset(spot.name for spot in strip.named),
        strip.yardstick,
        strip.bars,
    )


@pytest.mark.parametrize("count", [1, 8, 32, 1024])
def test_every_size_of_cluster_has_its_charts(count: int) -> None:
    found = charts(healthy(count, 8))
    assert found.note == ""
    assert len(found.plots) == 4
    assert all(plot.svg.startswith("<svg") and plot.sentence and plot.table and plot.table.rows for plot in found.plots)
    assert sum(len(plot.svg) for plot in found.plots) < 60_000


@pytest.mark.parametrize("count", [8, 32, 1024])
def test_who_stands_out_is_named_beside_a_mark_of_its_own(count: int) -> None:
    sick_node = names(count)[4]
    strip, *_ = charts(_slow(count, {sick_node: 120.0})).plots
    assert f"FAIL: {sick_node} at 119.4 GB/s." in strip.sentence
    assert f"The other {count - 1} nodes lie between" in strip.sentence
    labels = [text for text in _texts(strip.svg) if "node" in text]
    assert labels == [f"{sick_node}  119.4"]


def test_up_to_256_nodes_each_has_a_mark_and_above_only_who_stands_out() -> None:
    few, many = _slow(256, {"node005": 120.0}), _slow(257, {"node005": 120.0})
    assert charts(few).plots[0].svg.count("<use") == 256
    assert charts(many).plots[0].svg.count("<use") == 1


def test_many_groups_fold_into_one_row_but_never_one_with_a_node_that_stands_out() -> None:
    strip = _inside(_slow(1024, {"node0013": 120.0, "node1000": 90.0}))
    assert [row.title for row in strip.rows] == ["l2", "l125", "126 other groups"]
    assert sum(len(row.spots) for row in strip.rows) == 1024


def test_names_that_would_run_into_each_other_become_one() -> None:
    texts = _texts(charts(_slow(32, {"node01": 120.0, "node02": 120.1, "node03": 180.0})).plots[0].svg)
    assert "node01 and 1 more" in texts
    assert any(text.startswith("node03") for text in texts)


def test_between_nodes_the_best_job_of_a_node_counts() -> None:
    record = sick()
    between = next(strip for strip in strips(record, yardsticks(record)) if not strip.alone)
    assert {spot.name: round(spot.gbyte_s) for spot in between.spots} == {
        "node01": 191, "node02": 191, "node04": 191, "node05": 96, "node06": 191,
    }  # fmt: skip
    assert [spot.name for spot in between.named] == ["node05"]
    assert between.unmeasured == ("node03", "node07", "node08")


def test_where_all_are_slow_nobody_is_named() -> None:
    record = healthy(8)
    jobs = tuple(replace(job, verdict=Verdict.FAIL, rows=rows(60.0 + n, 8)) for n, job in enumerate(record.jobs[:8]))
    strip, *_ = charts(replace(record, jobs=jobs)).plots
    assert strip.sentence.startswith("All 8 measured nodes are FAIL")
    assert not [text for text in _texts(strip.svg) if text.startswith("node")]


def test_a_strip_carries_the_limits_that_were_missed_and_their_values() -> None:
    missed = _drawing(_inside(_slow(8, {"node03": 120.0})))
    assert [label for _, label, _ in missed.lines] == ["50 % of peak: 150", "70 % of peak: 210"]
    fine = _drawing(_inside(healthy(8)))
    assert [label for _, label, _ in fine.lines] == ["70 % of peak: 210"]
    for drawing in (missed, fine):
        assert all(drawing.left <= drawing.scale.at(value) <= 520 for value, _, _ in drawing.lines)


def test_what_is_above_peak_is_drawn_above_peak() -> None:
    record = _slow(8, {"node03": 330.0})
    strip = _drawing(_inside(record))
    peak, highest = strip.scale.at(300.0), strip.scale.at(max(strip.values))
    assert highest > peak
    assert "peak 300" in [label for _, label, _ in strip.lines]
    chart = curves(record, yardsticks(record))[0]
    curve = CurveDrawing((("x", Verdict.PASS, chart.lines[1].out_of_place, ()),), chart.sizes, None, chart.yardstick)
    assert curve.scale.at(325.0) < curve.scale.at(300.0)
    assert curve.top <= curve.scale.at(329.0)


def test_a_bullet_shows_more_than_peak_on_one_scale_with_the_others() -> None:
    held = Yardstick(200.0, 0.7, 0.5, 192.0)
    above, below = bullet(220.0, held), bullet(100.0, held, 1.1)
    assert above is not None and below is not None
    assert (above.value, above.peak, above.full) == (100.0, 90.9, 110.0)
    assert (below.value, below.broken, below.peak) == (45.5, 45.5, 90.9)
    assert bullet(100.0, Yardstick()) is None


def _curve_of(record: RunRecord) -> CurveDrawing:
    chart = curves(record, yardsticks(record))[0]
    return CurveDrawing((), chart.sizes, chart.judged, chart.yardstick)


def test_limits_are_shaded_over_the_judged_sizes_only() -> None:
    band = _curve_of(healthy(8)).band
    assert band is not None
    left, right = band
    curve = _curve_of(healthy(8))
    inside = [size for size in curve.sizes if left <= curve.across(size) <= right]
    assert inside == [GIB, 2 * GIB, 4 * GIB, 8 * GIB]


def test_sizes_too_small_to_be_judged_have_no_limits() -> None:
    record = healthy(8)
    jobs = tuple(replace(job, rows=rows(100.0, 8, (GIB // 8, GIB // 4))) for job in record.jobs)
    record = replace(record, jobs=jobs)
    assert _curve_of(record).band is None
    plot = charts(record).plots[2]
    assert "no limit is shaded" in plot.note
    assert not [text for text in _texts(plot.svg) if "peak" in text]


def test_a_curve_has_six_lines_at_most_and_says_what_it_leaves_out() -> None:
    slow = {name: 100.0 + place for place, name in enumerate(names(32)[:10])}
    chart = curves(_slow(32, slow), {})[0]
    assert [line.who for line in chart.lines] == ["22 nodes, median", "node01", "node02", "node03", "node04", "node10"]
    assert chart.left_out == 5
    assert "5 more jobs have no line here." in charts(_slow(32, slow)).plots[2].sentence


def test_both_placements_are_drawn_and_told() -> None:
    plot = charts(healthy(8)).plots[2]
    assert plot.svg.count("stroke-dasharray: 5.92") == 1
    assert plot.table is not None
    assert [row[0] for row in plot.table.rows] == ["8 nodes, median, out-of-place", "8 nodes, median, in-place"]


def test_pairs_that_were_measured_stand_in_cells_and_no_others() -> None:
    (picture,) = pair_pictures(searched())
    matrix = picture.matrix
    assert matrix is not None
    cells = {
        (a, b): cell
        for a, row in zip(matrix.names, matrix.rows, strict=True)
        for b, cell in zip(matrix.names, row, strict=True)
    }
    assert len(matrix.names) == 16
    assert cells["node05", "node06"].text == "24.3 (-49 %)" and cells["node06", "node05"].slow
    assert cells["node02", "node03"].text == "40.5 (-15 %) / 47.8"
    assert not cells["node02", "node03"].slow
    assert cells["node01", "node05"].text == ""
    assert "node05 with node06, node06 with node07" in picture.sentence


def test_a_pair_that_did_not_finish_is_slow() -> None:
    record = searched()
    search = record.search
    assert search is not None
    stuck = replace(search.rounds[1].pairs[0], measured_gbyte_s=None)
    rounds = (*search.rounds[:1], replace(search.rounds[1], pairs=(stuck,)))
    (picture,) = pair_pictures(replace(record, search=replace(search, rounds=rounds)))
    assert picture.matrix is not None
    assert picture.matrix.rows[0][1].text == "did not finish" and picture.matrix.rows[0][1].slow


def test_of_more_than_16_nodes_a_matrix_shows_the_group_of_the_slow_pair() -> None:
    record = searched()
    hosts = tuple(HostRecord(name, Verdict.PASS, labels=(("leaf", f"l{n // 8}"),)) for n, name in enumerate(names(40)))
    search = record.search
    assert search is not None
    far = tuple(
        replace(search.rounds[1].pairs[0], a=a, b=b, loss=0.0)
        for a, b in zip(names(40)[16::2], names(40)[17::2], strict=True)
    )
    rounds = (*search.rounds[:2], replace(search.rounds[2], pairs=(*search.rounds[2].pairs, *far)))
    (picture,) = pair_pictures(replace(record, hosts=hosts, search=replace(search, rounds=rounds)))
    assert picture.title.startswith("l0, ")
    assert picture.matrix is not None and set(names(40)[:8]) <= set(picture.matrix.names)
    assert len(picture.matrix.names) <= 32 and "node40" not in picture.matrix.names


def test_a_hostile_name_stays_text_in_every_chart() -> None:
    record = healthy(8)
    hosts = tuple(replace(host, name=HOSTILE) if n == 2 else host for n, host in enumerate(record.hosts))

    def renamed(job: JobRecord) -> JobRecord:
        return replace(job, hosts=tuple(HOSTILE if name == "node03" else name for name in job.hosts))

    jobs = [renamed(job) for job in record.jobs]
    jobs[2] = replace(jobs[2], verdict=Verdict.FAIL, rows=rows(100.0, 8), collective="all_reduce")
    page = render_html(replace(record, hosts=hosts, jobs=tuple(jobs)))
    assert "<script" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in "".join(re.findall(r"<svg.*?</svg>", page, flags=re.S))


def test_a_page_is_written_without_charts_where_matplotlib_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = render_html(sick())
    assert "<svg" not in page.replace('<svg class="mem"', "")
    assert "The charts could not be drawn here" in page
    assert "Numbers of this chart" in page
    assert "node05" in page


def test_a_record_that_measured_nothing_has_no_chart() -> None:
    assert charts(replace(healthy(8), jobs=(), checks=())).plots == ()


def test_a_job_without_a_limit_is_drawn_without_one() -> None:
    record = replace(healthy(8), provenance=replace(healthy(8).provenance, limits=()))
    plots = charts(record).plots
    assert len(plots) == 4
    assert not [text for plot in plots for text in _texts(plot.svg) if "peak" in text]


def test_a_peak_of_zero_is_no_limit() -> None:
    limit = Limit("bandwidth.busbw", "single_node", "all_reduce", 0.0, 0.7, 0.5, "GB/s", "nobody")
    record = replace(healthy(2), provenance=replace(healthy(2).provenance, limits=(limit,)))
    assert charts(record).note == ""


@pytest.mark.parametrize(("values", "least"), [((231.0, 231.0), 0.0), ((0.0,), -2.0), ((96.8, 191.6), 90.0)])
def test_a_scale_that_zooms_holds_every_value(values: Sequence[float], least: float) -> None:
    scale = around(values, 0.0, 100.0)
    assert all(0 <= scale.at(value) <= 100 for value in values)
    assert scale.low >= least
    assert 1 <= len(scale.ticks()) <= 9


def test_a_scale_from_zero_starts_there() -> None:
    assert from_zero([10.0], 100.0, 0.0).at(0.0) == 100.0
    assert Scale(0.0, 300.0, 0.0, 1.0).ticks(6) == (0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0)


def test_labels_keep_their_distance_and_stay_in_sight() -> None:
    places = spread([50.0, 51.0, 99.0, 100.0], 13.0, 0.0, 100.0)
    ordered = sorted(places)
    assert all(b - a >= 12.999 for a, b in pairwise(ordered))
    assert ordered[0] >= 0 and ordered[-1] <= 100
    assert len(spread([1.0] * 40, 13.0, 0.0, 100.0)) == 40


def test_a_job_over_nodes_is_a_line_for_itself() -> None:
    record = healthy(8)
    jobs = (*record.jobs, multi(names(8)[:7], 199.0, Verdict.PASS, "again"), single("node01", 231.0))
    chart = curves(replace(record, jobs=jobs), {})[1]
    assert [line.who for line in chart.lines] == ["8 nodes", "7 nodes, without node08"]


def test_a_size_that_was_cut_to_divide_by_the_ranks_is_told_as_it_was_asked_for() -> None:
    assert [size(n) for n in (8_589_934_080, 2_147_482_624, 3 * GIB // 2)] == ["8 GiB", "2 GiB", "1536 MiB"]
    assert size(5_000_000_000) == "5000000000 B"
    cut = tuple(replace(row, size_bytes=row.size_bytes - 512) for row in rows(200.0, 8))
    record = healthy(8)
    plot = charts(replace(record, jobs=tuple(replace(job, rows=cut) for job in record.jobs))).plots[2]
    assert "8G" in _texts(plot.svg) and plot.table is not None and "8 GiB" in plot.table.columns


def test_a_curve_names_its_axes_and_what_each_shade_means() -> None:
    texts = _texts(charts(healthy(8)).plots[2].svg)
    assert {"busbw, GB/s", "message size, bytes", "PASS", "DEGRADED", "FAIL"} <= set(texts)


def test_a_name_stands_where_no_other_node_has_its_mark() -> None:
    svg = charts(_slow(300, {"node005": 227.0}, per_leaf=300)).plots[0].svg
    label = re.search(r'<text style="([^"]*)"[^>]*>node005', svg)
    assert label is not None and "text-anchor: end" in label[1]


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    assert held("94.6 GB/s, 47 % of 200, 89 °C") == "94.6\u00a0GB/s, 47\u00a0% of 200, 89\u00a0°C"
    assert held("node 1 small, 2 minutes, tail -n 20 s3") == "node 1 small, 2 minutes, tail -n 20 s3"


def test_a_matrix_of_a_large_group_shows_who_was_slow_and_with_whom_and_no_others() -> None:
    record = searched()
    search = record.search
    assert search is not None
    hosts = tuple(HostRecord(name, Verdict.PASS, labels=(("leaf", "l1"),)) for name in names(40))
    well = tuple(
        replace(search.rounds[1].pairs[0], a=a, b=b, loss=0.0)
        for a, b in zip(names(40)[16::2], names(40)[17::2], strict=True)
    )
    rounds = (*search.rounds[:2], replace(search.rounds[2], pairs=(*search.rounds[2].pairs, *well)))
    (picture,) = pair_pictures(replace(record, hosts=hosts, search=replace(search, rounds=rounds)))
    assert picture.matrix is not None
    assert "node05" in picture.matrix.names and "node40" not in picture.matrix.names
    assert all(any(cell.text for cell in row) for row in picture.matrix.rows)
