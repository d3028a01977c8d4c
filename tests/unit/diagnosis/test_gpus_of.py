"""Which GPU of a node is slow, from pairs around the ring of its GPUs."""

from __future__ import annotations

from healthcheck.diagnosis.gpus_of import Gpus, gpu_checks
from healthcheck.model.verdict import Verdict

HEALTHY: dict[Gpus, float | None] = {(a, (a + 1) % 8): 230.0 - a for a in range(8)}


def _told(readings: dict[Gpus, float | None]) -> list[tuple[str, str]]:
    return [(str(check.component), check.rule) for check in gpu_checks("n1", readings, Verdict.FAIL)]


def test_a_gpu_that_is_slow_with_both_neighbours_is_confirmed() -> None:
    assert _told({**HEALTHY, (2, 3): 120.0, (3, 4): 118.0}) == [("n1/gpu:3", "slow_gpu.confirmed")]


def test_one_lost_link_of_twelve_is_seen() -> None:
    assert _told({**HEALTHY, (7, 0): 209.0, (0, 1): 208.0}) == [("n1/gpu:0", "slow_gpu.confirmed")]


def test_a_pair_that_alone_is_slow_blames_what_joins_it() -> None:
    (check,) = gpu_checks("n1", {**HEALTHY, (2, 3): 120.0}, Verdict.DEGRADED)
    assert (str(check.component), check.rule, check.verdict) == ("n1", "slow_gpu_pair.likely", Verdict.DEGRADED)
    assert "GPUs 2 and 3" in str(check.message)


def test_of_two_sick_gpus_around_a_healthy_one_nobody_is_sure() -> None:
    slow: dict[Gpus, float | None] = {(1, 2): 120.0, (2, 3): 120.0, (3, 4): 120.0, (4, 5): 120.0}
    assert {rule for _, rule in _told({**HEALTHY, **slow})} == {"slow_gpu.likely"}


def test_a_pair_that_does_not_finish_is_as_slow_as_can_be() -> None:
    assert _told({**HEALTHY, (2, 3): None, (3, 4): None}) == [("n1/gpu:3", "slow_gpu.confirmed")]


def test_alike_pairs_name_nobody() -> None:
    (check,) = gpu_checks("n1", HEALTHY, Verdict.DEGRADED)
    assert check.verdict is Verdict.PASS and len(check.evidence) == 8
    assert gpu_checks("n1", {(0, 1): None, (1, 2): None, (2, 0): None}, Verdict.FAIL) == ()
