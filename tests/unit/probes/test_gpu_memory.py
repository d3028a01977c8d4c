"""Worn GPU memory: rows that wait for a reset or ran out of spares, and the pages of older GPUs."""

from __future__ import annotations

import pytest

from healthcheck.model.gpu_facts import GpuStates
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpu_memory, gpu_state, gpus
from tests.unit.probes.fixtures import answer, said

GPUS = gpus.read(answer("gpus", "healthy"))
V100 = gpu_state.read(answer("gpu_state", "healthy_v100"))
NOT_LISTED = gpus.read(None)
STATES = gpu_state.read(answer("gpu_state", "healthy"))


@pytest.mark.parametrize(
    ("fixture", "component", "verdict", "rule"),
    [
        ("healthy", "n", Verdict.PASS, "rows.well"),
        ("healthy_words", "n", Verdict.PASS, "rows.well"),
        ("healthy_few", "n", Verdict.PASS, "rows.well"),
        ("healthy_v100", "n", Verdict.PASS, "rows.well"),
        ("sick_pending", "n/gpu:3", Verdict.FAIL, "rows.pending"),
        ("sick_pending_words", "n/gpu:3", Verdict.FAIL, "rows.pending"),
        ("sick_failure", "n/gpu:6", Verdict.FAIL, "rows.failure"),
        ("sick_many", "n/gpu:0", Verdict.FAIL, "rows.many"),
        ("sick_unknown_error", "n/gpu:0", Verdict.INCONCLUSIVE, "rows.unreadable"),
        ("sick_error_text_exit_0", "n", Verdict.INCONCLUSIVE, "unseen.unparsable"),
        ("sick_no_driver", "n", Verdict.INCONCLUSIVE, "unseen.unparsable"),
        ("sick_old_tool", "n", Verdict.SKIPPED, "unseen.tool_missing"),
        ("tool_missing", "n", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_recorded_nodes(fixture: str, component: str, verdict: Verdict, rule: str) -> None:
    states, listed = (V100, NOT_LISTED) if "v100" in fixture else (STATES, GPUS)
    (result,) = gpu_memory.judge("n", gpu_memory.read(answer("gpu_memory", fixture)), states, listed)
    assert (result.check, str(result.component), result.verdict, result.rule) == ("gpu.rows", component, verdict, rule)
    assert str(result.message)


def test_gpus_are_named_by_the_index_of_their_uuid() -> None:
    sick = answer("gpu_memory", "sick_pending").stdout.splitlines()
    (result,) = gpu_memory.judge("n", gpu_memory.read(said("\n".join([sick[0], sick[4]]))), STATES, GPUS)
    assert str(result.component) == "n/gpu:3"


def test_without_indexes_the_order_of_the_tool_counts() -> None:
    unknown: Reading[GpuStates] = Reading(ReadingState.UNPARSABLE)
    (result,) = gpu_memory.judge("n", gpu_memory.read(answer("gpu_memory", "sick_failure")), unknown, NOT_LISTED)
    assert str(result.component) == "n/gpu:6"


def test_retired_pages_speak_for_gpus_that_remap_no_rows() -> None:
    rows = gpu_memory.read(answer("gpu_memory", "healthy_v100"))
    results = gpu_memory.judge("n", rows, gpu_state.read(answer("gpu_state", "sick_v100_pages")), NOT_LISTED)
    assert [(str(result.component), result.verdict, result.rule) for result in results] == [
        ("n/gpu:1", Verdict.FAIL, "rows.retired"),
        ("n/gpu:2", Verdict.DEGRADED, "rows.page_pending"),
    ]
    healthy = gpu_memory.judge("n", rows, V100, NOT_LISTED)
    assert [result.rule for result in healthy] == ["rows.well"]


@pytest.mark.parametrize(
    "text",
    ["gpu_uuid, remapped_rows.pending\nGPU-1, 0", "gpu_uuid\nGPU-1", "gpu_uuid, x\n0, 0, 0, 0"],
)
def test_another_table_is_unparsable(text: str) -> None:
    assert gpu_memory.read(said(text)).state is ReadingState.UNPARSABLE
