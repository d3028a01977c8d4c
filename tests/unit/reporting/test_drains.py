"""Which drains of a Slurm are ours, and the lines that take only those off."""

from __future__ import annotations

import shlex

from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.drain import NodeState
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.message import Message
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.drains import cause_of, drain_line, resume_lines, undoing
from tests.golden.records import healthy

DRAINED = "IDLE+DRAIN"


def record(*hosts: str) -> RunRecord:
    """A run that suggests to drain these hosts."""
    lost, do = Message("cause.gpu_lost", {"line": "x"}), Message("remedy.gpu_lost", {})
    found = tuple(Finding(node(host), Verdict.FAIL, Confidence.CONFIRMED, lost, do) for host in hosts)
    return replace(healthy(4), findings=found)


def reason_of(line: str) -> str:
    """The reason as a shell hands it to scontrol."""
    return shlex.split(line)[-1].removeprefix("reason=")


def test_what_a_run_drains_it_knows_again() -> None:
    run = record("g1.example.org", "g2", "g3", "g4", "g9")
    ours = reason_of(drain_line(["g1"], run.run_id, cause_of(run.findings[0])))
    nodes = (
        NodeState("g1", DRAINED, ours),
        NodeState("g2", "MIXED+DRAIN", ours),
        NodeState("g3", DRAINED, "fan of ops"),
        NodeState("g4", "IDLE"),
        NodeState("g5", DRAINED, "fan of ops"),
    )
    undo = undoing(run, nodes)
    assert [one.name for one in undo.ours] == ["g1", "g2"]
    assert [one.name for one in undo.other] == ["g3"], "g5 is no business of this run"
    assert [one.name for one in undo.not_drained] == ["g4"]
    assert undo.unknown == ("g9",)
    assert resume_lines(undo) == ("scontrol update nodename='g[1-2]' state=undrain",)


def test_a_reason_of_another_run_or_one_that_only_speaks_of_ours_is_not_ours() -> None:
    run = record("g1", "g2", "g3", "g4")
    mark = f"healthcheck {run.run_id}"
    reasons = (f"{mark}x gpu_lost", f"see {mark} gpu_lost", "healthcheck 20250101T000000Z-aaaa gpu_lost", mark)
    undo = undoing(run, [NodeState(f"g{n}", DRAINED, reason) for n, reason in enumerate(reasons, start=1)])
    assert undo.ours == () and len(undo.other) == 4
    assert resume_lines(undo) == ()


def test_our_reason_on_a_node_that_is_not_drained_any_more_asks_for_nothing() -> None:
    run = record("g1")
    undo = undoing(run, [NodeState("g1", "DOWN", f"healthcheck {run.run_id} gpu_lost")])
    assert (undo.ours, [one.name for one in undo.not_drained]) == ((), ["g1"])


def test_a_node_that_was_drained_for_a_reason_of_the_run_by_hand_is_ours_too() -> None:
    run = record()
    undo = undoing(run, [NodeState("g7", DRAINED, f"healthcheck {run.run_id} ecc")])
    assert resume_lines(undo) == ("scontrol update nodename=g7 state=undrain",)


def test_reasons_have_lines_of_their_own() -> None:
    run = record()
    mark = f"healthcheck {run.run_id}"
    nodes = [NodeState(f"g{n}", DRAINED, f"{mark} {code}") for n, code in ((1, "ecc"), (2, "gpu_lost"), (3, "ecc"))]
    assert resume_lines(undoing(run, nodes)) == (
        "scontrol update nodename='g[1,3]' state=undrain",
        "scontrol update nodename=g2 state=undrain",
    )
