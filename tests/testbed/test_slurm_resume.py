"""Drains in a real Slurm: what a run suggests is taken off by the lines of `slurm resume`, and nothing else is."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from healthcheck.model.component import node
from healthcheck.model.finding import Confidence, Finding
from healthcheck.model.message import Message
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import encode_record
from healthcheck.reporting.drains import cause_of, drain_line
from tests.golden.records import healthy
from tests.testbed.checkup import CheckUp
from tests.testbed.lab import Lab
from tests.testbed.slurm import SlurmLab

pytestmark = pytest.mark.testbed

HOSTS = ("n001", "n002", "n003", "n004")


def test_only_what_a_run_drained_is_resumed(lab: Lab) -> None:
    slurm = SlurmLab(lab, HOSTS)
    slurm.up()
    lost, do = Message("cause.gpu_lost", {"line": "x"}), Message("remedy.gpu_lost", {})
    found = tuple(Finding(node(host), Verdict.FAIL, Confidence.CONFIRMED, lost, do) for host in HOSTS)
    record = replace(healthy(4), findings=found, simulated=False)
    here = CheckUp(lab, "", environment=(f"SLURM_CONF={slurm.conf}",))
    (here.results / record.run_id).mkdir(parents=True)
    (here.results / record.run_id / "record.json").write_bytes(encode_record(record))

    def sh(line: str) -> None:
        done = lab.run("head", "env", f"SLURM_CONF={slurm.conf}", "sh", "-c", line)
        assert (done.returncode, done.stderr) == (0, ""), line

    def drained() -> set[str]:
        return set(slurm.ask("sinfo", "-h", "-N", "-t", "drain", "-o", "%N").split())

    def resume(*more: str) -> CheckUp:
        words = ("slurm", "resume", "--run", record.run_id, "-o", str(here.results), *more)
        return here.command(*words).wait()

    sh(drain_line(HOSTS[:3], record.run_id, cause_of(found[0])))
    sh('scontrol update nodename=n003 state=drain reason="ops: don\'t touch, State=IDLE"')
    assert drained() == {"n001", "n002", "n003"}

    said = resume()
    assert said.exit_code == 0, said.stderr
    lines = said.stdout.splitlines()
    assert lines == ["scontrol update nodename='n[001-002]' state=undrain"]
    assert "left alone: n003 is drained for another reason now: ops: don't touch, State=IDLE" in said.stderr
    assert "not drained: n004" in said.stderr
    assert drained() == {"n001", "n002", "n003"}, "it only prints"
    document = json.loads(resume("--json").stdout)
    assert [one["name"] for one in document["other"]] == ["n003"]

    for line in lines:
        sh(line)
    assert drained() == {"n003"}
    again = resume()
    assert (again.exit_code, again.stdout) == (0, "") and "nothing to undo" in again.stderr

    slurm.kill_controller()
    dead = resume()
    assert (dead.exit_code, dead.stdout) == (3, "")
    assert "Unable to contact slurm controller" in dead.stderr
