"""The state of GPUs: what keeps a job away, what slows it, and what only looks like a fault."""

from __future__ import annotations

import pytest

from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_facts import GpuStates
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpu_state
from tests.unit.probes.fixtures import answer, said


def judged(fixture: str) -> tuple[CheckResult, ...]:
    return gpu_state.judge("n", gpu_state.read(answer("gpu_state", fixture)))


def not_well(results: tuple[CheckResult, ...]) -> list[tuple[str, str, Verdict, str]]:
    return [
        (result.check, str(result.component), result.verdict, result.rule)
        for result in results
        if result.verdict not in (Verdict.PASS, Verdict.SKIPPED)
    ]


@pytest.mark.parametrize(
    ("fixture", "check", "component", "verdict", "rule"),
    [
        ("sick_mig", "gpu.mode", "n", Verdict.FAIL, "mode.mig"),
        ("sick_prohibited", "gpu.mode", "n/gpu:2", Verdict.FAIL, "mode.prohibited"),
        ("sick_exclusive", "gpu.mode", "n", Verdict.DEGRADED, "mode.exclusive"),
        ("sick_ecc", "gpu.ecc", "n/gpu:5", Verdict.FAIL, "ecc.uncorrected"),
        ("sick_sram", "gpu.ecc", "n/gpu:1", Verdict.FAIL, "ecc.sram"),
        ("sick_ecc_off", "gpu.ecc", "n/gpu:3", Verdict.DEGRADED, "ecc.off"),
        ("sick_ecc_pending", "gpu.ecc", "n/gpu:3", Verdict.DEGRADED, "ecc.pending"),
        ("sick_narrow", "gpu.pcie", "n/gpu:4", Verdict.FAIL, "gpu_pcie.narrow"),
        ("sick_slow_slot", "gpu.pcie", "n/gpu:6", Verdict.DEGRADED, "gpu_pcie.slow_slot"),
        ("sick_power_brake", "gpu.clocks", "n/gpu:0", Verdict.DEGRADED, "clocks.power_brake"),
        ("sick_hw_thermal", "gpu.clocks", "n/gpu:7", Verdict.DEGRADED, "clocks.hw_thermal"),
        ("sick_sw_thermal", "gpu.clocks", "n/gpu:7", Verdict.DEGRADED, "clocks.sw_thermal"),
        ("sick_hot", "gpu.clocks", "n/gpu:7", Verdict.DEGRADED, "clocks.hot"),
        ("sick_recovery", "gpu.recovery", "n/gpu:3", Verdict.FAIL, "recovery.asked"),
    ],
)
def test_one_fault_is_one_result(fixture: str, check: str, component: str, verdict: Verdict, rule: str) -> None:
    results = judged(fixture)
    assert not_well(results) == [(check, component, verdict, rule)]
    assert all(result.evidence and str(result.message) for result in results if result.rule == rule)


@pytest.mark.parametrize(
    "fixture",
    [
        "healthy",
        "healthy_driver_525",
        "healthy_hopper",
        "healthy_no_persistence",
        "healthy_pcie_cards",
        "healthy_geforce",
        "healthy_v100",
        "healthy_loaded",
    ],
)
def test_healthy_machines_of_every_kind_raise_nothing(fixture: str) -> None:
    results = judged(fixture)
    assert not not_well(results)
    assert [result.check for result in results] == ["gpu.mode", "gpu.ecc", "gpu.pcie", "gpu.clocks", "gpu.recovery"]


def test_what_a_driver_or_a_card_does_not_tell_does_not_apply() -> None:
    rules = {result.rule for fixture in ("healthy_driver_525", "healthy_geforce") for result in judged(fixture)}
    assert {"recovery.does_not_apply", "ecc.does_not_apply"} <= rules


def test_persistence_off_is_a_remark_and_no_fault() -> None:
    mode = judged("healthy_no_persistence")[0]
    assert (mode.verdict, mode.rule) == (Verdict.PASS, "mode.no_persistence")


def test_evidence_is_what_the_query_for_just_these_fields_prints() -> None:
    narrow = next(result for result in judged("sick_narrow") if result.rule == "gpu_pcie.narrow")
    entry = narrow.evidence[0]
    assert entry.source == "nvidia-smi --query-gpu=index,pcie.link.width.current,pcie.link.width.max"
    assert entry.text == "4, 8, 16"
    assert (narrow.observed, narrow.expected, narrow.unit) == (8.0, 16.0, "lanes")


def test_a_field_that_is_answered_with_an_error_is_not_health() -> None:
    assert not_well(judged("sick_unknown_error")) == [
        ("gpu.ecc", "n/gpu:2", Verdict.INCONCLUSIVE, "ecc.unreadable"),
        ("gpu.clocks", "n/gpu:2", Verdict.INCONCLUSIVE, "clocks.unreadable"),
    ]


def test_a_row_that_says_its_gpu_is_lost_is_a_failure_of_that_gpu() -> None:
    found = not_well(judged("sick_gpu_lost"))
    assert [check for check, *_ in found] == list(gpu_state.CHECKS)
    assert {entry[1:] for entry in found} == {("n/gpu:3", Verdict.FAIL, "gpu.vanished")}


@pytest.mark.parametrize(
    ("fixture", "state"),
    [
        ("tool_missing", ReadingState.TOOL_MISSING),
        ("sick_no_driver", ReadingState.UNPARSABLE),
        ("sick_unknown_fields", ReadingState.UNPARSABLE),
        ("sick_error_text_exit_0", ReadingState.UNPARSABLE),
    ],
)
def test_no_table_is_a_look_that_saw_nothing(fixture: str, state: ReadingState) -> None:
    reading = gpu_state.read(answer("gpu_state", fixture))
    assert reading.state is state
    (result,) = gpu_state.judge("n", reading)
    assert result.rule == f"unseen.{state.value}"
    assert "ECC" in str(result.message)


def test_a_machine_without_gpus_has_no_state() -> None:
    assert {result.verdict for result in judged("sick_none")} == {Verdict.SKIPPED}


def test_the_line_of_a_lost_gpu_is_kept_beside_the_others() -> None:
    reading = gpu_state.read(answer("gpu_state", "sick_handle"))
    assert reading.value is not None
    assert len(reading.value.gpus) == 7
    assert "Unable to determine the device handle" in reading.evidence[0].text


def test_columns_are_found_by_name_in_any_order() -> None:
    text = (
        "index, temperature.gpu, new_field [unit], pcie.link.width.max, clocks.sm [MHz], uuid, "
        "pcie.link.width.current\n"
        "0, 31, [N/A], 16, 1410 MHz, GPU-1, 4\n"
    )
    states = gpu_state.read(said(text)).value
    assert states is not None
    state = states.gpus[0]
    assert (state.temperature_c, state.pcie_width, state.pcie_width_max, state.sm_mhz) == (31, 4, 16, 1410)
    assert (state.mig, state.ecc_uncorrected, state.throttle) == (None, None, None)


@pytest.mark.parametrize(
    "text",
    [
        "index, uuid\n0, GPU-1\n0, GPU-2",
        "index, uuid\nx, GPU-1",
        "index, uuid, name, a, b\n0, GPU-1, name, 1, 2\n1, GPU-2, name, 1",
        "index, uuid\n",
        "0, GPU-1, NVIDIA A100-SXM4-80GB",
        "index" + ", x" * 5000,
    ],
)
def test_a_table_that_makes_no_sense_is_unparsable(text: str) -> None:
    assert gpu_state.read(said(text)).state is ReadingState.UNPARSABLE


def test_sixteen_gpus_are_sixteen_states() -> None:
    lines = "\n".join(f"{index}, GPU-{index}, 16, 16" for index in range(16))
    states = gpu_state.read(said(f"index, uuid, pcie.link.width.current, pcie.link.width.max\n{lines}")).value
    assert states is not None
    assert len(states.gpus) == 16


def test_under_load_only_gpus_at_work_are_judged() -> None:
    reading = gpu_state.read(answer("gpu_state", "sick_loaded"))
    assert not_well(gpu_state.judge_under_load("n", reading)) == [
        ("gpu.loaded_clocks", "n/gpu:1", Verdict.DEGRADED, "clocks.hw_thermal"),
        ("gpu.loaded_clocks", "n/gpu:2", Verdict.DEGRADED, "clocks.low"),
        ("gpu.loaded_pcie", "n/gpu:3", Verdict.DEGRADED, "gpu_pcie.slow"),
    ]


def test_the_power_cap_under_full_load_is_normal() -> None:
    results = gpu_state.judge_under_load("n", gpu_state.read(answer("gpu_state", "healthy_loaded")))
    assert {result.verdict for result in results} == {Verdict.PASS}


def test_idle_gpus_prove_nothing_under_load() -> None:
    results = gpu_state.judge_under_load("n", gpu_state.read(answer("gpu_state", "healthy")))
    assert {result.verdict for result in results} == {Verdict.SKIPPED}


def test_memory_errors_during_the_run_are_found_and_old_ones_are_not() -> None:
    healthy, sick = (gpu_state.read(answer("gpu_state", name)) for name in ("healthy", "sick_ecc"))
    (grew,) = gpu_state.judge_after("n", healthy, sick)
    assert (str(grew.component), grew.verdict, grew.rule, grew.observed) == ("n/gpu:5", Verdict.FAIL, "ecc.grew", 2.0)
    assert [result.rule for result in gpu_state.judge_after("n", sick, sick)] == ["ecc.none_new"]
    assert [result.rule for result in gpu_state.judge_after("n", sick, healthy)] == ["ecc.none_new"]


def test_many_corrected_errors_during_the_run_are_a_warning() -> None:
    def look(corrected: int) -> Reading[GpuStates]:
        head = "index, uuid, ecc.errors.uncorrected.volatile.total, ecc.errors.corrected.volatile.total"
        return gpu_state.read(said(f"{head}\n0, GPU-1, 0, {corrected}"))

    assert gpu_state.judge_after("n", look(5), look(104))[0].rule == "ecc.none_new"
    assert gpu_state.judge_after("n", look(5), look(105))[0].rule == "ecc.corrected_grew"


def test_a_look_that_failed_afterwards_is_said() -> None:
    healthy, hung = gpu_state.read(answer("gpu_state", "healthy")), gpu_state.read(None)
    (result,) = gpu_state.judge_after("n", healthy, hung)
    assert (result.check, result.verdict, result.rule) == ("gpu.ecc_errors", Verdict.SKIPPED, "unseen.unparsable")
