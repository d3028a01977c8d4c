"""What an operator reads first: the sick part, its cause, what to do, and the lines it was read from."""

from __future__ import annotations

import shlex

import pytest
from msgspec.structs import replace

from healthcheck.diagnosis.explain import findings
from healthcheck.model.component import FABRIC, hca, node
from healthcheck.model.finding import CheckResult, Confidence, Finding
from healthcheck.model.message import say
from healthcheck.model.reading import Evidence
from healthcheck.model.texts import CATALOGUE_EN
from healthcheck.model.verdict import Verdict
from healthcheck.probes import PROBES
from healthcheck.probes.judge import judge_node
from healthcheck.probes.probe import Needs
from healthcheck.probes.read import read_node
from tests.unit.probes.fixtures import DGX_A100, FOLDER, answer

RUN = "20261129T100000-abcd"
NEEDS = Needs(DGX_A100, own_token="hc-own")
HEALTHY = {probe: answer(probe, "healthy") for probe in (*PROBES, "identity")}


def probed(host: str, **fixtures: str) -> tuple[CheckResult, ...]:
    outputs = HEALTHY | {probe: answer(probe, name) for probe, name in fixtures.items()}
    return judge_node(read_node(host, outputs), NEEDS)


def explained(*checks: CheckResult, **hosts: Verdict) -> tuple[Finding, ...]:
    return findings(checks, hosts, RUN)


def bandwidth(verdict: Verdict, rule: str) -> CheckResult:
    message = say(
        "bandwidth.of_peak",
        what="busbw",
        observed_gbyte_s=88.0,
        placement="in_place",
        percent=44,
        peak_gbyte_s=200.0,
        size_bytes=1 << 30,
        healthy_percent=70,
        broken_percent=50,
    )
    return CheckResult("bandwidth.busbw", FABRIC, verdict, message, rule, "multi_node", 88.0, 200.0, "GB/s")


def test_the_planted_port_is_the_one_finding() -> None:
    (found,) = explained(*probed("node01"), *probed("node05", hcas="sick_half_rate"))
    assert str(found.component) == "node05/hca:mlx5_2"
    assert (found.verdict, found.confidence, found.cause.code) == (Verdict.FAIL, Confidence.CONFIRMED, "cause.hca_slow")
    assert "100 of 200 Gb/s" in str(found.cause)
    assert "100 of 200 Gb/s" in [str(message) for message in found.evidence_for]
    assert any(entry.text == "100 Gb/sec (2X HDR)" for entry in found.evidence)
    assert found.commands[0] == "ssh node05 'ibstat mlx5_2'"


def test_a_port_that_is_down_is_one_line_and_not_two() -> None:
    (found,) = explained(*probed("node05", hcas="sick_down"))
    assert (str(found.component), found.cause.code) == ("node05/hca:mlx5_2", "cause.hca_down")


def test_a_slow_fabric_follows_from_a_sick_port_and_stands_behind_it() -> None:
    slow = bandwidth(Verdict.FAIL, "peak.below_broken")
    port, fabric = explained(slow, *probed("node05", hcas="sick_half_rate"))
    assert str(port.component) == "node05/hca:mlx5_2"
    assert (fabric.cause.code, fabric.confidence) == ("cause.follows_from", Confidence.SUSPECTED)
    assert "node05/hca:mlx5_2" in str(fabric.cause)


def test_a_slow_fabric_without_a_sick_part_speaks_for_itself() -> None:
    (fabric,) = explained(bandwidth(Verdict.DEGRADED, "peak.below_healthy"))
    assert (str(fabric.component), fabric.cause.code) == ("fabric", "cause.below_peak")
    assert not any("{host}" in line for line in fabric.commands)


@pytest.mark.parametrize(("members", "speaks"), [(("node04", "node05"), True), (("node03", "node04"), False)])
def test_a_fabric_speaks_against_a_slow_port_only_if_its_node_took_part(members: tuple[str, ...], speaks: bool) -> None:
    passed = replace(bandwidth(Verdict.PASS, "peak.healthy"), job="multi")
    (port,) = findings((passed, *probed("node05", hcas="sick_half_rate")), {}, RUN, {"multi": members})
    assert bool(port.evidence_against) is speaks


def test_the_worst_comes_first_then_the_names_in_natural_order() -> None:
    order = explained(
        *probed("node10", binary="sick_missing"),
        *probed("node2", binary="sick_missing"),
        *probed("node3", gpus="sick_fewer"),
        *probed("node4", gpu_processes="sick_foreign"),
        *probed("node5", hcas="sick_three_lanes"),
    )
    assert [str(found.component) for found in order] == ["node3", "node2", "node10", "node5/hca:mlx5_5", "node4"]


def test_a_busy_node_is_left_alone_with_who_and_what() -> None:
    skipped_job = CheckResult(
        "job.integrity", node("node08"), Verdict.INCONCLUSIVE, say("stage.not_run", why="busy"), "integrity.not_run"
    )
    (found,) = explained(*probed("node08", gpu_processes="sick_foreign"), skipped_job)
    assert (found.verdict, found.cause.code) == (Verdict.SKIPPED, "cause.busy_foreign")
    assert "mlteam" in str(found.cause)


def test_an_unreachable_host_gets_the_lines_to_try() -> None:
    refused = CheckResult(
        "host.reached",
        node("node04"),
        Verdict.INCONCLUSIVE,
        say("host.unreachable", port=22, detail="timed out"),
        "connect.unreachable",
        "probe",
    )
    (found,) = explained(refused)
    assert found.cause.code == "cause.unreachable"
    assert found.commands[0] == "ping -c 3 node04"
    assert found.evidence[0].text == "no answer on port 22: timed out"


def test_of_a_node_on_which_srun_starts_nothing_slurm_is_asked() -> None:
    refused = CheckResult(
        "host.reached",
        node("node04"),
        Verdict.INCONCLUSIVE,
        say("host.no_step", detail="Invalid job id specified"),
        "connect.no_step",
        "probe",
    )
    (found,) = explained(refused)
    assert found.cause.code == "cause.no_step"
    assert found.commands == ("sinfo --Node --long --nodes=node04", "squeue --nodelist=node04")
    assert "Invalid job id specified" in found.evidence[0].text


@pytest.mark.parametrize("kind", ["unknown", "changed"])
def test_the_line_that_accepts_a_host_key_stands_among_the_commands(kind: str) -> None:
    accept = "echo 'node04 ssh-ed25519 AAAA' >> known_hosts"
    message = say(f"host.key_{kind}", fingerprint="ssh-ed25519 SHA256:x", command=accept)
    rule = f"connect.host_key_{kind}"
    (found,) = explained(CheckResult("host.reached", node("node04"), Verdict.INCONCLUSIVE, message, rule, "probe"))
    assert found.commands == (accept,)
    assert "below" in str(found.remedy)


def test_what_the_user_stopped_is_nobody_s_fault_and_can_be_gone_on_with() -> None:
    stopped = CheckResult(
        "job.integrity", node("a"), Verdict.INCONCLUSIVE, say("job.stopped"), "integrity.stopped", job="single.a"
    )
    waiting = say("stage.not_run", why=str(say("run.interrupted")))
    not_begun = CheckResult("job.integrity", node("b"), Verdict.INCONCLUSIVE, waiting, "integrity.not_run")
    hosts = dict.fromkeys("abc", Verdict.INCONCLUSIVE)
    found = findings((stopped, not_begun), hosts, RUN, interrupted=True)
    assert {finding.cause.code for finding in found} == {"cause.stopped"}
    assert {finding.commands for finding in found} == {(f"healthcheck run --resume {RUN}",)}
    (without,) = findings((), {"c": Verdict.INCONCLUSIVE}, RUN)
    assert without.cause.code == "cause.not_measured"


def test_a_finding_names_the_job_whose_output_shows_it() -> None:
    (fabric,) = explained(replace(bandwidth(Verdict.FAIL, "peak.below_broken"), job="multi_node.all_reduce.all"))
    assert fabric.job == "multi_node.all_reduce.all"


def test_a_host_about_which_nothing_was_recorded_is_not_forgotten() -> None:
    (found,) = explained(*probed("node01"), node01=Verdict.PASS, node02=Verdict.INCONCLUSIVE)
    assert (str(found.component), found.cause.code) == ("node02", "cause.not_measured")
    assert found.evidence


def test_all_well_is_no_finding_and_a_check_that_does_not_apply_is_none_either() -> None:
    one_host = CheckResult("stage.run", FABRIC, Verdict.SKIPPED, say("stage.one_host"), "stage.does_not_apply")
    assert explained(*probed("node01"), one_host, node01=Verdict.PASS) == ()


def test_independent_troubles_of_one_node_are_findings_of_their_own_the_worst_first() -> None:
    found = explained(*probed("node01", gpus="sick_fewer", mpi="tool_missing", binary="sick_missing"))
    assert [finding.cause.code for finding in found] == [
        "cause.gpu_fewer",
        "cause.binary_missing",
        "cause.mpi_missing",
    ]
    assert [finding.verdict for finding in found] == [Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE]


def test_names_are_data_in_every_suggested_line() -> None:
    check = CheckResult(
        "hca.rate",
        hca("a;rm -rf ~", "x$(reboot)"),
        Verdict.FAIL,
        say("probe.hca.slow", device="x", rate=100.0, expected=200.0),
        "hca.rate_broken",
        evidence=(Evidence("sysfs", "100"),),
    )
    (found,) = explained(check)
    first = shlex.split(found.commands[0])
    assert first[:2] == ["ssh", "a;rm -rf ~"]
    assert shlex.split(first[2]) == ["ibstat", "x$(reboot)"]


def test_a_line_with_sudo_keeps_its_quoting_behind_the_terminal() -> None:
    (found,) = explained(*probed("node05", hcas="sick_down"))
    lines = [shlex.split(line) for line in found.commands]
    assert ["ssh", "-t", "node05", "sudo mlxlink -d mlx5_2 -m -c -e"] in lines


def test_every_recorded_sickness_is_explained_in_whole_sentences() -> None:
    """Each fixture through judge and explain: the texts are there and their placeholders are filled."""
    for probe in HEALTHY:
        for path in sorted((FOLDER / probe).glob("*.txt")):
            for found in explained(*probed("node01", **{probe: path.stem})):
                assert found.evidence
                for message in (found.cause, found.remedy, *found.evidence_for):
                    assert message.code in CATALOGUE_EN
                    assert "{" not in str(message)


def test_a_slow_job_is_told_by_one_number_whatever_it_was_measured_in() -> None:
    bus = bandwidth(Verdict.FAIL, "peak.below_broken")
    algo = replace(
        bus, check="bandwidth.algbw", message=replace(bus.message, args=dict(bus.message.args) | {"what": "algbw"})
    )
    gather = replace(bus, job="gather", message=replace(bus.message, args=dict(bus.message.args) | {"percent": 41}))
    (found,) = explained(algo, bus)
    assert [message.args["what"] for message in found.evidence_for if "what" in message.args] == ["busbw"]
    (found,) = explained(bus, algo, gather)
    assert [message.args["percent"] for message in found.evidence_for if "percent" in message.args] == [41]
