"""Counters of the ports before and after: what grew is named, what cannot be compared is unknown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.node import NodeFacts
from healthcheck.model.verdict import Verdict
from healthcheck.probes import hca_counters
from healthcheck.probes.batch import PartOutput
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer, said

NEEDS = Needs(DGX_A100, own_token="hc-own", began_at=1_700_000_000.0)
Changes = dict[tuple[int, str], int]
"""(number of the card, counter) -> by how much it grew."""
BUSY: Changes = {(card, "port_xmit_data"): 5_000_000_000 for card in range(8)}
"""20 GB on every port, as a job between nodes leaves it."""


def grown(by: Changes, start: str = "healthy") -> PartOutput:
    lines = []
    for line in answer("hca_counters", start).stdout.splitlines():
        device, port, name, value = line.split()
        card = int(device.removeprefix("mlx5_"))
        lines.append(f"{device} {port} {name} {int(value) + by.get((card, name), 0)}")
    return said("\n".join(lines))


def facts(counters: PartOutput, cards: str = "healthy_sysfs") -> NodeFacts:
    return read_node("node05", {"hca_counters": counters, "hcas": answer("hcas", cards)})


def judged(
    by: Changes, needs: Needs = NEEDS, start: str = "healthy", cards: str = "healthy_sysfs"
) -> tuple[CheckResult, ...]:
    before = facts(answer("hca_counters", start), cards)
    return hca_counters.judge_after(before, facts(grown(by, start), cards), needs)


def told(results: tuple[CheckResult, ...]) -> list[tuple[str, str, str, str]]:
    return [(found.check, str(found.component), found.verdict.name, found.rule) for found in results]


CLEAN = ("hca.errors", "node05", "PASS", "hca.no_errors")
EVEN = ("hca.traffic", "node05", "PASS", "hca.traffic_even")


def test_a_healthy_run_grows_only_what_it_moved() -> None:
    assert told(judged(BUSY)) == [CLEAN, EVEN]


@pytest.mark.parametrize(
    ("counter", "by", "verdict", "rule"),
    [
        ("link_downed", 1, "FAIL", "hca.link_downed"),
        ("symbol_error", 11, "DEGRADED", "hca.link_errors"),
        ("link_error_recovery", 1, "DEGRADED", "hca.link_errors"),
        ("port_rcv_errors", 400, "DEGRADED", "hca.link_errors"),
        ("local_link_integrity_errors", 2, "DEGRADED", "hca.link_errors"),
        ("excessive_buffer_overrun_errors", 1, "DEGRADED", "hca.link_errors"),
        ("port_rcv_remote_physical_errors", 12, "DEGRADED", "hca.link_errors"),
        ("VL15_dropped", 40, "DEGRADED", "hca.link_errors"),
        ("local_ack_timeout_err", 11, "DEGRADED", "hca.retries"),
        ("packet_seq_err", 300, "DEGRADED", "hca.retries"),
        ("rnr_nak_retry_err", 12, "DEGRADED", "hca.retries"),
        ("req_cqe_error", 1, "DEGRADED", "hca.retries"),
        ("resp_cqe_error", 1, "DEGRADED", "hca.retries"),
    ],
)
def test_what_grew_beyond_noise_is_named_with_its_card(counter: str, by: int, verdict: str, rule: str) -> None:
    results = judged({**BUSY, (2, counter): by})
    assert told(results) == [("hca.errors", "node05/hca:mlx5_2", verdict, rule), EVEN]
    assert results[0].observed == by
    assert results[0].evidence[0].source.endswith(f"counters/{counter}")
    assert ", after the stages " in results[0].evidence[0].text


@pytest.mark.parametrize(
    ("counter", "by"), [("symbol_error", 10), ("port_rcv_errors", 10), ("VL15_dropped", 10), ("packet_seq_err", 10)]
)
def test_a_little_noise_is_no_finding(counter: str, by: int) -> None:
    assert told(judged({**BUSY, (2, counter): by}))[0] == CLEAN


def test_queues_that_are_cleared_at_the_end_of_a_job_are_no_errors() -> None:
    flushed: Changes = {(4, "resp_cqe_error"): 500, (4, "resp_cqe_flush_error"): 500}
    assert told(judged({**BUSY, **flushed}))[0] == CLEAN


def test_a_lost_link_speaks_for_its_card_once_and_brings_the_other_counters_as_evidence() -> None:
    results = judged({**BUSY, (2, "link_downed"): 2, (2, "symbol_error"): 60, (2, "port_xmit_discards"): 900})
    assert told(results) == [("hca.errors", "node05/hca:mlx5_2", "FAIL", "hca.link_downed"), EVEN]
    assert str(results[0].message) == "the link of mlx5_2 went down 2 times during the run"
    assert [entry.text for entry in results[0].evidence] == ["1, after the stages 3", "0, after the stages 60"]


def test_counters_that_were_reset_are_unknown_and_no_negative_growth() -> None:
    results = judged({**BUSY, (6, "port_rcv_errors"): -3})
    assert told(results)[0] == ("hca.errors", "node05", "SKIPPED", "unseen.unparsable")
    assert "1 counter of the network ports grew" in str(results[0].message)


def test_counters_at_their_end_are_unknown() -> None:
    assert told(judged(BUSY, start="sick_at_their_end"))[0] == ("hca.errors", "node05", "SKIPPED", "unseen.unparsable")


def test_growth_up_to_the_end_of_a_counter_is_growth() -> None:
    assert told(judged({**BUSY, (2, "link_downed"): 254}))[0][3] == "hca.link_downed"


def test_a_card_that_is_gone_afterwards_is_named() -> None:
    after = facts(said("\n".join(line for line in grown(BUSY).stdout.splitlines() if "mlx5_3" not in line)))
    results = hca_counters.judge_after(facts(answer("hca_counters", "healthy")), after, NEEDS)
    assert told(results) == [("hca.errors", "node05/hca:mlx5_3", "FAIL", "hca.vanished"), EVEN]


def test_storage_ports_may_make_errors() -> None:
    by: Changes = {**BUSY, (7, "symbol_error"): 5000}
    seven = replace(NEEDS, platform=replace(DGX_A100, nics=replace(DGX_A100.nics, count=7)))
    other = answer("hcas", "healthy_sysfs").stdout.replace("mlx5_7 0 board_id MT_0000000223", "mlx5_7 0 board_id MT_12")
    parts = {"hca_counters": answer("hca_counters", "healthy"), "hcas": said(other)}
    results = hca_counters.judge_after(read_node("node05", parts), facts(grown(by)), seven)
    assert told(results) == [CLEAN, EVEN]


def test_a_port_that_stayed_silent_is_named() -> None:
    by = {**BUSY, (5, "port_xmit_data"): 1_000}
    results = judged(by)
    assert told(results) == [CLEAN, ("hca.traffic", "node05/hca:mlx5_5", "DEGRADED", "hca.unused")]
    assert str(results[1].message) == (
        "mlx5_5 sent 0.0 GB while the ports of this node sent 20.0 GB each (median): it was not used"
    )


def test_a_port_that_was_down_all_the_time_is_not_called_unused_too() -> None:
    by = {**BUSY, (2, "port_xmit_data"): 0}
    assert told(judged(by, cards="sick_down"))[1] == EVEN


def test_without_a_job_between_nodes_no_port_is_unused() -> None:
    silent = {**BUSY, (5, "port_xmit_data"): 0}
    assert told(judged(silent, replace(NEEDS, together=False))) == [CLEAN]
    assert told(judged(silent, replace(NEEDS, began_at=None))) == [CLEAN]
    little: Changes = {(card, "port_xmit_data"): 100_000_000 for card in range(7)}
    assert told(judged(little))[1] == ("hca.traffic", "node05", "SKIPPED", "hca.does_not_apply")


def test_data_counters_that_stopped_or_wrapped_do_not_make_a_port_silent() -> None:
    value = 881941503329
    for by in ((1 << 64) - 1 - value, -value):
        assert told(judged({**BUSY, (5, "port_xmit_data"): by}))[1] == EVEN


def test_dropped_packets_are_congestion_with_numbers() -> None:
    results = judged({**BUSY, (1, "port_xmit_discards"): 400, (3, "port_xmit_discards"): 90})
    assert told(results)[1] == ("hca.traffic", "node05", "DEGRADED", "hca.congestion")
    assert str(results[1].message).startswith("the ports dropped 490 packets they could not send: mlx5_1 ")
    assert len(results[1].evidence) == 2


def test_only_ports_that_all_wait_are_congested() -> None:
    waits: Changes = {(card, "port_xmit_wait"): 9_000_000_000 for card in range(8)}
    assert told(judged({**BUSY, **waits}))[1][3] == "hca.congestion"
    del waits[0, "port_xmit_wait"]
    assert told(judged({**BUSY, **waits}))[1] == EVEN


@pytest.mark.parametrize(
    ("fixture", "verdict", "rule"),
    [
        ("tool_missing", Verdict.SKIPPED, "unseen.tool_missing"),
        ("sick_virtual_function", Verdict.SKIPPED, "unseen.tool_missing"),
    ],
)
def test_counters_that_cannot_be_read_are_said_once(fixture: str, verdict: Verdict, rule: str) -> None:
    blind = facts(answer("hca_counters", fixture))
    (result,) = hca_counters.judge(blind, NEEDS)
    assert (result.check, result.verdict, result.rule) == ("hca.errors", verdict, rule)
    assert hca_counters.judge_after(blind, blind, NEEDS) == ()


def test_a_second_look_that_saw_nothing_is_not_clean() -> None:
    after = read_node("node05", {"hca_counters": said("bus error", rc=135)})
    results = hca_counters.judge_after(facts(answer("hca_counters", "healthy")), after, NEEDS)
    assert told(results) == [("hca.errors", "node05", "INCONCLUSIVE", "unseen.unparsable")]
