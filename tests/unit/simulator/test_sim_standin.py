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


MODEL = ["--leaves", "3,3,2", "--plant", "leaf:l1-l3=0.5", "--plant", "link:n001-n004=0.5", "--plant", "noise=0"]


def busbw(capsys: pytest.CaptureFixture[str], hosts: str, *words: str, options: str = "") -> float:
    arguments = ["--program", "all_reduce_perf", "--hosts", hosts, "--ranks-per-host", "2", *MODEL, *words]
    assert main([*arguments, "--", "-b", "8G", "-e", "8G", *options.split()]) == 0
    half = parse_output(capsys.readouterr().out.splitlines()).tables[0].rows[-1].out_of_place
    assert half is not None
    return half.busbw_gbyte_s or 0.0


def test_what_lies_between_the_hosts_of_a_job_is_known_from_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert busbw(capsys, "n001,n002") == pytest.approx(192, rel=0.01)
    assert busbw(capsys, "n001,n004") == pytest.approx(96, rel=0.02)
    assert busbw(capsys, "n002,n004") == pytest.approx(190, rel=0.01)
    assert busbw(capsys, "n007,n003") == pytest.approx(96, rel=0.02)
    assert busbw(capsys, "n001,n002,n004,n005") == pytest.approx(190, rel=0.01), "n001 and n004 are no neighbours"
    assert busbw(capsys, "n001,n004,n002,n005") == pytest.approx(96, rel=0.02)


def test_a_split_makes_each_rank_one_gpu_and_each_group_a_rail(capsys: pytest.CaptureFixture[str]) -> None:
    rails = ("--env", "NCCL_TESTS_SPLIT=MOD 2", "--plant", "n002:hca=mlx5_1,slow=0.5")
    assert busbw(capsys, "n001,n002", *rails, options="-a 3") == pytest.approx(12, rel=0.01)
    assert busbw(capsys, "n001,n002", *rails) == pytest.approx(16, rel=0.01)
    assert busbw(capsys, "n001,n003", *rails, options="-a 3") == pytest.approx(24, rel=0.01)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--leaves", "3,three"], "'3,three' are no numbers of hosts; write for example 3,3,2"),
        (["--leaves", "1"], "'n002' is none of the 1 hosts of '1'"),
        (["--plant", "n002:hca=mlx5_9,slow=0.5"], "n002 has no HCA 'mlx5_9'"),
        (["--plant", "nonsense"], "'nonsense' is not a fault"),
    ],
)
def test_a_model_that_cannot_be_is_refused(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TWO_HOSTS, *words, *SIZES]) == 2
    assert sentence in capsys.readouterr().err
