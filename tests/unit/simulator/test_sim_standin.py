"""What rank 0 of a stand-in program prints."""

from __future__ import annotations

import pytest

from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.simulator.render import SIMULATED_LINE
from healthcheck.simulator.standin import main

TWO_HOSTS = ["--program", "all_reduce_perf", "--hosts", "n001,n002", "--ranks-per-host", "2"]
SIZES = ["--", "-b", "1G", "-e", "8G", "-f", "2", "-n", "20", "-c", "1"]


def test_few_ranks_stand_for_whole_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TWO_HOSTS, "--version", "2.19.6", *SIZES]) == 0
    text = capsys.readouterr().out
    table = parse_output(text.splitlines(), exit_code=0).tables[0]
    assert text.startswith(SIMULATED_LINE)
    assert (table.tool_version, table.n_ranks, table.hosts) == ("2.19.6", 4, ("n001", "n002"))
    assert [row.size_bytes >> 30 for row in table.rows] == [1, 2, 4, 8]
    half = table.rows[-1].out_of_place
    assert half is not None
    assert half.busbw_gbyte_s == pytest.approx(192, rel=0.02)


def test_a_fault_of_one_host_shows_in_the_table_and_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TWO_HOSTS, "--fault", "n002:corrupt", *SIZES]) == 7
    assert "# Out of bounds values : 32 FAILED" in capsys.readouterr().out
    assert main([*TWO_HOSTS, "--fault", "n001:hca=mlx5_0,rate=0.5", *SIZES]) == 0
    half = parse_output(capsys.readouterr().out.splitlines()).tables[0].rows[-1].out_of_place
    assert half is not None
    assert half.busbw_gbyte_s == pytest.approx(96, rel=0.02)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*TWO_HOSTS, "--fault", "n003:hang", *SIZES], "there is no node 'n003'"),
        ([*TWO_HOSTS, "--version", "2.12.0", *SIZES], "'2.12.0' cannot be printed; 2.10.1, 2.13.10"),
        ([*TWO_HOSTS, "--platform", "nosuch", *SIZES], "there is no platform 'nosuch'"),
        ([*TWO_HOSTS, "--", "-b", "many"], "'many' is not a size"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.out == ""
