"""What the kernel logged: history only when it matters, the run's own window in full, and nothing twice."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import Hca, NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes import iommu, kernel_log
from healthcheck.probes.batch import PartOutput
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said

NOW, UPTIME = 1_712_345_678.25, 86_400.5
BOOT = NOW - UPTIME
NEEDS = Needs(DGX_A100, own_token="hc-own", began_at=BOOT + 79_990.0)
XID_79 = "NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus."


def ports() -> tuple[Hca, ...]:
    places = {"mlx5_0": "0000:0c:00.0", "mlx5_1": "0000:12:00.0", "mlx5_2": "0000:12:00.1", "mlx5_4": "0000:54:00.0"}
    return tuple(
        Hca(name, 1, "4: ACTIVE", "5: LinkUp", 200.0, "200 Gb/sec (4X HDR)", "InfiniBand", pci_address=place)
        for name, place in places.items()
    )


def facts(log: PartOutput, ahead: float = 0.0) -> NodeFacts:
    """A node with this log; its clock is `ahead` of ours."""
    parts = {"kernel_log": log, "gpus": answer("gpus", "healthy"), "clock": said(f"now {NOW + ahead}")}
    found = read_node("node01", parts, asked_at=(NOW - 0.1, NOW + 0.1))
    return replace(found, hcas=Reading(ReadingState.OBSERVED, ports()))


def log_of(*lines: str, uptime: float = UPTIME, now: float = NOW, last: float | None = None) -> PartOutput:
    newest = uptime - 10 if last is None else last
    return said("\n".join([f"now {now} {uptime}", "source dmesg", f"last [{newest:.6f}] x", *lines]))


def logged(at: float, text: str) -> str:
    return f"[{at:.6f}] {text}"


def by_component(results: tuple[CheckResult, ...]) -> dict[str, tuple[Verdict, str]]:
    return {str(result.component): (result.verdict, result.rule) for result in results}


QUIET = facts(log_of(last=79_000.0))


@pytest.mark.parametrize(
    ("fixture", "state"),
    [
        ("healthy", ReadingState.OBSERVED),
        ("healthy_journal", ReadingState.OBSERVED),
        ("sick_xid", ReadingState.OBSERVED),
        ("sick_no_times", ReadingState.UNPARSABLE),
        ("sick_denied", ReadingState.DENIED),
        ("tool_missing", ReadingState.TOOL_MISSING),
    ],
)
def test_recorded_logs(fixture: str, state: ReadingState) -> None:
    assert kernel_log.read(answer("kernel_log", fixture)).state is state


@pytest.mark.parametrize("fixture", ["healthy", "healthy_journal"])
def test_a_quiet_log_passes_before_and_after(fixture: str) -> None:
    found = facts(answer("kernel_log", fixture))
    for results in (kernel_log.judge(found, NEEDS), kernel_log.judge_after(found, found, NEEDS)):
        assert by_component(results) == {"node01": (Verdict.PASS, "kernel.quiet")}


def test_a_log_that_may_not_be_read_says_what_that_hides() -> None:
    (result,) = kernel_log.judge(facts(answer("kernel_log", "sick_denied")), NEEDS)
    assert (result.verdict, result.rule) == (Verdict.SKIPPED, "unseen.denied")
    assert "Xid" in str(result.message)
    assert "Operation not permitted" in result.evidence[0].text


def test_before_the_run_a_fatal_xid_is_history_and_an_application_fault_is_nothing() -> None:
    found = facts(answer("kernel_log", "sick_xid"))
    assert by_component(kernel_log.judge(found, NEEDS)) == {
        "node01/gpu:0": (Verdict.DEGRADED, "xid.before"),
        "node01/gpu:1": (Verdict.DEGRADED, "xid.before"),
    }


def test_a_reset_takes_back_the_call_for_it_and_nothing_else() -> None:
    asked = "NVRM: Xid (PCI:0000:07:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
    done = "NVRM: Xid (PCI:0000:07:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
    healthy = {"node01": (Verdict.PASS, "kernel.quiet")}
    first = {"node01/gpu:0": (Verdict.DEGRADED, "xid.before")}
    for lines, expected in (
        ((asked,), first),
        ((asked, done), healthy),
        ((asked, asked, done), healthy),
        ((done, asked), first),
        ((asked, done, asked), first),
        ((asked, done.replace("07:00", "0f:00")), first),
        ((XID_79, asked, done), first),
    ):
        stamped = [logged(80_000.0 + number, line) for number, line in enumerate(lines)]
        assert by_component(kernel_log.judge(facts(log_of(*stamped)), NEEDS)) == expected, lines


def test_what_is_older_than_a_day_is_no_history() -> None:
    long = log_of(logged(100.0, XID_79), uptime=100.0 + 25 * 3600)
    assert by_component(kernel_log.judge(facts(long), NEEDS)) == {"node01": (Verdict.PASS, "kernel.quiet")}
    day = log_of(logged(100.0, XID_79), uptime=100.0 + 23 * 3600)
    assert kernel_log.judge(facts(day), NEEDS)[0].rule == "xid.before"


def test_history_is_judged_by_the_clock_of_the_node() -> None:
    wrong = log_of(logged(80_000.0, XID_79), now=NOW - 10 * 365 * 86_400)
    assert kernel_log.judge(facts(wrong), NEEDS)[0].rule == "xid.before"


def test_after_the_run_each_gpu_is_named_by_its_worst_xid() -> None:
    after = facts(answer("kernel_log", "sick_xid"))
    results = kernel_log.judge_after(QUIET, after, NEEDS)
    assert by_component(results) == {
        "node01/gpu:0": (Verdict.FAIL, "xid.74"),
        "node01/gpu:1": (Verdict.FAIL, "xid.79"),
        "node01/gpu:2": (Verdict.DEGRADED, "xid.app"),
    }
    first = results[0]
    assert "Xid 74 while the benchmarks ran, 2 times" in str(first.message)
    assert "fatal error detected on link 6" in first.evidence[0].text
    assert first.evidence[0].source == "dmesg"


def test_after_the_run_links_switches_and_memory() -> None:
    results = kernel_log.judge_after(QUIET, facts(answer("kernel_log", "sick_links")), NEEDS)
    assert by_component(results) == {
        "node01": (Verdict.FAIL, "sxid.fatal"),
        "node01/hca:mlx5_1": (Verdict.FAIL, "kernel.link_down"),
        "node01/gpu:0": (Verdict.DEGRADED, "kernel.pcie_corrected"),
        "node01/gpu:1": (Verdict.FAIL, "kernel.pcie_fatal"),
    }


@pytest.mark.parametrize(
    ("line", "verdict", "rule"),
    [
        ("NVRM: Xid (PCI:0000:07:00): 62, pid=1, name=x", Verdict.FAIL, "xid.fatal"),
        ("NVRM: Xid (PCI:0000:07:00): 63, pid=1, name=x", Verdict.DEGRADED, "xid.63"),
        ("NVRM: Xid (PCI:0000:07:00): 109, pid=1, name=x", Verdict.DEGRADED, "xid.warning"),
        ("NVRM: Xid (PCI:0000:07:00): 999, pid=1, name=x", Verdict.DEGRADED, "xid.warning"),
        ("NVRM: Xid (PCI:0000:07:00): 149, NETIR_LINK_EVT Fatal XC0", Verdict.FAIL, "xid.149"),
        ("NVRM: Xid (PCI:0000:07:00): 149, NETIR_LINK_EVT Nonfatal XC0", Verdict.DEGRADED, "xid.warning"),
        (
            "NVRM: Xid (PCI:0000:07:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
            Verdict.FAIL,
            "xid.154",
        ),
        (
            "NVRM: Xid (PCI:0000:07:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
            Verdict.PASS,
            "kernel.quiet",
        ),
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32", Verdict.PASS, "kernel.quiet"),
        ("Out of memory: Killed process 1 (python3)", Verdict.DEGRADED, "kernel.oom"),
        ("INFO: task nvidia-smi:44 blocked for more than 122 seconds.", Verdict.FAIL, "kernel.hung_driver"),
        ("INFO: task kworker/1:44 blocked for more than 122 seconds.", Verdict.DEGRADED, "kernel.hung"),
        ("nvidia-peermem nv_get_p2p_free_callback:127 ERROR", Verdict.DEGRADED, "kernel.peermem"),
        ("nvidia 0000:07:00.0: PCIe Bus Error: severity=Corrected, type=x", Verdict.PASS, "kernel.quiet"),
        (
            "nvidia 0000:07:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=x",
            Verdict.DEGRADED,
            "kernel.pcie_uncorrected",
        ),
        ("mlx5_core 0000:0c:00.0 ib0: Link down", Verdict.FAIL, "kernel.link_down"),
        ("mlx5_core 0000:e1:00.0 eth0: Link down", Verdict.PASS, "kernel.quiet"),
    ],
)
def test_one_line_within_the_run(line: str, verdict: Verdict, rule: str) -> None:
    (result,) = kernel_log.judge_after(QUIET, facts(log_of(logged(80_000.0, line))), NEEDS)
    assert (result.verdict, result.rule) == (verdict, rule)


def test_many_non_fatal_errors_of_switches_are_said() -> None:
    line = "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20001, Non-fatal, Link {}"
    lines = [logged(80_000.0 + number, line.format(number)) for number in range(10)]
    assert kernel_log.judge_after(QUIET, facts(log_of(*lines)), NEEDS)[0].rule == "sxid.many"
    assert kernel_log.judge_after(QUIET, facts(log_of(*lines[:9])), NEEDS)[0].rule == "kernel.quiet"


def test_a_gpu_that_is_no_longer_listed_is_named_by_the_list_of_before() -> None:
    after = facts(log_of(logged(80_000.0, XID_79)))
    gone = replace(after, gpus=Reading(ReadingState.UNPARSABLE))
    assert str(kernel_log.judge_after(QUIET, gone, NEEDS)[0].component) == "node01/gpu:0"


def test_what_the_look_before_showed_is_not_said_again() -> None:
    old = logged(79_989.5, XID_79)
    before = facts(log_of(old, last=79_989.5))
    assert kernel_log.judge(before, NEEDS)[0].rule == "xid.before"
    assert kernel_log.judge_after(before, facts(log_of(old)), NEEDS)[0].rule == "kernel.quiet"
    twice = facts(log_of(old, logged(79_989.5, XID_79.replace("0000:07", "0000:0f"))))
    (result,) = kernel_log.judge_after(before, twice, NEEDS)
    assert str(result.component) == "node01/gpu:1"


def test_the_window_follows_a_clock_that_is_wrong() -> None:
    hidden = replace(QUIET, kernel_log=Reading(ReadingState.DENIED))
    for ahead in (-3600.0, 0.0, 3600.0):
        early = log_of(logged(79_900.0, XID_79), now=NOW + ahead)
        within = log_of(logged(79_991.0, XID_79), now=NOW + ahead)
        assert kernel_log.judge_after(hidden, facts(early, ahead), NEEDS)[0].rule == "kernel.quiet"
        assert kernel_log.judge_after(hidden, facts(within, ahead), NEEDS)[0].rule == "xid.79"


def test_without_a_clock_nobody_knows_what_was_logged_meanwhile() -> None:
    late = facts(log_of(logged(79_991.0, XID_79)))
    for clockless in (replace(late, clock=Reading(ReadingState.DENIED)), replace(late, asked_at=None)):
        (result,) = kernel_log.judge_after(QUIET, clockless, NEEDS)
        assert (result.check, result.verdict) == ("kernel.log", Verdict.SKIPPED)
        assert result.rule.startswith("unseen.") and "benchmarks" in str(result.message.args["hides"])
    idle = replace(NEEDS, began_at=None)
    assert kernel_log.judge_after(QUIET, replace(late, asked_at=None), idle) == ()


def test_stamps_that_drifted_over_a_month_do_not_lose_an_event() -> None:
    uptime = 30 * 86_400.0
    began = Needs(DGX_A100, own_token="hc-own", began_at=NOW - 60)
    before = facts(log_of(uptime=uptime - 90, now=NOW - 90, last=uptime - 300))
    late = facts(log_of(logged(uptime - 200, XID_79), uptime=uptime))
    assert kernel_log.judge_after(before, late, began)[0].rule == "xid.79"


def test_a_boot_during_the_run_shares_no_stamps_with_the_one_before() -> None:
    before = facts(log_of(logged(80_000.0, XID_79)))
    began = Needs(DGX_A100, own_token="hc-own", began_at=NOW - 300)
    rebooted = facts(log_of(logged(30.0, XID_79), uptime=200.0, last=190.0))
    assert kernel_log.judge_after(before, rebooted, began)[0].rule == "xid.79"


def test_a_narrow_slot_matters_where_it_is_narrower_than_the_network() -> None:
    line = "mlx5_core {}: {} Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:53:00.0"
    narrow = facts(log_of(logged(9.1, line.format("0000:54:00.0", "126.024")), uptime=40 * 86_400.0))
    (result,) = kernel_log.judge(narrow, NEEDS)
    assert (str(result.component), result.verdict, result.rule) == (
        "node01/hca:mlx5_4",
        Verdict.DEGRADED,
        "kernel.pcie_limited",
    )
    wide = facts(log_of(logged(9.1, line.format("0000:54:00.0", "252.048"))))
    other = facts(log_of(logged(9.1, line.format("0000:e1:00.0", "31.504"))))
    for found in (wide, other):
        assert kernel_log.judge(found, NEEDS)[0].rule == "kernel.quiet"


def test_the_slots_of_a_virtual_machine_are_made_up() -> None:
    line = "mlx5_core 0000:54:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link"
    seen = facts(log_of(logged(9.1, line)))
    assert kernel_log.judge(seen, NEEDS)[0].rule == "kernel.pcie_limited"
    guest = replace(seen, iommu=iommu.read(said("machine kvm\ngroups 0")))
    assert kernel_log.judge(guest, NEEDS)[0].rule == "kernel.quiet"


def test_the_two_ports_of_a_card_are_told_apart() -> None:
    down = facts(log_of(logged(80_000.0, "mlx5_core 0000:12:00.1 ib2: Link down")))
    assert str(kernel_log.judge_after(QUIET, down, NEEDS)[0].component) == "node01/hca:mlx5_2"


def test_a_log_that_was_closed_before_and_after_is_said_once() -> None:
    denied = facts(answer("kernel_log", "sick_denied"))
    assert kernel_log.judge_after(denied, denied, NEEDS) == ()
    (lost,) = kernel_log.judge_after(QUIET, denied, NEEDS)
    assert lost.rule == "unseen.denied"
