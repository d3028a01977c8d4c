"""The fabric manager where NVSwitches need one, and nowhere else; the fabric state where GPUs tell it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.causes import cause_of
from healthcheck.model.gpu_facts import Fabric, GpuStates
from healthcheck.model.node import Gpu
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import fabric, gpu_state, gpus, nvlink
from tests.unit.probes.fixtures import answer

A100 = gpus.read(answer("gpus", "healthy"))
LINKS = nvlink.read(answer("nvlink", "healthy"))
STATES = gpu_state.read(answer("gpu_state", "healthy"))
JOINED = gpu_state.read(answer("gpu_state", "healthy_hopper"))


def named(model: str, count: int) -> Reading[tuple[Gpu, ...]]:
    listed = tuple(replace(gpu, name=model) for gpu in (A100.value or ())[:count])
    return Reading(ReadingState.OBSERVED, listed)


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("healthy", Verdict.PASS, "fabric.running"),
        ("healthy_hopper", Verdict.PASS, "fabric.running"),
        ("healthy_container_driver", Verdict.PASS, "fabric.running"),
        ("healthy_vm_without_switches", Verdict.SKIPPED, "fabric.does_not_apply"),
        ("sick_failed", Verdict.FAIL, "fabric.down"),
        ("sick_inactive", Verdict.FAIL, "fabric.down"),
        ("sick_not_installed", Verdict.FAIL, "fabric.not_installed"),
        ("sick_other_version", Verdict.FAIL, "fabric.other_version"),
        ("sick_switch_missing", Verdict.FAIL, "fabric.switch_missing"),
        ("sick_cut", Verdict.INCONCLUSIVE, "unseen.unparsable"),
        ("tool_missing", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_recorded_nodes(fixture: str, verdict: Verdict, rule: str) -> None:
    result = fabric.judge("n", fabric.read(answer("fabric", fixture)), A100, LINKS, STATES)[0]
    assert (result.check, str(result.component), result.verdict, result.rule) == ("fabric.manager", "n", verdict, rule)
    assert str(result.message)
    assert result.evidence or verdict in (Verdict.PASS, Verdict.SKIPPED)


@pytest.mark.parametrize(
    ("model", "count", "rule"),
    [
        ("NVIDIA A100-SXM4-80GB", 4, "fabric.does_not_apply"),
        ("Tesla V100-SXM2-32GB", 8, "fabric.does_not_apply"),
        ("NVIDIA L40S", 8, "fabric.does_not_apply"),
        ("NVIDIA B200", 8, "fabric.not_installed"),
    ],
)
def test_boards_without_visible_switches_need_a_manager_only_where_switches_must_be(
    model: str, count: int, rule: str
) -> None:
    reading = fabric.read(answer("fabric", "healthy_no_switches"))
    assert fabric.judge("n", reading, named(model, count), LINKS, STATES)[0].rule == rule


def test_gpus_that_joined_prove_that_somebody_runs_the_fabric() -> None:
    reading = fabric.read(answer("fabric", "sick_not_installed"))
    result = fabric.judge("n", reading, A100, LINKS, JOINED)[0]
    assert (result.verdict, result.rule) == (Verdict.PASS, "fabric.stands")


def test_a_part_of_a_board_may_have_fewer_switches() -> None:
    text = answer("fabric", "sick_switch_missing")
    half = replace(text, stdout="\n".join(line for line in text.stdout.splitlines() if "gpu 0000:b" not in line))
    assert fabric.judge("n", fabric.read(half), A100, LINKS, STATES)[0].rule == "fabric.running"


def test_the_state_is_normal_to_be_absent_before_hopper() -> None:
    reading = fabric.read(answer("fabric", "healthy"))
    state = fabric.judge("n", reading, A100, LINKS, STATES)[1]
    assert (state.check, state.verdict, state.rule) == ("fabric.state", Verdict.SKIPPED, "fabric.does_not_apply")
    assert fabric.judge("n", reading, A100, LINKS, JOINED)[1].rule == "fabric.joined"


@pytest.mark.parametrize(
    ("state", "status", "rule"),
    [
        ("Not Started", "[N/A]", "fabric.not_joined"),
        ("In Progress", "[N/A]", "fabric.not_joined"),
        ("Completed", "Insufficient Resources", "fabric.not_well"),
    ],
)
def test_a_gpu_outside_the_fabric_is_a_failure(state: str, status: str, rule: str) -> None:
    text = answer("gpu_state", "healthy_hopper")
    lines = text.stdout.splitlines()
    lines[6] = lines[6].replace("Completed, Success", f"{state}, {status}")
    states = gpu_state.read(replace(text, stdout="\n".join(lines)))
    result = fabric.judge("n", fabric.read(answer("fabric", "healthy_hopper")), A100, LINKS, states)[1]
    assert (str(result.component), result.verdict, result.rule) == ("n/gpu:5", Verdict.FAIL, rule)


def test_a_state_that_could_not_be_read_is_said() -> None:
    nothing: Reading[GpuStates] = Reading(ReadingState.UNPARSABLE)
    result = fabric.judge("n", fabric.read(answer("fabric", "healthy")), A100, LINKS, nothing)[1]
    assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "unseen.unparsable")


def with_line(fixture: str, old: str, new: str) -> Reading[Fabric]:
    text = answer("fabric", fixture)
    assert old in text.stdout
    return fabric.read(replace(text, stdout=text.stdout.replace(old, new)))


@pytest.mark.parametrize("process", ["yes", "no"])
def test_a_manager_that_is_just_starting_is_neither_up_nor_down(process: str) -> None:
    reading = with_line("sick_failed", "ActiveState=failed\nprocess no", f"ActiveState=activating\nprocess {process}")
    result = fabric.judge("n", reading, A100, LINKS, STATES)[0]
    assert (result.verdict, result.rule) == (Verdict.INCONCLUSIVE, "fabric.starting")
    assert "activating" in str(result.message)
    assert cause_of(result.rule).code == "fabric_manager_starting"
    assert fabric.judge("n", reading, A100, LINKS, JOINED)[0].rule == "fabric.stands"


@pytest.mark.parametrize("kind", ["virtual", "container"])
@pytest.mark.parametrize("fixture", ["sick_failed", "sick_inactive", "sick_not_installed", "sick_other_version"])
def test_the_host_of_a_guest_runs_the_manager_where_all_links_are_active(kind: str, fixture: str) -> None:
    text = answer("fabric", fixture)
    stdout = text.stdout.replace("process yes", "process no").replace("ActiveState=active", "ActiveState=inactive")
    guest = fabric.read(replace(text, stdout=f"{kind}\n{stdout}"))
    result = fabric.judge("n", guest, A100, LINKS, STATES)[0]
    assert (result.verdict, result.rule) == (Verdict.PASS, "fabric.stands")
    for links in ("sick_inactive", "sick_all_inactive", "sick_fewer"):
        broken = nvlink.read(answer("nvlink", links))
        assert fabric.judge("n", guest, A100, broken, STATES)[0].verdict is Verdict.FAIL


def test_half_of_the_gpus_that_joined_do_not_prove_that_the_fabric_stands() -> None:
    assert JOINED.value is not None
    half = Reading(ReadingState.OBSERVED, replace(JOINED.value, gpus=JOINED.value.gpus[:4]))
    result = fabric.judge("n", fabric.read(answer("fabric", "sick_not_installed")), A100, LINKS, half)[0]
    assert (result.verdict, result.rule) == (Verdict.FAIL, "fabric.not_installed")
