"""A cell that was not read is never part of a PASS, and N/A is an answer only where the model has no such thing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.causes import cause_of
from healthcheck.model.finding import CheckResult
from healthcheck.model.verdict import Verdict
from healthcheck.probes import fabric, gpu_memory, gpu_state, gpus, nvlink
from healthcheck.probes.batch import PartOutput
from tests.unit.probes.fixtures import DGX_A100, answer, said

ALL = range(8)
RULES = {
    "mig.mode.current": ("gpu.mode", "mode.unreadable"),
    "compute_mode": ("gpu.mode", "mode.unreadable"),
    "ecc.mode.current": ("gpu.ecc", "ecc.unreadable"),
    "ecc.mode.pending": ("gpu.ecc", "ecc.unreadable"),
    "ecc.errors.uncorrected.volatile.total": ("gpu.ecc", "ecc.unreadable"),
    "ecc.errors.uncorrected.aggregate.sram": ("gpu.ecc", "ecc.unreadable"),
    "pcie.link.width.current": ("gpu.pcie", "gpu_pcie.unreadable"),
    "pcie.link.width.max": ("gpu.pcie", "gpu_pcie.unreadable"),
    "clocks_event_reasons.active": ("gpu.clocks", "clocks.unreadable"),
    "temperature.gpu": ("gpu.clocks", "clocks.unreadable"),
    "gpu_recovery_action": ("gpu.recovery", "recovery.unreadable"),
}


def changed(fixture: str, cells: dict[str, str], at: range | tuple[int, ...]) -> PartOutput:
    """The answer of a fixture with other cells in the rows of these GPUs."""
    output = answer("gpu_state", fixture)
    head, *rows = output.stdout.splitlines()
    names = [name.partition(" [")[0] for name in head.split(", ")]
    for index in at:
        row = rows[index].split(", ")
        for field, cell in cells.items():
            row[names.index(field)] = cell
        rows[index] = ", ".join(row)
    return replace(output, stdout="\n".join([head, *rows]))


def suspects(output: PartOutput) -> list[tuple[str, str, Verdict, str]]:
    results = gpu_state.judge("n", gpu_state.read(output))
    return [
        (result.check, str(result.component), result.verdict, result.rule)
        for result in results
        if result.verdict not in (Verdict.PASS, Verdict.SKIPPED)
    ]


@pytest.mark.parametrize("field", RULES)
@pytest.mark.parametrize("cell", ["[Unknown Error]", "[Unknown Err]", "[N/A]", "[Not Supported]", "habilitado", ""])
def test_a_cell_of_one_gpu_that_is_not_told_is_not_passed_over(field: str, cell: str) -> None:
    check, rule = RULES[field]
    found = suspects(changed("healthy", {field: cell}, (4,)))
    assert found == [(check, "n/gpu:4", Verdict.INCONCLUSIVE, rule)]
    assert cause_of(rule).code == "gpu_field_error"


@pytest.mark.parametrize("field", RULES)
def test_an_error_of_all_gpus_is_one_result_and_no_feature_that_is_missing(field: str) -> None:
    check, rule = RULES[field]
    assert suspects(changed("healthy", {field: "[Unknown Error]"}, ALL)) == [(check, "n", Verdict.INCONCLUSIVE, rule)]


@pytest.mark.parametrize(
    "field",
    [
        field
        for field in RULES
        if field not in ("gpu_recovery_action", "ecc.errors.uncorrected.aggregate.sram")  # not of every driver
    ],
)
def test_what_a_model_has_cannot_be_missing_on_all_gpus_of_a_node(field: str) -> None:
    check, rule = RULES[field]
    assert suspects(changed("healthy", {field: "[N/A]"}, ALL)) == [(check, "n", Verdict.INCONCLUSIVE, rule)]


def test_what_a_model_lacks_does_not_apply() -> None:
    cards = changed("healthy_geforce", {"ecc.mode.current": "Disabled", "ecc.mode.pending": "Disabled"}, (0, 1))
    rules = {result.check: result.rule for result in gpu_state.judge("n", gpu_state.read(cards))}
    assert (rules["gpu.ecc"], rules["gpu.recovery"]) == ("ecc.does_not_apply", "recovery.does_not_apply")
    assert suspects(cards) == []


def test_ecc_that_is_on_counts_its_errors_on_any_card() -> None:
    cards = changed("healthy_geforce", {"ecc.mode.current": "Enabled", "ecc.mode.pending": "Enabled"}, (0, 1))
    assert suspects(cards) == [("gpu.ecc", "n", Verdict.INCONCLUSIVE, "ecc.unreadable")]


def test_ecc_off_on_one_card_of_several_is_not_a_count_that_is_missing() -> None:
    on = {"ecc.mode.current": "Enabled", "ecc.mode.pending": "Enabled", "ecc.errors.uncorrected.volatile.total": "0"}
    cards = changed("healthy_geforce", on, (0,))
    head, first, second = cards.stdout.splitlines()
    off = {"ecc.mode.current": "Disabled", "ecc.mode.pending": "Disabled"}
    second = changed("healthy_geforce", off, (1,)).stdout.splitlines()[2]
    assert suspects(replace(cards, stdout="\n".join([head, first, second]))) == []


@pytest.mark.parametrize("pending", ["[Unknown Error]", "Pendiente"])
def test_a_pending_mode_that_is_not_understood_is_no_change_of_mode(pending: str) -> None:
    assert suspects(changed("healthy", {"ecc.mode.pending": pending}, (2,))) == [
        ("gpu.ecc", "n/gpu:2", Verdict.INCONCLUSIVE, "ecc.unreadable")
    ]


@pytest.mark.parametrize(
    ("action", "verdict", "rule"),
    [
        ("Unknown", Verdict.INCONCLUSIVE, "recovery.unreadable"),
        ("Aucune", Verdict.INCONCLUSIVE, "recovery.unreadable"),
        ("GPU Reset", Verdict.FAIL, "recovery.asked"),
        ("Node Reboot", Verdict.FAIL, "recovery.asked"),
        ("Drain P2P", Verdict.FAIL, "recovery.asked"),
        ("Drain and Reset", Verdict.FAIL, "recovery.asked"),
    ],
)
def test_only_an_action_that_is_known_is_asked_for(action: str, verdict: Verdict, rule: str) -> None:
    found = suspects(changed("healthy", {"gpu_recovery_action": action}, (1,)))
    assert found == [("gpu.recovery", "n/gpu:1", verdict, rule)]


def test_under_load_a_gpu_that_does_not_tell_its_clocks_is_not_left_out() -> None:
    sick = gpu_state.read(changed("healthy_loaded", {"clocks_event_reasons.active": "[Unknown Error]"}, (6,)))
    results = gpu_state.judge_under_load("n", sick)
    assert ("n/gpu:6", "clocks.unreadable") in [(str(result.component), result.rule) for result in results]
    half = gpu_state.read(answer("gpu_state", "healthy_loaded"))
    assert {result.rule for result in gpu_state.judge_under_load("n", half, 16)} == {"gpu.not_told"}


def test_a_count_that_is_not_told_any_more_is_not_one_that_stayed() -> None:
    before = gpu_state.read(answer("gpu_state", "healthy"))
    after = gpu_state.read(changed("healthy", {"ecc.errors.uncorrected.volatile.total": "[Unknown Error]"}, (5,)))
    (result,) = gpu_state.judge_after("n", before, after)
    assert (str(result.component), result.verdict, result.rule) == ("n/gpu:5", Verdict.INCONCLUSIVE, "ecc.unreadable")


GPUS = gpus.read(answer("gpus", "healthy"))
ROW = "GPU-00000002-1111-2222-3333-444455550002, 0, 0, 0, 0"


def rows(old: str, new: str) -> CheckResult:
    text = answer("gpu_memory", "healthy").stdout
    assert old in text
    state = gpu_state.read(None)
    (result,) = gpu_memory.judge("n", gpu_memory.read(said(text.replace(old, new))), state, GPUS)
    return result


@pytest.mark.parametrize(
    "cells", ["0, 0, maybe, 0", "0, 0, 0, maybe", "0, many, 0, 0", "0, 0, [N/A], 0", "0, 0, , 0", "x, 0, 0, 0"]
)
def test_a_row_that_is_not_understood_is_not_passed_over(cells: str) -> None:
    result = rows(ROW, f"GPU-00000002-1111-2222-3333-444455550002, {cells}")
    assert (str(result.component), result.verdict, result.rule) == (
        "n/gpu:2",
        Verdict.INCONCLUSIVE,
        "rows.unreadable",
    )


def test_a_row_that_says_its_gpu_is_lost_is_a_failure_of_that_gpu() -> None:
    result = rows(ROW, ROW.replace("0, 0, 0, 0", ", ".join(["[GPU is lost]"] * 4)))
    assert (str(result.component), result.verdict, result.rule) == ("n/gpu:2", Verdict.FAIL, "gpu.vanished")


def test_a_model_that_remaps_rows_cannot_have_none_to_tell() -> None:
    result = rows("0, 0, 0, 0", "[N/A], [N/A], [N/A], [N/A]")
    assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "rows.unreadable")
    cards = gpus.read(replace(answer("gpus", "healthy"), stdout=answer("gpus", "healthy").stdout.replace("A100", "T4")))
    none = gpu_memory.read(answer("gpu_memory", "healthy_v100"))
    (lacks,) = gpu_memory.judge("n", none, gpu_state.read(None), cards)
    assert lacks.rule == "rows.does_not_apply"


@pytest.mark.parametrize("cell", ["[Unknown Error]", "[N/A]", "Abgeschlossen"])
def test_a_fabric_state_that_one_gpu_does_not_tell_is_not_passed_over(cell: str) -> None:
    states = gpu_state.read(changed("healthy_hopper", {"fabric.state": cell}, (3,)))
    result = fabric.judge("n", fabric.read(answer("fabric", "healthy_hopper")), GPUS, nvlink.read(None), states)[1]
    assert (str(result.component), result.verdict, result.rule) == (
        "n/gpu:3",
        Verdict.INCONCLUSIVE,
        "fabric.unreadable",
    )


def test_eight_gpus_on_a_hopper_board_have_a_fabric_state_to_tell() -> None:
    silent = gpu_state.read(changed("healthy_hopper", {"fabric.state": "[N/A]", "fabric.status": "[N/A]"}, ALL))
    reading = fabric.read(answer("fabric", "healthy_hopper"))
    result = fabric.judge("n", reading, GPUS, nvlink.read(None), silent)[1]
    assert (str(result.component), result.verdict, result.rule) == ("n", Verdict.INCONCLUSIVE, "fabric.unreadable")


def test_gpus_of_a_board_that_list_no_link_are_not_cards_without_one() -> None:
    heads = "".join(f"GPU {index}: NVIDIA A100-SXM4-80GB (UUID: GPU-{index})\n" for index in ALL)
    silent = nvlink.read(said(f"#status\n{heads}#errors\n{heads}#end"))
    for platform in (DGX_A100, None):
        (result,) = nvlink.judge("n", silent, platform)
        assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "nvlink.unreadable")


def test_a_link_that_is_listed_twice_is_one_link() -> None:
    text = answer("nvlink", "healthy").stdout.replace("Link 11: 25 GB/s", "Link 0: 25 GB/s", 1)
    (result,) = nvlink.judge("n", nvlink.read(said(text)), DGX_A100)
    assert (str(result.component), result.verdict, result.rule) == ("n/gpu:0", Verdict.FAIL, "nvlink.fewer")
    assert (result.observed, result.expected) == (11.0, 12.0)


def test_a_complaint_below_a_gpu_is_heard_though_its_links_are_listed() -> None:
    text = answer("nvlink", "healthy").stdout
    sick = text.replace("GPU 5: ", "NVML: Unable to retrieve NVLink information : Unknown Error\nGPU 5: ", 1)
    (result,) = nvlink.judge("n", nvlink.read(said(sick)), DGX_A100)
    assert (str(result.component), result.verdict, result.rule) == (
        "n/gpu:4",
        Verdict.INCONCLUSIVE,
        "nvlink.unreadable",
    )


def test_a_refusal_is_quoted_in_the_words_of_the_tool() -> None:
    refused = "#status\nNVML: Insufficient Permissions\n#errors\nNVML: Insufficient Permissions\n#end"
    (result,) = nvlink.judge("n", nvlink.read(said(refused, rc=4)), DGX_A100)
    assert result.rule == "unseen.denied"
    assert {entry.text for entry in result.evidence} == {"NVML: Insufficient Permissions"}
    assert "#" not in str(result.message)


def test_error_counters_that_are_not_told_any_more_did_not_stay_clean() -> None:
    before = answer("nvlink", "healthy")
    text = before.stdout
    after = replace(before, stdout=text[: text.index("#errors")] + "#errors\n#end")
    (result,) = nvlink.judge_after("n", nvlink.read(before), nvlink.read(after))
    assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "nvlink.unreadable")
