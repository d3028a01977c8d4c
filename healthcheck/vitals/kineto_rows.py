"""What is kept of the events of a Chrome trace, as they come: numbers in columns, and every name once.

Only the category `kernel` is a kernel: a collective stands in a trace up to four times (annotation, its projection on
the GPU, the operator, the kernel).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from healthcheck.vitals.collectives import is_foreign, is_peer_to_peer, kind_of_kernel, name_of, size_bytes
from healthcheck.vitals.columns import UNKNOWN, CallShape, Kind
from healthcheck.vitals.intervals import Times
from healthcheck.vitals.trace_fields import Args, Event, whole_number, words

_STEP = "ProfilerStep#"
_LOADING = "enumerate(DataLoader)"
# Activation checkpoints, as the old way of PyTorch names its operator, and the new way its function.
_RECOMPUTE = "CheckpointFunctionBackward"
_CHECKPOINT, _AGAIN = "torch/utils/checkpoint.py", (": recompute_fn", ": unpack_hook")
_NO_ARGS = Args()


class Rows:
    """Events of one sort: begin and length in µs, and some whole numbers each."""

    __slots__ = ("_dur", "_names", "_numbers", "_ts")

    def __init__(self, *names: str) -> None:
        self._ts, self._dur, self._numbers, self._names = array("d"), array("d"), array("q"), names

    def __len__(self) -> int:
        return len(self._ts)

    def add(self, event: Event, *numbers: int) -> None:
        """One more, with its numbers in the order of their names."""
        self._ts.append(event.ts)
        self._dur.append(event.dur)
        self._numbers.extend(numbers)

    def times(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Begins and lengths in µs, as written: any of them may be no number."""
        return np.array(self._ts), np.array(self._dur)

    def column(self, name: str) -> Times:
        """One of the whole numbers, of all events."""
        return np.array(self._numbers[self._names.index(name) :: len(self._names)], dtype=np.int64)


class KinetoRows:
    """What the events of one file come to.

    Of `gpu`, UNKNOWN where there is none: `shape` is an index in `shapes`, `foreign` one in `foreign`, `origin` a
    number for its name, process and thread, and its external id where it has no correlation. Of `runtime`: whether it
    `launches` a kernel. `recompute`: activations were computed again.
    """

    def __init__(self) -> None:
        self.gpu = Rows("kind", "stream", "correlation", "device", "shape", "seq", "foreign", "origin")
        self.runtime, self.steps, self.loading = Rows("correlation", "launches"), Rows("number"), Rows()
        self.shapes: list[CallShape] = []
        self.foreign: list[str] = []
        self.recompute = False
        self._kernels: dict[str, tuple[Kind, int]] = {}
        self._shape_at: dict[tuple[object, ...], int] = {}
        self._origin_at: dict[tuple[object, ...], int] = {}
        self._takes: Mapping[str, Callable[[Event], None]] = {
            "kernel": self._kernel,
            **dict.fromkeys(("gpu_memcpy", "gpu_memset", "memcpy", "memset"), self._copy),
            **dict.fromkeys(("cuda_runtime", "cuda_driver", "runtime", "driver"), self._launch),
            **dict.fromkeys(("user_annotation", "cpu_op", "operator"), self._mark),
            "python_function": self._python,
        }

    def take(self, batch: Sequence[Event]) -> None:
        """Keep of these what matters. Before 2021 categories had capitals."""
        takes = self._takes
        for event in batch:
            take = takes.get(event.cat) or takes.get(event.cat.lower())
            if take is not None and event.ph == "X":
                take(event)

    def _kernel(self, event: Event) -> None:
        known = self._kernels.get(event.name)
        if known is None:
            known = self._kernels[event.name] = kind_of_kernel(event.name), self._foreign(event.name)
        kind, foreign = known
        args = event.args or _NO_ARGS
        shape, seq = UNKNOWN, UNKNOWN
        if kind is Kind.COLLECTIVE:
            shape, seq = self._shape(event.name, args), _number(args.seq)
        self._on_gpu(event, args, kind, shape, seq, foreign)

    def _copy(self, event: Event) -> None:
        self._on_gpu(event, event.args or _NO_ARGS, Kind.MEMCPY, UNKNOWN, UNKNOWN, UNKNOWN)

    def _on_gpu(self, event: Event, args: Args, kind: Kind, shape: int, seq: int, foreign: int) -> None:
        stream, correlation, device = _number(args.stream), _number(args.correlation), _number(args.device)
        # Correlations are a column already; kept here, too, they would be as many as the events.
        external = args.external if correlation == UNKNOWN else None
        origin = self._origin_at.setdefault((event.name, event.pid, event.tid, external), len(self._origin_at))
        self.gpu.add(event, kind, stream, correlation, device, shape, seq, foreign, origin)

    def _launch(self, event: Event) -> None:
        if event.args is not None and (correlation := _number(event.args.correlation)) != UNKNOWN:
            self.runtime.add(event, correlation, "LaunchKernel" in event.name or "LaunchCooperative" in event.name)

    def _mark(self, event: Event) -> None:
        if event.name.startswith(_STEP):
            number = event.name[len(_STEP) :]
            if number.isascii() and number.isdigit() and len(number) < 19:
                self.steps.add(event, int(number))
        elif event.name.startswith(_LOADING):
            self.loading.add(event)
        elif _RECOMPUTE in event.name:
            self.recompute = True

    def _python(self, event: Event) -> None:
        if event.name.startswith(_CHECKPOINT) and event.name.endswith(_AGAIN):
            self.recompute = True

    def _foreign(self, kernel: str) -> int:
        if not is_foreign(kernel):
            return UNKNOWN
        self.foreign.append(words(kernel) or "")
        return len(self.foreign) - 1

    def _shape(self, kernel: str, args: Args) -> int:
        ranks = str(args.ranks)
        said = (args.collective, args.sent, args.received, args.dtype, args.group_size, args.group, ranks)
        at = self._shape_at.get((kernel, *said))
        if at is None:
            self.shapes.append(_shape_of(kernel, args))
            at = self._shape_at[kernel, *said] = len(self.shapes) - 1
        return at


def _number(value: object) -> int:
    number = whole_number(value)
    return UNKNOWN if number is None else number


def _shape_of(kernel: str, args: Args) -> CallShape:
    name = words(name_of(kernel, words(args.collective))) or ""
    size, dtype = whole_number(args.group_size), words(args.dtype)
    return CallShape(
        name=name,
        dtype=dtype,
        size_bytes=size_bytes(name, whole_number(args.sent), whole_number(args.received), dtype, size),
        group_size=size,
        group=_group(args),
        peer_to_peer=is_peer_to_peer(name),
    )


def _group(args: Args) -> str | None:
    """The name of a group is the same on all its ranks, and may be that of others on other ranks; who is in it is not.

    PyTorch shortens a long list of ranks in the middle: beside the name it still tells groups apart.
    """
    name, ranks = words(args.group), args.ranks
    members = words(ranks) if isinstance(ranks, str) else (str(ranks) if ranks else None)
    if members == "[]":
        members = None
    return " ".join(part for part in (name, members) if part) or None
