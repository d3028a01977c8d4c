"""What a healthy node of a DGX A100 writes, and what is made of it; shared by the tests of the ways and settings."""

from __future__ import annotations

import msgspec

from healthcheck.edge.shipped import shipped_platforms
from healthcheck.evaluation.transport import judge_transport
from healthcheck.model.command import CollectiveJob
from healthcheck.model.finding import CheckResult
from healthcheck.model.nccl import NcclRankLog
from healthcheck.model.platform import Platform
from healthcheck.parsing.nccl_log import read_nccl_log
from tests.unit.evaluation.builders import job

A100 = shipped_platforms()["a100-sxm4-8gpu-8x200"]
FEW_NICS = shipped_platforms()["a100-sxm4-8gpu-1x200"]
H100 = msgspec.structs.replace(A100, gpu=msgspec.structs.replace(A100.gpu, names=("NVIDIA H100 80GB HBM3",)))
PCIE = msgspec.structs.replace(
    A100, intra_busbw_gbyte_s=msgspec.structs.replace(A100.intra_busbw_gbyte_s, value=24.0), peak_basis="effective"
)
NICS = "NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8)) + " [RO]; OOB eth0:10.0.0.1<0>"
P2P = "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"
DONE = "ncclCommInitRank comm 0x1 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 7000 commId 0x1 - Init COMPLETE"
HEALTHY = (
    "NCCL version 2.21.5+cuda12.4",
    NICS,
    "Using network IB",
    *(f"NET/IB : GPU Direct RDMA Enabled for HCA {n} 'mlx5_{n}'" for n in range(8)),
    "=== System : maxBw 240.0 totalBw 240.0 ===",
    "NVLS multicast support is not available on dev 0",
    P2P,
    "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA",
    "Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB/0/GDRDMA",
    DONE,
)
MULTI = job(2)
SINGLE = job(1)


def log(*messages: str, host: str = "node01") -> NcclRankLog:
    return read_nccl_log([f"{host}:40:41 [0] NCCL INFO {message}\n" for message in messages], host)


def judged(
    *messages: str, of: CollectiveJob = MULTI, platform: Platform | None = A100, sets: str = ""
) -> dict[str, CheckResult]:
    """The results about node01 by check; `sets`: a variable the run sets itself."""
    of = msgspec.structs.replace(of, env=((sets, "1"),) if sets else ())
    found = judge_transport(of, [log(*messages)], platform)
    assert len({result.check for result in found}) == len(found)
    assert all(str(result.component) == "node01" and result.job == of.id for result in found)
    return {result.check: result for result in found}


def without(*words: str) -> tuple[str, ...]:
    """A healthy log that lacks the lines with these words."""
    return tuple(line for line in HEALTHY if not any(word in line for word in words))
