"""GPUDirect RDMA: either of two ways is enough, and a machine that needs neither is left alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.platform import Platform
from healthcheck.model.reading import ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import gpudirect
from tests.unit.probes.fixtures import DGX_A100, answer, said, unreachable

SINGLE = replace(DGX_A100, nics=replace(DGX_A100.nics, count=0))
PLAIN = replace(DGX_A100, nics=replace(DGX_A100.nics, link_layer="Unspecified"))


def judged(fixture: str, platform: Platform | None = DGX_A100, together: bool = True) -> tuple[str, str]:
    reading = gpudirect.read(answer("gpudirect", fixture))
    (result,) = gpudirect.judge("node05", reading, platform, together=together)
    assert str(result.component) == "node05"
    assert result.evidence or result.verdict <= Verdict.PASS
    return result.verdict.name, result.rule


@pytest.mark.parametrize(
    ("fixture", "expected"),
    [
        ("healthy", ("PASS", "gdr.peermem")),
        ("healthy_legacy", ("PASS", "gdr.peermem")),
        ("healthy_dma_buf", ("PASS", "gdr.dma_buf")),
        ("healthy_efa", ("SKIPPED", "gdr.does_not_apply")),
        ("sick_none", ("FAIL", "gdr.none")),
        ("sick_not_loaded", ("FAIL", "gdr.not_loaded")),
        ("sick_open_modules_old_kernel", ("FAIL", "gdr.none")),
        ("sick_load_failed", ("FAIL", "gdr.load_failed")),
        ("sick_no_driver", ("SKIPPED", "gdr.does_not_apply")),
        ("tool_missing", ("SKIPPED", "unseen.tool_missing")),
    ],
)
def test_recorded_nodes(fixture: str, expected: tuple[str, str]) -> None:
    assert judged(fixture) == expected


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [
        ("4.18.0-553.16.1.el8_10.x86_64", "unseen.tool_missing"),
        ("4.18.0-372.9.1.el8.x86_64", "unseen.tool_missing"),
        ("4.18.0-25-generic", "gdr.none"),
        ("5.14.0-427.13.1.el9_4.x86_64", "gdr.dma_buf"),
    ],
)
def test_the_number_of_a_kernel_that_carries_later_code_says_little(kernel: str, rule: str) -> None:
    text = answer("gpudirect", "sick_open_modules_old_kernel").stdout.replace("5.4.0-164-generic", kernel)
    reading = gpudirect.read(said(text))
    assert gpudirect.judge("n", reading, DGX_A100, together=True)[0].rule == rule
    facts = replace(unreachable("n"), gpudirect=reading)
    assert bool(gpudirect.settings(facts)) is (rule != "unseen.tool_missing")
    closed = gpudirect.read(said(text.replace("Open Kernel Module for x86_64", "x86_64 Kernel Module")))
    assert gpudirect.judge("n", closed, DGX_A100, together=True)[0].verdict is Verdict.FAIL


def test_a_node_that_works_alone_is_only_degraded() -> None:
    assert judged("sick_none", together=False) == ("DEGRADED", "gdr.none")
    assert judged("sick_none", None) == ("DEGRADED", "gdr.none")


def test_a_machine_without_rdma_cards_needs_none_of_it() -> None:
    assert judged("sick_none", SINGLE) == ("SKIPPED", "gdr.does_not_apply")
    assert judged("sick_none", PLAIN) == ("SKIPPED", "gdr.does_not_apply")


def test_the_refusal_of_the_kernel_is_quoted() -> None:
    reading = gpudirect.read(answer("gpudirect", "sick_load_failed"))
    (result,) = gpudirect.judge("n", reading, DGX_A100, together=True)
    assert "Unknown symbol ib_register_peer_memory_client" in str(result.message)
    assert result.evidence[-1].source == "dmesg"


def test_a_module_spelled_with_dashes_counts_as_well() -> None:
    dashed = answer("gpudirect", "healthy").stdout.replace("module nvidia_peermem", "module nvidia-peermem")
    (result,) = gpudirect.judge("n", gpudirect.read(said(dashed)), DGX_A100, together=True)
    assert result.rule == "gdr.peermem"


def test_the_way_is_compared_across_the_fleet() -> None:
    def of(fixture: str) -> dict[str, str]:
        return dict(
            gpudirect.settings(replace(unreachable("n", "x"), gpudirect=gpudirect.read(answer("gpudirect", fixture))))
        )

    assert of("healthy") == {"gpudirect": "nvidia_peermem"}
    assert of("healthy_dma_buf") == {"gpudirect": "dma-buf"}
    assert of("sick_none") == {"gpudirect": "none"}
    assert of("tool_missing") == {}


@pytest.mark.parametrize("text", ["", "#end", "kernel 5.15", "module\n#end", "nonsense here\n#end"])
def test_what_is_not_whole_is_not_read_as_absence(text: str) -> None:
    assert gpudirect.read(said(text)).state is ReadingState.UNPARSABLE
