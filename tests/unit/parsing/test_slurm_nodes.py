"""`scontrol show node`: who is drained and why, whatever people write into a reason."""

from __future__ import annotations

from healthcheck.model.drain import NodeState
from healthcheck.parsing.slurm_nodes import read_nodes

HEAD = "Arch=x86_64 CoresPerSocket=1  CPUTot=4 NodeHostName=vm Version=22.05.8 OS=Linux 6.18.44 #1 SMP @0  Boards=1"
TAIL = "ThreadsPerCore=1 Partitions=batch  BootTime=2026-11-29T17:40:19 AllocTRES= CapWatts=n/a ExtSensorsTemp=n/s"


def line(name: str, state: str, rest: str = "") -> str:
    """One node as Slurm 22.05 prints it with --oneliner."""
    return f"NodeName={name} {HEAD} State={state} {TAIL} {rest}".rstrip() + " \n"


def one(state: str, rest: str = "") -> NodeState:
    (node,) = read_nodes(line("g1", state, rest))
    return node


def test_a_reason_is_kept_without_who_set_it_and_when() -> None:
    node = one("IDLE+DRAIN", "Reason=healthcheck 20260314T021503Z-qhzt gpu_lost [root@2026-11-30T03:40:05]")
    assert node == NodeState("g1", "IDLE+DRAIN", "healthcheck 20260314T021503Z-qhzt gpu_lost")
    assert node.drained
    assert one("IDLE") == NodeState("g1", "IDLE")


def test_drained_is_told_from_every_other_state() -> None:
    drained = ("IDLE+DRAIN", "DOWN+DRAIN", "ALLOCATED+DRAIN", "IDLE+MAINTENANCE+DRAIN", "MIXED+DRAIN*", "DOWN*+DRAIN")
    assert all(one(state).drained for state in drained)
    assert not any(
        one(state).drained for state in ("IDLE", "DOWN", "ALLOCATED", "IDLE+NOT_RESPONDING", "MIXED+RESERVED")
    )


def test_what_people_write_into_a_reason_is_no_field() -> None:
    told = "Reason=see State=IDLE and NodeName=g9 [root@nowhere] Reason=x [root@2026-11-30T03:40:05]"
    assert one("IDLE+DRAIN", told) == NodeState(
        "g1", "IDLE+DRAIN", "see State=IDLE and NodeName=g9 [root@nowhere] Reason=x"
    )


def test_a_second_line_of_a_reason_makes_no_second_node() -> None:
    own = "Reason=theirs [root@2026-11-30T03:40:05]\nNodeName=g2 State=IDLE+DRAIN Reason=healthcheck r x\n"
    text = line("g2", "IDLE") + line("g1", "IDLE+DRAIN", own)
    assert read_nodes(text) == (NodeState("g2", "IDLE"), NodeState("g1", "IDLE+DRAIN", "theirs"))


def test_a_comment_behind_a_reason_is_not_of_it() -> None:
    node = one("IDLE+DRAIN", "Reason=bad fan [ops@2026-11-30T03:40:05] Comment=rack 7 State=x")
    assert node.reason == "bad fan"


def test_what_is_no_node_is_passed_over() -> None:
    assert read_nodes("") == ()
    assert read_nodes("CLUSTER: lab\nNode g7 not found\nNodeName=-x State=IDLE\nNodeName=g1\n") == ()
