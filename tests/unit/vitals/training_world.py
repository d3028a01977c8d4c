"""A training whose every second is known: it prints the log that Megatron-LM would, and keeps the books."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from healthcheck.model.vitals_log import LogVitals, LossKind
from healthcheck.vitals.log_intake import Intake
from healthcheck.vitals.log_rows import Training
from healthcheck.vitals.log_vitals import Asked, see, vitals_of
from healthcheck.vitals.logs.reader import LogReader

BEGIN = datetime(2026, 1, 14, 2, 0, 0, tzinfo=UTC).timestamp()
BATCH, SEQ_LEN = 512, 2048


class World:
    """One training. `now` is the wall clock; `lines` its log. `stamps` False: no line has a time."""

    def __init__(self, step_s: float = 2.0, interval: int = 1, *, stamps: bool = True, batch: int = BATCH) -> None:
        self.now, self.step, self.step_s, self.interval = BEGIN, 0, step_s, interval
        self.stamps, self.batch = stamps, batch
        self.lines: list[str] = []
        self.truth: dict[LossKind, float] = {}
        self.zone = 0.0

    def lost(self, kind: LossKind, seconds: float) -> None:
        """Keep the books; the clock goes on by itself."""
        self.truth[kind] = self.truth.get(kind, 0.0) + seconds

    def say(self, text: str) -> None:
        """A line with the time in front."""
        at = datetime.fromtimestamp(self.now + self.zone, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        self.lines.append(f" [{at}] {text}\n" if self.stamps else f" {text}\n")

    def start(self, took: float = 0.0, loaded: int | None = None) -> World:
        """The program begins; from its first line to the first step it takes `took` seconds."""
        self.say("using world size: 64, data-parallel size: 8, context-parallel size: 1")
        self.say(f"  seq_length ...................................... {SEQ_LEN}")
        if loaded is not None:
            self.say(f"  successfully loaded checkpoint from /ckpt [ t 1/8, p 1/1 ] at iteration {loaded}")
            self.step = loaded
        self.now += took
        return self

    def steps(self, n: int, step_s: float | None = None, **fields: str) -> World:
        """`n` steps, a line each `interval`."""
        each = self.step_s if step_s is None else step_s
        for _ in range(n):
            self.now += each
            self.step += 1
            if self.step % self.interval == 0:
                self.line(each, **fields)
        return self

    def line(self, each: float, **fields: str) -> World:
        """The line of the step that was done last."""
        loss = fields.get("loss", f"{2 + 8 / (1 + self.step):.6E}")
        skipped, nan = fields.get("skipped", "0"), fields.get("nan", "0")
        extra = fields.get("extra", "throughput per GPU (TFLOP/s/GPU): 400.0 | ")
        self.say(
            f"iteration {self.step:8d}/  500000 | consumed samples: {self.step * self.batch:12d} | "
            f"elapsed time per iteration (ms): {each * 1e3:.1f} | {extra}learning rate: 1.5E-04 | "
            f"global batch size: {self.batch:5d} | lm loss: {loss} | loss scale: 1.0 | grad norm: 0.4 | "
            f"number of skipped iterations: {skipped} | number of nan iterations: {nan} |"
        )
        return self

    def save(self, took: float) -> World:
        """A checkpoint that holds the steps up."""
        self.say(f"saving checkpoint at iteration {self.step:7d} to /ckpt in torch_dist format")
        self.now += took
        self.say(f"  successfully saved checkpoint from iteration {self.step:7d} to /ckpt [ t 1/8, p 1/1 ]")
        self.lost(LossKind.CHECKPOINT, took)
        return self

    def wait(self, seconds: float, kind: LossKind) -> World:
        """Nothing is printed for a while."""
        self.now += seconds
        self.lost(kind, seconds)
        return self


def training_of(lines: Iterable[str], file: str = "train.log") -> Training:
    """One log as rows."""
    reader = LogReader()
    intake = Intake(file, lambda: reader.facts)
    intake.add_all(reader.read(lines))
    assert reader.framework is not None
    return intake.training(reader.framework, reader.facts, reader.remarks)


def judged(*logs: Iterable[str], asked: Asked | None = None) -> LogVitals:
    """The vitals of one training, from one log or several."""
    pieces = [training_of(lines, f"train{n}.log" if len(logs) > 1 else "train.log") for n, lines in enumerate(logs, 1)]
    asked = asked or Asked()
    return vitals_of(see(pieces, asked), asked)


def losses(vitals: LogVitals) -> dict[LossKind, float]:
    """Seconds by kind."""
    assert vitals.goodput is not None
    return {loss.kind: loss.seconds for loss in vitals.goodput.losses}


def adds_up(vitals: LogVitals) -> bool:
    """Useful time and losses are the window."""
    goodput = vitals.goodput
    assert goodput is not None
    whole = goodput.useful_s + sum(loss.seconds for loss in goodput.losses)
    return abs(whole - goodput.window_s) < 1e-9 * max(1.0, goodput.window_s)


def said(vitals: LogVitals) -> set[str]:
    """Codes of what was noticed."""
    return {remark.what.code for remark in vitals.remarks}


def lacks(vitals: LogVitals) -> set[str]:
    """Codes of what is missing."""
    return {message.code for message in vitals.missing}


def titan(step: int, at: str, tps: str = "8,000", mfu: str = "40.00%", rank: str = "") -> str:
    """A line of torchtitan."""
    return (
        f"{rank}[titan] {at} - root - INFO - step: {step:2}  loss:  8.1234  grad_norm:  1.4  "
        f"memory: 60.00GiB(75.00%)  tps: {tps}  tflops: 400.00  mfu: {mfu}\n"
    )
