"""One output a kind of failure, and what only follows from it."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from tests.grammar.build import Output, devices

GOOD = Output("E5d")
BEGUN = GOOD.head + GOOD.rows[0]
_LEFT = len("    33554432       8388608     float     sum      -1")
_WARN = "nodeB:4002:4050 [2] transport/net_ib.cc:1295 NCCL WARN "
_PEER = "NET/IB : Got completion from peer 10.0.0.1<4711> with status={} opcode=0 len=0 vendor err 129 (Recv)\n"
_TRACE = " .. nodeB pid 4002: Test failure common.cu:500\n .. nodeB pid 4002: Test failure all_reduce.cu:90\n"
_MPIRUN = """\
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[44912,1],2]
  Exit code:    3
--------------------------------------------------------------------------
"""
_NOTICED = """\
--------------------------------------------------------------------------
mpirun noticed that process rank 2 with PID 4002 on node nodeB exited on signal 9 (Killed).
--------------------------------------------------------------------------
"""
_SEGV = """\
[nodeB:04002] *** Process received signal ***
[nodeB:04002] Signal: Segmentation fault (11)
[nodeB:04002] Signal code: Address not mapped (1)
[nodeB:04002] *** End of error message ***
"""
_HYDRA = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   RANK 2 PID 4002 RUNNING AT nodeB
=   KILLED BY SIGNAL: 9 (Killed)
===================================================================================
"""

FAULT_TEXTS: dict[str, str | bytes] = {
    "nccl": BEGUN + "nodeB: Test NCCL failure common.cu:303 'internal error / '\n" + _TRACE + _MPIRUN,
    "nccl-first-era": Output("E1").head + "NCCL failure all_reduce.cu:99 'unhandled cuda error'\n",
    "nccl-chain-only": BEGUN + "nodeB:4002:4050 [2] NCCL INFO transport/net.cc:304 -> 2\n"
    "nodeB:4002:4050 [2] NCCL INFO proxy.cc:709 -> 2\n",
    "cuda": BEGUN + "nodeB: Test CUDA failure common.cu:303 'an illegal memory access was encountered'\n" + _TRACE,
    "cuda-random": BEGUN + "CuRAND error 203 at common.cu:59\n",
    "out-of-memory-before-nccl": BEGUN
    + "nodeB: Test NCCL failure common.cu:303 'unhandled cuda error / Cuda failure 2 'out of memory''\n",
    "out-of-memory-of-cuda": BEGUN + "nodeB: Test CUDA failure common.cu:303 'out of memory'\n" + _TRACE,
    "out-of-memory-of-the-host": BEGUN + "srun: error: nodeB: task 2: Out Of Memory\n",
    "data-check": Output("E5d", wrong=12.0).text,
    "data-check-million": Output("E4b", wrong=1.04858e06).text,
    "data-check-of-the-first-era": Output("E1", wrong=1.0).text,
    "data-check-alltoall-out-of-place": Output("E4c", Collective.ALLTOALL, wrong=7.0).text,
    "hypercube-wrong-on-good-hardware": Output("E5e", Collective.HYPERCUBE, wrong=16.0).text,
    "alltoall-in-place-not-judged": Output("E5d", Collective.ALLTOALL).text.replace("     N/A\n", "      16\n"),
    "min-bandwidth": GOOD.text.replace(GOOD.footer.splitlines()[1], "# Avg bus bandwidth    : 97.1 FAILED"),
    "ib-completion-before-everything": BEGUN
    + _WARN
    + _PEER.format(5)
    + _WARN
    + "bootstrap socket: Connection refused\n"
    + _WARN
    + _PEER.format(12)
    + "nodeA: Test NCCL failure common.cu:303 'remote process exited or there was a network error / '\n",
    "ib-completion-old-words": BEGUN
    + _WARN
    + "NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129\n",
    "bootstrap-before-socket": GOOD.head + _WARN + "Bootstrap : no socket interface found\n",
    "socket-before-nccl": GOOD.head + _WARN + "Call to connect to 10.0.0.1<5> failed : Connection refused\n",
    "socket-in-the-last-error": BEGUN
    + "nodeB: Test NCCL failure common.cu:303 'unhandled system error / socketProgress: Connection closed'\n",
    "warnings-of-a-good-run": GOOD.head + _WARN + _PEER.format(12) + "".join(GOOD.rows) + GOOD.footer,
    "timeout": BEGUN + GOOD.rows[1][:_LEFT] + "nodeB: Test timeout (2s) common.cu:443\n" + _TRACE,
    "timeout-of-slurm": BEGUN
    + "slurmstepd: error: *** STEP 7.0 ON nodeA CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n",
    "usage": "USAGE: all_reduce_perf \n\t[-t,--nthreads <num threads>] \n\t[-g,--ngpus <gpus per thread>] \n",
    "usage-too-many-gpus": "Invalid number of GPUs: 9 requested but only 8 were found.\n"
    "Please check the number of processes and GPUs per process.\n",
    "usage-sizes": "invalid sizes for 'minbytes' and 'maxbytes': 2048 > 1024\n",
    "usage-nccl-too-old": "NCCL 2.7 or later is needed for alltoall. This test was compiled with 2.4.\n",
    "launcher-missing": "bash: line 1: mpirun: command not found\n",
    "launcher-srun-exit": BEGUN + "srun: error: nodeB: task 2: Exited with exit code 3\n",
    "killed-before-launcher": BEGUN + _NOTICED,
    "killed-segfault-said-twice": BEGUN + _SEGV + _NOTICED,
    "killed-hydra": BEGUN + _HYDRA,
    "killed-srun": BEGUN + "srun: error: nodeB: task 2: Killed\n",
    "missing-library": "/opt/build/all_reduce_perf: error while loading shared libraries: libnccl.so.2: "
    "cannot open shared object file: No such file or directory\n",
    "no-measurement": GOOD.head + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : -nan \n#\n",
    "remote-error-follows": BEGUN
    + "nodeA: Test NCCL failure common.cu:303 'remote process exited or there was a network error / '\n"
    + "nodeB: Test CUDA failure common.cu:303 'uncorrectable ECC error encountered'\n",
    "trace-names-the-collective": "nodeB: Test NCCL failure common.cu:303 'internal error / '\n" + _TRACE,
    "trace-names-an-old-table": Output("E4b").head
    + "nodeB: Test CUDA failure common.cu:303 'unknown error'\n"
    + _TRACE,
    "ranks-that-glue-their-end-to-half-a-row": GOOD.head
    + GOOD.rows[0][: _LEFT + 36]
    + "nodeB: Test NCCL failure common.cu:303 'internal error / '\n",
    "not-checked": Output("E5d", wrong=None).text,
    "average-is-nan": GOOD.text.replace(GOOD.footer.splitlines()[1], "# Avg bus bandwidth    : -nan "),
    "two-hosts-die": BEGUN
    + "nodeB: Test CUDA failure common.cu:303 'unknown error'\n"
    + "nodeA: Test CUDA failure common.cu:303 'unknown error'\n",
    "last-error-is-no-failure": GOOD.text.rstrip("\n") + "\n# error: Cuda failure 'peer access is already enabled'\n",
    "one-node-of-eight-ranks-wrong": Output("E5d", ranks=devices(8, ("nodeA",)), wrong=3.0).text,
}
