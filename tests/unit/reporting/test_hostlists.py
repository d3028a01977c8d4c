"""The lists a job is started with: only what was proven, in the order proven."""

from __future__ import annotations

from msgspec.structs import replace

from healthcheck.model.host import Host
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
    assert exclude_hosts(record).splitlines() == ["node03", "node05", "node07", "node08"]


def test_an_exclude_list_of_a_real_run_holds_names_only() -> None:
    assert exclude_hosts(healthy()) == ""
    assert "#" not in exclude_hosts(replace(sick(), simulated=False))


def test_the_stdout_line_keeps_its_shape() -> None:
    line = stdout_line(replace(sick(), simulated=False))
    assert line.startswith("FAIL 4/8 ready, excluded node[03,05,07-08], cause node05/hca:mlx5_2 ")
    assert stdout_line(healthy()) == "PASS 8/8 ready"
