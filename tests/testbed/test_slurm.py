"""A node that a real Slurm has given to somebody is left alone, whatever its GPUs do."""

from __future__ import annotations

import pytest

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from tests.testbed.checkup import CheckUp
from tests.testbed.lab import Lab
from tests.testbed.slurm import SlurmLab

pytestmark = pytest.mark.testbed

HOSTS = ("n001", "n002", "n003")
CHECK = "node.allocation"


def rules(record: RunRecord) -> dict[str, str]:
    return {str(check.component): check.rule for check in record.checks if check.check == CHECK}


def in_slurm(lab: Lab) -> tuple[SlurmLab, CheckUp]:
    """Three nodes of a Slurm, and a check-up of them from where its clients work."""
    slurm = SlurmLab(lab, HOSTS)
    slurm.up()
    here = (f"SLURM_CONF={slurm.conf}",)
    return slurm, CheckUp(lab, f"push: {lab.mpi.build()}", hosts=HOSTS, environment=here)


def test_who_was_given_a_node_keeps_it(lab: Lab) -> None:
    slurm, check_up = in_slurm(lab)
    job = slurm.submit("n002")

    check_up.start().wait().assert_ended(3)
    record = check_up.record
    assert rules(record) == {"n001": "allocation.free", "n002": "busy.allocated", "n003": "allocation.free"}
    assert record.healthy_hosts == ("n001", "n003")
    assert not [one for one in record.jobs if "n002" in one.hosts]
    assert check_up.verdict("n002") is Verdict.SKIPPED
    check_up.assert_why("n002", f"job {job} of root (RUNNING)")
    assert [(str(found.component), found.cause.code) for found in record.findings] == [("n002", "cause.allocated")]

    check_up.environment = (*check_up.environment, f"SLURM_JOB_ID={job}")
    check_up.start().wait().assert_ended(0)
    assert check_up.record.healthy_hosts == HOSTS


@pytest.mark.only_full
def test_a_slurm_that_is_down_keeps_nobody_from_measuring_and_is_noted(lab: Lab) -> None:
    slurm, check_up = in_slurm(lab)
    slurm.kill_controller()

    check_up.start().wait().assert_ended(0)
    assert rules(check_up.record) == {}
    (note,) = [note for note in check_up.record.notes if note.code == "allocation.silent"]
    assert "Unable to contact slurm controller" in str(note)
