"""Suggested lines work where they are pasted: the same hosts, the same flags, and not one entry a node."""

from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.transport_view import source_of
from healthcheck.model.component import hca, node
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.nccl import NcclRankLog
from healthcheck.model.reading import Evidence
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.actions import suggested_actions
from healthcheck.reporting.again import again_line, resume_line, run_folder
from healthcheck.reporting.todo import todo
from tests.golden.records import healthy, interrupted, sick, text

RUN = "20260314T021503Z-mvkd"


def _run_with(*arguments: str) -> RunRecord:
    return replace(sick(), provenance=replace(sick().provenance, arguments=arguments, hostfile="cluster.hosts"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run full -H c.hosts --nccl-tests /x", f"run full --nccl-tests /x -H reports/{RUN}/exclude.hosts"),
        ("run --hosts=c.hosts --push b", f"run --push b -H reports/{RUN}/exclude.hosts"),
        ("run -qHc.hosts -o /srv/out", f"run -q -o /srv/out -H /srv/out/{RUN}/exclude.hosts"),
        ("probe --hosts c.hosts --results=r/", f"probe --results=r/ -H r/{RUN}/exclude.hosts"),
        ("run -H c.hosts --launch-from node01", f"run -H reports/{RUN}/exclude.hosts"),
        ("run -H c.hosts --launch-from=local", f"run --launch-from=local -H reports/{RUN}/exclude.hosts"),
        (f"run --resume {RUN}", f"run reports/{RUN}/inputs/playbook.yaml -H reports/{RUN}/exclude.hosts"),
    ],
)
def test_excluded_hosts_are_measured_again_with_the_flags_of_the_run(arguments: str, words: str) -> None:
    assert again_line(_run_with(*shlex.split(arguments))) == f"healthcheck {words}"


def test_arguments_are_quoted_when_they_are_said_again() -> None:
    line = again_line(_run_with("run", "my book.yaml", "-H", "c.hosts", "--nccl-tests", "/a;reboot"))
    assert line is not None
    assert shlex.split(line)[1:5] == ["run", "my book.yaml", "--nccl-tests", "/a;reboot"]


def test_hosts_that_are_gone_are_not_measured_again() -> None:
    gone = replace(sick().provenance, arguments=("run", "--simulate", "8"), hostfile="")
    assert again_line(replace(sick(), provenance=gone)) is None
    assert again_line(_run_with("demo")) is None
    assert again_line(healthy()) is None


def test_only_a_run_that_was_ended_is_gone_on_with() -> None:
    assert resume_line(healthy()) is None
    assert resume_line(interrupted()) == "healthcheck run --resume 20260314T021503Z-wxyz"
    assert resume_line(interrupted(), "/srv/out/x") == "healthcheck run --resume /srv/out/x"
    assert "healthcheck run --resume" in suggested_actions(interrupted())


def test_going_on_is_said_with_the_results_folder_of_the_run() -> None:
    record = interrupted()
    line = f"healthcheck run --resume {record.run_id}"
    stopped = Finding(
        node("node05"), Verdict.INCONCLUSIVE, Confidence.CONFIRMED, text("stopped"), text("go on"), commands=(line,)
    )
    record = replace(record, findings=(stopped,))
    assert todo(record)[0].commands == (line,)
    elsewhere = replace(record, provenance=replace(record.provenance, arguments=("run", "-o", "/srv/out")))
    assert todo(elsewhere)[0].commands == (f"healthcheck run --resume /srv/out/{record.run_id}",)
    assert "exclude.hosts" not in suggested_actions(elsewhere)


def test_the_last_results_folder_counts() -> None:
    assert run_folder(_run_with("run", "-o", "a", "--results", "b/c/")) == f"b/c/{RUN}"


def _thousand(commands: bool = True) -> RunRecord:
    record = healthy(1000, per_leaf=32)
    findings = tuple(
        Finding(
            node(name),
            Verdict.INCONCLUSIVE,
            Confidence.CONFIRMED,
            text(f"{name} does not answer"),
            text("see whether it is up"),
            commands=(f"ping -c 3 {name}",) if commands else (),
        )
        for name in record.healthy_hosts
    )
    return replace(record, findings=findings)


def test_a_thousand_silent_nodes_are_one_entry_with_ten_lines_and_a_count() -> None:
    lines = suggested_actions(_thousand()).splitlines()
    assert len(lines) < 40
    assert sum("ping -c 3" in line for line in lines) == 10
    assert any("990 more: node[0011-1000]" in line for line in lines)
    assert any("node[0001-1000]: INCONCLUSIVE" in line for line in lines)
    assert "more:" not in suggested_actions(_thousand(commands=False))


def test_the_same_port_of_many_nodes_is_one_entry() -> None:
    findings = tuple(
        Finding(hca(name, "mlx5_2"), Verdict.FAIL, Confidence.CONFIRMED, text("mlx5_2 is slow"), text("reseat it"))
        for name in healthy(4).healthy_hosts
    )
    other = replace(findings[0], component=hca("node01", "mlx5_3"), cause=text("mlx5_3 is slow"))
    entries = todo(replace(healthy(4), findings=(*findings, other)))
    assert [entry.title for entry in entries] == ["node[01-04]/hca:mlx5_2", "node01/hca:mlx5_3"]


def test_a_short_name_is_not_taken_out_of_the_middle_of_a_word() -> None:
    findings = tuple(
        Finding(node(name), Verdict.FAIL, Confidence.LIKELY, text("a bad cable"), text("do")) for name in ("b", "c")
    )
    assert len(todo(replace(healthy(2), findings=findings))) == 1


def test_the_raw_output_of_the_job_is_named_with_the_folder_of_the_run() -> None:
    job = healthy(2).jobs[-1]
    slow = Finding(node("node01"), Verdict.FAIL, Confidence.LIKELY, text("slow"), text("read"), job=job.id)
    (entry,) = todo(replace(healthy(2), findings=(slow,)))
    raw = f"less reports/{healthy(2).run_id}/{job.raw}/stdout reports/{healthy(2).run_id}/{job.raw}/stderr"
    assert entry.commands[:-1] == (raw,)


@pytest.mark.parametrize(
    "source",
    [
        str(source_of(NcclRankLog("node01", rank=3))),
        str(source_of(NcclRankLog("node01"))),
        "node01: NCCL log of rank 3",
    ],
)
def test_what_nccl_logged_is_named_where_it_is_quoted(source: str) -> None:
    job = healthy(2).jobs[-1]
    slow = Finding(node("node01"), Verdict.FAIL, Confidence.LIKELY, text("slow"), text("read"), job=job.id)
    quoted = replace(slow, evidence=(Evidence(source, "NET/IB : No device found."),))
    (entry,) = todo(replace(healthy(2), findings=(quoted,)))
    folder = f"reports/{healthy(2).run_id}/{job.raw}"
    assert entry.commands[:-1] == (f"grep -r NCCL {folder}/nccl/ | less", f"less {folder}/stdout {folder}/stderr")


def test_equal_evidence_is_shown_once() -> None:
    quote = Evidence("probe host.reached", "no answer on port 22: timed out")
    record = _thousand()
    silent = tuple(replace(finding, evidence=(quote, quote)) for finding in record.findings)
    assert todo(replace(record, findings=silent))[0].evidence == ((quote.source, quote.text),)
