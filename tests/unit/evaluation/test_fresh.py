"""A pass of yesterday holds only where nothing that decides it has changed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.evaluation.fresh import Today, overtaken_by, why_again
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.gate import EarlierPass, Measured, Passport
from healthcheck.model.message import say
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.model.verdict import Verdict

GIB = 1 << 30
NOW = Passport("boot-1", "550.90.07", "2.21.5", "mlx5_0=20.31.1014", "8 (a1b2)")
FULL = Measured(("all_reduce", "all_gather"), GIB, 8 * GIB, 20, 3)
TODAY = Today(1_000_000.0, 86_400.0, "book", "platform", FULL)
EARLIER = EarlierPass("n1", "run-1", 990_000.0, "PASS", NOW, "book", "platform", measured=FULL)


def test_the_same_node_of_an_hour_ago_holds() -> None:
    assert why_again(EARLIER, TODAY, NOW, ()) is None


@pytest.mark.parametrize(
    ("earlier", "code"),
    [
        (None, "gate.again.none"),
        (replace(EARLIER, measured_s=900_000.0), "gate.again.none"),
        (replace(EARLIER, measured_s=1_000_001.0), "gate.again.future"),
        (replace(EARLIER, found="FAIL"), "gate.again.not_pass"),
        (replace(EARLIER, playbook_sha256="other"), "gate.again.asked"),
        (replace(EARLIER, platform_sha256="other"), "gate.again.asked"),
        (replace(EARLIER, thresholds=AskedThresholds(0.6, None)), "gate.again.asked"),
        (replace(EARLIER, baseline_sha256="other"), "gate.again.asked"),
        (replace(EARLIER, passport=replace(NOW, boot_id="boot-0")), "gate.again.changed"),
        (replace(EARLIER, passport=replace(NOW, driver="535.54.03")), "gate.again.changed"),
        (replace(EARLIER, passport=replace(NOW, nccl="2.20.1")), "gate.again.changed"),
        (replace(EARLIER, passport=replace(NOW, firmware="mlx5_0=1")), "gate.again.changed"),
        (replace(EARLIER, passport=replace(NOW, gpus="8 (c3d4)")), "gate.again.changed"),
        (replace(EARLIER, passport=replace(NOW, nccl=None)), "gate.again.unknown"),
        (replace(EARLIER, passport=Passport()), "gate.again.unknown"),
    ],
)
def test_anything_else_is_measured_again(earlier: EarlierPass | None, code: str) -> None:
    why = why_again(earlier, TODAY, NOW, ())
    assert why is not None and why.code == code


@pytest.mark.parametrize(
    "less",
    [
        None,
        replace(FULL, collectives=("all_reduce",)),
        replace(FULL, smallest=2 * GIB),
        replace(FULL, largest=4 * GIB),
        replace(FULL, iterations=10),
        replace(FULL, repeats=1),
    ],
)
def test_a_pass_holds_only_where_as_much_was_measured(less: Measured | None) -> None:
    why = why_again(replace(EARLIER, measured=less), TODAY, NOW, ())
    assert why is not None and why.code == "gate.again.less"
    if less is not None:
        assert why_again(EARLIER, replace(TODAY, measured=less), NOW, ()) is None, "more is enough"


@pytest.mark.parametrize("unknown", ["boot_id", "driver", "nccl", "firmware", "gpus"])
def test_what_the_node_does_not_tell_today_is_not_the_same(unknown: str) -> None:
    told = Passport(**{name: getattr(NOW, name) for name in NOW.__struct_fields__ if name != unknown})
    why = why_again(EARLIER, TODAY, told, ())
    assert why is not None and why.code == "gate.again.unknown"


@pytest.mark.parametrize("verdict", [Verdict.DEGRADED, Verdict.INCONCLUSIVE, Verdict.FAIL])
def test_a_fresh_look_that_is_not_pass_is_never_passed_over(verdict: Verdict) -> None:
    sick = CheckResult("gpu.ecc", node("n1"), verdict, say("job.stopped"), "ecc.off")
    why = why_again(EARLIER, TODAY, NOW, [sick])
    assert why is not None and why.code == "gate.again.look"


@pytest.mark.parametrize("untold", ["driver", "nccl", "firmware"])
def test_within_one_run_what_a_node_never_tells_does_not_overtake_what_was_measured(untold: str) -> None:
    blind = replace(NOW, **{untold: None})
    assert overtaken_by(blind, blind) is None
    assert overtaken_by(NOW, blind) is not None and overtaken_by(blind, NOW) is not None


def test_within_one_run_the_same_boot_has_to_be_seen() -> None:
    blind = replace(NOW, boot_id=None)
    assert overtaken_by(NOW, NOW) is None
    assert overtaken_by(blind, blind) is not None
