"""A look that saw some of the GPUs is no PASS for the node, whatever the tool ends with."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.causes import cause_of
from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES
from healthcheck.probes.batch import PartOutput
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import after_parts, read_node
from tests.unit.probes.fixtures import DGX_A100, answer

LOST = "Unable to determine the device handle for GPU0000:BD:00.0: GPU is lost.  Reboot the system to recover this GPU"
NEEDS = Needs(DGX_A100, own_token="hc-own")
GPU_LOOKS = ("gpu_state", "gpu_memory", "nvlink", "topology")
LOOKS = (*GPU_LOOKS, "gpus", "fabric", "hcas", "pcie", "iommu")
HOPPER = {"gpu_state": answer("gpu_state", "healthy_hopper"), "fabric": answer("fabric", "healthy_hopper")}


def facts(**outputs: PartOutput) -> NodeFacts:
    return read_node("n", {name: answer(name, "healthy") for name in LOOKS} | outputs)


def judged(look: str, **outputs: PartOutput) -> list[CheckResult]:
    return list(PROBES[look].judge(facts(**outputs), NEEDS))


def without_gpus(look: str, *gone: int) -> PartOutput:
    """The healthy answer as the tool prints it when it skips these GPUs."""
    output = answer(look, "healthy")
    if look == "nvlink":
        blocks = re.split(r"(?m)^(?=GPU |#)", output.stdout)
        kept = [block for block in blocks if not block.startswith(tuple(f"GPU {index}:" for index in gone))]
        return replace(output, stdout="".join(kept))
    if look == "topology":
        rows = [line.split("\t") for line in output.stdout.splitlines()]
        columns = {index + 1 for index in gone}
        kept_rows = [
            [cell for place, cell in enumerate(row) if place not in columns or len(row) < 9]
            for row in rows
            if not any(row[0] == f"GPU{index}" for index in gone)
        ]
        return replace(output, stdout="\n".join("\t".join(row) for row in kept_rows))
    lines = output.stdout.splitlines()
    first = 0 if look == "gpus" else 1
    return replace(output, stdout="\n".join(line for at, line in enumerate(lines) if at - first not in gone))


@pytest.mark.parametrize("look", GPU_LOOKS)
def test_a_gpu_that_the_driver_lost_is_a_failure_in_every_look(look: str) -> None:
    lost = replace(without_gpus(look, 7), rc=15, stderr=LOST)
    results = judged(look, **{look: lost})
    assert not [result for result in results if result.verdict is Verdict.PASS]
    vanished = [result for result in results if result.rule == "gpu.vanished"]
    assert vanished
    for result in vanished:
        assert result.verdict is Verdict.FAIL
        assert LOST in str(result.message)
        assert result.evidence[0].text == LOST
        assert cause_of(result.rule).code == "gpu_lost"


@pytest.mark.parametrize("look", GPU_LOOKS)
@pytest.mark.parametrize("gone", [(7,), (4, 5, 6, 7)])
def test_a_tool_that_skips_gpus_without_a_word_is_not_believed(look: str, gone: tuple[int, ...]) -> None:
    results = judged(look, **{look: without_gpus(look, *gone)})
    assert results
    for result in results:
        assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "gpu.not_told"), result
        assert (result.observed, result.expected) == (8.0 - len(gone), 8.0)


def test_half_of_the_gpus_everywhere_is_no_pass_in_any_look() -> None:
    half = {look: without_gpus(look, 4, 5, 6, 7) for look in (*GPU_LOOKS, "gpus")}
    for look in GPU_LOOKS:
        assert {result.rule for result in judged(look, **half)} == {"gpu.not_told"}
    assert judged("gpus", **half)[0].rule == "gpu.fewer"


def test_the_fabric_state_of_some_gpus_is_not_that_of_the_node() -> None:
    rows = answer("gpu_state", "healthy_hopper").stdout.splitlines()
    half = replace(answer("gpu_state", "healthy_hopper"), stdout="\n".join(rows[:5]))
    manager, state = judged("fabric", **(HOPPER | {"gpu_state": half}))
    assert (manager.verdict, state.verdict, state.rule) == (Verdict.PASS, Verdict.INCONCLUSIVE, "gpu.not_told")


@pytest.mark.parametrize("look", GPU_LOOKS)
def test_an_exit_code_or_a_complaint_that_nobody_understands_is_never_health(look: str) -> None:
    whole = answer(look, "healthy")
    for rc, stderr in ((255, "Segmentation fault"), (139, ""), (1, ""), (0, "NVML: the driver is not well")):
        results = judged(look, **{look: replace(whole, rc=rc, stderr=stderr)})
        assert results
        assert not [result for result in results if result.verdict is Verdict.PASS], (rc, stderr)


def test_the_list_of_gpus_needs_an_exit_code_and_complaints_that_are_understood() -> None:
    whole = answer("gpus", "healthy")
    for rc, stderr in ((255, "Segmentation fault"), (1, ""), (0, "WARNING: nobody knows what")):
        assert judged("gpus", gpus=replace(whole, rc=rc, stderr=stderr))[0].rule == "gpu.unreadable"


def test_a_preloaded_library_that_is_missing_is_no_trouble_of_the_gpus() -> None:
    noise = "ERROR: ld.so: object '/opt/x/libx.so' from LD_PRELOAD cannot be preloaded (cannot open): ignored."
    for look in (*GPU_LOOKS, "gpus"):
        results = judged(look, **{look: replace(answer(look, "healthy"), stderr=noise)})
        assert {result.verdict for result in results} <= {Verdict.PASS, Verdict.SKIPPED}


@pytest.mark.parametrize("look", ["gpus", "gpu_state", "gpu_memory", "nvlink"])
def test_eight_rows_of_one_gpu_are_not_eight_gpus(look: str) -> None:
    output = answer(look, "healthy")
    same = replace(
        output, stdout=re.sub(r"GPU-[0-9a-f-]{36}", "GPU-00000000-1111-2222-3333-444455550000", output.stdout)
    )
    assert not [result for result in judged(look, **{look: same}) if result.verdict is Verdict.PASS]


def test_cards_without_a_bridge_may_be_left_out_by_the_tool_and_gpus_of_a_board_may_not() -> None:
    nothing = replace(answer("nvlink", "healthy"), stdout="#status\n#errors\n#end")
    (board,) = judged("nvlink", nvlink=nothing)
    assert (board.verdict, board.rule) == (Verdict.INCONCLUSIVE, "gpu.not_told")
    cards = replace(
        answer("gpus", "healthy"), stdout=answer("gpus", "healthy").stdout.replace("A100-SXM4-80GB", "L40S")
    )
    found = read_node("n", {"gpus": cards, "nvlink": nothing})
    (card,) = PROBES["nvlink"].judge(found, Needs(None, own_token="hc-own"))
    assert card.rule == "nvlink.does_not_apply"


def test_a_gpu_that_is_gone_after_the_benchmarks_is_named() -> None:
    assert "gpus" in {part.name for part in after_parts()}
    seven = {look: without_gpus(look, 3) for look in (*GPU_LOOKS, "gpus")}
    before, after = facts(), facts(**seven)
    judge_after = PROBES["gpus"].judge_after
    assert judge_after is not None
    (result,) = judge_after(before, after, NEEDS)
    assert (result.check, str(result.component), result.verdict) == ("gpu.stayed", "n/gpu:3", Verdict.FAIL)
    assert "GPU-00000003" in str(result.message)
    assert cause_of(result.rule).code == "gpu_lost"
    assert [found.rule for found in judge_after(before, before, NEEDS)] == ["gpu.all_stayed"]


def test_the_line_of_a_gpu_that_was_lost_meanwhile_is_quoted() -> None:
    judge_after = PROBES["gpus"].judge_after
    assert judge_after is not None
    for listed in (without_gpus("gpus", 7), answer("gpus", "healthy")):
        (result,) = judge_after(facts(), facts(gpus=replace(listed, rc=15, stderr=LOST)), NEEDS)
        assert (result.verdict, result.rule) == (Verdict.FAIL, "gpu.vanished")
        assert LOST in str(result.message)


def test_a_driver_that_does_not_answer_any_more_is_no_pass() -> None:
    judge_after = PROBES["gpus"].judge_after
    assert judge_after is not None
    (result,) = judge_after(facts(), facts(gpus=answer("gpus", "sick_no_driver")), NEEDS)
    assert (result.check, result.verdict) == ("gpu.stayed", Verdict.INCONCLUSIVE)


@pytest.mark.parametrize("look", ["gpu_state", "nvlink"])
def test_counters_of_the_gpus_that_are_left_do_not_speak_for_all(look: str) -> None:
    judge_after = PROBES[look].judge_after
    assert judge_after is not None
    (silent,) = judge_after(facts(), facts(**{look: without_gpus(look, 2)}), NEEDS)
    assert (silent.verdict, silent.rule) == (Verdict.INCONCLUSIVE, "gpu.not_told")
    lost = replace(without_gpus(look, 7), rc=15, stderr=LOST)
    (told,) = judge_after(facts(), facts(**{look: lost}), NEEDS)
    assert (told.verdict, told.rule) == (Verdict.FAIL, "gpu.vanished")
