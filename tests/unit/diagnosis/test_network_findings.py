"""Several looks at one sick port, or one sick fabric, end in one line that names the reason."""

from __future__ import annotations

from healthcheck.diagnosis.explain import findings
from healthcheck.model.finding import CheckResult, Finding
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES, hca_counters, hcas
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, answer
from tests.unit.probes.test_hca_counters import BUSY, NEEDS, Changes, facts, grown


def found(*checks: CheckResult) -> list[tuple[str, str]]:
    lines: tuple[Finding, ...] = findings(checks, {"node05": Verdict.FAIL}, "run")
    return [(str(line.component), line.cause.code) for line in lines]


def test_a_port_that_waits_for_a_subnet_manager_is_not_sent_to_the_cable() -> None:
    checks = hcas.judge("node05", hcas.read(answer("hcas", "sick_armed")), DGX_A100)
    assert found(*checks) == [("node05/hca:mlx5_6", "cause.hca_no_subnet_manager")]


def test_a_slow_port_with_growing_errors_is_one_finding() -> None:
    by: Changes = {**BUSY, (2, "symbol_error"): 300, (2, "packet_seq_err"): 90}
    before = facts(answer("hca_counters", "healthy"), "sick_half_rate")
    checks = (
        *hcas.judge("node05", before.hcas, DGX_A100),
        *hca_counters.judge_after(before, facts(grown(by), "sick_half_rate"), NEEDS),
    )
    assert found(*checks) == [("node05/hca:mlx5_2", "cause.hca_slow")]


def test_two_sick_ports_are_two_findings() -> None:
    by: Changes = {**BUSY, (2, "link_downed"): 1, (6, "symbol_error"): 300}
    before = facts(answer("hca_counters", "healthy"))
    checks = hca_counters.judge_after(before, facts(grown(by)), NEEDS)
    assert found(*checks) == [
        ("node05/hca:mlx5_2", "cause.hca_link_flaps"),
        ("node05/hca:mlx5_6", "cause.hca_link_errors"),
    ]


def test_a_container_without_the_devices_is_said_as_such() -> None:
    node = read_node("node05", {"verbs": answer("verbs", "sick_missing"), "hcas": answer("hcas", "healthy_sysfs")})
    assert found(*PROBES["verbs"].judge(node, NEEDS)) == [("node05", "cause.uverbs_missing")]
