"""GPU inventory: fewer is FAIL, unreadable is INCONCLUSIVE, and neither is ever PASS."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpus
from tests.unit.probes.fixtures import DGX_A100, answer, said


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("healthy", Verdict.PASS, "gpu.all_there"),
        ("healthy_inforom", Verdict.PASS, "gpu.all_there"),
        ("sick_fewer", Verdict.FAIL, "gpu.fewer"),
        ("sick_lost", Verdict.FAIL, "gpu.lost"),
        ("sick_lost_stdout", Verdict.FAIL, "gpu.lost"),
        ("sick_none", Verdict.FAIL, "gpu.none"),
        ("sick_no_driver", Verdict.INCONCLUSIVE, "gpu.no_driver"),
        ("sick_mismatch", Verdict.INCONCLUSIVE, "gpu.no_driver"),
        ("sick_error_text_exit_0", Verdict.INCONCLUSIVE, "gpu.unreadable"),
        ("sick_field_unknown", Verdict.INCONCLUSIVE, "gpu.unreadable"),
        ("tool_missing", Verdict.INCONCLUSIVE, "gpu.tool_missing"),
        ("tool_missing_bash", Verdict.INCONCLUSIVE, "gpu.tool_missing"),
    ],
)
def test_count_of_recorded_nodes(fixture: str, verdict: Verdict, rule: str) -> None:
    count = gpus.judge("node01", gpus.read(answer("gpus", fixture)), DGX_A100)[0]
    assert (count.check, count.verdict, count.rule) == ("gpu.count", verdict, rule)
    assert str(count.component) == "node01"
    assert count.evidence


def test_seven_of_eight_names_both_numbers() -> None:
    count = gpus.judge("node01", gpus.read(answer("gpus", "sick_fewer")), DGX_A100)[0]
    assert (count.observed, count.expected, str(count.message)) == (7.0, 8.0, "7 of 8 GPUs")


def test_a_lost_gpu_is_quoted_verbatim() -> None:
    count = gpus.judge("node01", gpus.read(answer("gpus", "sick_lost")), DGX_A100)[0]
    assert count.evidence[0].text == "Unable to determine the device handle for GPU0000:3F:00.0: Unknown Error"


def test_a_lost_gpu_is_failure_even_when_the_platform_is_unknown() -> None:
    assert gpus.judge("n", gpus.read(answer("gpus", "sick_lost")), None)[0].verdict is Verdict.FAIL


def test_without_a_platform_a_count_is_not_health() -> None:
    assert gpus.judge("n", gpus.read(answer("gpus", "healthy")), None)[0].verdict is Verdict.INCONCLUSIVE


def test_sixteen_gpus_do_not_pass_as_eight() -> None:
    line = "{0}, GPU-{0:032x}, NVIDIA A100-SXM4-40GB, 00000000:{0:02X}:00.0, 550.90.07"
    reading = gpus.read(said("\n".join(line.format(index) for index in range(16))))
    assert len(reading.value or ()) == 16
    assert gpus.judge("n", reading, DGX_A100)[0].verdict is Verdict.INCONCLUSIVE


def test_another_model_is_not_held_against_this_platform() -> None:
    other = replace(DGX_A100, gpu=replace(DGX_A100.gpu, names=("H100 80GB HBM3",)))
    model = gpus.judge("n", gpus.read(answer("gpus", "healthy")), other)[1]
    assert (model.check, model.verdict) == ("gpu.model", Verdict.INCONCLUSIVE)
    assert "NVIDIA A100-SXM4-80GB" in str(model.message)


def test_an_index_listed_twice_is_not_a_count() -> None:
    text = (answer("gpus", "healthy").stdout + "\n") * 2
    assert gpus.read(said(text)).state is ReadingState.UNPARSABLE


def test_a_driver_that_does_not_tell_its_version_is_none() -> None:
    reading = gpus.read(said("0, GPU-1, NVIDIA A100-SXM4-80GB, 00000000:07:00.0, [N/A]"))
    assert reading.value is not None
    assert reading.value[0].driver is None
