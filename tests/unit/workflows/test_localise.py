"""A whole search on simulated nodes: what slows them is named, and what is left is proven together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from healthcheck.edge.store import DirectoryStore
from healthcheck.errors import Interrupted
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.message import Message
from healthcheck.model.playbook import Playbook, Sizes, Stage
from healthcheck.model.record import RunRecord
from healthcheck.model.search import Kind
from healthcheck.model.units import Bytes
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.record_codec import decode_record, encode_record
from healthcheck.ports import Event, PushFile, PushResult, Reached, Running, Sink
from healthcheck.probes.batch import PROBE_MARK
from healthcheck.simulator.cluster import SimCluster
from healthcheck.simulator.faults import parse_fault
from healthcheck.simulator.transport import SimTransport, VirtualClock
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.request import RunRequest
from healthcheck.workflows.run import check_up
from tests.property.checkups import OWNER, PLATFORM, CheckUp, Turn, run

START = datetime(2026, 1, 1, tzinfo=UTC)
SWEEP = Sizes(min=Bytes(1 << 30), max=Bytes(4 << 30))
SEARCH = Playbook(
    "search",
    (
        Stage("probe"),
        Stage("single_node", sizes=SWEEP),
        Stage("multi_node", sizes=SWEEP),
        Stage("localise", when="not_pass"),
    ),
)
SLOW_HCA = "node05:hca=mlx5_2,slow=0.5"


class _Watching:
    """Hears everything; asks for the end when a message code was heard so often."""

    def __init__(self, cancel: Cancel, code: str = "", times: int = 0) -> None:
        self._cancel, self._code, self._left = cancel, code, times

    def event(self, event: Event) -> None:
        self._left -= event.message.code == self._code
        if self._left == 0 and event.message.code == self._code:
            self._cancel.set(2)


class _Hidden:
    """A transport on nodes whose faults no look sees; with `between`, jobs on one node do not see them either."""

    def __init__(self, nodes: int, faults: Sequence[str], clock: VirtualClock, *, between: bool = False) -> None:
        self._well = SimTransport(SimCluster(nodes, PLATFORM), clock)
        self._sick = SimTransport(SimCluster(nodes, PLATFORM, 0, tuple(map(parse_fault, faults))), clock)
        self._between = between

    def connect(self, host: Host) -> Reached:
        return self._sick.connect(host)

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        well = PROBE_MARK in command.argv or (self._between and "--hostfile" not in command.argv)
        return (self._well if well else self._sick).start(host, command, sink)

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        self._well.push(host, folder, files)
        return self._sick.push(host, folder, files)

    def close(self) -> None:
        pass


def _request(cluster: SimCluster) -> RunRequest:
    return RunRequest(
        run_id="r",
        owner=OWNER,
        hosts=cluster.hosts(),
        playbook=SEARCH,
        platform=None,
        platforms={PLATFORM.name: PLATFORM},
        tool="test",
        binary_folder="/opt/nccl-tests/build",
        simulated=True,
    )


def _search(
    folder: Path,
    nodes: int,
    faults: Sequence[str],
    interrupt: int = 0,
    *,
    budget_s: float | None = None,
    max_rounds: int = 16,
    only: str | None = None,
) -> RunRecord:
    """A run; with `interrupt` it is stopped when that round of the search begins, and resumed."""
    clock = VirtualClock(START)
    cluster = SimCluster(nodes, PLATFORM, 0, tuple(map(parse_fault, faults)))
    transport, store = SimTransport(cluster, clock), DirectoryStore.create(folder, clock)
    request = replace(_request(cluster), budget_s=budget_s, max_rounds=max_rounds, only=only)
    if interrupt:
        cancel = Cancel()
        engine = Engine(transport, transport, clock, _Watching(cancel, "search.round", interrupt), store, cancel)
        with pytest.raises(Interrupted):
            check_up(request, engine, {})
    engine = Engine(transport, transport, clock, _Watching(Cancel()), store)
    return check_up(request, engine, store.outcomes())


def _told(record: RunRecord) -> list[tuple[str, str, str, tuple[Message, ...], tuple[Message, ...]]]:
    return [
        (str(one.component), one.verdict.name, one.confidence.value, one.evidence_for, one.evidence_against)
        for one in record.findings
    ]


def test_a_hidden_slow_card_is_named_with_its_rail_and_the_others_are_proven(tmp_path: Path) -> None:
    record = _search(tmp_path, 16, [SLOW_HCA])
    (finding,) = record.findings
    assert (str(finding.component), finding.confidence) == ("node05/hca:mlx5_2", "confirmed")
    assert record.exit_code == 1 and record.excluded_hosts == ("node05",)
    assert len(record.healthy_hosts) == 15 and "node05" not in record.healthy_hosts
    assert any("2 different partners" in str(message) for message in finding.evidence_for)
    assert finding.evidence_against == ()


def test_every_round_stands_in_the_record(tmp_path: Path) -> None:
    search = _search(tmp_path, 16, [SLOW_HCA]).search
    assert search is not None and search.ending == "verified"
    assert [one.kind for one in search.rounds] == [Kind.SLOW_RUN, Kind.RAILS, Kind.RAILS, Kind.VERIFY]
    assert len(search.rounds[1].pairs) == 8 == len(search.rounds[2].pairs)
    slow = [pair for one in search.rounds for pair in one.pairs if pair.loss > 0.3]
    assert [{pair.a, pair.b} for pair in slow] == [{"node05", "node06"}, {"node04", "node05"}]
    assert all(20 < pair.expected_gbyte_s < 26 for pair in slow)


def test_a_slow_link_is_named_and_nobody_is_excluded(tmp_path: Path) -> None:
    record = _search(tmp_path, 24, ["link:node03-node04=0.5"])
    assert [str(finding.component) for finding in record.findings] == ["link:node03-node04"]
    assert record.excluded_hosts == () and len(record.healthy_hosts) == 24
    assert {host.verdict.name for host in record.hosts} == {"PASS"}
    proven = record.healthy_hosts
    neighbours = set(zip(proven, (*proven[1:], proven[0]), strict=True))
    assert {("node03", "node04"), ("node04", "node03")}.isdisjoint(neighbours)


def test_a_slow_path_is_named_and_no_node_is_blamed(tmp_path: Path) -> None:
    record = _search(tmp_path, 32, ["leaf:l1-l2=0.5"])
    assert [str(finding.component) for finding in record.findings] == ["path:l1-l2"]
    assert record.excluded_hosts == () and len(record.healthy_hosts) == 32


def test_where_every_order_must_cross_a_slow_path_nothing_is_proven(tmp_path: Path) -> None:
    record = _search(tmp_path, 24, ["leaf:l1-l2=0.5"])
    assert [str(finding.component) for finding in record.findings] == ["path:l1-l2"]
    assert record.search is not None and record.search.ending == "no_order"
    assert record.healthy_hosts == ()


def test_a_node_that_is_lost_on_the_way_is_a_result_and_the_search_goes_on(tmp_path: Path) -> None:
    # Its looks: the first one, before its own job, before the joint stage and job, then one a round.
    turn = Turn("node11", 6, "unreachable")
    record, _ = run(CheckUp(16, SEARCH, faults=(SLOW_HCA,), turns=(turn,)), tmp_path)
    verdicts = {host.name: host.verdict.name for host in record.hosts}
    assert (verdicts["node05"], verdicts["node11"]) == ("FAIL", "INCONCLUSIVE")
    assert record.search is not None and record.search.gone == ("node11",)
    assert len(record.healthy_hosts) == 14 and {"node05", "node11"}.isdisjoint(record.healthy_hosts)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupted_search_that_goes_on_finds_the_same(at: int, tmp_path: Path) -> None:
    faults = [SLOW_HCA, "link:node09-node10=0.6"]
    whole = _search(tmp_path / "whole", 16, faults)
    resumed = _search(tmp_path / "resumed", 16, faults, interrupt=at)
    assert _told(resumed) == _told(whole)
    assert (resumed.healthy_hosts, resumed.search) == (whole.healthy_hosts, whole.search)


def test_without_time_nobody_is_measured_and_that_is_said(tmp_path: Path) -> None:
    record = _search(tmp_path, 16, [SLOW_HCA], budget_s=0.0)
    assert not [job for job in record.jobs if job.id.startswith("localise")]
    assert record.search is not None and record.search.ending == "budget"
    assert record.exit_code == 1 and record.healthy_hosts == ()


def test_no_more_rounds_than_asked_for_are_played(tmp_path: Path) -> None:
    record = _search(tmp_path, 16, [SLOW_HCA], max_rounds=2)
    assert record.search is not None
    assert (record.search.ending, len(record.search.rounds)) == ("rounds", 2)
    assert record.healthy_hosts == ()


def test_nodes_that_were_slow_once_are_proven_and_nobody_is_named(tmp_path: Path) -> None:
    record = _search(tmp_path, 24, ["node03:intermittent=0.5"])
    assert record.excluded_hosts == () and len(record.healthy_hosts) == 24
    assert {finding.component.host for finding in record.findings} == {None}


def test_whole_nodes_are_paired_where_nccl_tests_cannot_split(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    cluster = SimCluster(16, PLATFORM, 0, (parse_fault(SLOW_HCA),), tool_version="2.13.10")
    transport, store = SimTransport(cluster, clock), DirectoryStore.create(tmp_path, clock)
    engine = Engine(transport, transport, clock, _Watching(Cancel()), store)
    record = check_up(_request(cluster), engine, {})
    assert record.search is not None
    assert [one.kind for one in record.search.rounds][1:3] == [Kind.NODES, Kind.NODES]
    assert [finding.component.host for finding in record.findings] == ["node05"]


def test_a_search_alone_begins_with_all_nodes_together(tmp_path: Path) -> None:
    record = _search(tmp_path, 16, [SLOW_HCA], only="localise")
    assert {job.stage for job in record.jobs} == {"multi_node", "localise"}
    assert record.excluded_hosts == ("node05",)


def test_jobs_of_a_search_are_judged_by_nobody_and_its_proof_is(tmp_path: Path) -> None:
    record = _search(tmp_path, 16, [SLOW_HCA])
    evidence = [job for job in record.jobs if job.stage == "localise"]
    assert len(evidence) > 16 and {job.verdict for job in evidence} == {None}
    joint = [job for job in record.jobs if job.stage == "multi_node"]
    assert [job.verdict for job in joint] == [Verdict.FAIL, Verdict.PASS]
    assert record.healthy_hosts == joint[-1].hosts
    assert decode_record(encode_record(record), "record.json") == record


def test_a_job_of_a_search_that_hung_is_evidence_too(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    transport, store = _Hidden(16, ["node07:hang"], clock, between=True), DirectoryStore.create(tmp_path, clock)
    engine = Engine(transport, transport, clock, _Watching(Cancel()), store)
    record = check_up(_request(SimCluster(16, PLATFORM)), engine, {})
    stuck = [job for job in record.jobs if job.stage == "localise" and "node07" in job.hosts and job.reasons]
    assert stuck and {job.verdict for job in stuck} == {None}


def test_the_gpu_that_slows_a_node_alone_is_named_where_no_look_shows_it(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    transport, store = _Hidden(4, ["node03:nvlink=0.5"], clock), DirectoryStore.create(tmp_path, clock)
    engine = Engine(transport, transport, clock, _Watching(Cancel()), store)
    record = check_up(_request(SimCluster(4, PLATFORM)), engine, {})
    assert [(str(one.component), one.confidence.value) for one in record.findings] == [("node03/gpu:0", "confirmed")]
    assert record.healthy_hosts == ("node01", "node02", "node04")
    pairs = [job for job in record.jobs if job.id.startswith("localise-gpus-node03-")]
    assert len(pairs) == 10 and {job.n_ranks for job in pairs} == {2, 4}


def test_a_node_with_which_jobs_hang_is_found_though_no_error_names_it(tmp_path: Path) -> None:
    clock = VirtualClock(START)
    transport, store = _Hidden(16, ["node07:hang"], clock, between=True), DirectoryStore.create(tmp_path, clock)
    engine = Engine(transport, transport, clock, _Watching(Cancel()), store)
    record = check_up(_request(SimCluster(16, PLATFORM)), engine, {})
    assert record.search is not None and record.search.shortfall == 1.0
    assert [(str(one.component), one.confidence.value) for one in record.findings] == [("node07", "confirmed")]
    assert record.excluded_hosts == ("node07",) and len(record.healthy_hosts) == 15
    assert any(entry.text == "did not finish" for entry in record.findings[0].evidence)


def test_who_was_slow_on_the_way_is_told_where_nobody_is_named(tmp_path: Path) -> None:
    """A fault that comes and goes: "no pair is slow" beside four slow pairs would hide the node they share."""
    record = _search(tmp_path, 8, ["node03:intermittent=0.5", "noise=0.03"])
    assert record.search is not None
    slow = [{pair.a, pair.b} for one in record.search.rounds for pair in one.pairs if pair.loss > 0.2]
    assert len(slow) > 1 and all("node03" in pair for pair in slow)
    (told,) = [str(check.message) for check in record.checks if check.check == "localise.search"]
    assert "fast at the end" in told and f"{len(slow)} of " in told and "all of them with node03" in told
