"""A run that was asked for less than a check-up says what it was, calls nobody fit and names what to run next."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import whole_line
from healthcheck.reporting.markdown import render_markdown
from healthcheck.reporting.prometheus import render_metrics
from healthcheck.reporting.summary import stdout_line, terminal_summary
from healthcheck.reporting.view import page
from tests.golden.records import RECORDS


def _asked(*arguments: str, only: str = "", of: str = "healthy", **changes: object) -> RunRecord:
    record = RECORDS[of]()
    made = replace(record.provenance, arguments=arguments, only=only)
    return replace(record, provenance=made, **changes)


def _probed(*checks: CheckResult, verdict: Verdict = Verdict.PASS) -> RunRecord:
    words = ("probe", "-H", "cluster.hosts", "--playbook", "full")
    return _asked(
        *words,
        only="probe",
        jobs=(),
        healthy_hosts=(),
        proven_together=(),
        findings=(),
        checks=checks,
        verdict=verdict,
        search=None,
    )


def _silent(record: RunRecord) -> tuple[CheckResult, ...]:
    told = say("job.stopped")
    return tuple(
        CheckResult("host.reached", node(host.name), Verdict.INCONCLUSIVE, told, "connect.unreachable", "probe")
        for host in record.hosts
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("probe", "-H", "c.hosts"), "healthcheck run monthly -H c.hosts"),
        (("probe", "-H", "c.hosts", "--playbook", "full", "-v"), "healthcheck run full -H c.hosts -v"),
        (("probe", "--playbook=my book.yaml", "-Hc"), "healthcheck run 'my book.yaml' -Hc"),
        (("run", "full", "-H", "c", "--only", "single_node"), "healthcheck run full -H c"),
        (("run", "full", "-H", "c"), None),
        (("run", "--resume", "x", "--only", "single_node"), None),
        (("localise", "-H", "c"), None),
    ],
)
def test_the_line_that_measures_all_of_it_has_the_hosts_and_flags_of_this_run(
    arguments: tuple[str, ...], line: str | None
) -> None:
    assert whole_line(_asked(*arguments)) == line


def test_a_page_of_looks_calls_nobody_fit_and_says_what_to_run_next() -> None:
    told = render_markdown(_probed())
    assert "no node is called fit" in told
    assert "looks only, for playbook" in told
    assert "healthcheck run full -H cluster.hosts" in told
    assert "ready" not in page(_probed()).title
    assert "enchmarks" not in told and "every job of the search" not in told and "where every limit" not in told
    assert any("healthcheck run full -H cluster.hosts" in line for line in terminal_summary(_probed(), 96))


def test_nodes_that_did_not_answer_have_nothing_against_them() -> None:
    record = _probed()
    hosts = tuple(replace(host, verdict=Verdict.INCONCLUSIVE) for host in record.hosts)
    silent = replace(_probed(*_silent(record), verdict=Verdict.INCONCLUSIVE), hosts=hosts)
    assert page(silent).decision.startswith(f"No answer came from all {len(hosts)} nodes.")
    step = page(silent).next
    assert step is not None and step.title.startswith("Once that is settled")


def test_a_whole_check_up_names_no_next_step() -> None:
    assert page(RECORDS["healthy"]()).next is None


def test_a_search_that_nobody_needed_says_so() -> None:
    assert any("No search was needed" in fact for fact in page(_asked("localise", only="localise", search=None)).facts)
    assert not any("No search" in fact for fact in page(RECORDS["healthy"]()).facts)


def test_one_node_is_no_crowd() -> None:
    record = RECORDS["healthy"]()
    (first, *_) = record.hosts
    told = render_markdown(replace(record, hosts=(first,), healthy_hosts=(first.name,)))
    assert "1 of 1 node" not in told and "The 1 node" not in told and "All 1" not in told


def test_an_unknown_machine_type_reads_alike_everywhere() -> None:
    told = render_markdown(replace(RECORDS["healthy"](), platform=None))
    assert told.count("not recognised") == 2
    assert "platform not recorded" not in told


def test_the_exit_code_of_a_stopped_run_is_among_those_explained() -> None:
    told = render_metrics(replace(RECORDS["healthy"](), exit_code=130, state="interrupted"))
    (about,) = (line for line in told.splitlines() if line.startswith("# HELP healthcheck_run_exit_code"))
    assert "128 + number of a signal" in about and "--allow-degraded" in about


def test_a_run_that_was_stopped_says_why_nothing_is_proven() -> None:
    stopped = replace(RECORDS["healthy"](), state="interrupted", healthy_hosts=(), proven_together=())
    assert page(stopped).decision == "Do not start: the run ended before a set of nodes was proven."


def test_nodes_measured_alone_are_not_said_to_be_ready_or_not() -> None:
    record = _asked("run", "-H", "c", "--only", "single_node", only="single_node", of="sick")
    record = replace(record, verdict=Verdict.FAIL, healthy_hosts=(), proven_together=())
    assert "ready" not in stdout_line(record) and "clear alone, none together" in stdout_line(record)
    assert "ready" not in page(record).title
    assert page(record).decision.startswith("Do not start: something is wrong with")
