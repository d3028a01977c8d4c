"""What a well-known article gets wrong (docs/bandwidth.md, last section): what our own code does at each point."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from healthcheck.__main__ import run
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.launchers import LAUNCHERS
from healthcheck.launchers.site import LaunchSite
from healthcheck.model.collective import Collective
from healthcheck.model.gpu_models import has_nvls
from healthcheck.model.host import Host
from healthcheck.model.measurement import OutputState
from healthcheck.model.node import MpiFlavour
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.parsing.nccl_tests import parse_output
from healthcheck.planning.stages import multi_node_jobs, single_node_jobs
from tests.published.equations import PAGE, Equation, value
from tests.published.tables import printed

A100 = "a100-sxm4-8gpu-8x200"
PART = PAGE.read_text().partition("## What a well-known article gets wrong")[2]
BOOK = Playbook(name="x", stages=())
HOSTS = tuple(Host(name, name, slots=8) for name in ("gpu01", "gpu02"))


def paragraph(begins: str) -> str:
    """One point of the page, by its first words in bold."""
    (found,) = [block for block in PART.split("\n\n") if block.startswith(f"**{begins}")]
    return " ".join(found.split())


def options(line: str) -> dict[str, int]:
    """The numbers behind -np and -g."""
    words = shlex.split(line)
    return {name: int(words[words.index(name) + 1]) for name in ("-np", "-g")}


# --- The factor of all_reduce.


def test_busbw_of_all_reduce_is_larger_than_its_algbw_from_three_ranks_on() -> None:
    assert Collective.ALL_REDUCE.factor(2) == 1
    assert all(Collective.ALL_REDUCE.factor(ranks) > 1 for ranks in (3, 8, 16, 1024))
    assert all(Collective.ALL_GATHER.factor(ranks) < 1 for ranks in (2, 8, 1024))
    both = Collective.REDUCE_SCATTER.factor(8) + Collective.ALL_GATHER.factor(8)
    assert Collective.ALL_REDUCE.factor(8) == both == value("7 / 8 + 7 / 8")


def test_a_table_with_the_wrong_factor_is_warned_of_and_is_no_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(246.0, algbw_gbyte_s=246.0 / (7 / 8))
    (warning,) = [one for one in parse_output([text.encode()]).warnings if one.code == "busbw_contradicts"]
    assert "all_reduce over 8 ranks would make it 491.995" in warning.message
    saved = tmp_path / "saved.log"
    saved.write_text(text)
    assert run(["parse", "--platform", A100, str(saved)]) == 3
    said = capsys.readouterr().out
    assert "busbw contradicts algbw" in said and "INCONCLUSIVE: not judged" in said


# --- "First bus bandwidth".


def test_no_line_but_the_table_is_read_for_a_bandwidth() -> None:
    output = parse_output([b"# First bus bandwidth : 231.4\n# Max bus bandwidth : 240.1\n"])
    assert output.state is OutputState.EMPTY and output.tables == ()
    assert "First bus bandwidth" not in printed(231.0)
    text = printed(231.0).replace("# Avg bus", "# First bus bandwidth : 999.9\n# Avg bus")
    (table,) = parse_output([line.encode() + b"\n" for line in text.splitlines()]).tables
    assert table.avg_busbw_gbyte_s == pytest.approx(231.0)
    assert {half.busbw_gbyte_s for row in table.rows for _, half in row.placements} == {231.0}


# --- How many ranks are asked for.


def test_our_command_lines_ask_for_one_rank_a_gpu() -> None:
    site = LaunchSite(MpiFlavour("openmpi", "4.1.4"), "/opt/all_reduce_perf", "t0", None)
    (alone, _) = single_node_jobs(BOOK, Stage(name="single_node"), HOSTS)
    (both,) = multi_node_jobs(BOOK, Stage(name="multi_node"), HOSTS, "gpu01")
    folder = LaunchSite(MpiFlavour("openmpi", "4.1.4"), "/opt/all_reduce_perf", "t0", "/run/t0")
    for job, where, ranks in ((alone, site, 8), (both, folder, 16)):
        asked = options(shlex.join(LAUNCHERS["openmpi"](job, where).argv))
        assert asked == {"-np": ranks, "-g": 1}
        assert asked["-np"] * asked["-g"] == job.n_ranks == ranks


@pytest.mark.parametrize(("begins", "processes", "ranks"), [("`mpirun -np 8", 8, 64), ("`-np 16", 16, 256)])
def test_the_lines_of_the_article_ask_for_more_ranks_than_there_are_gpus(
    begins: str, processes: int, ranks: int
) -> None:
    words = re.search(r"-np (\d+) \.\.\. -g (\d+)", paragraph(begins))
    assert words is not None and (int(words[1]), int(words[2])) == (processes, processes)
    assert int(words[1]) * int(words[2]) == ranks
    assert f"`{processes} x {processes} = {ranks}`" in paragraph(begins)


# --- The table of five runs.


@pytest.mark.parametrize("busbw", [492.0, 536.0])
def test_what_an_a100_cannot_do_is_no_pass(busbw: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "saved.log"
    saved.write_text(printed(busbw, model="NVIDIA A100-SXM4-80GB"))
    assert run(["parse", "--platform", A100, str(saved)]) == 3
    said = capsys.readouterr().out
    assert f"INCONCLUSIVE: busbw {busbw} GB/s is more than any algorithm can do on {A100} (315.0 GB/s)" in said
    assert f"`{busbw:g} / 2 = {busbw / 2:g}`" in paragraph("The table of five runs")
    # Its wrong factor makes a plausible number of it: that is how it went unseen.
    saved.write_text(printed(busbw / 2, model="NVIDIA A100-SXM4-80GB"))
    assert run(["parse", "--platform", A100, str(saved)]) == 0


def test_an_a100_has_no_switches_that_add_up() -> None:
    assert not has_nvls("NVIDIA A100-SXM4-80GB", 8) and has_nvls("NVIDIA H100 80GB HBM3", 8)
    assert not shipped_platforms()[A100].has_nvls


# --- The training side: arithmetic of the page, computed again.

PEAK_A100, PEAK_H100 = 312e12, 990e12


def mfu(parameters: float, tokens: float, gpus: int, step_s: float, peak: float) -> float:
    """Model FLOPs utilization: 6 FLOP a parameter and token."""
    return 6 * parameters * tokens / step_s / gpus / peak


def test_the_peak_of_an_a100_is_a_third_of_what_was_taken() -> None:
    text = paragraph("The peak of an A100")
    assert "312 TFLOP/s" in text and f"`990 / 312 = {PEAK_H100 / PEAK_A100:.1f}`" in text


def test_an_mfu_above_one_is_bad_input() -> None:
    text = paragraph("An MFU above 1")
    right, wrong = (mfu(13e9, 4e6, 100, 2.4, peak) for peak in (PEAK_A100, PEAK_H100))
    assert right > 1 and wrong > 1
    assert f"= {right:.2f}`" in text and f"= {wrong:.2f}`" in text
    assert mfu(13e9, 4e6, 100, 25, PEAK_A100) == pytest.approx(0.40, abs=0.002)
    assert "bad input" in text


def test_recomputing_counts_for_the_hardware_and_not_for_the_model() -> None:
    text = paragraph("The factor 4/3")
    assert f"`8 / 6 = {8 / 6:.3f}`" in text
    assert "It belongs to HFU" in text


def test_the_share_of_communication_and_the_gain_fit_its_own_table() -> None:
    text = paragraph('"51 % communication"')
    assert round(100 * 452 / 960) == 47 and "`452 / 960 = 47 %`" in text
    assert 0.27 * 960 < 452 and f"`0.27 x 960 = {0.27 * 960:.0f}`" in text


def test_mfu_rises_by_as_much_as_the_step_gets_shorter() -> None:
    text = paragraph("The 34B model")
    assert Equation("22 x 3.6 / 2.4", "33").holds and "`22 x 3.6 / 2.4 = 33` %, not 41 %" in text
    ratio = mfu(34e9, 4e6, 100, 2.4, PEAK_A100) / mfu(34e9, 4e6, 100, 3.6, PEAK_A100)
    assert 22 * ratio == pytest.approx(33)


def test_every_point_has_its_paragraph() -> None:
    points = re.findall(r"^\*\*(.+?)\*\*", PART, re.MULTILINE)
    assert len(points) == len(set(points)) == 10
