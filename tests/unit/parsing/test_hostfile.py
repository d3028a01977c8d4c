"""Hostfiles as people have them lying around, and what is said about the wrong ones."""

from __future__ import annotations

import pytest

from healthcheck.errors import InputError
from healthcheck.model.host import Host
from healthcheck.parsing.hostfile import looks_like_path, parse_hostfile, parse_hosts


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("gpu-01", Host("gpu-01", "gpu-01")),
        ("gpu-01 slots=8", Host("gpu-01", "gpu-01", slots=8)),
        ("gpu-01 slots = 8 max_slots = 16", Host("gpu-01", "gpu-01", slots=8)),
        ("gpu-01\tslots=8\tmax-slots=8", Host("gpu-01", "gpu-01", slots=8)),
        ("gpu-01:8", Host("gpu-01", "gpu-01", slots=8)),
        ("admin@gpu-01:8", Host("gpu-01", "gpu-01", user="admin", slots=8)),
        ("me@corp.example@gpu-01", Host("gpu-01", "gpu-01", user="me@corp.example")),
        ("[gpu-01]:2222", Host("gpu-01", "gpu-01", port=2222)),
        ("[fe80::1]:2222 slots=8", Host("fe80::1", "fe80::1", port=2222, slots=8)),
        ("root@[::1]", Host("::1", "::1", user="root")),
        ("fe80::1%eth0", Host("fe80::1%eth0", "fe80::1%eth0")),
        ("10.0.0.1 slots=4", Host("10.0.0.1", "10.0.0.1", slots=4)),
        ("n1 address=10.0.0.1 port=22001 user=me", Host("n1", "10.0.0.1", 22001, "me")),
        ("n1 address=[::1] port=22", Host("n1", "::1", 22)),
        ("n1 leaf=l3 rack=r1 pod=p1", Host("n1", "n1", labels=(("leaf", "l3"), ("rack", "r1"), ("pod", "p1")))),
        ("n1 room=a/7.1", Host("n1", "n1", labels=(("room", "a/7.1"),))),
        ("n1 # slots=3", Host("n1", "n1")),
        ("n_1.cluster.example", Host("n_1.cluster.example", "n_1.cluster.example")),
    ],
)
def test_one_line(line: str, host: Host) -> None:
    assert parse_hostfile(line, "f") == (host,)


def test_a_node_set_is_one_host_each_with_the_same_words() -> None:
    hosts = parse_hostfile("gpu[001-003,007]:8 leaf=l1", "f")
    assert [host.name for host in hosts] == ["gpu001", "gpu002", "gpu003", "gpu007"]
    assert {host.slots for host in hosts} == {8}
    assert {host.label("leaf") for host in hosts} == {"l1"}


def test_a_node_set_of_addresses_fits_a_node_set_of_names() -> None:
    hosts = parse_hostfile("n[1-3] address=10.0.0.[11-13]", "f")
    assert [host.address for host in hosts] == ["10.0.0.11", "10.0.0.12", "10.0.0.13"]


def test_many_names_on_one_machine_need_a_port_each() -> None:
    hosts = parse_hostfile("n1 address=127.0.0.1 port=4001\nn2 address=127.0.0.1 port=4002", "f")
    assert [host.port for host in hosts] == [4001, 4002]


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\ufeffa\nb", "a\rb", "# top\n\n  a  \n\tb # end\n"])
def test_how_the_file_was_saved_does_not_matter(text: str) -> None:
    assert [host.name for host in parse_hostfile(text, "f")] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a\na", 2, "listed twice (first on line 1)"),
        ("gpu01\nGPU01", 2, "listed twice"),
        ("n[1-3]\nn2", 2, "first on line 1"),
        ("n[1-3],n2", 1, "listed twice"),
        ("x address=h\ny address=h", 2, "same address and port as x (line 1)"),
        ("x address=h\ny address=h port=22", 2, "same address and port"),
        ("a slots=0", 1, "slots must be a whole number from 1"),
        ("a slots=-1", 1, "'-1'"),
        ("a slots=eight", 1, "'eight'"),
        ("a slots=٨", 1, "slots must be"),
        ("a:0", 1, "slots must be"),
        ("a:", 1, "is no number of slots"),
        ("https://a", 1, "is no number of slots"),
        ("[gpus]", 1, "lacks its port"),
        ("a:8 slots=8", 1, "slots twice"),
        ("a slots=8 slots=8", 1, "slots= twice"),
        ("a slots=8 max_slots=4", 1, "max_slots=4 is below slots=8"),
        ("a port=0", 1, "port must be"),
        ("[a]:99999", 1, "port must be"),
        ("[a]:22 port=22", 1, "port twice"),
        ("me@a user=you", 1, "user twice"),
        ("[a:22", 1, "[address]:port"),
        ("[a]22", 1, "[address]:port"),
        ("\na slot=8", 2, "did you mean slots=?"),
        ("a Slots=8", 1, "did you mean slots=?"),
        ("a lef=l1", 1, "did you mean leaf=?"),
        ("a b", 1, "one host a line"),
        ("a slots=", 1, "key=value"),
        ("a leaf=<b>", 1, "label leaf="),
        ("a 9=l1", 1, "is not a word"),
        ("a;rm -rf /", 1, "'a;rm' is not a host name"),
        ("$(reboot)", 1, "is not a host name"),
        ("-oProxyCommand=x", 1, "is not a host name"),
        ("me@-oProxyCommand=x", 1, "is not a host name"),
        ("a address=-oProxyCommand=x", 1, "is not a host name"),
        ("-l@a", 1, "is not a user name"),
        ("a user=$(id)", 1, "is not a user name"),
        ("../../etc/passwd", 1, "is not a host name"),
        ("..", 1, "is not a host name"),
        ("a..b", 1, "is not a host name"),
        ("gpu01.", 1, "is not a host name"),
        ("gpü01", 1, "is not a host name"),
        ("gpu\x1b[31m", 1, "is not a host name"),
        ("a" * 64, 1, "is not a host name"),
        (".".join(["abcdefgh"] * 30), 1, "is not a host name"),
        ("@all", 1, "is not a host name"),
        ("a!b", 1, "is not a host name"),
        ("gpu*", 1, "is not a host name"),
        ("fabric", 1, "whole network"),
        ("gpu[1-3", 1, "is not a host name"),
        ("gpu[3-1]", 1, "runs backwards"),
        ("gpu[1-9/0]", 1, "stands still"),
        ("gpu[a-c]", 1, "is not a range"),
        ("gpu[]", 1, "is not a range"),
        ("gpu[1-010]", 1, "different widths"),
        ("n[1-3] address=10.0.0.1", 1, "1 address(es) for 3 host(s)"),
        ("gpu[1-99999999999999999999]", 1, "more than 20,000"),
        ("n9[1-2]" + "9" * 40, 1, "is not a"),
        ("r[1-9999]n[1-9999]", 1, "more than 20,000"),
        ("1:2:3", 1, "is not an IPv6 address"),
        ("fe80::1%$(id)", 1, "is not the name of a network interface"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_hostfile(text, "my.hosts")
    assert caught.value.where == f"my.hosts:{line}"
    assert says in caught.value.problem
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", ["", "\n\n", "# gpu01\n"])
def test_a_file_without_hosts_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^my\.hosts: names no host"):
        parse_hostfile(text, "my.hosts")


def test_twenty_thousand_hosts_are_read_and_one_more_is_not() -> None:
    assert len(parse_hostfile("gpu[00001-20000] slots=8", "f")) == 20_000
    with pytest.raises(InputError, match=r"^f:2: .*20,000"):
        parse_hostfile("gpu[00001-20000] slots=8\none-more", "f")


def test_hosts_of_the_command_line() -> None:
    assert [(host.name, host.user, host.slots) for host in parse_hosts("gpu[1-2],admin@b:4 c", "-H")] == [
        ("gpu1", None, None),
        ("gpu2", None, None),
        ("b", "admin", 4),
        ("c", None, None),
    ]


@pytest.mark.parametrize("text", ["a,,b", ",a", "a,a", "", "a;b", "gpu[1-2"])
def test_wrong_hosts_of_the_command_line(text: str) -> None:
    with pytest.raises(InputError, match=r"^-H: "):
        parse_hosts(text, "-H")


@pytest.mark.parametrize(
    ("text", "meant"),
    [("./a", True), ("my.hosts", True), ("/tmp/x", True), ("gpu01", False), ("gpu[1-9/2]", False), ("a.b.com", False)],
)
def test_a_missing_file_can_be_told_from_a_host(text: str, meant: bool) -> None:
    assert looks_like_path(text) is meant


@pytest.mark.parametrize(
    ("given", "padded", "plain"),
    [("gpu[001-1000]", "0001-1000", "1-1000"), ("gpu[8-010]", "008-010", "8-10"), ("gpu[009-10]", "009-010", "9-10")],
)
def test_a_range_of_two_widths_is_told_with_both_spellings_that_work(given: str, padded: str, plain: str) -> None:
    with pytest.raises(InputError, match="different widths") as told:
        parse_hosts(given, "-H")
    assert f"write {padded} for names" in str(told.value)
    assert f"or {plain} for names" in str(told.value)
    for spelling in (padded, plain):
        assert parse_hosts(f"gpu[{spelling}]", "-H")


def test_a_range_may_begin_with_zero() -> None:
    assert [host.name for host in parse_hosts("gpu[0-10]", "-H")] == [f"gpu{number}" for number in range(11)]
