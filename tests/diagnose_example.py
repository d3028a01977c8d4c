"""The log and profiles of the example in docs/diagnose.md: `python -m tests.diagnose_example FOLDER` writes them.

13B on 32 A100: a step of 2.4 s, saves every 500 steps, a crash behind step 1450 and half an hour until it goes on from
step 1000; in the profiles ten all-reduces of 1 GiB a step, eight of them beside nothing.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from tests.unit.vitals.kineto_worlds import Trace

RANKS = range(4)
_BEGAN = datetime(2026, 11, 29, 22, 10)
_SETTINGS = {
    "global_batch_size": 32,
    "hidden_size": 5120,
    "log_interval": 1,
    "num_layers": 40,
    "seq_length": 2048,
    "world_size": 32,
}
_SAVED = "checkpoint from iteration {step:7d} to /ckpt/thirteen [ t 1/8, p 1/1 ]"


class _Log:
    """Lines as Megatron-LM prints them, and the clock beside them."""

    def __init__(self) -> None:
        self.now = _BEGAN
        self._dice = random.Random(1)

    def start(self, loads_s: float = 0, step: int = 0) -> Iterator[str]:
        """The settings, and the checkpoint of a step that takes some time to be read."""
        yield "using world size: 32, data-parallel size: 4, tensor-model-parallel size: 8"
        yield "------------------------ arguments ------------------------"
        yield from (f"  {name} {'.' * (48 - len(name))} {value}" for name, value in _SETTINGS.items())
        yield "-------------------- end of arguments ---------------------"
        yield f"[after model, optimizer, and learning rate scheduler are built] datetime: {self._clock} "
        self.now += timedelta(seconds=loads_s)
        if step:
            yield f" loading checkpoint from /ckpt/thirteen at iteration {step}"
            yield f"  successfully loaded checkpoint from /ckpt/thirteen [ t 1/8, p 1/1 ] at iteration {step}"
        yield f"[before the start of training step] datetime: {self._clock} "

    def steps(self, first: int, last: int) -> Iterator[str]:
        """The first one of a start is slow."""
        for step in range(first, last + 1):
            took_ms = 2400 + self._dice.gauss(0, 8) + (9000 if step == first else 0)
            self.now += timedelta(milliseconds=took_ms)
            yield (
                f" [{self._clock}] iteration {step:8d}/  100000 | consumed samples: {step * 32:12d} | elapsed time per "
                f"iteration (ms): {took_ms:.1f} | learning rate: 1.0E-05 | global batch size:    32 | lm loss: "
                f"{3 - step / 10000:.6E} | loss scale: 1.0 | grad norm: 1.426 | number of skipped iterations:   0 | "
                "number of nan iterations:   0 |"
            )
            if step % 500 == 0:
                yield f"saving checkpoint at iteration {step:7d} to /ckpt/thirteen in torch_dist format"
                self.now += timedelta(seconds=38)
                yield f"  successfully saved {_SAVED.format(step=step)}"

    @property
    def _clock(self) -> str:
        return f"{self.now:%Y-%m-%d %H:%M:%S}"


def log() -> str:
    """Two starts; the second does the steps from 1001 on again."""
    told = _Log()
    lines = [*told.start(), *told.steps(1, 1450)]
    lines.append("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ")
    told.now += timedelta(minutes=26)
    lines += [*told.start(loads_s=240, step=1000), *told.steps(1001, 2000)]
    return "\n".join(lines) + "\n"


def profile(rank: int) -> str:
    """Three steps of 2.42 s; in µs."""
    trace = Trace(rank, world=32)
    for number in range(3):
        at = number * 2_420_000
        trace.step(100 + number, at, at + 2_420_000)
        trace.loading(at, at + 20_000)
        trace.copy(at + 5_000, 15_000)
        hidden = (at + 100_000 + call * 200_000 for call in range(2))
        forward = (at + 552_000 + call * 119_000 for call in range(4))
        backward = (at + 1_595_000 + call * 119_000 for call in range(4))
        for begin in (*hidden, *forward, *backward):
            trace.collective(begin, 118_000 + 100 * rank, nelems=1 << 29)
        for begin, took in ((20_000, 530_000), (1_030_000, 560_000), (2_080_000, 250_000)):
            trace.kernel(at + begin, took)
    return trace.text()


def main(folder: str) -> None:
    """Write them."""
    Path(folder, "train.log").write_text(log())
    for rank in RANKS:
        Path(folder, f"rank{rank}.json").write_text(profile(rank))


if __name__ == "__main__":
    main(sys.argv[1])
