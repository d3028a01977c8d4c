"""Reports of hostile, huge, sick and unfinished records."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.message import say
from healthcheck.model.reading import Evidence
from healthcheck.model.record import HostRecord, RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.actions import suggested_actions
from healthcheck.reporting.html import render_html
from healthcheck.reporting.markdown import code_span, escaped, fence, render_markdown
from healthcheck.reporting.summary import stdout_line, terminal_summary
from healthcheck.reporting.view import page
from tests.golden.records import RECORDS, healthy, interrupted, sick, text

HOSTILE = "<script>alert(1)</script>\"'`|&[x](http://evil.example)\x1b[31m\nrm -rf /"


class _Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.headings: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _read(page: str) -> _Tags:
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def _hostile() -> RunRecord:
    finding = Finding(
        node(HOSTILE),
        Verdict.FAIL,
        Confidence.LIKELY,
        text(HOSTILE),
        text(HOSTILE),
        evidence_for=(text(HOSTILE),),
        commands=(HOSTILE,),
        evidence=(Evidence(HOSTILE, HOSTILE),),
    )
    record = sick()
    hosts = (*record.hosts, HostRecord(HOSTILE, Verdict.FAIL, (text(HOSTILE),), (("leaf", HOSTILE),)))
    return replace(record, hosts=hosts, findings=(finding,), notes=(text(HOSTILE),), run_id=HOSTILE)


def test_hostile_names_and_evidence_stay_text_in_html() -> None:
    page = render_html(_hostile())
    tags = _read(page)
    assert "script" not in tags.tags
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


def test_hostile_names_and_evidence_stay_text_in_markdown() -> None:
    page = render_markdown(_hostile())
    outside = re.sub(r"(?m)^(```+)\n.*?\n\1$", "", page, flags=re.S)
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", outside))
    assert "<" not in outside
    assert "](" not in outside
    assert "\x1b" not in page


def test_no_escape_sequence_reaches_the_terminal() -> None:
    record = _hostile()
    printed = "\n".join((*terminal_summary(record, 80), stdout_line(record)))
    assert "\x1b" not in printed
    assert stdout_line(record).count("\n") == 0


@pytest.mark.parametrize(
    "record", [_hostile(), sick(), interrupted(), healthy()], ids=["hostile", "sick", "interrupted", "healthy"]
)
def test_every_line_of_the_suggested_actions_is_a_comment(record: RunRecord) -> None:
    assert all(line.startswith("#") for line in suggested_actions(record).splitlines())


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_markdown_table_keeps_its_columns_whatever_a_text_holds(name: str) -> None:
    record = RECORDS[name]()
    hosts = tuple(replace(host, reasons=(text("a | b \\| c"),)) for host in record.hosts)
    jobs = tuple(replace(job, reasons=(text("one | two"),)) for job in record.jobs)
    columns = 0
    for line in render_markdown(replace(record, hosts=hosts, jobs=jobs)).splitlines():
        if not line.startswith("|"):
            columns = 0
            continue
        here = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
        assert columns in (0, here), line
        columns = here


def test_the_page_needs_nothing_from_outside() -> None:
    page = render_html(sick())
    tags = _read(page)
    assert not {"script", "img", "link", "iframe", "object", "image"} & set(tags.tags)
    assert all(value.startswith("#") for name, value in tags.attributes if name in ("href", "src", "action"))
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_screen_reader_finds_its_way(name: str) -> None:
    tags = _read(render_html(RECORDS[name]()))
    assert all(deeper - upper <= 1 for upper, deeper in zip(tags.headings, tags.headings[1:], strict=False))
    assert tags.headings.count(1) == 1
    identifiers = [value for attribute, value in tags.attributes if attribute == "id"]
    assert len(identifiers) == len(set(identifiers))
    targets = {value[1:] for attribute, value in tags.attributes if attribute == "href"}
    assert targets <= set(identifiers)
    assert tags.tags.count("th") == sum(attribute == "scope" for attribute, _ in tags.attributes)


def test_every_node_of_the_map_says_its_verdict_in_words() -> None:
    page = render_html(sick())
    for host in sick().hosts:
        assert f'<span class="vh">{host.name}: {host.verdict.name}' in page


def test_a_simulated_report_shouts_it_in_title_verdict_and_sections() -> None:
    page = render_html(sick())
    assert "SIMULATED" in re.findall("<title>(.*)</title>", page)[0]
    assert page.index('class="banner">SIMULATED') < page.index("<h1>")
    sections = re.findall(r'<section id="(\w+)"><h2>(.*?)</h2>', page)
    assert [name for name, heading in sections if "SIMULATED" not in heading] == ["words"]
    headings = [line for line in render_markdown(sick()).splitlines() if re.match("##? ", line)]
    assert all("SIMULATED" in line for line in headings)
    assert ", simulated," in stdout_line(sick())
    assert "SIMULATED" in terminal_summary(sick(), 80)[0]


def test_a_real_report_never_says_simulated() -> None:
    outputs = (render_html(healthy()), render_markdown(healthy()), stdout_line(healthy()))
    assert not [
        output for output in outputs if "simulated" in re.sub("<style>.*</style>", "", output, flags=re.S).lower()
    ]


def test_an_unfinished_run_says_so_before_anything_else() -> None:
    for state, word in (("interrupted", "INTERRUPTED RUN"), ("incomplete", "INCOMPLETE RUN")):
        record = replace(interrupted(), state=state)
        page = render_html(record)
        assert page.index(f'class="state">{word}') < page.index('class="verdict"')
        assert render_markdown(record).startswith(f"# {word}, ")
        assert terminal_summary(record, 80)[0].strip().startswith(word)
        assert f", {state}" in stdout_line(record)


def test_what_was_not_measured_is_written_out_in_every_cell() -> None:
    for record in (interrupted(), sick()):
        assert not re.findall(r"<t[dh][^>]*>\s*(?:-|–|0\.0|None|nan)?\s*</t[dh]>", render_html(record))
        rows = [line for line in render_markdown(record).splitlines() if line.startswith("|")]
        assert not [row for row in rows if re.search(r"\| *(?:-|None|nan|0\.0)? *(?=\|)", row)]


def test_without_a_proven_set_no_list_is_offered() -> None:
    record = replace(sick(), healthy_hosts=())
    for output in (render_html(record), render_markdown(record), "\n".join(terminal_summary(record, 80))):
        assert "Do not start: no set of nodes is proven." in output
        assert "mpirun --hostfile healthy.hosts" not in output
        assert "sbatch" not in output


def test_a_failed_run_over_all_nodes_offers_no_list_either() -> None:
    record = replace(healthy(), verdict=Verdict.FAIL)
    assert "Do not start yet" in render_markdown(record)
    assert "--hostfile healthy.hosts" not in render_markdown(record)


def test_the_most_urgent_finding_comes_first() -> None:
    order = [entry.verdict.name for entry in page(sick()).entries]
    assert order == ["FAIL", "INCONCLUSIVE", "DEGRADED", "SKIPPED"]
    told = re.findall(r"^(?:### \d+\. .*:|\| node\d+\S* \|) ([A-Z]+), ", render_markdown(sick()), flags=re.M)
    assert told == order


def test_nodes_with_one_cause_share_an_entry() -> None:
    record = healthy(64)
    findings = tuple(
        Finding(node(name), Verdict.INCONCLUSIVE, Confidence.CONFIRMED, text("no answer"), text("check power"))
        for name in record.healthy_hosts[10:30]
    )
    page = render_markdown(replace(record, findings=findings))
    assert "### 1. node[11-30]: INCONCLUSIVE" in page
    assert "### 2." not in page


def test_more_than_ten_findings_become_a_table() -> None:
    record = healthy(64)
    findings = tuple(
        Finding(node(name), Verdict.FAIL, Confidence.CONFIRMED, text(f"cause {place}"), text("do"))
        for place, name in enumerate(record.healthy_hosts[:25])
    )
    record = replace(record, findings=findings)
    html = render_html(record)
    assert "<h3>10. <code>" in html
    assert "<h3>11. <code>" not in html
    assert all(f"cause {place}" in html for place in range(25))
    page = render_markdown(record)
    assert all(f"cause {place}" in page for place in range(25))


def test_a_thousand_nodes_fit_in_a_megabyte_and_a_second() -> None:
    record = healthy(1024, per_leaf=32)
    begin = time.process_time()
    page = render_html(record)
    assert time.process_time() - begin < 3
    assert len(page.encode()) < 1_000_000
    assert len(render_markdown(record).splitlines()) < 60


def test_all_nodes_sick_still_fits_in_a_megabyte() -> None:
    record = healthy(1024, per_leaf=32)
    hosts = tuple(replace(host, verdict=Verdict.FAIL, reasons=(text("port down " * 5),)) for host in record.hosts)
    jobs = tuple(replace(job, verdict=Verdict.FAIL) for job in record.jobs)
    page = render_html(replace(record, hosts=hosts, jobs=jobs, verdict=Verdict.FAIL, healthy_hosts=()))
    assert len(page.encode()) < 1_000_000


def test_a_reason_that_another_quotes_is_not_said_twice() -> None:
    slow = say("probe.hca.slow", rate=100.0, expected=200.0)
    hosts = (HostRecord("node01", Verdict.FAIL, (slow, slow, say("host.excluded", why=str(slow)))),)
    record = replace(healthy(1), hosts=hosts, verdict=Verdict.FAIL, healthy_hosts=())
    assert page(record).nodes[0].why == "excluded from the jobs over several nodes: 100 of 200 Gb/s"


def test_escaping_leaves_plain_names_readable() -> None:
    assert escaped("gpu[001-004] mlx5_2 at 100 Gb/s") == "gpu[001-004] mlx5_2 at 100 Gb/s"
    assert escaped("_x_ *y* a|b") == "\\_x\\_ \\*y\\* a\\|b"
    assert escaped("# no heading") == "\\# no heading"
    assert code_span("a `b` c") == "``a `b` c``"
    assert fence(("```",)).startswith("````\n")
