"""`healthcheck explain CODE`, as an operator types what stands in a report."""

from __future__ import annotations

import json
import shlex

import pytest

from healthcheck.diagnosis.causes import CAUSES
from healthcheck.diagnosis.joint.table import RULES
from healthcheck.model.text_checks import CHECK_TEXTS
from tests.walk.cli import Shell


@pytest.mark.parametrize("code", ["hca_slow", "cause.hca_slow", "remedy.hca_slow", "hca.rate_broken"])
def test_a_cause_is_explained_under_each_of_its_names(shell: Shell, code: str) -> None:
    said = shell("explain", code)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("cause.hca_slow: the link of <device> came up at <rate> of <expected> Gb/s")
    for word in ("why", "do", "against", "rules", "try", "read"):
        assert f"\n  {word} " in said.out
    assert "ssh HOST 'ibstat DEVICE'" in said.out
    assert max(map(len, said.out.splitlines())) <= 120


def test_a_check_says_what_it_asks(shell: Shell) -> None:
    for code in ("hca.rate", "check.hca.rate"):
        said = shell("explain", code)
        assert said.code == 0
        assert said.out.startswith("check hca.rate\n  asks      is each compute port at its promised rate")


def test_a_check_says_its_limit_and_what_it_can_end_with(shell: Shell) -> None:
    lines = shell("explain", "hca.rate").out.splitlines()
    assert any(line.startswith("  limit     ") and "promised rate" in line for line in lines)
    assert any(line.startswith("  ends in   cause.hca_down: port <port> of <device> is down") for line in lines)
    assert any("cause.hca_slow: the link of <device>" in line for line in lines)
    (check,) = json.loads(shell("explain", "hca.rate", "--json").out)["checks"]
    assert "50 %" in check["limit"]
    assert {"hca.down": "cause.hca_down", "hca.rate_low": "cause.hca_slow"}.items() <= {
        row["rule"]: row["cause"] for row in check["rules"]
    }.items()
    assert all(row["title"] for row in check["rules"])


@pytest.mark.parametrize(
    ("number", "means", "cause"),
    [("79", "xid.79: the GPU has fallen off the bus", "xid_off_bus"), ("xid.38", "xid.38: the driver", "xid_fatal")],
)
def test_the_number_of_an_xid_is_explained(shell: Shell, number: str, means: str, cause: str) -> None:
    said = shell("explain", number).out
    assert said.startswith(means)
    assert f"\ncause.{cause}: " in said
    document = json.loads(shell("explain", number, "--json").out)
    assert document["xid"]["means"] in said
    assert [row["code"] for row in document["causes"]] == [f"cause.{cause}"]


@pytest.mark.parametrize(
    ("begins", "members"), [("xid", {"xid_off_bus", "xid_fatal"}), ("hca", {"hca_slow", "hca.rate"})]
)
def test_what_names_begin_with_lists_the_family(shell: Shell, begins: str, members: set[str]) -> None:
    said = shell("explain", begins)
    listed = {line.split()[0] for line in said.out.splitlines() if line.startswith("  ")}
    assert said.code == 0 and members <= listed
    assert listed < {cause.code for cause in CAUSES} | {code.removeprefix("check.") for code in CHECK_TEXTS}
    document = json.loads(shell("explain", begins, "--json").out)
    told = [row["code"].removeprefix("cause.") for row in document["causes"]]
    assert {*told, *(row["check"] for row in document["checks"])} == listed


def test_a_rule_that_only_its_first_word_names_is_explained_too(shell: Shell) -> None:
    assert shell("explain", "connect.reset").out.startswith("cause.connection_lost:")


def test_every_rule_of_the_joint_diagnosis_is_explained_by_its_name(shell: Shell) -> None:
    for rule in RULES:
        said = shell("explain", rule.code)
        assert said.code == 0 and said.out.startswith(f"rule {rule.code} of healthcheck diagnose: ")
        assert said.out.count("\n  when ") == said.out.count("\n  whose ") == 1
    said = shell("explain", "fault_tolerance")
    assert "goodput: low; MFU: between or high; verdict of the links: DEGRADED" in said.out
    assert "start only on nodes that pass a gate" in said.out
    document = json.loads(shell("explain", "fault_tolerance", "--json").out)
    assert document["schema"] == "healthcheck.explain/1" and document["causes"] == document["checks"] == []
    assert document["diagnosis"]["rule"] == "fault_tolerance" and len(document["diagnosis"]["when"]) == 4
    assert "did you mean fault_tolerance" in shell("explain", "fault_tolerence").err


def test_without_a_code_all_are_listed(shell: Shell) -> None:
    said = shell("explain")
    assert said.code == 0
    listed = {line.split()[0] for line in said.out.splitlines() if line.startswith("  ")}
    assert listed == {cause.code for cause in CAUSES} | {code.removeprefix("check.") for code in CHECK_TEXTS}


def test_the_json_document_holds_what_is_printed(shell: Shell) -> None:
    document = json.loads(shell("explain", "retry_exceeded", "--json").out)
    assert document["schema"] == "healthcheck.explain/1"
    (cause,) = document["causes"]
    assert cause["code"] == "cause.retry_exceeded"
    assert cause["severity"] == "fatal" and not cause["secondary"]
    assert all(cause[text] for text in ("title", "why", "remedy", "against", "signature", "reference"))
    assert document["checks"] == []


@pytest.mark.parametrize("code", ["hca_slwo", "cause.hca_slwo", "hca.rate_brokn", "", "h", "99999", "\x1b[31m"])
def test_a_code_that_does_not_exist_is_one_sentence_with_the_nearest(shell: Shell, code: str) -> None:
    said = shell("explain", code)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1 and said.err.rstrip("\n").isprintable()
    assert "did you mean hca" in said.err or "explain lists all" in said.err


def test_every_suggested_line_can_be_copied(shell: Shell) -> None:
    for cause in CAUSES:
        lines = shell("explain", cause.code).out.splitlines()
        for line in (line[12:] for line in lines if line.startswith(("  try", "            ssh"))):
            assert shlex.split(line), line
