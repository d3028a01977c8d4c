"""A capture of some training steps: what is asked for, the commands it takes, and what became of it.

Document `healthcheck.vitals.capture/1`.
"""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.host import Host
from healthcheck.model.message import Message
from healthcheck.model.record import Owner
from healthcheck.model.vitals_trace import TraceVitals

SCHEMA = "healthcheck.vitals.capture/1"
BEGUN_SCHEMA = "healthcheck.vitals.capture-begun/1"


class CaptureAsked(Struct, frozen=True):
    """What the user wants, complete and checked. Times in seconds.

    `words` is the training command of one host, perhaps with `{nsys}`, `{node_rank}`, `{nodes}`, `{first}` in it.
    `hosts` empty: this machine. `profiled` names the one host under nsys. `first`, `steps`: the range; `ranks` those
    profiled at `{nsys}`. `megatron`: its arguments are added. `cwd` is where the command starts there, `node_folder`
    where reports are written there (None: our cache below the home folder). `grace_s` is what nsys gets for a report.
    """

    words: tuple[str, ...]
    hosts: tuple[Host, ...]
    profiled: str
    nsys: str
    first: int
    steps: int
    ranks: tuple[int, ...]
    megatron: bool
    cwd: str | None
    node_folder: str | None
    timeout_s: float
    grace_s: float
    allow_busy: bool


class CaptureBegun(Struct, frozen=True):
    """What `healthcheck clean` needs of a capture whose process was killed. `hosts` empty: its own machine.

    `node_folder` is that of `CaptureAsked`, on the host `profiled`; `ssh_config` the absolute path of the file by
    which the hosts were reached, None where none was named.
    """

    owner: Owner
    hosts: tuple[Host, ...]
    profiled: str
    node_folder: str | None
    ssh_config: str | None = None


class HostCommand(Struct, frozen=True):
    """One command line, on one host. `host` None: this machine, in the current folder."""

    host: str | None
    profiled: bool
    argv: tuple[str, ...]


class CaptureFile(Struct, frozen=True):
    """What was brought here: the export of a report, and the report itself where that came, too."""

    host: str | None
    export: str
    report: str | None
    size_bytes: int


class CaptureVitals(Struct, frozen=True):
    """A capture, printed (`ran` False) or run. `trace` is what `vitals trace` makes of the files.

    `why` says why nothing, or not everything, was recorded, and what to do; `notes` what else a reader should know.
    `profiled_step_s` is the step under the profiler, `logged_step_s` that of the log that was given for comparison.
    `started`: whether the training was; only then is what it said in `folder`. `exit_code` 0; 3 where it ran and there
    is not enough to say.
    """

    ran: bool
    commands: tuple[HostCommand, ...]
    folder: str | None
    files: tuple[CaptureFile, ...]
    trace: TraceVitals | None
    profiled_step_s: float | None
    logged_step_s: float | None
    why: tuple[Message, ...]
    notes: tuple[Message, ...]
    exit_code: int
    started: bool = False
