"""Whatever a node sends, nothing raises and nothing unreadable is called healthy."""

from __future__ import annotations

import random
import time

import pytest

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES
from healthcheck.probes.batch import PartOutput, PartState, frame, split
from healthcheck.probes.judge import judge_node
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from healthcheck.probes.unseen import UNSEEN
from tests.unit.probes.fixtures import DGX_A100, FOLDER, answer, said, unreachable

NEEDS = Needs(DGX_A100, own_token="hc-own")
LOOKS = (*PROBES, "identity")
GARBAGE = {
    "empty": "",
    "html": "<html><body>502 Bad Gateway</body></html>\n" * 50,
    "localised": "Kommando nicht gefunden\nBefehl nicht gefunden\n",
    "control": "\x1b[31m\x00\x07\x7f" * 100,
    "commas": ",,,,\n" * 1000,
    "huge numbers": f"{'9' * 5000}, GPU-{'9' * 5000}, x, y, z\nmlx5_0 1 rate {'9' * 5000} Gb/sec\n{'9' * 5000}, a, b\n",
    "unicode digits": "٣, GPU-x, NVIDIA A100-SXM4-80GB, 0, 1\nmlx5_0 ² state 4: ACTIVE\n",
    "amd": "GPU[0] : Card series: AMD INSTINCT MI250\nERROR: no nvidia driver\n",
    "one long line": "A" * 1_000_000,
}


def knows_nothing(result: CheckResult) -> bool:
    """INCONCLUSIVE where the look was needed, else said to be unseen."""
    return result.verdict is Verdict.INCONCLUSIVE or (result.verdict is Verdict.SKIPPED and result.rule in UNSEEN)


RECORDED_AT = 1_712_345_678.25
"""By the clock of the recorded node."""


def facts_of(outputs: dict[str, PartOutput]) -> NodeFacts:
    return read_node("node01", outputs, asked_at=(RECORDED_AT - 0.1, RECORDED_AT + 0.1))


@pytest.mark.parametrize("name", GARBAGE)
@pytest.mark.parametrize("rc", [0, 1, 139])
def test_garbage_is_never_health(name: str, rc: int) -> None:
    facts = facts_of({probe: said(GARBAGE[name], rc=rc) for probe in LOOKS})
    results = judge_node(facts, NEEDS)
    # No process of an earlier run, with exit code 0, is what an idle node says; everything else needs words.
    idle = [(result.check, result.rule) for result in results if result.verdict is Verdict.PASS]
    assert idle == ([("node.leftovers", "busy.idle")] if (name, rc) == ("empty", 0) else [])
    assert set(PROBES) <= {_probe_of(result.check) for result in results}
    for result in results:
        assert str(result.message)
        assert all(len(entry.text) <= 300 for entry in result.evidence)


def _probe_of(check: str) -> str:
    return next(name for name, probe in PROBES.items() if check in probe.checks)


@pytest.mark.parametrize("state", [PartState.TIMED_OUT, PartState.CUT, PartState.TRUNCATED])
def test_an_answer_that_is_not_whole_is_never_health(state: PartState) -> None:
    outputs = {}
    for probe in LOOKS:
        whole = answer(probe, "healthy")
        outputs[probe] = PartOutput(probe, whole.rc, whole.stdout, whole.stderr, state)
    assert all(knows_nothing(result) for result in judge_node(facts_of(outputs), NEEDS))


def test_a_node_that_sent_nothing_and_one_that_was_not_reached_are_unmeasured() -> None:
    for facts in (facts_of({}), unreachable("node01", "no answer on port 22")):
        results = judge_node(facts, NEEDS)
        assert all(knows_nothing(result) for result in results)
        assert all(result.evidence for result in results)


def test_ten_megabytes_of_noise_take_no_time() -> None:
    noise = "".join(random.Random(7).choices("abc,\n @0123456789", k=100_000)) * 100
    started = time.process_time()
    parts = split(noise + frame("n", "gpus", 0, noise, ""), "n")
    facts = facts_of(parts)
    judge_node(facts, NEEDS)
    assert facts.gpus.value is None
    assert time.process_time() - started < 10


def test_healthy_answers_through_the_frames_pass_everything() -> None:
    text = "".join(
        frame("n", probe, out.rc or 0, out.stdout, out.stderr) for probe in LOOKS for out in [answer(probe, "healthy")]
    )
    results = judge_node(facts_of(split(f"banner\n{text}bye\n", "n")), NEEDS)
    assert all(result.verdict is Verdict.PASS or result.rule.endswith(".does_not_apply") for result in results)
    without_result = {check for probe in PROBES.values() for check in probe.checks} - {found.check for found in results}
    compared_afterwards = {check for probe in PROBES.values() if probe.judge_after for check in probe.checks}
    assert without_result <= compared_afterwards


def test_every_prefix_of_the_answers_is_read_without_a_wrong_pass() -> None:
    for probe in PROBES:
        whole = answer(probe, "healthy").stdout
        for length in range(0, len(whole), max(7, len(whole) // 150)):
            outputs = {name: answer(name, "healthy") for name in LOOKS}
            outputs[probe] = said(whole[:length], state=PartState.TRUNCATED)
            results = judge_node(facts_of(outputs), NEEDS)
            assert any(knows_nothing(result) and _probe_of(result.check) == probe for result in results)


def test_what_is_not_needed_is_not_judged() -> None:
    needs = Needs(DGX_A100, own_token="hc-own", binary=False, mpi=False)
    checks = {result.check for result in judge_node(facts_of({}), needs)}
    assert not checks & {"nccl_tests.binary", "mpi.launcher"}


def test_every_look_has_recorded_answers() -> None:
    for probe in LOOKS:
        names = {path.stem for path in (FOLDER / probe).glob("*.txt")}
        assert {"healthy", "tool_missing"} <= names
        assert any(name.startswith("sick") for name in names)
