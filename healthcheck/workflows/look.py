"""The look at every node: one connection, the push where it is wanted, one round trip for all probes."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.circumstances import LookMade
from healthcheck.model.command import NEVER_STARTED, Command, CommandResult, ExitKind
from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.host import Host
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.playbook import PROBE_STAGE
from healthcheck.model.progress import Begun, Counted
from healthcheck.model.verdict import Verdict
from healthcheck.ports import Event, Transport
from healthcheck.probes.batch import Part, batch_argv, deadline_s, split
from healthcheck.probes.busy import busy_parts, judge_busy
from healthcheck.probes.read import after_parts, probe_parts, read_node
from healthcheck.workflows.engine import Cancel, Engine
from healthcheck.workflows.fanout import run_short, visit
from healthcheck.workflows.ledger import Ledger
from healthcheck.workflows.request import LOCALHOST, RunRequest

BEFORE, AFTER = "before", "after"
_NO_STEP = frozenset({"host.no_step", "host.not_allocated"})


class Look(Struct, frozen=True):
    """What one visit brought. `refusal` says why there are no facts, `made` how to read the answer that was kept."""

    host: Host
    facts: NodeFacts | None = None
    refusal: Message | None = None
    rule: str = ""
    known_hosts: tuple[str, ...] = ()
    made: LookMade | None = None


def look_at(host: Host, request: RunRequest, transport: Transport, engine: Engine) -> Look:
    """Visit one host. Never raises for a bad one."""
    reached = transport.connect(host)
    if reached.result is not None:
        return Look(
            host,
            refusal=why_silent(reached.result),
            rule=_rule(reached.result.reason, f"connect.{reached.result.kind.value}"),
        )
    folder = request.binary_folder
    if request.push:
        pushed = transport.push(host, request.push_folder, request.push)
        if pushed.folder is None:
            rule = _rule(pushed.reason, "push.refused")
            return Look(host, refusal=pushed.reason, rule=rule, known_hosts=reached.known_hosts)
        folder = pushed.folder
    stages = [stage for stage in request.playbook.stages if request.wants(stage.name)]
    collectives = sorted({collective for stage in stages for collective in stage.collectives})
    look = _ask(host, probe_parts(folder, collectives, request.playbook.wrapper), BEFORE, request, transport, engine)
    return replace(look, known_hosts=reached.known_hosts)


def look_after(host: Host, request: RunRequest, engine: Engine) -> Look:
    """Ask again what may have changed while the benchmarks ran: counters, and what the kernel logged."""
    return _ask(host, after_parts(), AFTER, request, engine.transport, engine)


def _ask(
    host: Host, parts: Sequence[Part], when: str, request: RunRequest, transport: Transport, engine: Engine
) -> Look:
    begin = engine.clock.now().timestamp()
    result, text, nonce = ask(host, parts, request, transport, engine.cancel)
    answers = split(text, nonce)
    if not answers:
        never = result.kind in NEVER_STARTED or result.kind is ExitKind.CONNECTION_LOST
        rule = _rule(result.reason, f"connect.{result.kind.value}") if never else "probe.no_output"
        return Look(host, refusal=why_silent(result), rule=rule)
    if host != LOCALHOST:
        engine.store.save_look(host.name, when, text)
    made = LookMade(nonce, begin, engine.clock.now().timestamp(), len(text))
    return Look(host, facts=read_node(host.name, answers, (made.asked_s, made.answered_s)), made=made)


def ask(
    host: Host, parts: Sequence[Part], request: RunRequest, transport: Transport, cancel: Cancel
) -> tuple[CommandResult, str, str]:
    """Ask a host some questions in one command: how that ended, what it printed, and the nonce of the frames."""
    nonce = secrets.token_hex(8)
    command = Command(batch_argv(parts, nonce), deadline_s(parts), token=f"probe-{request.owner.token}")
    result, capture = run_short(transport, host, command, cancel)
    return result, capture.out, nonce


def why_silent(result: CommandResult) -> Message:
    """What to say of a host that gave no answer."""
    if result.reason is not None:
        return result.reason
    if result.kind is ExitKind.EXITED:
        return say("probe.no_output", code=result.exit_code if result.exit_code is not None else -1)
    return say("job.ended", how=result.kind.value)


def _rule(reason: Message | None, otherwise: str) -> str:
    """Why a host was not reached. Where srun starts nothing Slurm is asked, and not the network, whatever was tried."""
    return "connect.no_step" if reason is not None and reason.code in _NO_STEP else otherwise


def not_reached(host: Host, why: Message, rule: str) -> CheckResult:
    """The result of a host that gave no answer."""
    return CheckResult("host.reached", node(host.name), Verdict.INCONCLUSIVE, why, rule, PROBE_STAGE)


def busy_now(host: Host, ledger: Ledger, engine: Engine) -> tuple[CheckResult, ...]:
    """What keeps a job from starting on this host right now; empty when it may start."""
    request = ledger.request
    result, text, nonce = ask(host, busy_parts(), request, engine.transport, engine.cancel)
    if result.kind in NEVER_STARTED or result.kind is ExitKind.CONNECTION_LOST:
        return (not_reached(host, why_silent(result), "connect.lost"),)
    at_work = judge_busy(host.name, split(text, nonce), request.owner.token, request.allow_busy)
    return (*at_work, *ledger.slurm.in_the_way(host))


def look_at_all(ledger: Ledger, engine: Engine) -> None:
    """Visit every host that is not set aside yet and write down what was found; set aside what cannot be measured."""
    request = ledger.request
    hosts = [host for host in request.hosts if host.name not in ledger.set_aside]
    of = len(hosts)
    engine.observer.event(Event(PROBE_STAGE, say("progress.who", hosts=of), step=Begun(of)))
    seen = 0
    for host, look in visit(
        hosts, lambda host: look_at(host, request, engine.transport, engine), engine.cancel, engine.width
    ):
        ledger.known_hosts[host.name] = look.known_hosts
        if look.facts is None:
            message = look.refusal or say("probe.no_output", code=-1)
            ledger.set_aside[host.name] = message
            ledger.add_checks([not_reached(host, message, look.rule)])
            step = Counted(seen, of)
            engine.observer.event(Event(PROBE_STAGE, message, host.name, Verdict.INCONCLUSIVE, step))
        else:
            ledger.add_facts(look.facts, look.made)
            seen += 1
            answered = say("progress.answered")
            engine.observer.event(Event(PROBE_STAGE, answered, host.name, step=Counted(seen, of)))
    for host in request.hosts:
        if host.name in ledger.facts:
            # They answered in any order; whatever is said of all of them goes by that of the hostfile.
            ledger.facts[host.name] = ledger.facts.pop(host.name)
        elif host.name not in ledger.set_aside:
            ledger.set_aside[host.name] = say("run.interrupted")
