"""A fresh lab for every test: starting one takes less than a second."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed import slurm
from tests.testbed.lab import Lab, Mpi

PROGRAMS = (
    "ip",
    "unshare",
    "sshd",
    "ssh",
    "mpirun.openmpi",
    "mpicc.openmpi",
    "gcc",
    "chromium",
    "promtool",
    "systemd-analyze",
    *slurm.PROGRAMS,
)
MPIS = {
    "ompi4": Mpi("ompi4", "orted"),
    "ompi5": Mpi("ompi5", "prted", Path(os.environ.get("TESTBED_VENV", "")) / "bin"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--testbed-once`: what one MPI shows is not shown again with the other."""
    parser.addoption("--testbed-once", action="store_true", help="the fault table with one MPI only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under --testbed-once, what is marked only_full stays out."""
    if config.getoption("--testbed-once", default=False):
        kept = [item for item in items if item.get_closest_marker("only_full") is None]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take `mpi` run with both, those that take `any_mpi` with one under --testbed-once."""
    if "mpi" in metafunc.fixturenames:
        once = (
            metafunc.config.getoption("--testbed-once") and metafunc.definition.get_closest_marker("both_mpis") is None
        )
        names = ["ompi4"] if once else list(MPIS)
        metafunc.parametrize("mpi", [MPIS[name] for name in names], ids=names, scope="session")


@pytest.fixture(scope="session", autouse=True)
def machine() -> None:
    """Say what is missing at once, instead of failing in a hundred ways."""
    if os.geteuid() != 0:
        pytest.exit("the testbed makes network namespaces and needs root", returncode=3)
    missing = [name for name in PROGRAMS if not _found(name)]
    if missing:
        pytest.exit(f"the testbed needs these programs (.ci/run installs them): {', '.join(missing)}", returncode=3)
    if not (MPIS["ompi5"].folder / "mpirun").exists():
        pytest.exit("the testbed needs Open MPI 5 in $TESTBED_VENV: run it with `make testbed`", returncode=3)


def _found(name: str) -> bool:
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is not None


@pytest.fixture
def lab(mpi: Mpi) -> Iterator[Lab]:
    """Eight hosts and a head, all well."""
    lab = Lab(mpi, n_hosts=8)
    try:
        lab.up()
        yield lab
    finally:
        lab.down()
