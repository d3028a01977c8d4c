"""Look at nodes only to tell which machine type they are: a few questions, nothing kept, nothing changed."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from msgspec import Struct

from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.ports import Transport
from healthcheck.probes import gpus, hcas, iommu, pcie, topology
from healthcheck.probes.batch import batch_argv, deadline_s, split
from healthcheck.probes.detect import Shown, detect_platform, shown
from healthcheck.probes.read import probe_parts, read_node
from healthcheck.workflows.engine import WIDTH, Cancel
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.look import why_silent

_ASKED = frozenset({hcas.NAME, pcie.NAME, iommu.NAME, gpus.NAME, topology.NAME})


class Unseen(Struct, frozen=True):
    """A host that gave no answer, and why."""

    host: str
    why: Message


class Detected(Struct, frozen=True):
    """`platform` is None where it is not clear, and then `why` says what is missing or names the candidates."""

    platform: Platform | None
    why: Message | None
    shown: tuple[Shown, ...]
    unseen: tuple[Unseen, ...]


def detect(hosts: Sequence[Host], platforms: Mapping[str, Platform], transport: Transport, cancel: Cancel) -> Detected:
    """Ask every host what it has, and find the platform that most of them look like."""
    facts: list[NodeFacts] = []
    unseen: list[Unseen] = []
    for host, found in visit(hosts, lambda host: _ask(host, transport, cancel), cancel, WIDTH):
        if isinstance(found, Message):
            unseen.append(Unseen(host.name, found))
        else:
            facts.append(found)
    answered = {node.host for node in facts} | {one.host for one in unseen}
    unseen += [Unseen(host.name, say("run.interrupted")) for host in hosts if host.name not in answered]
    place = {host.name: index for index, host in enumerate(hosts)}
    facts.sort(key=lambda node: place[node.host])
    unseen.sort(key=lambda one: place[one.host])
    best, groups = detect_platform(facts, platforms), shown(facts, platforms)
    if isinstance(best, Message):
        return Detected(None, best, groups, tuple(unseen))
    return Detected(best, None, groups, tuple(unseen))


def _ask(host: Host, transport: Transport, cancel: Cancel) -> NodeFacts | Message:
    reached = transport.connect(host)
    if reached.result is not None:
        return why_silent(reached.result)
    parts = [part for part in probe_parts(None) if part.name in _ASKED]
    nonce = secrets.token_hex(8)
    command = Command(batch_argv(parts, nonce), deadline_s(parts), token=f"detect-{nonce}")
    result, capture = run_short(transport, host, command, cancel)
    answers = split(capture.out, nonce)
    return read_node(host.name, answers) if answers else why_silent(result)
