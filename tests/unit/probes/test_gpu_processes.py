"""A node on which somebody computes, or on which that cannot be seen, is never loaded."""

from __future__ import annotations

import pytest

from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpu_processes, gpus
from healthcheck.probes.batch import PartOutput
from healthcheck.probes.busy import busy_parts, judge_busy
from tests.unit.probes.fixtures import answer, said

GPUS = gpus.read(answer("gpus", "healthy"))
OWN = "hc-20261129T000000-own1"


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("healthy", Verdict.PASS, "busy.idle"),
        ("healthy_words", Verdict.PASS, "busy.idle"),
        ("sick_foreign", Verdict.SKIPPED, "busy.foreign"),
        ("sick_leftover", Verdict.SKIPPED, "busy.leftover"),
        ("sick_error_text_exit_0", Verdict.INCONCLUSIVE, "busy.unreadable"),
        ("sick_denied", Verdict.INCONCLUSIVE, "busy.unreadable"),
        ("tool_missing", Verdict.INCONCLUSIVE, "busy.tool_missing"),
    ],
)
def test_recorded_nodes(fixture: str, verdict: Verdict, rule: str) -> None:
    result = gpu_processes.judge("node08", gpu_processes.read(answer("gpu_processes", fixture), GPUS), OWN)
    assert (result.check, result.verdict, result.rule) == ("node.busy", verdict, rule)


def test_who_and_what_are_named_and_a_process_on_two_gpus_counts_once() -> None:
    result = gpu_processes.judge("node08", gpu_processes.read(answer("gpu_processes", "sick_foreign"), GPUS), OWN)
    assert result.observed == 2.0
    assert "python3 (pid 48213, user mlteam)" in str(result.message)


def test_a_leftover_of_another_run_is_named_by_its_token() -> None:
    result = gpu_processes.judge("node08", gpu_processes.read(answer("gpu_processes", "sick_leftover"), GPUS), OWN)
    assert "hc-20260101T000000-abcd" in str(result.message)


def test_our_own_processes_do_not_make_a_node_busy() -> None:
    text = f"77, GPU-a, all_reduce_perf\ntoken 77 {OWN}\nend"
    assert gpu_processes.judge("n", gpu_processes.read(said(text), GPUS), OWN).verdict is Verdict.PASS


def test_own_and_foreign_together_are_foreign() -> None:
    text = f"77, GPU-a, all_reduce_perf\n78, GPU-a, python\ntoken 77 {OWN}\nend"
    result = gpu_processes.judge("n", gpu_processes.read(said(text), GPUS), OWN)
    assert (result.verdict, result.observed) == (Verdict.SKIPPED, 1.0)


def test_allow_busy_measures_anyway_and_says_so() -> None:
    reading = gpu_processes.read(answer("gpu_processes", "sick_foreign"), GPUS)
    result = gpu_processes.judge("n", reading, OWN, allow_busy=True)
    assert (result.verdict, result.rule) == (Verdict.PASS, "busy.allowed")
    assert "mlteam" in str(result.message)


def test_allow_busy_does_not_help_where_nothing_can_be_seen() -> None:
    reading = gpu_processes.read(answer("gpu_processes", "sick_denied"), GPUS)
    assert gpu_processes.judge("n", reading, OWN, allow_busy=True).verdict is Verdict.INCONCLUSIVE


def test_the_second_look_keeps_a_job_away_from_a_busy_node() -> None:
    idle = {part.name: answer(part.name, "healthy") for part in busy_parts()}
    assert judge_busy("n", idle, OWN) == ()
    for look, sick in (("gpu_processes", "sick_foreign"), ("leftovers", "sick_other_run")):
        (found,) = judge_busy("n", idle | {look: answer(look, sick)}, OWN)
        assert found.verdict is Verdict.SKIPPED
    assert {found.verdict for found in judge_busy("n", {}, OWN)} == {Verdict.INCONCLUSIVE}


@pytest.mark.parametrize(
    "output",
    [
        said(""),
        said("\n\n\n"),
        said("\n\n\nend"),
        said("end", rc=139, stderr="Segmentation fault"),
        said("end", stderr="NVML: nobody knows what"),
        said("end", rc=15, stderr="Unable to determine the device handle for GPU0000:BD:00.0: GPU is lost"),
        said("No running processes found on GPU 3: Unknown Error\nend"),
        said("user 12 bob\nend"),
        said("77, GPU-a, python\nuser 12 bob\nend"),
        said("77, GPU-a, python"),
        said("No running processes found"),
    ],
)
def test_silence_and_words_nobody_knows_are_not_an_idle_node(output: PartOutput) -> None:
    reading = gpu_processes.read(output, GPUS)
    for allow_busy in (False, True):
        result = gpu_processes.judge("n", reading, OWN, allow_busy=allow_busy)
        assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "busy.unreadable")


@pytest.mark.parametrize("sick", ["sick_no_driver", "sick_mismatch", "sick_error_text_exit_0", "tool_missing"])
def test_nobody_listed_counts_only_where_the_driver_lists_its_gpus(sick: str) -> None:
    listed = gpus.read(answer("gpus", sick))
    result = gpu_processes.judge("n", gpu_processes.read(said("end"), listed), OWN)
    assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "busy.unreadable")
    assert result.evidence == listed.evidence


def test_a_driver_that_stopped_answering_keeps_a_job_away_in_the_second_look() -> None:
    idle = {part.name: answer(part.name, "healthy") for part in busy_parts()}
    for silent in (said("", rc=139), said(""), answer("gpus", "sick_no_driver")):
        (found,) = judge_busy("n", idle | {"gpus": silent}, OWN)
        assert (found.check, found.verdict) == ("node.busy", Verdict.INCONCLUSIVE)
