"""Whatever is planted, chosen, interrupted and resumed: green only where everything was measured, and nobody harmed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from healthcheck.model.collective import Collective
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.units import Bytes, Seconds
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record, encode_record
from healthcheck.reporting.decision import not_asked_together
from healthcheck.reporting.hostlists import exclude_hosts, healthy_hosts
from healthcheck.reporting.summary import stdout_line
from tests.property.checkups import CheckUp, Turn, TurningTransport, run

SWEEP = Sizes(min=Bytes(1 << 30), max=Bytes(2 << 30))
# What one node may have, and whether a look at it or its own benchmark shows it.
BY_PROBE = ("hca=mlx5_2,rate=0.5", "hca=mlx5_1,down", "nvlink=0.3", "nvlink=0.6", "gpus=7", "unreachable", "busy")
BY_BENCHMARK = ("corrupt", "hang")
COLLECTIVES = ((Collective.ALL_REDUCE,), (Collective.ALL_REDUCE, Collective.ALL_GATHER))
BOTH: tuple[Literal["single_node", "multi_node"], ...] = ("single_node", "multi_node")
STAGES = (BOTH, BOTH, BOTH, BOTH[:1], BOTH[1:], BOTH[:0])
REACTIONS: tuple[Literal["exclude", "stop", "continue"], ...] = ("exclude", "stop", "continue")


@st.composite
def check_ups(draw: st.DrawFn) -> CheckUp:
    nodes = draw(st.sampled_from((1, 2, 2, 3, 3, 4)))
    names = [f"node{number:02d}" for number in range(1, nodes + 1)]
    reaction = st.sampled_from(REACTIONS)
    stages = [
        Stage(
            name,
            collectives=draw(
                st.sampled_from(((Collective.ALL_REDUCE,), (Collective.ALL_REDUCE, Collective.ALL_GATHER)))
            ),
            sizes=SWEEP,
            repeats=draw(st.sampled_from((1, 1, 2))),
            stall=Seconds(30),
            on_fail=draw(reaction),
            on_degraded=draw(reaction),
        )
        for name in draw(
            st.sampled_from((("single_node", "multi_node"),) * 3 + (("single_node",), ("multi_node",), ()))
        )
    ]
    sick = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    turning = draw(st.lists(st.sampled_from(names), unique=True, max_size=1))
    only = draw(st.sampled_from((None, None, None, "probe", *(stage.name for stage in stages))))
    return CheckUp(
        nodes=nodes,
        playbook=Playbook("drawn", (Stage("probe"), *stages)),
        faults=tuple(f"{host}:{draw(st.sampled_from(BY_PROBE + BY_BENCHMARK))}" for host in sick),
        turns=tuple(
            Turn(host, draw(st.integers(2, 6)), draw(st.sampled_from(("busy", "unreachable")))) for host in turning
        ),
        only=only,
        allow_busy=draw(st.sampled_from((False, False, True))),
        parallel=draw(st.sampled_from((1, 4096))),
        interrupts=draw(st.sampled_from(((), (), (1,), (3,), (6,), (9,), (2, 5), (5, 8)))),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(check_ups())
def test_no_check_up_lies(asked: CheckUp) -> None:
    with tempfile.TemporaryDirectory() as folder:
        record, transport = run(asked, Path(folder))
    event(record.verdict.name)
    _everything_has_a_result(asked, record)
    _green_means_measured(asked, record)
    _proven_means_together(asked, record)
    _the_sick_are_not_green(asked, record)
    _nobody_was_disturbed(asked, record, transport)
    assert decode_record(encode_record(record), "x") == record


def _wanted(asked: CheckUp) -> list[Stage]:
    wanted = [stage for stage in asked.playbook.stages if stage.name != "probe" and asked.only in (None, stage.name)]
    return [stage for stage in wanted if stage.name != "multi_node" or asked.nodes > 1]


def _passed(record: RunRecord, stage: Stage, host: str) -> int:
    jobs = [job for job in record.jobs if job.stage == stage.name and host in job.hosts]
    return sum(job.verdict is Verdict.PASS for job in jobs)


def _everything_has_a_result(asked: CheckUp, record: RunRecord) -> None:
    assert record.state == "complete"
    assert [host.name for host in record.hosts] == [f"node{number:02d}" for number in range(1, asked.nodes + 1)]
    for host in record.hosts:
        assert host.verdict is Verdict.PASS or host.reasons, f"{host.name} is {host.verdict.name} without a reason"
    blamed = {finding.component.host for finding in record.findings}
    assert all(host.verdict is Verdict.PASS or host.name in blamed for host in record.hosts)
    assert all(finding.evidence and finding.evidence_for for finding in record.findings)
    assert len({job.id for job in record.jobs}) == len(record.jobs)
    for stage in _wanted(asked):
        planned = len(stage.collectives) * stage.repeats
        told = [check for check in record.checks if check.stage == stage.name]
        if stage.name == "single_node" and "platform.detect" not in {check.check for check in record.checks}:
            for host in record.hosts:
                jobs = [job for job in record.jobs if job.stage == stage.name and host.name in job.hosts]
                reported = any(
                    check.component.host == host.name and check.verdict is not Verdict.PASS for check in record.checks
                )
                assert len(jobs) == planned or reported
        assert told or record.verdict >= Verdict.INCONCLUSIVE


def _green_means_measured(asked: CheckUp, record: RunRecord) -> None:
    for host in record.hosts:
        if host.verdict is Verdict.PASS and asked.only != "probe":
            assert all(_passed(record, stage, host.name) for stage in _wanted(asked) if stage.name == "single_node")
    if record.exit_code == 0:
        assert all(host.verdict is Verdict.PASS for host in record.hosts)
        for stage in _wanted(asked):
            planned = len(stage.collectives) * stage.repeats
            for host in record.hosts:
                assert _passed(record, stage, host.name) == planned, f"{host.name} was not measured in {stage.name}"
        assert all(check.verdict <= Verdict.PASS for check in record.checks)
        # A look alone loads nobody: that a node is in use is worth a line there, and no fault.
        assert all(found.verdict is Verdict.SKIPPED and not _wanted(asked) for found in record.findings)
        assert not exclude_hosts(record)
    if not not_asked_together(record):
        assert stdout_line(record).startswith(f"{record.verdict.name} {len(record.healthy_hosts)}/{asked.nodes} ready")
    else:
        assert "ready" not in stdout_line(record), "nothing was proven together, so nothing is ready"


def _proven_means_together(asked: CheckUp, record: RunRecord) -> None:
    if not record.healthy_hosts:
        assert "no set of nodes is proven" in healthy_hosts(record)
        return
    verdicts = {host.name: host.verdict for host in record.hosts}
    assert all(verdicts[name] is Verdict.PASS for name in record.healthy_hosts)
    if asked.nodes == 1:
        return
    together = [job for job in record.jobs if job.stage == "multi_node" and set(record.healthy_hosts) <= set(job.hosts)]
    stage = next(stage for stage in asked.playbook.stages if stage.name == "multi_node")
    assert len(together) == len(stage.collectives) * stage.repeats
    assert {job.verdict for job in together} == {Verdict.PASS}


def _the_sick_are_not_green(asked: CheckUp, record: RunRecord) -> None:
    verdicts = {host.name: host.verdict for host in record.hosts}
    alone = any(stage.name == "single_node" for stage in _wanted(asked))
    for fault in asked.faults:
        host, _, what = fault.partition(":")
        shown = what in BY_PROBE and not (what == "busy" and asked.allow_busy)
        if shown or alone:
            assert verdicts[host] is not Verdict.PASS or what == "busy", fault
            assert record.exit_code != 0 or what == "busy", fault
            assert host not in record.healthy_hosts or what == "busy", fault
        if what == "busy" and not asked.allow_busy and _wanted(asked):
            assert verdicts[host] is not Verdict.PASS and record.exit_code != 0


def _nobody_was_disturbed(asked: CheckUp, record: RunRecord, transport: TurningTransport) -> None:
    if asked.allow_busy:
        return
    assert not transport.loaded_while_busy
    busy = {fault.partition(":")[0] for fault in asked.faults if fault.endswith(":busy")}
    assert not busy & {host for job in record.jobs for host in job.hosts}


WHOLE = Playbook("whole", (Stage("probe"), Stage("single_node", sizes=SWEEP), Stage("multi_node", sizes=SWEEP)))


def test_a_node_that_turns_busy_before_the_joint_job_is_not_green(tmp_path: Path) -> None:
    record, _ = run(CheckUp(3, WHOLE, turns=(Turn("node02", 3, "busy"),)), tmp_path)
    assert record.exit_code == 3
    assert [host.verdict.name for host in record.hosts] == ["PASS", "SKIPPED", "PASS"]
    assert record.healthy_hosts == ("node01", "node03")


def test_a_joint_job_that_never_ran_proves_nothing(tmp_path: Path) -> None:
    multi = Stage("multi_node", sizes=SWEEP, collectives=COLLECTIVES[1])
    playbook = Playbook("two", (Stage("probe"), Stage("single_node", sizes=SWEEP), multi))
    # Looks: first, before its own job, before the stage, before its first job, before its second.
    record, _ = run(CheckUp(3, playbook, turns=(Turn("node02", 5, "busy"),)), tmp_path)
    assert [job.judged_as.name for job in record.jobs if job.stage == "multi_node"] == ["PASS"]
    assert record.exit_code == 3 and record.healthy_hosts == ()


def test_a_host_that_no_benchmark_reached_says_so(tmp_path: Path) -> None:
    record, _ = run(CheckUp(1, WHOLE, only="multi_node"), tmp_path)
    assert record.exit_code == 3
    assert record.hosts[0].reasons


def test_a_search_without_a_joint_job_is_no_pass(tmp_path: Path) -> None:
    playbook = Playbook("search", (Stage("probe"), Stage("single_node", sizes=SWEEP), Stage("localise")))
    record, _ = run(CheckUp(2, playbook), tmp_path)
    assert record.exit_code == 3
    assert "stage.run" in {check.check for check in record.checks}


def test_nodes_that_are_fast_together_are_not_searched(tmp_path: Path) -> None:
    cases: tuple[tuple[Literal["always", "not_pass"], str | None], ...] = (("always", None), ("not_pass", "localise"))
    for when, only in cases:
        playbook = Playbook("search", (*WHOLE.stages, Stage("localise", when=when)))
        record, _ = run(CheckUp(2, playbook, only=only), tmp_path)
        assert record.exit_code == 0 and record.search is None
        assert {check.verdict.name for check in record.checks if check.check == "localise.search"} == {"SKIPPED"}


def test_two_names_of_one_machine_are_measured_once(tmp_path: Path) -> None:
    record, _ = run(CheckUp(3, WHOLE, twins=(("node03", "node01"),)), tmp_path)
    assert record.exit_code == 3 and record.healthy_hosts == ("node01", "node02")
    assert not [job for job in record.jobs if "node03" in job.hosts]
    assert "node01" in str(record.hosts[2].reasons[0])


def test_a_wish_for_hydra_is_not_served_with_open_mpi(tmp_path: Path) -> None:
    record, _ = run(CheckUp(2, WHOLE, launcher="hydra"), tmp_path)
    assert record.exit_code == 3 and not record.jobs
    assert {check.rule for check in record.checks if check.check == "mpi.launcher"} == {"mpi.other_family"}
