"""Which mpirun, and who we are."""

from __future__ import annotations

import pytest

from healthcheck.model.verdict import Verdict
from healthcheck.probes import identity, mpi
from tests.unit.probes.fixtures import answer


@pytest.mark.parametrize(
    ("fixture", "family", "version", "major"),
    [
        ("healthy", "openmpi", "4.1.4", 4),
        ("healthy_ompi5", "openmpi", "5.0.11", 5),
        ("healthy_hydra", "hydra", "4.2.3", 4),
        ("healthy_intel", "hydra", "2021.9", 2021),
    ],
)
def test_families(fixture: str, family: str, version: str, major: int) -> None:
    flavour = mpi.read(answer("mpi", fixture)).value
    assert flavour is not None
    assert (flavour.family, flavour.version, flavour.major) == (family, version, major)


@pytest.mark.parametrize(
    ("fixture", "rule"),
    [("tool_missing", "mpi.missing"), ("sick_garbage", "mpi.unreadable"), ("sick_slurm", "mpi.unreadable")],
)
def test_no_usable_mpirun_is_not_measured(fixture: str, rule: str) -> None:
    result = mpi.judge("node01", mpi.read(answer("mpi", fixture)), None)
    assert (result.rule, result.verdict) == (rule, Verdict.INCONCLUSIVE)


def test_the_other_family_than_the_playbook_wants_is_said() -> None:
    result = mpi.judge("node01", mpi.read(answer("mpi", "healthy_hydra")), "openmpi")
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "hydra 4.2.3" in str(result.message)


def test_open_mpi_4_needs_its_daemon_and_no_other_is_asked_for_one() -> None:
    result = mpi.judge("node01", mpi.read(answer("mpi", "sick_no_orted")), None)
    assert (result.rule, result.verdict) == ("mpi.no_daemon", Verdict.INCONCLUSIVE)
    assert "orted" in str(result.message)
    for fixture in ("healthy_ompi5_no_orted", "healthy_hydra"):
        assert mpi.judge("node01", mpi.read(answer("mpi", fixture)), None).verdict is Verdict.PASS


def test_identity_as_printed() -> None:
    found = identity.read(answer("identity", "healthy")).value
    assert found is not None
    assert (found.uid, found.user, found.home, found.arch) == (1000, "ops", "/home/ops", "x86_64")


@pytest.mark.parametrize("fixture", ["sick_no_home", "tool_missing"])
def test_without_uid_and_home_there_is_no_identity(fixture: str) -> None:
    assert identity.read(answer("identity", fixture)).value is None
