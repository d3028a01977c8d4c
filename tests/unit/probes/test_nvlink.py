"""NVLinks: counted against the model and the other GPUs of the node, and their errors before against after."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.platform import GpuSpec
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import nvlink
from tests.unit.probes.fixtures import DGX_A100, answer, said

ONE_GPU = replace(DGX_A100, gpu=GpuSpec(names=("A100-SXM4",), count=1))


@pytest.mark.parametrize(
    ("fixture", "component", "verdict", "rule"),
    [
        ("healthy", "n", Verdict.PASS, "nvlink.all_active"),
        ("healthy_hopper", "n", Verdict.PASS, "nvlink.all_active"),
        ("healthy_blackwell", "n", Verdict.PASS, "nvlink.all_active"),
        ("healthy_dgx1v", "n", Verdict.PASS, "nvlink.all_active"),
        ("healthy_bridged_pair", "n", Verdict.PASS, "nvlink.all_active"),
        ("healthy_pcie_cards", "n", Verdict.SKIPPED, "nvlink.does_not_apply"),
        ("healthy_pcie_unbridged", "n", Verdict.SKIPPED, "nvlink.does_not_apply"),
        ("sick_inactive", "n/gpu:3", Verdict.FAIL, "nvlink.inactive"),
        ("sick_all_inactive_one", "n/gpu:7", Verdict.FAIL, "nvlink.all_inactive"),
        ("sick_all_inactive", "n", Verdict.FAIL, "nvlink.all_inactive"),
        ("sick_all_listed_inactive", "n", Verdict.FAIL, "nvlink.all_inactive"),
        ("sick_fewer", "n/gpu:2", Verdict.FAIL, "nvlink.fewer"),
        ("sick_slow", "n/gpu:2", Verdict.DEGRADED, "nvlink.slow"),
        ("sick_bridge", "n/gpu:1", Verdict.DEGRADED, "nvlink.inactive"),
        ("sick_one_unreadable", "n/gpu:5", Verdict.INCONCLUSIVE, "nvlink.unreadable"),
        ("sick_error_text_exit_0", "n", Verdict.INCONCLUSIVE, "unseen.unparsable"),
        ("sick_no_driver", "n", Verdict.INCONCLUSIVE, "unseen.unparsable"),
        ("tool_missing", "n", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
@pytest.mark.parametrize("platform", [DGX_A100, None], ids=["platform", "no-platform"])
def test_recorded_nodes(fixture: str, component: str, verdict: Verdict, rule: str, platform: object) -> None:
    known = DGX_A100 if platform is not None else None
    (result,) = nvlink.judge("n", nvlink.read(answer("nvlink", fixture)), known)
    assert (result.check, str(result.component), result.verdict, result.rule) == (
        "nvlink.links",
        component,
        verdict,
        rule,
    )
    assert str(result.message)


def test_inactive_links_are_named() -> None:
    (result,) = nvlink.judge("n", nvlink.read(answer("nvlink", "sick_inactive")), DGX_A100)
    assert str(result.message) == "2 of 12 NVLinks inactive: 3, 5"
    assert result.evidence[0].text == "Link 3: <inactive>"
    assert (result.observed, result.expected) == (10.0, 12.0)


def test_links_that_no_gpu_lists_are_missed_where_the_model_is_known() -> None:
    text = answer("nvlink", "healthy").stdout
    short = "\n".join(line for line in text.splitlines() if "Link 11:" not in line)
    (known,) = nvlink.judge("n", nvlink.read(said(short)), DGX_A100)
    assert (known.verdict, known.rule, known.observed) == (Verdict.FAIL, "nvlink.fewer", 11.0)
    (unknown,) = nvlink.judge("n", nvlink.read(said(short)), None)
    assert unknown.verdict is Verdict.PASS


def test_a_gpu_that_lists_nothing_beside_others_is_a_fault_on_a_board() -> None:
    head = "GPU {0}: NVIDIA A100-SXM4-80GB (UUID: GPU-{0})\n"
    links = "".join(f"\t Link {number}: 25 GB/s\n" for number in range(12))
    text = f"#status\n{head.format(0)}{links}{head.format(1)}#errors\n#end"
    (result,) = nvlink.judge("n", nvlink.read(said(text)), DGX_A100)
    assert (str(result.component), result.verdict, result.rule) == ("n/gpu:1", Verdict.FAIL, "nvlink.fewer")


def test_one_gpu_alone_needs_no_links() -> None:
    text = "#status\nGPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n#errors\n#end"
    (result,) = nvlink.judge("n", nvlink.read(said(text)), ONE_GPU)
    assert result.rule == "nvlink.does_not_apply"


def test_every_kind_of_error_that_grew_is_named_with_its_link() -> None:
    before, after = (nvlink.read(answer("nvlink", name)) for name in ("healthy", "sick_errors_grew"))
    results = nvlink.judge_after("n", before, after)
    assert [(str(result.component), result.verdict, result.rule) for result in results] == [
        ("n/gpu:2", Verdict.DEGRADED, "nvlink.recovery"),
        ("n/gpu:5", Verdict.DEGRADED, "nvlink.crc"),
    ]
    assert results[1].evidence[0].text == "Link 0: CRC Errors: 17 (was 0)"


def test_errors_from_before_the_run_are_no_fault_of_it() -> None:
    old = nvlink.read(answer("nvlink", "sick_errors_grew"))
    reset = nvlink.read(answer("nvlink", "healthy"))
    for before, after in ((old, old), (old, reset), (reset, reset)):
        (result,) = nvlink.judge_after("n", before, after)
        assert (result.verdict, result.rule) == (Verdict.PASS, "nvlink.clean")


def test_packets_and_corrections_grow_on_healthy_links() -> None:
    before = nvlink.read(answer("nvlink", "healthy_blackwell"))
    grown = answer("nvlink", "healthy_blackwell").stdout.replace("Tx packets: 948571", "Tx packets: 99948571")
    (quiet,) = nvlink.judge_after("n", before, nvlink.read(said(grown)))
    assert quiet.verdict is Verdict.PASS
    failed = grown.replace("Link 3: Link recovery failed events: 0", "Link 3: Link recovery failed events: 2", 1)
    (result,) = nvlink.judge_after("n", before, nvlink.read(said(failed)))
    assert (result.verdict, result.rule) == (Verdict.DEGRADED, "nvlink.recovery")


def test_a_link_that_went_down_during_the_run_is_a_failure() -> None:
    before, after = (nvlink.read(answer("nvlink", name)) for name in ("healthy", "sick_inactive"))
    (result,) = nvlink.judge_after("n", before, after)
    assert (str(result.component), result.verdict, result.rule) == ("n/gpu:3", Verdict.FAIL, "nvlink.dropped")


def test_a_counter_that_was_not_read_before_says_nothing() -> None:
    text = answer("nvlink", "sick_errors_grew").stdout
    uncounted = nvlink.read(said(text[: text.index("#errors")] + "#errors\n#end"))
    (result,) = nvlink.judge_after("n", uncounted, nvlink.read(said(text)))
    assert result.rule == "unseen.tool_missing"


def test_a_look_that_failed_afterwards_is_said() -> None:
    (result,) = nvlink.judge_after("n", nvlink.read(answer("nvlink", "healthy")), nvlink.read(None))
    assert (result.verdict, result.rule) == (Verdict.SKIPPED, "unseen.unparsable")


@pytest.mark.parametrize(
    "text",
    ["", "#status\n", "#status\n#errors\n", "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n\t Link 0: 25 GB/s"],
)
def test_an_answer_without_its_frame_is_unparsable(text: str) -> None:
    assert nvlink.read(said(text)).state is ReadingState.UNPARSABLE


def test_the_same_gpu_twice_is_unparsable() -> None:
    head = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n"
    assert nvlink.read(said(f"#status\n{head}{head}#errors\n#end")).state is ReadingState.UNPARSABLE
