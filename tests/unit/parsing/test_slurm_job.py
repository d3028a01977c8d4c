"""The environment of a Slurm job, as salloc and sbatch of 20 to 23 set it, and what srun says of itself."""

from __future__ import annotations

import pytest

from healthcheck.errors import InputError
from healthcheck.parsing.slurm_job import (
    allocated_nodes,
    choose_mpi,
    components,
    gpus_per_node,
    job_id,
    read_mpi_plugins,
    read_version,
)

JOB = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "gpu[001-003,007],login1"}


def test_the_nodes_of_a_job_in_its_order() -> None:
    assert allocated_nodes(JOB) == ("gpu001", "gpu002", "gpu003", "gpu007", "login1")
    assert allocated_nodes({"SLURM_JOBID": "4711", "SLURM_NODELIST": "gpu[1-2]"}) == ("gpu1", "gpu2")


def test_outside_of_a_job_there_are_none() -> None:
    assert job_id({}) is None
    assert allocated_nodes({}) == ()
    assert allocated_nodes({"SLURM_NODELIST": "gpu[1-2]"}) == ()


def test_a_heterogeneous_job_has_the_nodes_of_all_its_components() -> None:
    parts = {"SLURM_JOB_NODELIST_HET_GROUP_0": "gpu[1-2]", "SLURM_JOB_NODELIST_HET_GROUP_1": "cpu1"}
    environment = {"SLURM_JOB_ID": "9", "SLURM_JOB_NODELIST": "gpu[1-2]", "SLURM_HET_SIZE": "2", **parts}
    assert allocated_nodes(environment) == ("gpu1", "gpu2", "cpu1")
    assert (components(environment), components(JOB)) == (2, 1)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"SLURM_JOB_ID": "4711"}, "does not say which nodes"),
        ({"SLURM_JOB_ID": "47; rm"}, "SLURM_JOB_ID: '47; rm' is not the id of a job"),
        ({**JOB, "SLURM_JOB_NODELIST": "gpu[1-"}, "SLURM_JOB_NODELIST: "),
        ({**JOB, "SLURM_JOB_NODELIST": "gpu1;id"}, "is not a host name"),
        ({**JOB, "SLURM_HET_SIZE": "2", "SLURM_JOB_NODELIST_HET_GROUP_0": "gpu1"}, "one says no nodes (SLURM_JOB_NODE"),
    ],
)
def test_what_is_wrong_there_is_named(environment: dict[str, str], words: str) -> None:
    with pytest.raises(InputError) as raised:
        allocated_nodes(environment)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({}, None),
        ({"SLURM_GPUS_ON_NODE": "8"}, 8),
        ({"SLURM_GPUS_PER_NODE": "8"}, 8),
        ({"SLURM_GPUS_PER_NODE": "a100:4"}, 4),
        ({"SLURM_GPUS_PER_NODE": "gpu:a100:4(S:0-1)"}, 4),
        ({"SLURM_GPUS_ON_NODE": "0"}, None),
        ({"SLURM_GPUS_ON_NODE": "many"}, None),
    ],
)
def test_gpus_of_a_job(environment: dict[str, str], count: int | None) -> None:
    assert gpus_per_node(environment) == count


def test_srun_of_any_release_is_read() -> None:
    assert read_version("slurm-wlm 22.05.8\n") == "22.05.8"
    assert read_version("slurm 23.11.4\n") == "23.11.4"
    assert read_version("srun: command not found") is None
    newer = "MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\nspecific pmix plugin versions: pmix_v4\n"
    older = "srun: MPI types are...\nsrun: pmi2\nsrun: none\nsrun: pmix_v3\nsrun: openmpi\n"
    assert read_mpi_plugins(newer) == ("pmix", "none", "cray_shasta", "pmi2")
    assert read_mpi_plugins(older) == ("pmi2", "none", "pmix_v3", "openmpi")


def test_pmix_is_taken_where_there_is_one_and_what_is_asked_for_before_it() -> None:
    assert choose_mpi(("none", "pmi2", "pmix"), None, "x") == "pmix"
    assert choose_mpi(("none", "pmi2", "pmix_v3"), None, "x") == "pmix_v3"
    assert choose_mpi(("none", "pmi2"), None, "x") == "pmi2"
    assert choose_mpi(("pmix", "pmi2"), "pmi2", "x") == "pmi2"
    with pytest.raises(InputError, match=r"no MPI ranks here.*it has none, openmpi"):
        choose_mpi(("none", "openmpi"), None, "--launcher")
    with pytest.raises(InputError, match=r"no MPI plugin 'pmix' here; it has pmi2"):
        choose_mpi(("pmi2",), "pmix", "--launcher")
