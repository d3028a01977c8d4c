"""Folding loses no host, invents none, and what is printed can be pasted back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from healthcheck.parsing.hostfile import parse_hosts
from healthcheck.parsing.nodeset import expand, fold, fold_for_slurm, is_host_name, split

labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,4}[a-z0-9])?", fullmatch=True)
names = st.lists(labels, min_size=1, max_size=3).map(".".join).filter(is_host_name)
counted = st.builds(
    "{}{:0{}d}".format, st.sampled_from(["gpu", "r1-n", "r2-n", "node-"]), st.integers(0, 300), st.integers(1, 4)
)


@given(st.sets(names | counted, min_size=1, max_size=30))
@settings(deadline=None)
def test_fold_and_expand_undo_each_other(hosts: set[str]) -> None:
    folded = fold(hosts)
    again = expand(folded, "x")
    assert sorted(again) == sorted(hosts)
    assert {host.name for host in parse_hosts(folded, "-H")} == hosts


@given(st.sets(names | counted, min_size=1, max_size=30))
@settings(deadline=None)
def test_slurm_is_given_no_range_that_it_refuses(hosts: set[str]) -> None:
    folded = fold_for_slurm(hosts)
    assert sorted(expand(folded, "x")) == sorted(hosts)
    # Slurm 22.05: "Invalid hostlist" for whatever stands behind the last bracket of a name.
    assert [part for part in split(folded) if "[" in part and not part.endswith("]")] == []


def test_names_that_slurm_cannot_read_as_a_range_are_written_out() -> None:
    assert fold_for_slurm(["rack1-node5", "rack2-node5"]) == "rack1-node5,rack2-node5"
    assert fold_for_slurm(["gpu1.example.com", "gpu2.example.com"]) == "gpu1.example.com,gpu2.example.com"
    assert fold_for_slurm(["r1n1", "r1n2", "r2n1", "r2n2", "gpu01-ib"]) == "gpu01-ib,r[1-2]n[1-2]"
    assert fold_for_slurm(["gpu2", "fe80::1", "gpu1"]) == "gpu[1-2],fe80::1"
    assert fold_for_slurm([]) == ""


@given(st.lists(counted, min_size=1, max_size=30))
@settings(deadline=None)
def test_the_order_in_which_hosts_come_does_not_show(hosts: list[str]) -> None:
    assert fold(hosts) == fold(reversed(hosts))


def test_a_long_list_is_short() -> None:
    assert fold(f"gpu{number:03d}" for number in (1, 2, 3, 4, 7)) == "gpu[001-004,007]"
    assert fold(["b", "a"]) == "a,b"
    assert fold([]) == ""


def test_addresses_that_no_node_set_can_hold_stand_behind_the_others() -> None:
    assert fold(["gpu2", "fe80::1", "gpu1", "fe80::1%eth0"]) == "gpu[1-2],fe80::1,fe80::1%eth0"
