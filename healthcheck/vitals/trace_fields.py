"""What is wanted of a Chrome trace of torch.profiler: the fields of an event, and of what stands beside the events.

Kineto's names, all its versions: what a file lacks is None, what it has beyond these is passed over. A value of another
type than is wanted is as good as none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
from msgspec import Struct, field

Scalar = int | float | str | bool | None


class Args(Struct, gc=False):
    """What is wanted of the `args` of an event."""

    correlation: Scalar = None
    external: Scalar = field(default=None, name="External id")
    stream: Scalar = None
    device: Scalar = None
    collective: Scalar = field(default=None, name="Collective name")
    sent: Scalar = field(default=None, name="In msg nelems")
    received: Scalar = field(default=None, name="Out msg nelems")
    dtype: Scalar = None
    group_size: Scalar = field(default=None, name="Group size")
    group: Scalar = field(default=None, name="Process Group Name")
    ranks: Scalar | list[int] = field(default=None, name="Process Group Ranks")
    seq: Scalar = field(default=None, name="Seq")


class Event(Struct, gc=False):
    """One event. `ts` and `dur` in µs; `ts` is NaN where the file has no number there."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: float = math.nan
    dur: float = 0.0
    pid: Scalar = None
    tid: Scalar = None
    args: Args | None = None


class Gpu(Struct):
    """One of `deviceProperties`."""

    id: Scalar = None
    name: Scalar = None


class Distributed(Struct):
    """`distributedInfo`: absent where the training was not distributed, or the trace is too old to say."""

    rank: Scalar = None
    world_size: Scalar = None


class Head(Struct):
    """What stands beside `traceEvents`."""

    gpus: list[Gpu] = field(default_factory=list, name="deviceProperties")
    old_gpus: list[Gpu] = field(default_factory=list, name="computeProperties")
    distributed: Distributed | None = field(default=None, name="distributedInfo")


def whole_number(value: object) -> int | None:
    """A number that is never negative and fits a column, else None; as a text, too, for some tools write it so."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:20])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 1 << 62 else None


def words(value: object) -> str | None:
    """A text that is not empty, else None."""
    # Half a surrogate, which JSON can spell, can be neither shown nor stored.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and value else None


def event_of(value: object) -> Event | None:
    """The event in a decoded object, field by field; None where it is no object."""
    if not isinstance(value, dict):
        return None
    try:
        return msgspec.convert(value, Event)
    except msgspec.ValidationError:
        pass
    ph, cat, name = (words(value.get(key)) or "" for key in ("ph", "cat", "name"))
    ts, dur = (_number(value.get(key)) for key in ("ts", "dur"))
    pid, tid = (each if isinstance(each, Scalar) else None for each in (value.get("pid"), value.get("tid")))
    args = value.get("args")
    return Event(ph, cat, name, ts, dur, pid, tid, _args_of(args) if isinstance(args, dict) else None)


def _args_of(value: Mapping[str, object]) -> Args:
    return msgspec.convert({name: each for name, each in value.items() if isinstance(each, Scalar)}, Args)


def _number(value: object) -> float:
    """NaN where there is none."""
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return math.nan
