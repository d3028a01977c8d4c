"""Two names of one machine: the second is not measured, and says as whom it is."""

from __future__ import annotations

from healthcheck.model.node import Gpu, NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.twins import judge_twins
from tests.unit.probes.fixtures import unreachable


def _node(host: str, *uuids: str) -> NodeFacts:
    gpus = tuple(Gpu(index, uuid, "A100", f"0{index}") for index, uuid in enumerate(uuids))
    blank = unreachable(host, "not asked")
    return NodeFacts(
        host,
        Reading(ReadingState.OBSERVED, gpus),
        blank.hcas,
        blank.gpu_processes,
        blank.binary,
        blank.mpi,
    )


def test_the_second_name_of_a_machine_is_named_with_the_first() -> None:
    (found,) = judge_twins([_node("a", "GPU-1", "GPU-2"), _node("b", "GPU-3"), _node("c", "GPU-2", "GPU-1")])
    assert str(found.component) == "c" and found.verdict is Verdict.INCONCLUSIVE
    assert "GPUs of a" in str(found.message) and "GPU-2" in found.evidence[0].text


def test_machines_of_their_own_and_machines_that_could_not_be_read_are_no_twins() -> None:
    assert (
        judge_twins([_node("a", "GPU-1"), _node("b", "GPU-2"), unreachable("c", "down"), unreachable("d", "down")])
        == ()
    )
