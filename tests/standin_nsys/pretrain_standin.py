"""A stand-in for a training: prints iterations, and calls of the profiler where Megatron would make them.

`--train-iters N` steps of 10 ms; `--fail-at N` ends with an error; `--leave-behind` starts a process that outlives it;
`--hang-at N` goes on for ever; `--mark` is only there to be found in the list of processes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--train-iters", type=int, default=60)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--profile-step-start", type=int, default=-1)
    parser.add_argument("--profile-step-end", type=int, default=-1)
    parser.add_argument("--profile-ranks", type=int, nargs="*")
    parser.add_argument("--fail-at", type=int, default=-1)
    parser.add_argument("--hang-at", type=int, default=-1)
    parser.add_argument("--mark", default="")
    parser.add_argument("--leave-behind", action="store_true")
    asked = parser.parse_args()
    if asked.leave_behind:
        program = "import time; time.sleep(7654)"
        subprocess.Popen([sys.executable, "-c", program, asked.mark], start_new_session=True)
    for step in range(asked.train_iters):
        if asked.profile and step == asked.profile_step_start:
            print("cudaProfilerStart", flush=True)
        if asked.profile and step == asked.profile_step_end:
            print("cudaProfilerStop", flush=True)
        if step == asked.fail_at:
            print("torch.OutOfMemoryError: CUDA out of memory.", file=sys.stderr)
            return 17
        time.sleep(3600 if step == asked.hang_at else 0.01)
        print(f" iteration {step:8}/{asked.train_iters:8} | elapsed time per iteration (ms): 10.0 |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
