"""How fast the logs of other frameworks are read and judged: nothing but reports, as each of them prints them.

    python -m benchmarks.vitals_log_readers [MB]

50 MB each of torchtitan, HF Trainer, OLMo and nanotron; one process a measurement, interleaved, processor time. One
report of OLMo is twelve lines, one of HF Trainer a dictionary between two drawings of the bar. Bars: half of what was
measured on two busy cores, so that a reader that becomes slow is noticed.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bars import tell_bars
from benchmarks.parse import asked_megabytes, run
from benchmarks.vitals_log import OURS, write_log

MEGABYTES = 50
RUNS = 3
BARS_MB_S = {"torchtitan": 4.0, "hf-trainer": 5.0, "olmo": 4.5, "nanotron": 10.0}
_BEGIN = time.mktime((2026, 1, 14, 2, 0, 0, 0, 0, 0))


def _stamp(form: str, at: float) -> str:
    return time.strftime(form, time.localtime(_BEGIN + at))


def torchtitan_lines(rng: random.Random) -> Iterator[str]:
    """One report in ten steps of two seconds; the lines before say the batch and the GPUs."""
    before = "[rank0]:[titan] 2026-01-14 01:59:29,297 - root - INFO - "
    yield f"{before}Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1\n"
    yield (
        f"{before}Trainer is initialized with local batch size 160, global batch size 2560, gradient accumulation "
        "steps 2, sequence length 128, total steps 90000000 (warmup 600)\n"
    )
    step, at = 0, 0.0
    while True:
        took = rng.gauss(2.0, 0.02)
        step, at = step + 10, at + 10 * took
        yield (
            f"[rank0]:[titan] {_stamp('%Y-%m-%d %H:%M:%S', at)},{int(at * 1000) % 1000:03d} - root - INFO - "
            f"step: {step:2d}  loss: {rng.uniform(2, 3):8.5f}  grad_norm: {rng.uniform(0.1, 3):7.4f}  "
            "memory: 169.49GiB(95.03%)  "
            f"tps: {round(40960 / took):,}  tflops: {1686.22 / took:.2f}  mfu: {74.94 / took:.2f}%\n"
        )


def hf_trainer_lines(rng: random.Random) -> Iterator[str]:
    """One report in ten steps, with the bar before and after it."""
    total = 90_000_000
    yield "***** Running training *****\n  Total train batch size (w. parallel, distributed & accumulation) = 8\n"
    yield f"  Total optimization steps = {total:,}\n"
    step, at = 0, 0.0
    while True:
        step, at = step + 10, at + rng.gauss(7.5, 0.05)
        minutes, seconds = divmod(int(at), 60)
        spent = f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}" if minutes >= 60 else f"{minutes:02d}:{seconds:02d}"
        bar = f"\r  0%|          | {step}/{total} [{spent}<38:00:00,  1.33it/s]"
        yield (
            f"{bar}\n{{'loss': {rng.uniform(1, 3):.4f}, 'grad_norm': {rng.uniform(1, 3)!r}, 'learning_rate': 0.0002, "
            f"'epoch': {step / 1e6:.2f}}}\n{bar}"
        )


def olmo_lines(rng: random.Random) -> Iterator[str]:
    """One report in ten steps, twelve lines each."""
    step, at = 0, 0.0
    while True:
        took = rng.gauss(3.3, 0.03)
        step, at = step + 10, at + 10 * took
        yield (
            f"{_stamp('%Y-%m-%d %H:%M:%S', at)}.{int(at * 1000) % 1000:03d}\tnode-07:0\t"
            f"olmo_core.train.callbacks.console_logger:81\tINFO\t[step={step}/90000000,epoch=1,eta=13 days4 hours]\n"
            f"    train/CE loss={rng.uniform(2, 9):.3f}\n    train/PPL=9,938\n"
            f"    optim/total grad norm={rng.uniform(0.1, 0.9):.4f}\n    optim/step skipped=0.0000\n"
            f"    throughput/total tokens={step * 4194304:,}\n    throughput/device/TPS={round(32710 / took):,}\n"
            f"    throughput/device/TPS (actual avg)=9,820\n    throughput/device/BPS={1 / took:.4f}\n"
            f"    throughput/device/MFU={147.1 / took:.2f}\n    throughput/device/MFU (actual avg)=44.10\n"
            "    gpu_memory/active (GiB)=61.20\n"
        )


def nanotron_lines(rng: random.Random) -> Iterator[str]:
    """One report a step of eleven seconds."""
    step, at = 0, 0.0
    while True:
        took = rng.gauss(11.5, 0.1)
        step, at = step + 1, at + took
        yield (
            f"[default0]:{_stamp('%m/%d/%Y %H:%M:%S', at)} [INFO|DP=0|PP=0|TP=0|node07]: iteration: {step} / "
            f"90000000 | consumed_tokens: {step * 0.004194:.2f}G | elapsed_time_per_iteration_ms: {took:.1f}K | "
            "tokens_per_sec: 365K | tokens_per_sec_per_gpu: 11.4K | global_batch_size: 1.02K | "
            f"lm_loss: {rng.uniform(2, 3):.2f} | lr: 1e-05 | model_tflops_per_gpu: 138 | "
            "hardware_tflops_per_gpu: 138 | grad_norm: 0.515 | cuda_memory_allocated: 75.2M | "
            "cuda_max_memory_reserved: 547M | hd_total_memory_tb: 312G | hd_used_memory_tb: 61.8G | "
            "hd_free_memory_tb: 250G\n"
        )


LOGS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "torchtitan": torchtitan_lines,
    "hf-trainer": hf_trainer_lines,
    "olmo": olmo_lines,
    "nanotron": nanotron_lines,
}


def measure(megabytes: int) -> list[str]:
    """Print the table; gives the bars that were missed."""
    missed = []
    print(f"{'log':<12} {'MB':>4} {'MB/s':>6} {'reports/s':>10}  peak MB")
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in LOGS.items():
            path = Path(folder) / name
            write_log(path, megabytes, lines)
        runs: dict[str, list[tuple[float, int, float]]] = {name: [] for name in LOGS}
        for _ in range(RUNS):
            for name in LOGS:
                runs[name].append(run(OURS, Path(folder) / name))
    for name, done in runs.items():
        speed = statistics.median(one[0] for one in done)
        reports, peak = done[0][1:]
        print(f"{name:<12} {megabytes:>4} {speed:6.1f} {reports * speed / megabytes:10.0f}  {peak:7.1f}")
        if speed < BARS_MB_S[name]:
            missed.append(f"{name}: {speed:.1f} MB/s")
    return missed


def main() -> int:
    """Print the table; exit 1 when a bar is missed."""
    missed = measure(asked_megabytes(__doc__ or "", MEGABYTES))
    return tell_bars(missed)


if __name__ == "__main__":
    sys.exit(main())
