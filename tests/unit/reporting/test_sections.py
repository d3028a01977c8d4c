"""Parts of the page: the search round by round, bars on one scale, whole leafs, versions that differ."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.bandwidth import bandwidth
from healthcheck.reporting.bandwidth_bars import bandwidth_answer, bars
from healthcheck.reporting.cluster_map import cluster_map
from healthcheck.reporting.fleet_view import fleet_view
from healthcheck.reporting.html import render_html
from healthcheck.reporting.search_story import MOST_COLUMNS, Story, story
from healthcheck.reporting.view import page
from tests.golden.records import RECORDS, healthy, rows, sick
from tests.golden.searched import searched


def _story(record: RunRecord) -> Story:
    assert record.search is not None
    return story(record, record.search)


def test_each_round_says_who_is_left() -> None:
    told = [(one.kind, one.left) for one in _story(searched()).rounds]
    assert told[0][1] == "node[01-16]"
    assert told[-1][1] == "node06"


def test_a_slow_job_is_named_and_a_fast_one_clears_both_ends() -> None:
    second = _story(searched()).rounds[1]
    slow, fast = [row for row in second.rows if row.slow], [row for row in second.rows if not row.slow]
    assert [row.who for row in slow] == ["node05 + node06"]
    assert slow[0].of_expected == "51 %"
    assert "node[01-04,07-16]" in fast[0].tells


def test_the_strip_has_a_column_for_each_node_in_the_rows_of_the_map() -> None:
    told = _story(searched())
    assert [len(group) for group in told.rounds[0].strip] == [8, 8]
    assert set(told.rounds[0].strip[0]) == {"slow"}
    assert told.rounds[1].strip[0][4:6] == ("slow", "slow")
    assert told.rounds[1].strip[1] == ("fast",) * 8


def test_with_many_nodes_a_column_is_a_group() -> None:
    record = searched()
    many = healthy(MOST_COLUMNS + 8, per_leaf=8)
    assert record.search is not None
    first = record.search.rounds[0]
    full = replace(first.fulls[0], hosts=tuple(host.name for host in many.hosts))
    search = replace(record.search, rounds=(replace(first, fulls=(full,)),))
    told = story(replace(many, search=search), search)
    assert [len(group) for group in told.rounds[0].strip] == [(MOST_COLUMNS + 8) // 8]
    assert "group" in told.legend


def test_a_value_above_peak_is_drawn_above_it() -> None:
    record = healthy(4)
    jobs = tuple(replace(job, rows=rows(330.0, 8)) if len(job.hosts) == 1 else job for job in record.jobs)
    above = replace(record, jobs=jobs)
    bullets = [bar.bullet for bar in bars(above, bandwidth(above)) if bar.bullet is not None]
    assert bullets[0].value == 100
    assert bullets[0].peak < 100
    assert len({bullet.full for bullet in bullets}) == 1  # one scale for the whole table


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_row_has_a_bar_and_words_beside_it(name: str) -> None:
    record = RECORDS[name]()
    table = bandwidth(record)
    made = bars(record, table)
    assert len(made) == len(table.rows)
    assert all(bar.known_good for bar in made)
    assert bool(bandwidth_answer(table)) == bool(table.rows)


def test_known_good_is_what_the_rule_held_the_number_against() -> None:
    record = sick()
    texts = [bar.known_good for bar in bars(record, bandwidth(record))]
    assert any(text.endswith("% of 231") for text in texts)


def test_a_leaf_that_is_gone_as_a_whole_is_named() -> None:
    record = healthy(8, per_leaf=4)
    hosts = tuple(replace(host, verdict=Verdict.FAIL) if place < 4 else host for place, host in enumerate(record.hosts))
    assert "l1" in str(cluster_map(replace(record, hosts=hosts)).whole)
    one = replace(record, hosts=(replace(record.hosts[0], verdict=Verdict.FAIL), *record.hosts[1:]))
    assert str(cluster_map(one).whole) == "None of the groups is affected as a whole."
    assert cluster_map(record).whole is None


def test_versions_that_differ_come_first_and_open() -> None:
    fleet = (
        FleetSetting("cuda", (FleetValue("12.4", "node[01-08]", 8),)),
        FleetSetting("driver", (FleetValue("550", "node[01-07]", 7), FleetValue("535", "node08", 1))),
    )
    view = fleet_view(replace(healthy(8), fleet=fleet))
    assert [row.name for row in view.differ] == ["driver"]
    assert view.differ[0].different == ("node08: 535",)
    html = render_html(replace(healthy(8), fleet=fleet))
    assert html.index("node08: 535") < html.index("1 setting on which all nodes agree")


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_section_opens_with_its_answer(name: str) -> None:
    html = render_html(RECORDS[name]())
    sections = html.split('<section id="')[1:]
    opened = [part.split("</h2>", 1)[1].lstrip().startswith('<p class="ans">') for part in sections]
    assert opened == [True] * (len(sections) - 1) + [False]  # the glossary is the last


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_node_that_is_not_pass_is_never_folded_away(name: str) -> None:
    record = RECORDS[name]()
    open_parts, depth = [], 0
    for part in render_html(record).replace("</details>", "\0-").replace("<details", "\0+").split("\0"):
        depth += {"+": 1, "-": -1}.get(part[:1], 0)
        if depth == 0:
            open_parts.append(part)
    shown = "".join(open_parts)
    made = page(record)
    told = [index for row in made.not_pass_rows for index in row.indices]
    assert sorted(told) == [line.index for line in made.nodes if line.verdict is not Verdict.PASS]
    for row in made.not_pass_rows:
        assert f'id="{row.anchor}"' in shown


def test_contents_lead_to_what_is_there() -> None:
    for build in (*RECORDS.values(), searched):
        html = render_html(build())
        for anchor, _ in page(build()).contents:
            assert f'<section id="{anchor}">' in html


def test_a_value_of_half_of_the_nodes_is_no_yardstick_for_the_others() -> None:
    tie = FleetSetting("driver", (FleetValue("535", "node02", 1), FleetValue("550", "node01", 1)))
    row = fleet_view(replace(healthy(2), fleet=(tie,))).differ[0]
    assert (row.most, row.different) == ("no value has most of the nodes", ("node02: 535", "node01: 550"))


def test_the_same_nodes_in_another_order_are_told_apart() -> None:
    record = healthy(8)
    slow = replace(record.jobs[-1], verdict=Verdict.FAIL)
    again = replace(record.jobs[-1], id="again", hosts=tuple(reversed(slow.hosts)))
    rows = bandwidth(replace(record, jobs=(*record.jobs[:-1], slow, again))).rows
    assert [row.who for row in rows[-2:]] == ["8 nodes", "8 nodes, in another rank order"]


def test_each_sentence_on_bandwidth_names_its_collective_where_there_are_several() -> None:
    record = healthy(8)
    other = tuple(replace(job, id=f"g.{job.id}", collective="all_gather") for job in record.jobs)
    told = bandwidth_answer(bandwidth(replace(record, jobs=(*record.jobs, *other))))
    assert "Inside a node, all_reduce: " in told and "Between nodes, all_gather: " in told
    assert "all_reduce" not in bandwidth_answer(bandwidth(record))
