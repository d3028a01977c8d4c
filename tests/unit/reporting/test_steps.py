"""What to do now, as lines to copy: every word of a remedy has its line, and no line can be misread by a shell."""

from __future__ import annotations

import re
import shlex

import pytest
import typer
from msgspec.structs import replace

from healthcheck.cli.app import app
from healthcheck.diagnosis.cause import Cause, Drain
from healthcheck.diagnosis.causes import CAUSES
from healthcheck.diagnosis.suggesting import suggested
from healthcheck.model.component import FABRIC, Component, gpu, hca, link, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.record import RunRecord
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.actions import suggested_actions
from healthcheck.reporting.steps import ALLOCATION
from healthcheck.reporting.todo import todo
from tests.golden.records import healthy, sick, text

SAID = {
    "reset": re.compile(r"\breset (?:the|its|all|them|it\b)"),
    "restart": re.compile(r"\brestart (?:it|the fabric manager)|\bstart (?:nvidia-fabricmanager|the fabric manager)"),
    "modprobe": re.compile(r"\bmodprobe\b|\b[Ll]oad nvidia_peermem|\b[Ll]oad ib_uverbs"),
    "dcgmi": re.compile(r"\bdcgmi diag\b"),
    "cpupower": re.compile(r"\bcpupower\b"),
}
DONE = {
    "reset": re.compile(r"nvidia-smi (?:-i \d+ )?-r\b"),
    "restart": re.compile(r"systemctl (?:restart|enable --now) nvidia-fabricmanager"),
    "modprobe": re.compile(r"modprobe"),
    "dcgmi": re.compile(r"dcgmi diag"),
    "cpupower": re.compile(r"cpupower"),
}
ENDS_JOBS = re.compile(r"nvidia-smi.* -(?:r|mig \d|e \d)\b|systemctl|dcgmi diag")
BY_HAND = re.compile(
    r"\b(?:[Rr]eseat|[Ss]wap|[Cc]hange|[Cc]lean)\b[^.]* (?:cable|card|riser|bridges)|\b(?:power-cycle|reboot)\b"
)


def _of(cause: Cause) -> Component:
    shown = f"{cause.code} {CATALOGUE_EN[f'remedy.{cause.code}']} {cause.commands} {cause.repairs}"
    if "{device}" in shown:
        return hca("node05", "mlx5_2")
    return gpu("node05", 3) if "{gpu}" in shown else node("node05")


def _finding(cause: Cause, component: Component) -> Finding:
    return Finding(
        component,
        Verdict.FAIL,
        Confidence.CONFIRMED,
        text(cause.code),
        Message(f"remedy.{cause.code}", {}),
        commands=suggested(cause.commands, component, sick().run_id),
    )


def _record(finding: Finding, cause: Cause, slurm: bool = False) -> RunRecord:
    named = replace(finding, cause=Message(f"cause.{cause.code}", {}), remedy=text("do"))
    seen = CheckResult(ALLOCATION, node("node05"), Verdict.PASS, say("allocation.free"), "allocation.free")
    return replace(sick(), findings=(named,), checks=(*sick().checks, *((seen,) if slurm else ())))


def _is_a_line_of_ours(words: list[str]) -> bool:
    """Whether the command line of healthcheck takes it; nothing is run."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    name, command, rest = group.resolve_command(typer.Context(group), words)
    assert command is not None
    command.make_context(name, list(rest), resilient_parsing=False)
    return True


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_what_a_remedy_says_can_be_copied(cause: Cause) -> None:
    remedy = CATALOGUE_EN[f"remedy.{cause.code}"]
    (entry,) = todo(_record(_finding(cause, _of(cause)), cause, slurm=True))
    lines = entry.commands
    words = [shlex.split(line) for line in lines]
    assert all(words), "every line is one command of a shell"
    for said, pattern in SAID.items():
        if pattern.search(remedy):
            assert any(DONE[said].search(line) for line in lines), f"{said} has no line: {lines}"
    drains = [place for place, line in enumerate(lines) if line.startswith("scontrol update nodename=node05 ")]
    assert bool(drains) == ("rain the node" in remedy) == (cause.drain is not Drain.NO)
    assert drains or not BY_HAND.search(remedy), "hands on a part only of a node that is drained"
    ends = [place for place, line in enumerate(lines) if "sudo" in line and ENDS_JOBS.search(line)]
    assert all("| grep . &&" in lines[place] for place in ends), "does nothing while somebody computes"
    assert not drains or all(place > drains[0] for place in ends)
    ours = [line for line in words if line[0] == "healthcheck"]
    assert ours and words[-1] == ours[-1], "last the line that proves the repair"
    assert all(_is_a_line_of_ours(line[1:]) for line in ours)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_without_slurm_draining_is_said_in_words_and_the_script_says_the_same(cause: Cause) -> None:
    record = _record(_finding(cause, _of(cause)), cause)
    (entry,) = todo(record)
    assert bool(entry.by_hand) == (cause.drain is not Drain.NO)
    assert not any(line.startswith("scontrol") for line in entry.commands)
    script = suggested_actions(record)
    places = [script.index(f"#   {line}\n") for line in entry.commands]
    assert places == sorted(places) and entry.by_hand in script
    assert all(not line or line.startswith("#") for line in script.splitlines())


def test_a_repair_is_proven_by_the_run_again_on_its_node_with_its_options() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "gpu_row_waits")
    record = _record(_finding(cause, gpu("node03", 1)), cause)
    arguments = ("run", "my book.yaml", "-H", "c.hosts", "--push", "b", "--launch-from", "node01")
    record = replace(record, provenance=replace(record.provenance, arguments=arguments, hostfile="c.hosts"))
    assert todo(record)[0].commands[-1] == "healthcheck run 'my book.yaml' --push b -H node03"
    of_a_search = ("localise", "-H", "c.hosts", "--budget", "30m", "--playbook", "quick", "-v")
    record = replace(record, provenance=replace(record.provenance, arguments=of_a_search))
    assert todo(record)[0].commands[-1] == "healthcheck run quick -v -H node03"


def test_a_card_is_proven_with_a_proven_node_and_a_link_with_both_its_ends() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "hca_slow")
    (entry,) = todo(_record(_finding(cause, hca("node05", "mlx5_2")), cause))
    assert entry.commands[-1] == "healthcheck run monthly -H 'node[05-06]'"
    between = next(cause for cause in CAUSES if cause.code == "slow_link")
    (entry,) = todo(_record(_finding(between, link("node01", "node06")), between))
    assert entry.commands[-1] == "healthcheck run monthly -H 'node[01,06]'"


def test_in_a_simulation_a_repair_is_the_fault_left_out() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "gpu_row_waits")
    arguments = ("run", "quick", "--simulate", "8", "--fault", "node03:gpus=7", "--fault", "node04:busy")
    record = _record(_finding(cause, gpu("node03", 1)), cause)
    record = replace(record, simulated=True, provenance=replace(record.provenance, arguments=arguments, hostfile=""))
    assert todo(record)[0].commands[-1] == "healthcheck run quick --simulate 8 --fault node04:busy"


def test_a_slow_fabric_that_nobody_searched_leads_to_the_search() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "far_below_peak")
    joint = next(job for job in sick().jobs if len(job.hosts) > 1)
    record = _record(replace(_finding(cause, FABRIC), job=joint.id), cause)
    (entry,) = todo(record)
    assert entry.commands[0] == f"healthcheck localise --resume {record.run_id}"
    assert entry.commands[-1] == "healthcheck run monthly -H cluster.hosts"
    elsewhere = ("run", "monthly", "-H", "cluster.hosts", "-o", "/srv/out")
    (entry,) = todo(replace(record, provenance=replace(record.provenance, arguments=elsewhere)))
    assert entry.commands[0] == f"healthcheck localise --resume /srv/out/{record.run_id}"


def test_many_nodes_are_drained_and_measured_again_by_one_line() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "gpu_lost")
    record = healthy(40)
    free = say("allocation.free")
    findings = tuple(
        replace(_finding(cause, node(name)), cause=Message("cause.gpu_lost", {"line": "x"}), remedy=text("do"))
        for name in record.healthy_hosts[:30]
    )
    checks = tuple(CheckResult(ALLOCATION, one.component, Verdict.PASS, free, "allocation.free") for one in findings)
    (entry,) = todo(replace(record, findings=findings, checks=checks))
    reason = f"'healthcheck {record.run_id} gpu_lost'"
    assert entry.commands[0] == f"scontrol update nodename='node[01-30]' state=drain reason={reason}"
    assert entry.commands[-1] == "healthcheck run monthly -H 'node[01-30]'"
    assert sum(line.startswith("scontrol") for line in entry.every_command) == 1
    assert sum("nvidia-smi -L" in line for line in entry.every_command) == 10


def test_a_host_is_reached_as_the_run_reached_it() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "unreachable")
    record = _record(_finding(cause, node("node07")), cause)
    known = Host(name="node07", address="10.0.0.7", port=2222, user="ops")
    arguments = ("run", "quick", "-H", "c.hosts", "--ssh-config", "my config")
    made = replace(record.provenance, arguments=arguments, hostfile="c.hosts")
    (entry,) = todo(replace(record, inventory=(known,), provenance=made))
    assert entry.commands[0] == "ping -c 3 10.0.0.7"
    assert shlex.split(entry.commands[1])[-6:] == ["-p", "2222", "-F", "my config", "ops@10.0.0.7", "true"]
    assert shlex.split(entry.commands[-1])[-2:] == ["-H", f"reports/{record.run_id}/exclude.hosts"]


def test_where_nobody_is_reached_this_machine_is_looked_at() -> None:
    cause = next(cause for cause in CAUSES if cause.code == "unreachable")
    record = _record(_finding(cause, node("node07")), cause)
    findings = tuple(replace(record.findings[0], component=node(host.name)) for host in record.hosts)
    (entry,) = todo(replace(record, findings=findings))
    assert "healthcheck doctor -H cluster.hosts" in entry.commands
    assert entry.commands[-1] == "healthcheck run monthly -H cluster.hosts"
