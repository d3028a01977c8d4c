"""What `healthcheck history` tells: of the whole fleet, or of one host. Also the keys of its `--json`."""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.message import Message


class Changed(Struct, frozen=True):
    """One version or setting that changed since the run before. `nodes` is a folded set, empty for the run itself."""

    name: str
    before: str
    after: str
    nodes: str = ""
    count: int = 0


class Lowest(Struct, frozen=True):
    """The node that read least in a run: GB/s, and the difference from the median of the run in percent."""

    host: str
    busbw_gbyte_s: float
    change_percent: float


class Middle(Struct, frozen=True):
    """The median over the nodes of a run, in GB/s; None where it was not measured."""

    stage: str
    collective: str
    size_bytes: int
    busbw_gbyte_s: float | None
    lowest: Lowest | None = None


class RunLine(Struct, frozen=True):
    """One run of the fleet. `passed` of `hosts` were PASS; `changed` since the run before."""

    run_id: str
    started_at: str
    state: str
    verdict: str
    hosts: int
    passed: int
    medians: tuple[Middle, ...]
    changed: tuple[Changed, ...] = ()


class BadNow(Struct, frozen=True):
    """A node that was not PASS in its last run: since which run, for how many, what fired there, what changed there.

    `verdict` is that of the last run, `rule` and `reason` those of the first bad one. `was_pass` is False where the
    node was never PASS before, so that nothing can be compared.
    """

    host: str
    verdict: str
    run_id: str
    started_at: str
    runs: int
    rule: str
    reason: str
    last_run_id: str
    was_pass: bool
    changed: tuple[Changed, ...] = ()
    message: Message | None = None


class Flapping(Struct, frozen=True):
    """A node that lost PASS and got it back `times` times. `verdict` is its last one."""

    host: str
    times: int
    verdict: str


class Falling(Struct, frozen=True):
    """A loss of bandwidth beyond noise, in percent of the value at the start; `host` is empty for the whole fleet.

    `run_id` is the first low run where it came at once, empty where it came slowly. `values` are GB/s by run.
    """

    host: str
    stage: str
    collective: str
    loss_percent: float
    noise_percent: float
    runs: int
    run_id: str = ""
    values: tuple[float | None, ...] = ()


class FleetPast(Struct, frozen=True):
    """The past of the fleet. Lists are complete, the worst first."""

    simulated: bool
    left_out_simulated: int
    runs: tuple[RunLine, ...]
    bad_now: tuple[BadNow, ...]
    flapping: tuple[Flapping, ...]
    falling: tuple[Falling, ...]


class HostLine(Struct, frozen=True):
    """One run of a host. Bandwidth in GB/s at the usual largest size, `change_percent` against the median of all."""

    run_id: str
    started_at: str
    state: str
    verdict: str
    busbw_gbyte_s: float | None
    change_percent: float | None
    rule: str
    reason: str
    nodes: int = 1
    message: Message | None = None


class HostPast(Struct, frozen=True):
    """The past of one host. `nodes` of a line says over how many nodes its job ran. Empty `stage`: never measured."""

    host: str
    simulated: bool
    left_out_simulated: int
    stage: str
    collective: str
    size_bytes: int
    median_gbyte_s: float | None
    runs: tuple[HostLine, ...]
    bad_now: BadNow | None
    flaps: int
    flapping: bool
    falling: Falling | None
