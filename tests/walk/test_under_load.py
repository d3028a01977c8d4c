"""GPUs are looked at while the benchmark of their node runs, and only then."""

from __future__ import annotations

import json

import pytest

from tests.walk.cli import Shell

LOADED = {"gpu.loaded_clocks", "gpu.loaded_pcie"}


@pytest.mark.parametrize(("seconds", "seen"), [("20", LOADED), ("0", set())])
def test_a_node_is_looked_at_under_load_if_its_job_lasts_long_enough(
    shell: Shell, seconds: str, seen: set[str]
) -> None:
    said = shell("run", "quick", "--simulate", "3", "--job-seconds", seconds, "--json", "-o", str(shell.results))
    checks = [check for check in json.loads(said.out)["checks"] if check["check"] in LOADED]
    assert {check["check"] for check in checks} == seen
    assert {check["verdict"] for check in checks} <= {"PASS"}
    assert len(checks) == 3 * len(seen)
