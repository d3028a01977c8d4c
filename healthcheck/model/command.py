"""A planned job, the command it becomes, and how that command ended."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from healthcheck.model.collective import Collective
from healthcheck.model.gate import Passport
from healthcheck.model.measurement import ParsedOutput
from healthcheck.model.message import Message


class CollectiveJob(Struct, frozen=True):
    """One run of one collective over some hosts. Sizes in bytes, times in seconds.

    `id` is unique in the run and stable between runs of the same plan; `--resume` finds finished jobs by it.
    `launch_host` is where mpirun starts; None is the machine healthcheck runs on. `groups`: the ranks are split into as
    many communicators of one size (`NCCL_TESTS_SPLIT` in `env`), which work at the same time; the table is about one
    of them. `arguments` are further options of nccl-tests.
    """

    id: str
    stage: str
    collective: Collective
    hosts: tuple[str, ...]
    ranks_per_host: tuple[int, ...]
    launch_host: str | None
    min_bytes: int
    max_bytes: int
    factor: int
    iterations: int
    warmup: int
    check: bool
    timeout_s: float
    env: tuple[tuple[str, str], ...] = ()
    repeat: int = 0
    groups: int = 1
    arguments: tuple[str, ...] = ()

    @property
    def n_ranks(self) -> int:
        """All ranks of the job, one a GPU."""
        return sum(self.ranks_per_host)

    @property
    def communicator_ranks(self) -> int:
        """Ranks that reduce together: what the table and its bus bandwidth are about."""
        return self.n_ranks // self.groups

    @property
    def sizes(self) -> tuple[int, ...]:
        """The message sizes asked for, in bytes, ascending."""
        sizes = [self.min_bytes]
        while sizes[-1] * self.factor <= self.max_bytes and self.factor > 1:
            sizes.append(sizes[-1] * self.factor)
        return tuple(sizes)


class Command(Struct, frozen=True):
    """Something to run on a host: argv, never a shell string. `token` marks every process it starts."""

    argv: tuple[str, ...]
    deadline_s: float
    token: str
    env: tuple[tuple[str, str], ...] = ()


class ExitKind(StrEnum):
    """How a command ended, seen from here. All but EXITED leave `exit_code` None."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    STALLED = "stalled"
    TEARDOWN_HUNG = "teardown_hung"
    STOPPED = "stopped"
    CUT = "cut"
    UNREACHABLE = "unreachable"
    LOGIN_REFUSED = "login_refused"
    HOST_KEY_UNKNOWN = "host_key_unknown"
    HOST_KEY_CHANGED = "host_key_changed"
    CONNECTION_LOST = "connection_lost"


NEVER_STARTED = frozenset(
    {
        ExitKind.UNREACHABLE,
        ExitKind.LOGIN_REFUSED,
        ExitKind.HOST_KEY_UNKNOWN,
        ExitKind.HOST_KEY_CHANGED,
    }
)


class CommandResult(Struct, frozen=True):
    """The end of one command. `reason` says why in one sentence, None for a plain exit."""

    kind: ExitKind
    exit_code: int | None
    duration_s: float
    reason: Message | None = None

    @property
    def ok(self) -> bool:
        """Exit code 0. Proves nothing about a benchmark by itself: its output has to be complete too."""
        return self.kind is ExitKind.EXITED and self.exit_code == 0


class JobOutcome(Struct, frozen=True):
    """A job with everything that is kept of it (raw/<stage>/<job>/outcome.json).

    `may_still_run` names hosts on which processes of the job could not be ended or looked for, `nccl_left` those on
    which NCCL logs of the run may lie that could not be deleted. `nccl_bytes_cut` of the logs wanted were left out.
    `raw_bytes` are those of stdout and stderr on disk, `nccl_bytes` of all logs beside them: a job whose raw output was
    cut since then is not judged again. `passports` say what each of its hosts was when it was measured.
    """

    job: CollectiveJob
    argv: tuple[str, ...]
    started_at: str
    result: CommandResult
    output: ParsedOutput
    launch_error: Message | None = None
    bytes_cut: int = 0
    may_still_run: tuple[str, ...] = ()
    nccl_left: tuple[str, ...] = ()
    nccl_bytes_cut: int = 0
    raw_bytes: tuple[int, int] | None = None
    nccl_bytes: int = 0
    passports: dict[str, Passport] = {}
