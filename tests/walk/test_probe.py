"""`healthcheck probe` against simulated nodes behind real SSH: what it asks, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthcheck.__main__ import run
from healthcheck.edge.shipped import load_platform
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.ssh_server import SimSshServer


def test_one_connection_and_one_command_a_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    platform, _ = load_platform("a100-sxm4-8gpu-8x200")
    with SimSshServer(SimCluster(12, platform, faults=[parse_fault("node03:hca=mlx5_2,down")])) as server:
        code = run(
            ["probe", "-H", str(server.hostfile), "--ssh-config", str(server.ssh_config), "-o", str(tmp_path), "--json"]
        )
    record = json.loads(capsys.readouterr().out)
    assert code == 1
    assert set(server.connections.values()) == set(server.commands.values()) == {1}
    assert len(server.connections) == 12
    assert [finding["component"] for finding in record["findings"]] == ["node03/hca:mlx5_2"]
    answered = list((tmp_path / record["run_id"] / "raw" / "probe").glob("*/before"))
    assert len(answered) == 12


def test_the_table_names_areas_and_folds_nodes_that_look_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["probe", "--simulate", "8", "--fault", "node05:hca=mlx5_2,down", "-o", str(tmp_path)])
    lines = capsys.readouterr().err.splitlines()
    head = next(place for place, line in enumerate(lines) if line.split()[:2] == ["GPUs", "NVLink"])
    sick, well = (line.split() for line in lines[head + 1 : head + 3])
    # What does not fit beside the areas goes on below, behind a comma.
    assert (sick[0], well[0], lines[head + 3].strip()) == ("node05", "node[01-04,", "06-08]")
    assert "FAIL" in sick
    assert "FAIL" not in well


@pytest.mark.parametrize("fault", ["node03:gdr=off", "node03:driver=535.54.03", "node03:nvlink=0.6"])
def test_the_looks_alone_judge_as_the_whole_run_does(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for words in (["probe"], ["run", "quick"]):
        run([*words, "--simulate", "4", "--fault", fault, "-o", str(tmp_path), "--json", "-q"])
        (finding,) = json.loads(capsys.readouterr().out)["findings"]
        found.append((finding["component"], finding["verdict"], finding["cause"]["code"]))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("fault", "code", "line"),
    [
        ("node03:busy", 0, "PASS 4/4 looked at, no bandwidth measured, simulated, busy node03"),
        ("node03:gpus=7", 1, "FAIL 3/4 clear, no bandwidth measured, simulated, excluded node03, cause node03 "),
    ],
)
def test_the_line_speaks_of_looks_where_only_looks_were_asked_for(
    fault: str, code: int, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody who computes is in nobody's way when nothing is to be measured; and there is nothing to start on."""
    assert run(["probe", "--simulate", "4", "--fault", fault, "-o", str(tmp_path)]) == code
    said = capsys.readouterr()
    assert said.out.startswith(line)
    assert "Do not start" not in said.err
