"""Where a scheduled check-up runs when a cluster manager starts it: under Slurm, or in Kubernetes."""

from __future__ import annotations

from msgspec import Struct

CLAIM = "healthcheck-results"
"""Where runs are kept in Kubernetes unless somebody says otherwise."""


class UnderSlurm(Struct, frozen=True):
    """One job of Slurm. `limit_s` is its time limit in seconds; `partition`, `account` and `reservation` may be empty.

    `gpus` per node are asked for with --gres, none where it is None. `spare` nodes are asked for in addition to those
    that a job behind the gate needs, `budget` is the time of the gate as it is written for it (`5m`), and `gate` are
    options that the gate alone is given.
    """

    nodes: int
    limit_s: float
    gpus: int | None = None
    partition: str = ""
    account: str = ""
    reservation: str = ""
    spare: int = 0
    budget: str = "5m"
    gate: tuple[str, ...] = ()


class InKubernetes(Struct, frozen=True):
    """One MPIJob of Kubernetes, a worker a node. `limit_s` is when it is ended, in seconds.

    `rdma` is a resource of the device plugin and how many of it a worker needs, None for none. Results are kept in the
    claim `claim`, or in the folder `host_path` of the node of the launcher, where that is given.
    """

    namespace: str
    image: str
    workers: int
    gpus: int
    limit_s: float
    rdma: tuple[str, int] | None = None
    claim: str = CLAIM
    host_path: str = ""
    kubectl_image: str = ""
