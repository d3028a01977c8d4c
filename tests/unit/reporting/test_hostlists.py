"""The lists a job is started with: only what was proven, in the order proven."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from healthcheck.model.host import Host
from healthcheck.model.record import HostRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.hostfile import parse_hostfile
from healthcheck.reporting.hostlists import exclude_hosts, healthy_hosts
from healthcheck.reporting.summary import stdout_line
from tests.golden.records import healthy, interrupted, sick


def test_healthy_hosts_keep_the_proven_rank_order_and_their_slots() -> None:
    record = replace(healthy(4), healthy_hosts=("node03", "node01"))
    inventory = tuple(Host(name=host.name, address=host.name, slots=4) for host in record.inventory)
    listed = healthy_hosts(replace(record, inventory=inventory)).splitlines()
    assert listed[1:] == ["node03 slots=4", "node01 slots=4"]


def test_the_list_can_be_read_as_a_hostfile_again() -> None:
    hosts = parse_hostfile(healthy_hosts(sick()), "healthy.hosts")
    assert [(host.name, host.slots) for host in hosts] == [(name, 8) for name in sick().healthy_hosts]


def test_hydra_gets_its_own_spelling() -> None:
    record = healthy(2)
    record = replace(record, playbook=replace(record.playbook, launcher="hydra"))
    assert healthy_hosts(record).splitlines()[1:] == ["node01:8", "node02:8"]


def test_slots_come_from_the_platform_when_the_hostfile_is_silent_and_are_never_guessed() -> None:
    record = replace(healthy(2), inventory=())
    assert healthy_hosts(record).splitlines()[1] == "node01 slots=8"
    bare = replace(record, platform=None, jobs=())
    assert healthy_hosts(bare).splitlines()[1] == "node01"


def test_nothing_proven_gives_no_list() -> None:
    assert [line[0] for line in healthy_hosts(interrupted()).splitlines()] == ["#"]


def test_who_is_not_proven_is_excluded_even_when_the_record_forgot_it() -> None:
    record = replace(sick(), excluded_hosts=("node05",), simulated=False)
    listed = parse_hostfile(exclude_hosts(record), "exclude.hosts")
    assert [host.name for host in listed] == ["node03", "node05", "node07", "node08"]


@pytest.mark.parametrize(
    "line",
    [
        "node03",
        "node03 address=10.0.0.3 port=2222 user=admin@corp slots=4 leaf=l1 rack=r7",
        "node03 address=fe80::1%eth0",
        "[fe80::1]:2222 user=me",
        "[node03]:2222",
        "me@node03:8 pod=p1",
    ],
)
def test_an_excluded_host_is_reached_as_before(line: str) -> None:
    hosts = parse_hostfile(f"node01\n{line}\n", "cluster.hosts")
    record = replace(
        healthy(2),
        hosts=tuple(HostRecord(host.name, Verdict.PASS) for host in hosts),
        inventory=hosts,
        healthy_hosts=("node01",),
    )
    assert parse_hostfile(exclude_hosts(record), "exclude.hosts") == hosts[1:]


def test_a_host_known_by_name_only_is_a_name() -> None:
    record = replace(sick(), inventory=(), simulated=False)
    assert exclude_hosts(record).splitlines() == ["node03", "node05", "node07", "node08"]


def test_an_exclude_list_of_a_real_run_holds_no_comments() -> None:
    assert exclude_hosts(healthy()) == ""
    assert "#" not in exclude_hosts(replace(sick(), simulated=False))


def test_the_stdout_line_keeps_its_shape() -> None:
    line = stdout_line(replace(sick(), simulated=False))
    assert line.startswith("FAIL 4/8 ready, excluded node[03,05,07-08], cause node05/hca:mlx5_2 ")
    assert stdout_line(healthy()) == "PASS 8/8 ready"
