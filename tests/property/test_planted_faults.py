"""Whole check-ups of simulated clusters: what was planted is found by its own cause, and nothing else is.

The many seeds are in `benchmarks/faults.py`; these cover every platform that can have every fault, with every
generation of driver and NCCL.
"""

from __future__ import annotations

import pytest

from benchmarks.faults import KINDS, Case, alone, measured, pairs, wrong

ONE_OF_EACH = (1, 11, 18)
"""Seeds that have three platforms, A100 and H100, and three generations between them."""


@pytest.mark.parametrize("seed", range(30))
def test_a_healthy_cluster_passes_without_a_finding_or_a_doubt(seed: int) -> None:
    case = Case((), seed)
    assert wrong(case, measured(case)) == []


@pytest.mark.parametrize("case", [case for kind in KINDS for case in alone(kind, ONE_OF_EACH)], ids=str)
def test_a_fault_is_the_first_finding_under_its_own_cause(case: Case) -> None:
    assert wrong(case, measured(case)) == []


@pytest.mark.parametrize("case", pairs()[::6], ids=str)
def test_two_faults_on_two_nodes_are_two_findings(case: Case) -> None:
    assert wrong(case, measured(case)) == []


def test_the_seeds_have_every_platform_and_every_generation() -> None:
    for seeds, kinds in ((range(30), 30), (ONE_OF_EACH, 3)):
        assert len({(Case((), seed).platform.name, seed % 3) for seed in seeds}) == kinds


def test_a_fault_that_is_called_by_another_name_is_no_find() -> None:
    record = measured(Case(("node02:corrupt",), 0))
    assert wrong(Case(("node02:corrupt",), 0), record) == []
    assert any("node02" in line for line in wrong(Case(("node02:hang",), 0), record))
    assert any("node03" in line for line in wrong(Case(("node03:corrupt",), 0), record))
    assert any("cause.wrong_results" in line for line in wrong(Case((), 0), record))
