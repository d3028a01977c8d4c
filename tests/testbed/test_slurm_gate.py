"""A gate inside an allocation of a real Slurm, without ssh: srun starts the ranks and carries the looks.

slurmctld, slurmd, munge, srun, PMIx and Open MPI are real; GPUs, cards and the numbers of the benchmark come from the
stand-ins of this lab.
"""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record
from tests.testbed.checkup import PLAYBOOK, SIZES
from tests.testbed.lab import HERE, Lab
from tests.testbed.slurm import Job, SlurmLab

pytestmark = pytest.mark.testbed

HOSTS = ("n001", "n002", "n003", "n004", "n005")
FOUR = 'srun --nodes=4 --ntasks-per-node=1 --overlap --exclude="$(cat {lists}.slurm)" hostname'


class InSlurm:
    """Five nodes of a Slurm on which nobody can log in."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.slurm = SlurmLab(lab, HOSTS)
        self.slurm.up()
        for host in HOSTS:
            lab.stop_sshd(host)
        self.results = lab.folder / "reports"
        self.lists = lab.folder / "exclude"
        playbook = PLAYBOOK.format(binaries=f"push: {lab.mpi.build()}", sizes=SIZES, timeout_s=40, stall_s=10)
        (lab.folder / "playbook.yaml").write_text(playbook)

    def words(self, verb: str, *more: str) -> str:
        """A command of ours as it stands in a job script."""
        platform = str(HERE / "platform.yaml")
        return shlex.join(
            (
                *("env", f"TMPDIR={self.lab.folder}", sys.executable, "-m", "healthcheck", verb),
                *(str(self.lab.folder / "playbook.yaml"), "--platform", platform, "-o", str(self.results)),
                *("--launcher", "srun", *more),
            )
        )

    def gate(self, then: str = "", *more: str) -> Job:
        """A job script that begins with a gate."""
        lists = ("--exclude-file", str(self.lists), "--budget", "3m", *more)
        code = self.lab.folder / "gate.code"
        return self.slurm.script("job", f"{self.words('gate', *lists)}; echo $? >{code}; {then or 'true'}")

    @property
    def gate_code(self) -> int:
        """The exit code of the gate of a job that has ended."""
        return int((self.lab.folder / "gate.code").read_text())

    @property
    def record(self) -> RunRecord:
        """What was kept."""
        (file,) = self.results.glob("*/record.json")
        return decode_record(file.read_bytes(), str(file))

    def wait_for_rows(self, job: Job, stage: str, seconds: float = 120) -> None:
        """Until a benchmark of a stage measures."""
        end = time.monotonic() + seconds
        while not any(b" float " in file.read_bytes() for file in self._raw(stage)):
            assert time.monotonic() < end, job.err
            time.sleep(0.05)

    def _raw(self, stage: str) -> list[Path]:
        return [path for path in self.results.glob(f"*/raw/{stage}/*/*") if path.is_file()]

    def assert_nothing_left(self, seconds: float = 10) -> None:
        """No process of ours on any node."""
        left = self.lab.left_after(seconds, HOSTS)
        assert not left, "\n".join(map(str, left))


@pytest.fixture
def inside(lab: Lab) -> InSlurm:
    return InSlurm(lab)


@pytest.mark.both_mpis
def test_a_gate_in_an_allocation_passes_without_ssh_and_without_a_hostfile(inside: InSlurm) -> None:
    job = inside.gate()
    assert job.code() == 0, job.err
    record = inside.record
    assert (inside.gate_code, record.verdict) == (0, Verdict.PASS), job.err
    assert record.healthy_hosts == record.proven_together == HOSTS
    assert job.out.startswith("PASS 5/5 ready")
    assert record.provenance.hostfile == "n[001-005]"
    assert f"the hosts are the nodes of Slurm job {job.id}" in [str(note) for note in record.notes]
    outcomes = [file.read_text() for file in inside.results.glob("*/raw/*/*/outcome.json")]
    assert len(outcomes) == 6
    assert all(f'"srun","--jobid={job.id}"' in outcome for outcome in outcomes)
    inside.assert_nothing_left()
    for host in HOSTS:
        assert not inside.lab.run(host, "sh", "-c", f"ls -d /tmp/healthcheck-{inside.record.owner.token}.*").stdout


def test_a_sick_node_is_named_and_a_step_that_leaves_it_out_runs(inside: InSlurm) -> None:
    inside.lab.fault("n003", "sim:nvlink=0.4")
    job = inside.gate(FOUR.format(lists=inside.lists), "--min-nodes", "4")
    assert job.code() == 0, job.err
    record = inside.record
    assert inside.gate_code == 0, job.err
    assert [entry.name for entry in record.hosts if entry.verdict is Verdict.FAIL] == ["n003"]
    assert record.proven_together == ("n001", "n002", "n004", "n005")
    assert Path(f"{inside.lists}.slurm").read_text().strip() == "n003"
    line, *ran = job.out.splitlines()
    assert "excluded n003" in line
    assert sorted(ran) == ["n001", "n002", "n004", "n005"]
    inside.assert_nothing_left()


def test_a_node_that_srun_cannot_reach_is_a_result(inside: InSlurm) -> None:
    up, cut = inside.lab.folder / "up", inside.lab.folder / "cut"
    job = inside.slurm.script(
        "job",
        f"touch {up}; until [ -e {cut} ]; do sleep 0.1; done; {inside.words('run', '--only', 'single_node')}",
        "--no-kill",
    )
    while not up.exists():
        time.sleep(0.05)
    inside.lab.cut("n004")
    cut.touch()
    assert job.code() == 3, job.err
    record = inside.record
    verdicts = {entry.name: entry.verdict for entry in record.hosts}
    assert verdicts == {**dict.fromkeys(HOSTS, Verdict.PASS), "n004": Verdict.INCONCLUSIVE}
    (why,) = [str(reason) for entry in record.hosts if entry.name == "n004" for reason in entry.reasons]
    assert "srun could not start a step there: " in why and "n004" in why
    assert "cause.no_step" in {finding.cause.code for finding in record.findings if finding.component.host == "n004"}


@pytest.mark.parametrize("stage", ["single_node", "multi_node"])
def test_a_cancelled_job_keeps_its_record_and_leaves_no_process_on_any_node(inside: InSlurm, stage: str) -> None:
    for host in HOSTS:
        inside.lab.standin(host, "delay", "3000")
    job = inside.gate()
    inside.wait_for_rows(job, stage)
    inside.slurm.cancel(job)
    inside.assert_nothing_left()
    record = inside.record
    assert (record.state, record.exit_code) == ("interrupted", 143), job.err
    # Nobody could look any more; a job that has the nodes can, and takes away what NCCL had logged.
    words = (sys.executable, "-m", "healthcheck", "clean", record.run_id, "-o", str(inside.results))
    conf = f"SLURM_CONF={inside.slurm.conf}"
    cleaned = inside.lab.run("head", "env", conf, "salloc", "--nodes=5", "--exclusive", *words)
    assert cleaned.returncode == 0 and "nothing is left on n[001-005]" in cleaned.stderr, cleaned.stderr
    for host in HOSTS:
        assert not inside.lab.run(host, "sh", "-c", f"ls -d /tmp/healthcheck-{record.owner.token}.*").stdout
