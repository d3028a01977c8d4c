"""Results that explain slowness and are no defect by themselves: what they are worth where the node measures well.

A translating IOMMU or an odd firmware is worth knowing when a node is slow. Where everything that was measured on the
node is as it should be, it has no effect that anybody could see: it becomes a remark. Otherwise one setting that a
whole fleet shares would leave no node to start on, however fast they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from msgspec.structs import replace

from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.verdict import Verdict

ADVICE_CHECKS = frozenset(
    {"pcie.iommu", "pcie.acs", "cpu.governor", "node.clock", "os.files", "hca.mtu", "nccl.settings", "fleet.drift"}
)
# A driver or NCCL that differs is a state of the fleet to be ended, not a setting to be tuned.
NO_ADVICE = frozenset({"drift.driver", "drift.nccl"})
REMARK = "remark.no_effect"


def is_advice(check: CheckResult) -> bool:
    """Whether a result only matters where something is slow."""
    return check.verdict is Verdict.DEGRADED and check.check in ADVICE_CHECKS and check.rule not in NO_ADVICE


def settled(checks: Iterable[CheckResult], measured_well: Set[str], all_hosts: Set[str]) -> tuple[CheckResult, ...]:
    """The results, with advice turned into remarks (PASS) where it had no effect.

    `measured_well` are hosts whose every measurement, alone and with others, was as it should be; those with anything
    else against them are not among the hosts advice is lifted from.
    """
    checks = tuple(checks)
    hurt = {check.component.host for check in checks if check.verdict > Verdict.PASS and not is_advice(check)}
    well = measured_well - hurt
    fleet_well = well >= all_hosts and None not in hurt
    return tuple(
        _remark(check)
        if is_advice(check) and (check.component.host in well if check.component.host else fleet_well)
        else check
        for check in checks
    )


def _remark(check: CheckResult) -> CheckResult:
    return replace(check, verdict=Verdict.PASS, message=say(REMARK, what=check.message))
