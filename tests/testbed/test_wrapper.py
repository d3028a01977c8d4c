"""A playbook whose wrapper gives every rank a mount namespace of its own, as a container does."""

from __future__ import annotations

import pytest

from tests.testbed.checkup import PLAYBOOK, CheckUp
from tests.testbed.lab import Lab

pytestmark = pytest.mark.testbed

INSIDE = "wrapper: [unshare, --mount, --]\nstages:"


def test_ranks_in_a_wrapper_measure_and_leave_their_logs(lab: Lab) -> None:
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=("n001", "n002"))
    check_up.playbook = PLAYBOOK.replace("stages:", INSIDE)
    check_up.start().wait().assert_ended(0)
    assert check_up.record.healthy_hosts == ("n001", "n002")
    (job,) = [job for job in check_up.record.jobs if job.stage == "multi_node"]
    assert "unshare --mount -- " in " ".join(job.command)
    assert check_up.kept_logs("multi_node").keys() == {"n001", "n002"}
    check_up.assert_nothing_left()
    check_up.assert_no_logs_left()


@pytest.mark.only_full
def test_a_wrapper_that_is_not_there_is_named_and_nothing_is_started(lab: Lab) -> None:
    check_up = CheckUp(lab, f"push: {lab.mpi.build()}", hosts=("n001", "n002"))
    check_up.playbook = PLAYBOOK.replace("stages:", "wrapper: [enroot, exec]\nstages:")
    check_up.start().wait().assert_ended(3)
    check_up.assert_why("n001", "there is no enroot")
    assert check_up.record.jobs == ()
