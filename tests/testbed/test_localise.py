"""A search on real hosts with a real mpirun: what slows a job between them is named for what it is."""

from __future__ import annotations

import signal
import time

import pytest

from healthcheck.model.message import Message
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from tests.testbed.checkup import PLAYBOOK, CheckUp
from tests.testbed.lab import HERE, Lab

pytestmark = pytest.mark.testbed

SLOW_CARD = "n005:hca=mlx5_1,slow=0.5"
SLOW_LINK = "link:n004-n005=0.5"
SLOW_PATH = "leaf:l1-l2=0.5"
LEAVES = ("l1", "l1", "l1", "l2", "l2", "l2", "l3", "l3")
SEARCH = PLAYBOOK + "  - {{name: localise, when: not_pass}}\n"


def searching(lab: Lab, fault: str, n_hosts: int = 8) -> CheckUp:
    """A check-up of hosts on three leaves (3 + 3 + 2), with something slow that shows only between hosts."""
    for host in lab.hosts:
        lab.standin(host, "model", f"--platform {HERE / 'platform.yaml'} --leaves 3,3,2 --plant {fault}")
    hosts = [f"{host} leaf={leaf}" for host, leaf in zip(lab.hosts, LEAVES, strict=True)][:n_hosts]
    return CheckUp(lab, f"push: {lab.mpi.build()}", hosts=hosts, timeout_s=90, stall_s=20, playbook=SEARCH)


def listed(check_up: CheckUp, name: str) -> tuple[str, ...]:
    """The hosts of `healthy.hosts` or `exclude.hosts`, in their order."""
    lines = (check_up.folder / name).read_text(encoding="utf-8").splitlines()
    return tuple(line.split()[0] for line in lines if line and not line.startswith("#"))


def told(record: RunRecord) -> list[tuple[str, Verdict, str, tuple[Message, ...], tuple[Message, ...]]]:
    """What the findings say."""
    return [
        (str(one.component), one.verdict, one.confidence, one.evidence_for, one.evidence_against)
        for one in record.findings
    ]


def neighbours(ring: tuple[str, ...]) -> set[frozenset[str]]:
    """Who stands beside whom in a ring."""
    return {frozenset(pair) for pair in zip(ring, (*ring[1:], ring[0]), strict=True)}


def others(lab: Lab, *names: str) -> tuple[str, ...]:
    """All hosts but these."""
    return tuple(host for host in lab.hosts if host not in names)


def assert_card_named(check_up: CheckUp) -> None:
    """The node, its rail and the HCA of that rail; nobody else is blamed."""
    finding = check_up.record.findings[0]
    assert (str(finding.component), finding.confidence) == ("n005/hca:mlx5_1", "confirmed")
    checks = {str(check.component): check for check in check_up.record.checks if check.check.startswith("localise.")}
    assert checks["n005"].rule == "slow_node.confirmed"
    assert checks["n005/hca:mlx5_1"].message.args["rail"] == 1
    assert checks["n005"].verdict is checks["n005/hca:mlx5_1"].verdict is Verdict.FAIL
    assert set(checks) == {"n005", "n005/hca:mlx5_1", "fabric"}


def test_a_slow_card_that_no_probe_shows(lab: Lab) -> None:
    check_up = searching(lab, SLOW_CARD).start().wait()

    check_up.assert_ended(1)
    assert max(check.verdict for check in check_up.record.checks if check.stage == "probe") is Verdict.PASS
    assert_card_named(check_up)
    assert listed(check_up, "exclude.hosts") == ("n005",)
    assert listed(check_up, "healthy.hosts") == others(lab, "n005")
    check_up.assert_nothing_left()
    check_up.assert_no_logs_left()


@pytest.mark.parametrize("n_hosts", [6, pytest.param(8, marks=pytest.mark.only_full)])
def test_a_slow_link_also_when_the_search_was_interrupted_between_two_rounds(lab: Lab, n_hosts: int) -> None:
    check_up = searching(lab, SLOW_LINK, n_hosts).start().wait()

    check_up.assert_ended(1)
    whole = check_up.record
    assert [str(finding.component) for finding in whole.findings] == ["link:n004-n005"]
    assert listed(check_up, "exclude.hosts") == ()
    proven = listed(check_up, "healthy.hosts")
    assert sorted(proven) == list(lab.hosts[:n_hosts])
    assert frozenset(("n004", "n005")) not in neighbours(proven)

    check_up.start()
    check_up.wait_for_words("round 3:")  # told when it has ended
    check_up.signal(signal.SIGINT)
    check_up.wait()
    check_up.assert_ended(130)
    check_up.assert_nothing_left()
    stopped = check_up.record
    assert stopped.run_id != whole.run_id and stopped.healthy_hosts == ()
    kept = {job.id: job.started_at for job in stopped.jobs if job.id.startswith(("localise-r02-", "localise-r03-"))}
    assert len(kept) == n_hosts

    check_up.start("--resume", stopped.run_id).wait()
    check_up.assert_ended(1)
    resumed = check_up.record
    assert (resumed.run_id, resumed.state) == (stopped.run_id, "complete")
    assert kept == {job.id: job.started_at for job in resumed.jobs if job.id in kept}
    assert told(resumed) == told(whole)
    assert (resumed.search, resumed.healthy_hosts) == (whole.search, whole.healthy_hosts)
    check_up.assert_nothing_left()


@pytest.mark.only_full
def test_a_slow_path_between_two_of_three_leaves(lab: Lab) -> None:
    check_up = searching(lab, SLOW_PATH).start().wait()

    check_up.assert_ended(1)
    assert [str(finding.component) for finding in check_up.record.findings] == ["path:l1-l2"]
    assert listed(check_up, "exclude.hosts") == ()
    # A ring over three leaves, each kept together, crosses between any two of them: nothing can be proven.
    search = check_up.record.search
    assert search is not None and search.ending == "no_order"
    assert listed(check_up, "healthy.hosts") == ()
    check_up.assert_nothing_left()


@pytest.mark.only_full
@pytest.mark.parametrize(
    ("dies", "job"), [("n007", "localise-r03-n001-n007"), ("n008", "localise-r03-n008-n006")], ids=["member", "first"]
)
def test_a_host_that_dies_in_the_middle_of_a_round(lab: Lab, dies: str, job: str) -> None:
    check_up = searching(lab, SLOW_CARD)
    check_up.stall_s = 8
    check_up.start()
    check_up.wait_for_words("round 2:")  # told when it has ended, so the next one begins
    lab.standin(dies, "delay", "20000")
    check_up.wait_for_table("localise", job)
    lab.cut(dies)
    cut = time.monotonic()
    check_up.wait()  # that nobody answers any more is known after most of a minute

    check_up.assert_ended(1)
    assert_card_named(check_up)
    assert check_up.verdict(dies) is Verdict.INCONCLUSIVE
    check_up.assert_why(dies, "no answer")
    search = check_up.record.search
    assert search is not None and (search.ending, search.gone) == ("verified", (dies,))
    assert next(one for one in search.rounds if one.round == 3).untested == (tuple(job.split("-")[2:]),)
    assert listed(check_up, "exclude.hosts") == ("n005", dies)
    assert listed(check_up, "healthy.hosts") == others(lab, "n005", dies)
    check_up.assert_nothing_left(hosts=("head", *others(lab, dies)))
    check_up.assert_nothing_left(seconds=max(1.0, cut + 60 - time.monotonic()))
