"""What the workflows need from the outside world, one Protocol a role. `wiring.py` picks who plays it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from healthcheck.evaluation.past_of import Asking, Remembered
from healthcheck.model.alert import Alert, Delivery
from healthcheck.model.circumstances import Circumstances
from healthcheck.model.command import Command, CommandResult, JobOutcome
from healthcheck.model.gate import EarlierPass
from healthcheck.model.history import Past, PastRun
from healthcheck.model.host import Host
from healthcheck.model.lock import Taken
from healthcheck.model.message import Message
from healthcheck.model.progress import Step
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict


class Sink(Protocol):
    """Takes the output of a command as it arrives, in pieces of any length."""

    def stdout(self, data: bytes) -> None:
        """Bytes of standard output."""

    def stderr(self, data: bytes) -> None:
        """Bytes of standard error."""


class Running(Protocol):
    """A command that was started. It holds a channel, never a thread of ours."""

    def poll(self) -> CommandResult | None:
        """Move what has arrived into the sink; the result once the command has ended. Never blocks."""

    def wait(self, timeout_s: float) -> CommandResult | None:
        """Like `poll`, but sleeps up to `timeout_s` for the end. For short commands on a worker thread."""

    def stop(self) -> None:
        """Ask the far side to end it (INT, then TERM, then KILL, 5 s apart). Never blocks; keep polling."""


class NeverStarted:
    """A `Running` that has already ended, because its host could not be reached."""

    def __init__(self, result: CommandResult) -> None:
        self._result = result

    def poll(self) -> CommandResult:
        """Why it never started."""
        return self._result

    def wait(self, timeout_s: float) -> CommandResult:
        """Like `poll`; there is nothing to wait for."""
        return self._result

    def stop(self) -> None:
        """Nothing runs."""


class PushFile(Struct, frozen=True):
    """Content for one file on a host: `name` relative to the cache folder, `mode` its permission bits.

    Exactly one of `source` (a local file) and `content` is set.
    """

    name: str
    mode: int
    source: str | None = None
    content: bytes | None = None


class PushResult(Struct, frozen=True):
    """`folder` is the absolute path of the cache folder on the host; None with the reason when refused."""

    folder: str | None
    copied: tuple[str, ...] = ()
    reason: Message | None = None


class Reached(Struct, frozen=True):
    """Whether a host answered. `result` is None when it did; else how it did not (a value, not an error)."""

    result: CommandResult | None = None
    known_hosts: tuple[str, ...] = ()


class Transport(Protocol):
    """Runs commands on hosts. Never raises for a bad host: it is a result. Safe to call from many threads."""

    def connect(self, host: Host) -> Reached:
        """A TCP look, then the login; one connection a host is kept until `close`. `known_hosts` are the
        verified host key lines, to be handed to mpirun's own ssh."""

    def start(self, host: Host, command: Command, sink: Sink) -> Running:
        """Start a command; connects first when there is no connection. A host that cannot be reached gives a
        Running that has already ended."""

    def push(self, host: Host, folder: str, files: Sequence[PushFile]) -> PushResult:
        """Copy files below the per-user cache folder of the host (0700, ours, no link); only those whose
        SHA-256 differs, written aside, checked, renamed."""

    def close(self) -> None:
        """Close every connection."""


class Memory(Protocol):
    """What earlier runs measured. Never raises: what cannot be read is no past, and a note says so."""

    def usual(self, asking: Asking) -> Remembered:
        """What the nodes used to read when they were healthy; nothing where that is not known."""


class Passes(Protocol):
    """What earlier runs found of each node alone. Never raises: what cannot be read is no pass."""

    def newest(self, run_id: str, simulated: bool, hosts: Collection[str], since_s: float) -> Mapping[str, EarlierPass]:
        """Of each host what the newest run says of it, of those begun after `since_s` (seconds since 1970); `run_id`
        asks, and is not among them."""


class HostLocks(Protocol):
    """One check-up of a host at a time, for everyone who shares the results folder."""

    def take(self, hosts: Iterable[str], need: int = 0) -> Taken:
        """Hold the hosts that are free, until `release`; of all others, who holds them. Never raises for a host.

        Where fewer than `need` are free, none is held, and nobody ever sees one of them held.
        """

    def release(self) -> None:
        """Let go of every host. Never raises, and may be called again."""


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """Wall clock, UTC."""

    def monotonic(self) -> float:
        """Seconds, for durations."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Event(Struct, frozen=True):
    """Something a person watching would like to know. `host` empty for a whole stage.

    `step` says how far the stage has come with it; None for what was found on the way.
    """

    stage: str
    message: Message
    host: str = ""
    verdict: Verdict | None = None
    step: Step | None = None


class Observer(Protocol):
    """Hears what happens while it happens (progress on stderr)."""

    def event(self, event: Event) -> None:
        """Called from the thread of the workflow, in order."""


class Notifier(Protocol):
    """Tells people who do not watch. Never raises and never blocks for long: an alert changes nothing of a run."""

    def send(self, alert: Alert, limit_s: float = ...) -> tuple[Delivery, ...]:
        """Send it to every address within `limit_s` seconds; what became of it at each, in their order."""


class JobSink(Sink, Protocol):
    """A sink that writes the raw files of one job, bounded, and watches the output grow."""

    @property
    def grew_at(self) -> float:
        """Monotonic time of the last byte."""

    @property
    def table_at(self) -> float | None:
        """Monotonic time at which the column titles of a table passed by; None until then."""

    @property
    def footer_at(self) -> float | None:
        """Monotonic time at which the nccl-tests footer passed by; None until then."""

    @property
    def bytes_cut(self) -> int:
        """How much was left out because the job wrote more than the bound."""

    def close(self) -> None:
        """Flush to disk."""


class Received(Sink, Protocol):
    """A file that comes from a host: stdout of a command is its content."""

    @property
    def complaint(self) -> str:
        """The first line of stderr."""

    def keep(self, size_bytes: int) -> Path | None:
        """The file under its name, if it has this size; None otherwise. StoreError where it could not be written."""

    def drop(self) -> None:
        """Forget it."""


class Inbox(Protocol):
    """A folder of this machine for files from hosts. They appear whole or not at all."""

    def receive(self, name: str) -> Received:
        """Take in a file of this name; StoreError where none can be made there."""


class RunStore(Protocol):
    """A run directory. Files outside `raw/` appear whole or not at all."""

    @property
    def folder(self) -> Path:
        """`reports/<run_id>`."""

    def sink(self, job_id: str, stage: str) -> JobSink:
        """The raw files of a job; an earlier, unfinished attempt is moved aside, never overwritten."""

    def raw_text_files(self, job_id: str, stage: str) -> tuple[Path, Path]:
        """(stdout, stderr) of a job."""

    def save_nccl_log(self, job_id: str, stage: str, host: str, name: str, text: str) -> Path:
        """Keep the NCCL log of one rank, private. Host and name may be anything: they are data from a node."""

    def nccl_logs(self, job_id: str, stage: str) -> tuple[tuple[str, Path], ...]:
        """(host, file) of the NCCL logs kept of a job, by host, then name."""

    def save_outcome(self, outcome: JobOutcome) -> None:
        """Keep the result of a job, as soon as it has ended."""

    def outcomes(self) -> dict[str, JobOutcome]:
        """All kept results by job id, for `--resume` and `rejudge`."""

    def save_look(self, host: str, when: str, text: str) -> None:
        """Keep what a node answered to the probes, as received: `raw/probe/<host>/<when>`."""

    def look(self, host: str, when: str) -> str | None:
        """A look as it was kept; None where it is gone."""

    def save_under_load(self, job_id: str, stage: str, nonce: str, text: str) -> None:
        """Keep what the only host of a job answered while it measured; `nonce` marks the frames of that answer."""

    def under_load(self, job_id: str, stage: str) -> tuple[str, str] | None:
        """(nonce, text) of the look at a job's host while it measured; None where none was kept whole."""

    def save_circumstances(self, circumstances: Circumstances) -> None:
        """Write `raw/circumstances.json` atomically."""

    def save_record(self, record: RunRecord) -> None:
        """Write `record.json` atomically."""

    def write(self, name: str, content: str) -> Path:
        """Write one file of the run directory atomically."""


class HistoryIndex(Protocol):
    """The runs below one results folder. Kept from one look to the next, and made again from the records at any time:
    no answer depends on whether it was there."""

    def past(self, hosts: Collection[str] | None = None) -> Past:
        """All runs as they are now, oldest first; with `hosts` only these and the jobs they took part in.

        A record that cannot be read is named and left out. Never raises."""

    def seed_of(self, run: PastRun) -> int | None:
        """Which machines a run simulated; None where it did not, or where nobody can tell. Never raises."""

    def add(self, folder: Path) -> tuple[Message, ...]:
        """Take in one run that has just ended; what a user should know where that failed. Never raises."""
