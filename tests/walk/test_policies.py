"""`on_fail` and `on_degraded` hear everything that was found on a node in its stage, not the bandwidth alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.walk.cli import Shell

PLAYBOOK = """
name: policies
stages:
  - {{name: probe}}
  - {{name: single_node, sizes: {{min: 1G, max: 1G}}, iterations: 5, on_fail: {on_fail}}}
  - {{name: multi_node, sizes: {{min: 1G, max: 1G}}, iterations: 5}}
"""


@pytest.mark.parametrize(
    ("on_fail", "together"), [("exclude", [["node01", "node03", "node04"]]), ("stop", []), ("continue", [4])]
)
def test_a_node_that_fell_back_to_tcp_is_treated_as_the_playbook_says(
    shell: Shell, tmp_path: Path, on_fail: str, together: list[object]
) -> None:
    """Its own bandwidth is fine: only NCCL's log shows it."""
    playbook = tmp_path / "policies.yaml"
    playbook.write_text(PLAYBOOK.format(on_fail=on_fail))
    said = shell("run", str(playbook), "--simulate", "4", "--fault", "node02:socket", "--json", "-q")
    record = json.loads(said.out)
    joint = [job["hosts"] for job in record["jobs"] if job["stage"] == "multi_node"]
    assert said.code == 1
    assert (joint if together != [4] else [len(hosts) for hosts in joint]) == together
