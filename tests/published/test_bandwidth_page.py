"""docs/bandwidth.md: every number that is derived there is computed again, and those of our code are asked of it."""

from __future__ import annotations

import re

import pytest

from healthcheck.diagnosis.catalogue.fingerprints import FINGERPRINT_CAUSES
from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.known_good import KNOWN_GOOD_FRACTION, reference
from healthcheck.evaluation.peaks import ABOVE_CEILING, ceiling_gbyte_s, peak
from healthcheck.model.algorithm import Algorithm
from healthcheck.model.collective import Collective
from healthcheck.model.platform import Platform, Sourced
from tests.published.equations import PAGE, Equation, equations, value

TEXT = PAGE.read_text()
EQUATIONS = tuple(dict.fromkeys(equations(TEXT)))
ALL_REDUCE = Collective.ALL_REDUCE


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda equation: f"{equation.left} = {equation.right}")
def test_an_equation_of_the_page_holds(equation: Equation) -> None:
    assert equation.holds, f"{equation.left} is {value(equation.left)}"


def test_the_check_of_equations_sees_what_is_wrong() -> None:
    assert not Equation("7 / 8", "0.86").holds
    assert not Equation("231 / 300", "76 %").holds
    assert not Equation("6 x 13e9 x 4e6", "3.13e17").holds
    with pytest.raises(ValueError, match="cannot be computed"):
        value("2 x n")


def test_no_product_or_ratio_of_the_page_is_left_unchecked() -> None:
    """A span with numbers and an operator is an equation, or it is no arithmetic at all."""
    checked = {f"{equation.left} = {equation.right}" for equation in EQUATIONS}
    spans = {span for span in re.findall(r"`([^`\n]+)`", TEXT) if re.search(r"\d\)? [x/+-] [\d(]", span)}
    assert spans - checked == set()
    assert len(checked) > 70
    outside = re.sub(r"`[^`\n]*`|\[[^]]*\]\([^)]*\)", "", TEXT)
    assert re.findall(r"\d\)? [x/] \d[^\n]{0,20}=|\d = \d[^\n]*", outside) == []


def _peak(name: str, nodes: int, collective: Collective = ALL_REDUCE, **of: object) -> float:
    algorithm = of.get("algorithm", Algorithm.RING)
    gpus = of.get("gpus")
    assert isinstance(algorithm, Algorithm) and (gpus is None or isinstance(gpus, int))
    nics = of.get("nics")
    assert nics is None or isinstance(nics, int)
    found = peak(shipped_platforms()[name], nodes, collective, gpus=gpus, nics=nics, algorithm=algorithm)
    assert found is not None
    return found.busbw_gbyte_s


HDR8, HDR4, HDR1 = "a100-sxm4-8gpu-8x200", "a100-sxm4-8gpu-4x200", "a100-sxm4-8gpu-1x200"
H100, P4DE = "h100-sxm5-8gpu-8x400", "a100-sxm4-8gpu-4x100-efa"
# (what stands in the page, what our code says)
PEAKS = (
    ("12 x 25 = 300", _peak(HDR8, 1)),
    ("18 x 25 = 450", _peak(H100, 1)),
    ("18 x 50 = 900", _peak("b200-sxm6-8gpu-8x400", 1)),
    ("4 x 25 = 100", _peak("a100-sxm4-4gpu-4x200", 1, gpus=2)),
    ("450 x 2 x 7 / 9 = 700", _peak(H100, 1, algorithm=Algorithm.NVLS)),
    ("min(300, 8 x 25) = 200", _peak(HDR8, 4)),
    ("min(300, 4 x 25) = 100", _peak(HDR4, 4)),
    ("min(300, 25) = 25", _peak(HDR1, 4)),
    ("min(700, 787.5) = 700", _peak(H100, 8, algorithm=Algorithm.SHARP)),
    ("200 / 8 x 15 / 8 = 46.9", _peak(HDR8, 2, Collective.ALLTOALL)),
    ("50 x 1.875 = 93.75", _peak(P4DE, 2, algorithm=Algorithm.TREE)),
    ("150 x 1.875 = 281", _peak(HDR8, 2, nics=6, algorithm=Algorithm.TREE)),
    ("12 x 20 = 240", _peak("a100-pcie-2gpu-bridged", 1)),
)


@pytest.mark.parametrize(("written", "ours"), PEAKS, ids=[written for written, _ in PEAKS])
def test_the_page_says_what_the_code_says(written: str, ours: float) -> None:
    assert f"`{written}`" in TEXT
    assert Equation(repr(ours), written.rpartition(" = ")[2]).holds


@pytest.mark.parametrize("nodes", [2, 3, 4, 8, 16])
def test_the_factor_of_the_tree_is_that_of_the_table(nodes: int) -> None:
    row = re.search(rf"^\| {nodes} \| `([^`]+)` \|", TEXT, re.MULTILINE)
    assert row is not None
    ours = _peak(P4DE, nodes, algorithm=Algorithm.TREE) / 50
    assert Equation(repr(ours), row[1].rpartition(" = ")[2]).holds


def test_a_neighbour_exchange_and_one_gpu_a_node_have_one_nic() -> None:
    assert _peak(HDR8, 2, Collective.SENDRECV) == 25
    ndr4 = shipped_platforms()["gb200-4gpu-4x400"].nics
    assert ndr4.each_gbyte_s == 50 and _peak(HDR4, 2, gpus=1) == 25


def test_a_slot_bounds_its_nic() -> None:
    platform = shipped_platforms()[HDR8]
    narrow = _with_slot(platform, 12.0)
    found = peak(narrow, 4)
    assert "`8 x 12 = 96`" in TEXT and found is not None and found.busbw_gbyte_s == 96


def _with_slot(platform: Platform, gbyte_s: float) -> Platform:
    from msgspec.structs import replace

    return replace(platform, nics=replace(platform.nics, slot_gbyte_s=Sourced(gbyte_s, "test")))


@pytest.mark.parametrize(
    ("written", "name", "nodes"),
    [("1.05 x 300 = 315", HDR8, 1), ("1.05 x 93.75 = 98.4", P4DE, 2)],
)
def test_the_ceiling_is_that_of_the_code(written: str, name: str, nodes: int) -> None:
    ours = ceiling_gbyte_s(shipped_platforms()[name], nodes, ALL_REDUCE)
    assert ours is not None and f"`{written}`" in TEXT
    assert Equation(repr(ours), written.rpartition(" = ")[2]).holds
    assert f"{ABOVE_CEILING:g} x" in TEXT


# (row of the table, platform, nodes, forced algorithm)
MACHINES = (
    ("A100 SXM, 8 GPUs", HDR8, 1, None),
    ("A800 SXM", "a800-sxm4-8gpu", 1, None),
    ("H100, H200 SXM with NVLS", H100, 1, None),
    ("the same without NVLS", H100, 1, Algorithm.RING),
    ("H800 SXM with NVLS", "h800-sxm5-8gpu", 1, None),
    ("B200 with NVLS", "b200-sxm6-8gpu-8x400", 1, None),
    ("V100, 8 GPUs, cube mesh", "v100-sxm2-8gpu-4x100", 1, None),
    ("A100 PCIe, bridged pair", "a100-pcie-2gpu-bridged", 1, None),
    ("A100 PCIe, no bridge", "a100-pcie-8gpu", 1, None),
    ("8 x A100 over HDR, 8 ports", HDR8, 4, None),
    ("8 x A100 over HDR, 4 ports", HDR4, 4, None),
    ("8 x H100 over NDR, 3 nodes and more", H100, 4, None),
)


@pytest.mark.parametrize(("title", "name", "nodes", "algorithm"), MACHINES, ids=[row[0] for row in MACHINES])
def test_a_row_of_the_table_of_machines_is_that_of_its_platform(
    title: str, name: str, nodes: int, algorithm: Algorithm | None
) -> None:
    platform = shipped_platforms()[name]
    (cells,) = [
        [cell.strip("` ") for cell in line.strip("| ").split(" | ")]
        for line in TEXT.splitlines()
        if line.startswith(f"| {title} |")
    ]
    _, basis, top, passes, fails, healthy, share = cells
    known, fractions = reference(platform, nodes, algorithm=algorithm), platform.thresholds
    stage = fractions["single_node" if nodes == 1 else "multi_node"]
    ours = _peak(name, nodes)
    assert known is not None
    assert basis == (platform.peak_basis if nodes == 1 else "raw")
    assert (float(top), float(healthy)) == (ours, known.value)
    assert float(passes.rpartition("= ")[2]) == pytest.approx(stage.healthy * ours)
    assert float(fails.rpartition("= ")[2]) == pytest.approx(stage.broken * ours)
    assert share.startswith(f"{known.value:g} / {ours:g} = ")


def test_every_machine_that_is_not_judged_by_its_line_rate_reads_below_75_percent_of_it() -> None:
    """What the page says of `peak_basis: effective`, as far as a healthy number is published."""
    for platform in shipped_platforms().values():
        known = reference(platform, 1)
        if platform.peak_basis == "effective" and known is not None:
            assert platform.line_rate_gbyte_s is not None
            assert known.value < 0.75 * platform.line_rate_gbyte_s.value, platform.name


def test_the_factors_are_those_of_the_code() -> None:
    assert f"`2 x 7 / 8 = {ALL_REDUCE.factor(8):g}`" in TEXT
    assert f"`2 x 15 / 16 = {ALL_REDUCE.factor(16):g}`" in TEXT
    assert f"`7 / 8 = {Collective.ALL_GATHER.factor(8):g}`" in TEXT
    assert f"`15 / 16 = {Collective.REDUCE_SCATTER.factor(16):g}`" in TEXT


def test_the_cases_of_the_rules_are_below_what_is_known_good() -> None:
    """87.5 % and 77 % are below the bar of 90 %, and above that of the 70/50 rule."""
    assert KNOWN_GOOD_FRACTION == 0.9 and "Below 90 %" in TEXT
    for platform, nodes, reading in ((HDR8, 2, 168.0), (H100, 1, 367.0)):
        known = reference(shipped_platforms()[platform], nodes)
        assert known is not None
        assert reading < KNOWN_GOOD_FRACTION * known.value
        assert reading >= 0.7 * _peak(platform, nodes)


def test_the_page_names_every_cause_that_a_number_can_suggest() -> None:
    table = TEXT.partition("## What a low number looks like")[2].partition("\n## ")[0]
    named = re.findall(r"\| `([a-z0-9_]+)` \|$", table, re.MULTILINE)
    assert sorted(named) == sorted(cause.code for cause in FINGERPRINT_CAUSES)
