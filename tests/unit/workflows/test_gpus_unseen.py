"""A node whose driver does not answer is never loaded: nobody can say who computes there."""

from __future__ import annotations

from pathlib import Path

import pytest

from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.units import Bytes
from healthcheck.simulator import nodes
from healthcheck.simulator.cluster import SimCluster, SimNode
from tests.property.checkups import CheckUp, run

SWEEP = Sizes(min=Bytes(1 << 30), max=Bytes(2 << 30))
ALONE = CheckUp(3, Playbook("alone", (Stage("probe"), Stage("single_node", sizes=SWEEP))))
HEALTHY = nodes.PARTS["gpus"]


def _measured(record: RunRecord) -> set[str]:
    return {host for job in record.jobs for host in job.hosts}


def test_a_node_whose_gpus_cannot_be_listed_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gpus(cluster: SimCluster, node: SimNode, text: str) -> str:
        sick = node.name == "node01"
        return "Failed to initialize NVML: Unknown Error\n" if sick else HEALTHY(cluster, node, text)

    monkeypatch.setitem(nodes.PARTS, "gpus", gpus)
    record, _ = run(ALONE, tmp_path)
    assert _measured(record) == {"node02", "node03"}
    rules = {check.check: check.rule for check in record.checks if str(check.component) == "node01"}
    assert (rules["gpu.count"], rules["node.busy"]) == ("gpu.unreadable", "busy.unreadable")


def test_a_driver_that_falls_silent_before_the_launch_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def gpus(cluster: SimCluster, node: SimNode, text: str) -> str:
        asked.append(node.name)
        silent = node.name == "node01" and asked.count("node01") > 1
        return "" if silent else HEALTHY(cluster, node, text)

    monkeypatch.setitem(nodes.PARTS, "gpus", gpus)
    record, _ = run(ALONE, tmp_path)
    assert _measured(record) == {"node02", "node03"}
