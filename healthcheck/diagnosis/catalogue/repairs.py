"""Lines that change something on a node, for after its drain. Each is safe to copy while somebody computes there.

What would end the jobs of a node does nothing while a process holds a GPU of it, and lists the processes instead.
"""

from __future__ import annotations

Lines = tuple[tuple[str, ...], ...]

_FREE = "! nvidia-smi --query-compute-apps=pid,process_name --format=csv,noheader | grep . && "
"""Whatever this prints (a process, or why it cannot be known) ends the line before the rest of it."""


def _there(words: str) -> Lines:
    return (("ssh", "-t", "{host}", words),)


def _when_free(words: str) -> Lines:
    return _there(_FREE + words)


RESET = _when_free("sudo nvidia-smi -i {gpu} -r")
RESET_ALL = _when_free("sudo nvidia-smi -r")
# In this order: a fabric manager that starts after a reset leaves NVLS with the routes of before (nccl#976).
START_FABRIC = _when_free("sudo systemctl enable --now nvidia-fabricmanager && sudo nvidia-smi -r")
RESTART_FABRIC = _when_free("sudo systemctl restart nvidia-fabricmanager && sudo nvidia-smi -r")
MIG_OFF = _when_free("sudo nvidia-smi -i {gpu} -mig 0 && sudo nvidia-smi -i {gpu} -r")
ECC_ON = _when_free("sudo nvidia-smi -i {gpu} -e 1 && sudo nvidia-smi -i {gpu} -r")
DIAGNOSE = _when_free("sudo dcgmi diag -r 3")
BUG_REPORT = _when_free("sudo nvidia-bug-report.sh")
"""What the vendor asks for; it reads registers, which a running job may notice."""

SHARED = _when_free("sudo nvidia-smi -i {gpu} -c 0")
UNLOCK = _there("sudo nvidia-smi -i {gpu} -rgc")
PEERMEM = _there("sudo modprobe nvidia_peermem")
UVERBS = _there("sudo modprobe ib_uverbs")
IB_DRIVERS = _there("sudo modprobe -a ib_core mlx5_ib")
GOVERNOR = _there("sudo cpupower frequency-set -g performance")
CLEAR_COUNTERS = _there("sudo perfquery -C {device} -R")
