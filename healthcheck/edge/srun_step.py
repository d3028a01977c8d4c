"""`ports.Transport` over srun: commands of one moment are one step, for as many nodes as they are for.

A check-up asks all nodes the same at the same time, each from a thread of its own. What is started within a twentieth
of a second goes out as one srun with one task a node; the answers come back apart (`launchers.step`). A node that srun
cannot start a task on is a result; the others of its step have theirs.
"""

from __future__ import annotations

import itertools
import secrets
from collections import Counter
from collections.abc import Sequence
from threading import Lock

from healthcheck.edge.ending import LINGER_S, Ending
from healthcheck.edge.push import ContentHashes, push_files
from healthcheck.edge.srun_files import FILE_DEADLINE_S, SrunFiles
from healthcheck.edge.srun_group import Payload, StepGroup
from healthcheck.launchers.step import HELD_OPEN_S, STDOUT, Member, blamed_nodes, complaint, job_is_over
from healthcheck.launchers.wrapper import wrapped_words
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.model.slurm import SlurmJob
from healthcheck.ports import Clock, NeverStarted, PushFile, PushResult, Reached, Running, Sink

GATHER_S = 0.05
"""A step begins when nobody joined it for so long ..."""
LONGEST_GATHER_S = 0.5
"""... or when the first has waited so long."""
_NAP_S = 0.25


class SrunTransport:
    """Runs commands on the nodes of the Slurm job we are in. Safe to call from many threads."""

    def __init__(self, slurm: SlurmJob, nodes: Sequence[str], clock: Clock, program: Sequence[str] = ()) -> None:
        """`nodes` are those of the job, as Slurm names them; `program` stands in front of every srun."""
        self._slurm = slurm
        self._nodes = {name: node for node in nodes for name in (node.partition(".")[0].lower(), node.lower())}
        self._clock = clock
        self._program = tuple(program)
        self._hashes = ContentHashes()
        self._waiting: list[SrunRunning] = []
        self._groups: list[StepGroup] = []
        self._lock = Lock()
        self._lanes = itertools.count(1)

    def connect(self, host: Host) -> Reached:
        """There is no connection to be made: whether a node answers shows with the first command."""
        return Reached() if self._node(host) is not None else Reached(result=self._not_ours(host))

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """Have the command go out with the next step."""
        node = self._node(host)
        if node is None:
            return NeverStarted(self._not_ours(host))
        return self.join(SrunRunning(self, Member(node, wrapped_words(command)), command, sink, self._clock))

    def bring(self, host: Host, argv: tuple[str, ...], payload: Payload, sink: Sink) -> Running:
        """Start a command whose stdin is a file; it ends with it."""
        node = self._node(host)
        if node is None:
            return NeverStarted(self._not_ours(host))
        command = Command(argv, FILE_DEADLINE_S, token="push")  # noqa: S106 - a mark, not a secret
        return self.join(SrunRunning(self, Member(node, argv), command, sink, self._clock, payload))

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Copy what differs through the stdin of a step, once for all nodes that lack it."""
        if self._node(host) is None:
            return PushResult(folder=None, reason=self._not_ours(host).reason)
        return push_files(SrunFiles(self, host), folder, files, self._hashes)

    def close(self) -> None:
        """End of stdin for every step: the wrappers there end their commands."""
        with self._lock:
            groups, self._groups, self._waiting = self._groups, [], []
        for group in groups:
            group.abandon()

    def join(self, running: SrunRunning) -> SrunRunning:
        """Put a command into the step that is being gathered."""
        with self._lock:
            running.joined_at = self._clock.monotonic()
            self._waiting.append(running)
        return running

    def again(self, members: Sequence[SrunRunning], *, apart: bool) -> None:
        """Have these go out once more, in one step or, `apart`, in two, so that a bad one is found."""
        half = len(members) // 2 if apart else 0
        for part in (members[:half], members[half:]):
            lane = next(self._lanes)
            for running in part:
                running.lane = lane
                self.join(running)

    def launch_what_is_due(self) -> None:
        """Begin the steps for which nobody has been joining any more."""
        with self._lock:
            now = self._clock.monotonic()
            arrivals = [running.joined_at for running in self._waiting]
            if not arrivals or (now - max(arrivals) < GATHER_S and now - min(arrivals) < LONGEST_GATHER_S):
                return
            for group in self._groups:
                group.move()
            self._groups = [group for group in self._groups if not group.over]
            waiting, self._waiting = self._waiting, []
            self._groups += map(self._begin, _steps(waiting))

    def _begin(self, taken: list[SrunRunning]) -> StepGroup:
        members = [running.member for running in taken]
        group = StepGroup(members, secrets.token_hex(8), taken[0].payload, self._slurm, self._program)
        for index, running in enumerate(taken):
            running.begin(group, index, taken)
        return group

    def _node(self, host: Host) -> str | None:
        """What Slurm calls a host, None where it is none of our job."""
        name = host.name.rstrip(".").lower()
        return self._nodes.get(name) or self._nodes.get(name.partition(".")[0])

    def _not_ours(self, host: Host) -> CommandResult:
        reason = say("host.not_allocated", host=host.name, job=self._slurm.job)
        return CommandResult(ExitKind.UNREACHABLE, None, 0.0, reason)


def _steps(waiting: Sequence[SrunRunning]) -> list[list[SrunRunning]]:
    """Who goes out together: commands of one lane with the same payload, at most one a node; who came first, first."""
    steps: dict[tuple[int, Payload | None, int], list[SrunRunning]] = {}
    before: Counter[tuple[int, Payload | None, str]] = Counter()
    for running in waiting:
        on_node = (running.lane, running.payload, running.member.node)
        steps.setdefault((running.lane, running.payload, before[on_node]), []).append(running)
        before[on_node] += 1
    return list(steps.values())


class SrunRunning:
    """One command, in a step or about to go out with one. Holds no thread."""

    def __init__(
        self,
        transport: SrunTransport,
        member: Member,
        command: Command,
        sink: Sink,
        clock: Clock,
        payload: Payload | None = None,
    ) -> None:
        self.member = member
        self.payload = payload
        self.lane = 0
        self.joined_at = 0.0
        self._transport = transport
        self._command = command
        self._sink = sink
        self._clock = clock
        self._ending = Ending(command, clock)
        self._stopping = False
        self._group: StepGroup | None = None
        self._index = 0
        self._together: Sequence[SrunRunning] = ()
        self._result: CommandResult | None = None
        self._lock = Lock()

    def begin(self, group: StepGroup, index: int, together: Sequence[SrunRunning]) -> None:
        """The step with this command has begun; its time counts from here."""
        self._ending = Ending(self._command, self._clock)
        self._index, self._together = index, together
        # `stop` writes down the wish and then looks for a step, from another thread: one of the two sees the other.
        self._group = group
        if self._stopping:
            self._stop_in(group)

    def poll(self) -> CommandResult | None:
        """Move output into the sink; the result once it is known."""
        if self._result is None:
            self._transport.launch_what_is_due()
            group = self._group
            if group is not None:
                group.move()
                with self._lock:
                    self._result = self._result or self._look(group)
        return self._result

    def wait(self, timeout_s: float) -> CommandResult | None:
        """Sleep until the step says something, for at most `timeout_s`."""
        end = self._clock.monotonic() + timeout_s
        while self.poll() is None and (left := end - self._clock.monotonic()) > 0:
            group, nap_s = self._group, min(left, self._ending.patience_s(), _NAP_S)
            if group is None:
                self._clock.sleep(min(nap_s, GATHER_S / 2))
            else:
                group.rest(nap_s)
        return self._result

    def stop(self) -> None:
        """Tell the wrapper to end the command, and leave the others of the step alone."""
        self._stopping = True
        group = self._group
        if self._result is None and group is not None:
            self._stop_in(group)

    def _stop_in(self, group: StepGroup) -> None:
        if self._ending.ask_stop():
            group.stop(self._index)

    def _look(self, group: StepGroup) -> CommandResult | None:
        seen = group.seen(self._index)
        # Read in this order: what comes in between is not missed.
        code, whole, over = seen.code, seen.whole, group.over
        for kind, data in seen.take():
            (self._sink.stdout if kind == STDOUT else self._sink.stderr)(data)
        if code is not None:
            # The task itself ends what holds its output open: then nothing more of it is on its way.
            done = whole or over or self._ending.lingers(HELD_OPEN_S + LINGER_S)
            return self._ended(self._ending.exited(code)) if done else None
        if not seen.up and self.member.node in blamed_nodes(group.complaints):
            return self._ended(self._unreachable(group))
        if over:
            return self._without_answer(group, up=seen.up)
        overdue = self._ending.overdue()
        return None if overdue is None else self._ended(overdue)

    def _ended(self, result: CommandResult) -> CommandResult:
        assert self._group is not None
        self._group.leave(self._index)
        return result

    def _without_answer(self, group: StepGroup, *, up: bool) -> CommandResult | None:
        """srun has ended and never said how this command did."""
        if self._ending.stop_asked:
            return self._ending.killed()
        if up:
            return self._ending.lost(complaint(group.complaints, self.member.node) or say("host.closed"))
        if len(self._together) == 1 or job_is_over(group.complaints):
            return self._unreachable(group)
        if group.claim_rest():
            silent = [other for index, other in enumerate(self._together) if group.is_unknown(index)]
            for other in silent:
                other.forget(group)
            self._transport.again(silent, apart=len(silent) == len(self._together))
        return None

    def forget(self, group: StepGroup) -> None:
        """Go out again with another step."""
        if self._group is group:
            self._group = None

    def _unreachable(self, group: StepGroup) -> CommandResult:
        detail = complaint(group.complaints, self.member.node) or str(group.exit_code)
        reason = say("host.no_step", detail=detail)
        return CommandResult(ExitKind.UNREACHABLE, None, self._ending.seconds, reason)
