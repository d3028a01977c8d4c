"""One question to Slurm for the whole fleet, and what its answer means for each host."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, Unpack

import pytest
from msgspec.structs import replace

from healthcheck.edge.store import DirectoryStore
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.model.node import Identity, NodeFacts
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.record import Owner
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.slurm import SQUEUE
from healthcheck.ports import Event, NeverStarted, PushFile, PushResult, Reached, Running, Sink
from healthcheck.simulator.transport import VirtualClock
from healthcheck.workflows.allocation import CHECK, FRESH_S, SILENT_S, Slurm
from healthcheck.workflows.engine import Engine
from healthcheck.workflows.request import RunRequest
from tests.unit.probes.fixtures import unreachable

HOSTS = tuple(Host(name, name) for name in ("gpu-01", "gpu-02.example.org", "10.0.0.3", "gpu-04"))
MISSING = (127, "", "setsid: failed to execute squeue: No such file or directory\n")
DEAD = (1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")


class _Squeue:
    """A transport on whose hosts squeue gives these answers (exit code, stdout, stderr), the last one for ever."""

    def __init__(self, *answers: tuple[int, str, str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def connect(self, host: Host) -> Reached:
        return Reached()

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        assert command.argv == SQUEUE
        self.asked.append(host.name)
        code, out, err = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        sink.stdout(out.encode())
        sink.stderr(err.encode())
        return NeverStarted(CommandResult(ExitKind.EXITED, code, 0.0))

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        return PushResult(None, reason=say("push.refused", detail="no"))

    def close(self) -> None:
        pass


class _Quiet:
    def event(self, event: Event) -> None:
        pass


class _More(TypedDict, total=False):
    allow_busy: bool
    simulated: bool
    slurm_jobs: tuple[str, ...]


def facts(host: str, hostname: str, simulated: bool = False) -> NodeFacts:
    identity = Identity(1000, "u", "/home/u", hostname=hostname, simulated=simulated)
    return replace(unreachable(host, ""), identity=Reading(ReadingState.OBSERVED, identity))


REACHED = {
    host.name: facts(host.name, hostname)
    for host, hostname in zip(HOSTS, ("gpu-01", "gpu-02", "dgx3.example.org", "gpu-04"), strict=True)
}


class Fleet:
    """Slurm as a run sees it, with what was asked where."""

    def __init__(self, tmp_path: Path, here: _Squeue, there: _Squeue | None = None, **more: Unpack[_More]) -> None:
        self.clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.here, self.there = here, there or _Squeue(MISSING)
        store = DirectoryStore.create(tmp_path, self.clock)
        self.engine = Engine(self.there, self.here, self.clock, _Quiet(), store)
        book = Playbook("x", (Stage("probe"),))
        self.request = RunRequest("r", Owner("u", "m", 1, "1", "t"), HOSTS, book, None, {}, "test", **more)
        self.slurm = Slurm(self.request, self.engine, REACHED)

    def judged(self, host: int) -> CheckResult:
        result = self.slurm.judge(HOSTS[host])
        assert result is not None
        return result


def jobs(*lines: str) -> tuple[int, str, str]:
    return 0, "".join(f"{line}\n" for line in lines), ""


def test_a_host_of_somebody_elses_job_is_set_aside_with_job_and_user(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(jobs("4711|alice|RUNNING|gpu-[01-02]", "4712|bob|COMPLETING|gpu-01")))
    result = fleet.judged(0)
    assert (result.check, result.verdict, result.rule) == (CHECK, Verdict.SKIPPED, "busy.allocated")
    assert result.sets_aside
    assert "job 4711 of alice (RUNNING), job 4712 of bob (COMPLETING)" in str(result.message)
    assert [line.text for line in result.evidence] == ["4711|alice|RUNNING|gpu-[01-02]", "4712|bob|COMPLETING|gpu-01"]
    assert fleet.slurm.in_the_way(HOSTS[0]) == (result,)
    free = fleet.judged(3)
    assert (free.verdict, free.rule) == (Verdict.PASS, "allocation.free")
    assert fleet.slurm.in_the_way(HOSTS[3]) == ()


@pytest.mark.parametrize(
    ("nodes", "host"), [("gpu-02", 1), ("gpu-02.example.org", 1), ("dgx3", 2), ("dgx3.example.org", 2), ("10.0.0.3", 2)]
)
def test_a_host_is_known_by_its_name_its_short_name_and_what_it_calls_itself(
    tmp_path: Path, nodes: str, host: int
) -> None:
    fleet = Fleet(tmp_path, _Squeue(jobs(f"1|alice|RUNNING|{nodes}")))
    allocated = [number for number in range(4) if fleet.judged(number).verdict is Verdict.SKIPPED]
    assert allocated == [host]


def test_the_first_number_of_an_address_is_not_the_name_of_a_node(tmp_path: Path) -> None:
    assert Fleet(tmp_path, _Squeue(jobs("1|alice|RUNNING|10"))).judged(2).verdict is Verdict.PASS


def test_our_own_job_is_nobody_elses(tmp_path: Path) -> None:
    squeue = _Squeue(jobs("4711|me|RUNNING|gpu-[01-04]", "12|alice|RUNNING|gpu-02"))
    fleet = Fleet(tmp_path, squeue, slurm_jobs=("4711",))
    assert fleet.judged(0).rule == "allocation.free"
    assert "job 12 of alice" in str(fleet.judged(1).message) and "4711" not in str(fleet.judged(1).message)


def test_allow_busy_measures_anyway_and_says_so(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(jobs("4711|alice|RUNNING|gpu-01")), allow_busy=True)
    result = fleet.judged(0)
    assert (result.verdict, result.rule) == (Verdict.PASS, "busy.allowed")
    assert "job 4711 of alice" in str(result.message)
    assert fleet.slurm.in_the_way(HOSTS[0]) == ()


def test_four_thousand_launches_at_once_are_one_question_and_the_next_round_is_another(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(jobs(), jobs("1|alice|RUNNING|gpu-01")))
    with ThreadPoolExecutor(64) as pool:
        results = list(pool.map(lambda number: fleet.judged(number % 4), range(4000)))
    assert {result.rule for result in results} == {"allocation.free"}
    assert fleet.here.asked == ["localhost"] and fleet.there.asked == []
    fleet.clock.sleep(FRESH_S)
    assert fleet.judged(0).rule == "busy.allocated"
    assert fleet.here.asked == ["localhost"] * 2


def test_without_squeue_here_the_first_hosts_are_asked(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(MISSING), _Squeue(MISSING, jobs("1|alice|RUNNING|gpu-04")))
    assert fleet.judged(3).rule == "busy.allocated"
    assert fleet.there.asked == ["gpu-01", "gpu-02.example.org"]


def test_where_there_is_no_slurm_nothing_is_said_and_nobody_asked_again(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(MISSING))
    for _ in range(3):
        assert fleet.slurm.judge(HOSTS[0]) is None and fleet.slurm.in_the_way(HOSTS[0]) == ()
        fleet.clock.sleep(3600)
    assert fleet.here.asked == ["localhost"] and len(fleet.there.asked) == 2
    assert fleet.slurm.notes == ()


def test_a_slurm_without_a_cluster_is_no_slurm(tmp_path: Path) -> None:
    alone = (1, "", "squeue: error: s_p_parse_file: cannot stat file /etc/slurm/slurm.conf: No such file, retrying\n")
    fleet = Fleet(tmp_path, _Squeue(alone))
    assert fleet.slurm.judge(HOSTS[0]) is None
    assert fleet.slurm.notes == ()


def test_a_dead_slurmctld_is_noted_once_gives_no_result_and_is_asked_again_later(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(DEAD, DEAD, jobs("1|alice|RUNNING|gpu-01")))
    for _ in range(2):
        assert fleet.slurm.judge(HOSTS[0]) is None
        fleet.clock.sleep(FRESH_S)
    assert fleet.here.asked == ["localhost"]
    fleet.clock.sleep(SILENT_S)
    assert fleet.slurm.judge(HOSTS[0]) is None
    (note,) = fleet.slurm.notes
    assert "localhost" in str(note) and "Unable to contact slurm controller" in str(note)
    fleet.clock.sleep(SILENT_S)
    assert fleet.judged(0).rule == "busy.allocated"


def test_an_answer_that_makes_no_sense_makes_no_host_free(tmp_path: Path) -> None:
    nonsense = (0, "slurm_load_jobs error: Zugriff verweigert\n7|alice|RUNNING|gpu-04\n", "")
    fleet = Fleet(tmp_path, _Squeue(nonsense))
    assert fleet.slurm.judge(HOSTS[0]) is None
    assert fleet.judged(3).rule == "busy.allocated"
    (note,) = fleet.slurm.notes
    assert "Zugriff verweigert" in str(note)


@pytest.mark.parametrize(
    "line",
    [
        "4711;alice;RUNNING;gpu-01",
        "x|alice smith|RUNNING|GPU-01.lab.",
        "4711|a|b|RUNNING|gpu-[01-03]",
        "4711|alice|RUNNING|gpu-[01-",
    ],
)
def test_a_line_nobody_understands_sets_aside_every_host_that_stands_in_it(tmp_path: Path, line: str) -> None:
    result = Fleet(tmp_path / "a", _Squeue(jobs(line))).judged(0)
    assert (result.verdict, result.rule, result.sets_aside) == (Verdict.SKIPPED, "busy.allocated", True)
    assert "nobody understands" in str(result.message) and [one.text for one in result.evidence] == [line]
    assert Fleet(tmp_path / "b", _Squeue(jobs(line))).slurm.judge(HOSTS[2]) is None
    assert Fleet(tmp_path / "c", _Squeue(jobs(line)), allow_busy=True).judged(0).rule == "busy.allowed"


@pytest.mark.parametrize("nodes", ["GPU-01.", "gpu-01.lab.example", "Gpu-[01-01]"])
def test_no_other_spelling_of_a_host_is_free(tmp_path: Path, nodes: str) -> None:
    for job in ("4711|alice smith", "4711_3+0|alice", "4711_[5-9]|alice"):
        assert Fleet(tmp_path / job[:9], _Squeue(jobs(f"{job}|RUNNING|{nodes}"))).judged(0).rule == "busy.allocated"


def test_a_node_that_says_it_is_simulated_is_not_asked(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(MISSING))
    stand_ins = {host.name: facts(host.name, host.name, simulated=host.name != "gpu-04") for host in HOSTS}
    assert Slurm(fleet.request, fleet.engine, stand_ins).judge(HOSTS[0]) is None
    assert fleet.there.asked == ["gpu-04"]
    asked = len(fleet.here.asked)
    only = {"gpu-01": facts("gpu-01", "gpu-01", simulated=True)}
    assert Slurm(fleet.request, fleet.engine, only).judge(HOSTS[0]) is None
    assert len(fleet.here.asked) == asked


def test_simulated_nodes_are_not_looked_for_in_the_slurm_of_this_machine(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, _Squeue(jobs("1|alice|RUNNING|gpu-01")), simulated=True)
    assert fleet.slurm.judge(HOSTS[0]) is None
    assert fleet.here.asked == []
