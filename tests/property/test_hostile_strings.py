"""Host names, versions, log lines and messages are text wherever they are shown, whatever is written in them.

Every text of a record is replaced; a record that another program wrote may hold anything, so may a log.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from healthcheck.evaluation.comparison import compare
from healthcheck.model.comparison import Comparison
from healthcheck.model.fleet import FleetSetting, FleetValue
from healthcheck.model.history import PastRun
from healthcheck.model.measurement import CollectiveTable, Failure, FailureKind, OutputState, ParsedOutput, ParseWarning
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.parsing.hostfile import parse_hostfile
from healthcheck.parsing.record_codec import decode_record, encode_record
from healthcheck.parsing.record_digest import decode_digest
from healthcheck.parsing.run_history import read_past_run
from healthcheck.reporting.alert import alert_of
from healthcheck.reporting.compared import compared_line, compared_lines
from healthcheck.reporting.compared_html import render_comparison
from healthcheck.reporting.figures import one_line
from healthcheck.reporting.files import report_files
from healthcheck.reporting.history_html import render_fleet, render_host
from healthcheck.reporting.history_text import fleet_lines, host_lines
from healthcheck.reporting.history_view import fleet_past, host_past
from healthcheck.reporting.parsed_output import ParsedFile, as_text
from healthcheck.reporting.rejudged import changes
from healthcheck.reporting.sparkline import BLOCKS
from healthcheck.reporting.summary import stdout_line, terminal_summary
from tests.golden.records import interrupted, sick
from tests.golden.searched import searched
from tests.property.hostile import STRINGS, TIMES, WORDS, disguised

Put = Callable[[str], str]

# All of them in every text, in two orders and at both ends of it: what one opens, another one must not hide.
FORTH, BACK = " ".join(STRINGS.values()), " ".join(reversed(STRINGS.values()))
LONG = "x" * 10_000
PUT: dict[str, tuple[Put, str]] = {
    "behind": (lambda text: text + FORTH, FORTH),
    "before": (lambda text: BACK + text, BACK),
    "long": (lambda text: text + LONG, LONG),
}


def calm(text: str) -> str:
    """What nobody could mistake for more than text: the page to hold the others against."""
    return f"{text}calm"


def whole() -> RunRecord:
    """A sick run with something in every part of a record."""
    driver = (FleetValue("550.90.07", "node[01-07]", 7), FleetValue("535.54.03", "node08", 1))
    return replace(
        sick(),
        search=searched().search,
        notes=(say("report.verbatim", text="a note"),),
        fleet=(FleetSetting("driver", driver), FleetSetting("hca_firmware[MT_0000000223]", driver)),
    )


RECORDS = (whole, searched, interrupted)
hostile = pytest.mark.parametrize(("put", "said"), PUT.values(), ids=PUT)
records = pytest.mark.parametrize("build", RECORDS)


class Page(HTMLParser):
    """What a browser would make of a page: elements, attributes, and the text that is shown."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.made: set[tuple[str, str]] = set()
        self.links: set[str] = set()
        self.pieces: list[str] = []
        self.feed(page)
        self.close()
        self.shown = " ".join("".join(self.pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Element and attribute by name; the targets of links by value."""
        self.made |= {(tag, ""), *((tag, name) for name, _ in attrs)}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")}

    def handle_data(self, data: str) -> None:
        """Text, as it is shown."""
        self.pieces.append(data)


def assert_visible(text: str, where: str) -> None:
    """No control, no mark of direction, nothing invisible: all of it is written out.

    Ours is only the blank that holds a number and its unit together."""
    text = re.sub(r"(?<=\d)\u00a0(?=\S)", " ", text)
    odd = {char for char in text if not char.isprintable() and char != "\n"}
    assert not odd, f"{where}: {odd!r}"


def assert_same_page(page: str, calm: str, expected: str) -> None:
    """The same kinds of elements and attributes as with calm names, links within the page, and the text shown."""
    assert_visible(page, "page")
    made, usual = Page(page), Page(calm)
    assert made.made <= usual.made
    assert all(link.startswith("#") for link in made.links)
    assert expected in made.shown


@cache
def calm_page(build: Callable[[], RunRecord], keep: frozenset[str]) -> str:
    """The page of a record of calm texts."""
    return report_files(disguised(build(), calm, keep))["report.html"]


@records
@hostile
@pytest.mark.parametrize("keep", [WORDS, frozenset()], ids=["texts", "words too"])
def test_a_report_shows_it_as_text(put: Put, said: str, keep: frozenset[str], build: Callable[[], RunRecord]) -> None:
    record = disguised(build(), put, keep)
    files = report_files(record)
    for file, content in files.items():
        assert_visible(content, file)
    assert_same_page(files["report.html"], calm_page(build, keep), one_line(said))
    assert all(line.startswith("#") for line in files["suggested-actions.sh"].splitlines())
    assert one_line(said) in files["suggested-actions.sh"]
    assert_markdown(files["report.md"])
    assert_xml(files["junit.xml"], record)
    assert_metrics(files["metrics.prom"], record)
    for lists in (files["healthy.hosts"], files["exclude.hosts"]):
        assert_hosts(lists, record)


@records
@hostile
@pytest.mark.parametrize("keep", [WORDS, frozenset()], ids=["texts", "words too"])
def test_an_alert_shows_it_as_text(put: Put, said: str, keep: frozenset[str], build: Callable[[], RunRecord]) -> None:
    alert = alert_of(disguised(build(), put, keep), "/srv/reports/run/report.html", None)
    for text in (alert.title, alert.plain, alert.markdown):
        assert_visible(text, "alert")
    assert "\n" not in alert.title
    assert len(alert.plain.splitlines()) <= 7
    assert_markdown(alert.markdown)


def assert_markdown(text: str) -> None:
    """No HTML, no link, no picture; each row of a table as long as its head; no heading the template does not have."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = {token.type for token in flat(tokens)}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "s_open", "hr", "blockquote_open"}
    columns, rows = 0, 0
    for token in tokens:
        if token.type == "thead_open":
            columns = 0
        if token.type == "th_open":
            columns += 1
        if token.type == "tr_open":
            rows = 0
        if token.type == "td_open":
            rows += 1
        if token.type == "tr_close" and rows:
            assert rows == columns
    lines = [line for line in text.splitlines() if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    heads = {len(line.split("|")) - 1 for line in lines if re.fullmatch(r"[|:-]+", line)}
    assert bars <= heads


def flat(tokens: list[Token]) -> Iterator[Token]:
    """Tokens and those inside them."""
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def assert_xml(text: str, record: RunRecord) -> None:
    """It parses, with as many cases as there are results, the run, and the hosts nobody tells of."""
    root = ElementTree.fromstring(text)
    cases = list(root.iter("testcase"))
    hosts = [case for case in cases if case.get("name") == "host"]
    assert len(cases) == len(record.checks) + 1 + len(hosts)
    classes = {case.get("classname") for case in cases}
    assert {one_line(str(check.component)) for check in record.checks} <= classes
    assert "owned" not in {element.tag for element in root.iter()}


def assert_metrics(text: str, record: RunRecord) -> None:
    """It parses, with one verdict a host and nothing that is not ours."""
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert all(name.startswith("healthcheck_") for name in families)
    hosts = {sample.labels["host"] for sample in families["healthcheck_host_verdict"].samples}
    assert hosts == {one_line(host.name) for host in record.hosts}


def assert_hosts(text: str, record: RunRecord) -> None:
    """What a launcher reads as a host is one of the record."""
    if any(line and not line.startswith("#") for line in text.splitlines()):
        assert {host.name for host in parse_hostfile(text, "list")} <= {host.name for host in record.hosts}


@records
@hostile
def test_a_terminal_shows_it_as_text(put: Put, said: str, build: Callable[[], RunRecord]) -> None:
    record = disguised(build(), put)
    lines = [stdout_line(record), *changes(build(), record)]
    for width in (40, 96):
        told = terminal_summary(record, width)
        assert "".join(one_line(said).split()) in "".join("".join(told).split())
        lines += told
    assert_lines(lines, "terminal")


def assert_lines(lines: Iterable[str], where: str) -> None:
    """Each is one line."""
    for line in lines:
        assert "\n" not in line
        assert_visible(line, where)


@records
@hostile
def test_a_record_of_it_is_json_and_read_again(put: Put, said: str, build: Callable[[], RunRecord]) -> None:
    written = encode_record(disguised(build(), put))
    again = decode_record(written, "record.json")
    assert [host.name for host in again.hosts] == [kept(put(host.name)) for host in build().hosts]


def kept(text: str) -> str:
    """What a record keeps of bytes that were no UTF-8."""
    return text.encode("utf-8", "replace").decode()


def drifted() -> RunRecord:
    """The run before: another driver on all nodes."""
    fleet = (FleetSetting("driver", (FleetValue("535.54.03", "node[01-08]", 8),)),)
    return replace(whole(), run_id="20260214T021503Z-abcd", started_at="2026-02-14T02:15:03+00:00", fleet=fleet)


def compared(put: Put) -> Comparison:
    """Both runs, as they are read from their records."""
    written = (encode_record(disguised(record, put, TIMES)) for record in (drifted(), whole()))
    before, after = (decode_digest(data, "record.json") for data in written)
    return compare(before, after)


@hostile
def test_a_comparison_shows_it_as_text(put: Put, said: str) -> None:
    comparison = compared(put)
    assert_same_page(render_comparison(comparison), render_comparison(compared(calm)), one_line(kept(said)))
    assert_lines([compared_line(comparison), *compared_lines(comparison, 96)], "compare")


def past(put: Put) -> tuple[PastRun, ...]:
    """Both runs, as the history reads them."""
    written = (encode_record(disguised(record, put, TIMES)) for record in (drifted(), whole()))
    return tuple(read_past_run(data, "record.json", "folder") for data in written)


@hostile
def test_a_history_shows_it_as_text(put: Put, said: str) -> None:
    story, usual = past(put), past(calm)
    fleet, host = fleet_past(story, None, None, 0), host_past(story, story[0].hosts[4].name, None, None, 0)
    assert_same_page(render_fleet(fleet), render_fleet(fleet_past(usual, None, None, 0)), one_line(kept(said)))
    other = host_past(usual, usual[0].hosts[4].name, None, None, 0)
    assert_same_page(render_host(host), render_host(other), one_line(kept(said)))
    assert_lines([*fleet_lines(fleet, 96, BLOCKS), *host_lines(host, 96, BLOCKS)], "history")


@hostile
def test_a_log_that_was_parsed_shows_it_as_text(put: Put, said: str) -> None:
    table = CollectiveTable("all_reduce", "nccl-tests", "2.17", 8, ("node01",), ("A100",), (), (), 1.0, 0, True, True)
    output = ParsedOutput(
        OutputState.FAILED,
        True,
        0,
        (Failure(FailureKind.NCCL, "unhandled system error", "node01", 3),),
        (ParseWarning("row_cut", "a row is cut"),),
        (table,),
    )
    lines = list(as_text(disguised(ParsedFile("a.log", output), put)))
    assert_lines(lines, "parse")
    assert one_line(said) in "\n".join(lines)


@given(st.text(min_size=1))
def test_any_text_is_one_visible_line_that_html_and_xml_carry(text: str) -> None:
    line = one_line(text)
    assert_visible(line, "one line")
    assert "\n" not in line
    assert one_line(line) == line
    assert html.unescape(html.escape(line)) == line
    element = ElementTree.Element("a", {"b": line})
    assert ElementTree.fromstring(ElementTree.tostring(element)).get("b") == line
