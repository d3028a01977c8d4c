"""One question to a Slurm, through the commands of its client on some machine."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from healthcheck.model.command import NEVER_STARTED, Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.parsing.slurm import is_unconfigured
from healthcheck.ports import Transport
from healthcheck.workflows.fanout import CAPTURE_BYTES, MARGIN_S, Capture

# A client waits 10 s for slurmctld (MessageTimeout), and tries once more at a backup controller.
DEADLINE_S = 25.0
_NAP_S = 0.2
_MISSING_EXIT = 127
_LONGEST_DETAIL = 200


class Answer(Struct, frozen=True):
    """What one machine said. `text` None: nothing; because it belongs to no Slurm (`absent`), or because of `detail`.

    `whole` False: it said more than was kept.
    """

    text: str | None
    absent: bool = False
    detail: str = ""
    whole: bool = True


def ask(
    transport: Transport,
    host: Host,
    argv: tuple[str, ...],
    token: str,
    stopping: Callable[[], bool],
    bound: int = CAPTURE_BYTES,
) -> Answer:
    """Run `argv` there to its end; a machine that belongs to no cluster is not waited for."""
    command = Command(argv, DEADLINE_S, token=token)
    said = Capture(bound)
    running = transport.start(host, command, said)
    result, waited_s = running.wait(_NAP_S), _NAP_S
    while result is None and waited_s < DEADLINE_S + MARGIN_S:
        if stopping() or is_unconfigured(said.err):
            running.stop()
        result = running.wait(_NAP_S)
        waited_s += _NAP_S
    if result is None:
        running.stop()
        result = CommandResult(ExitKind.TIMED_OUT, None, DEADLINE_S, say("job.timed_out", seconds=DEADLINE_S))
    if result.kind is ExitKind.EXITED and result.exit_code == 0:
        return Answer(said.out, whole=len(said.out) < bound)
    if result.kind in NEVER_STARTED or result.exit_code == _MISSING_EXIT or is_unconfigured(said.err):
        return Answer(None, absent=True)
    detail = next(iter(said.err.strip().splitlines()), "") or str(result.reason or result.exit_code)
    return Answer(None, detail=detail[:_LONGEST_DETAIL])
