"""Do two names lead to one machine? Then one would be measured twice at once, and counted as two."""

from __future__ import annotations

from collections.abc import Iterable

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import noted
from healthcheck.model.verdict import Verdict

CHECK = "host.distinct"


def judge_twins(nodes: Iterable[NodeFacts]) -> tuple[CheckResult, ...]:
    """One INCONCLUSIVE for every node that shows a GPU which a node before it has shown; the first one stays.

    The UUID of a GPU is the one name that neither DNS nor a cloned disk image can double.
    """
    owners: dict[str, str] = {}
    results = []
    for facts in nodes:
        shared = [gpu for gpu in facts.gpus.value or () if gpu.uuid in owners]
        if shared:
            other = owners[shared[0].uuid]
            place = say("evidence.two_hosts", host=facts.host, other=other, source="nvidia-smi")
            results.append(
                CheckResult(
                    CHECK,
                    node(facts.host),
                    Verdict.INCONCLUSIVE,
                    say("probe.same_machine", other=other),
                    "host.same_machine",
                    stage="probe",
                    evidence=(noted(place, f"{shared[0].index}, {shared[0].uuid}"),),
                )
            )
        for gpu in facts.gpus.value or ():
            owners.setdefault(gpu.uuid, facts.host)
    return tuple(results)
