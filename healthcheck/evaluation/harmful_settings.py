"""NCCL variables that slow down or lame every job of a machine, whoever finds them: a login or the log of a job.

From https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html. Only values that exclude what NCCL needs to be
fast are harm. Left out on purpose: what a vendor's validated set contains (`NCCL_MIN_NCHANNELS`, `NCCL_MIN_CTAS` raise
the channels, `NCCL_PROTO=Simple`, `NCCL_ALGO=Ring,Tree`), and levels a site may have chosen for good (`NVL`, `PXB`,
`SYS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

GID_CHOSEN_SINCE = (2, 21)
"""NCCL finds the RoCE address by itself since then; before, the number had to be given."""

_ALGORITHMS_EVERYWHERE = frozenset({"ring", "tree"})
_FEWEST_CHANNELS = 8  # with fewer the NVLinks or NICs of a board with eight GPUs are not all in use
_USUAL_THREADS = 512
_USUAL_BUFFER = 1 << 22
_NOT_GIVEN = -2


class Machine(Struct, frozen=True):
    """What is known about where a setting would count; None: not known. `nccl` is the version that takes it."""

    rdma: bool | None = None
    nvls: bool | None = None
    nccl: str | None = None


class Harm(Struct, frozen=True):
    """Variables with one effect. `values`: those that have it; `counts`: on which machines it matters."""

    rule: str
    names: tuple[str, ...]
    values: Callable[[str], bool]
    counts: Callable[[Machine], bool]


def _on(value: str) -> bool:
    """NCCL reads a number, in any base, and takes every other than 0 for yes."""
    try:
        return int(value, 0) != 0
    except ValueError:
        return False


def _zero(value: str) -> bool:
    return value == "0"


def _lowest(value: str) -> bool:
    """The level that shuts a way altogether."""
    return value.upper() in ("0", "LOC")


def _choices(value: str) -> Iterator[tuple[bool, frozenset[str]]]:
    """(are they excluded, which) of `Ring,Tree`, `^LL128`, and since 2.24 `allreduce:tree,ring;allgather:^ring`."""
    for part in value.lower().split(";"):
        chosen = part.rpartition(":")[2].strip()
        names = frozenset(name.strip() for name in chosen.removeprefix("^").split(",")) - {""}
        if names:
            yield chosen.startswith("^"), names


def _one_algorithm(value: str) -> bool:
    """Each is the fastest at some size; one of them alone, or neither of the two that are everywhere, is not enough."""
    return any(names >= _ALGORITHMS_EVERYWHERE if excluded else len(names) == 1 for excluded, names in _choices(value))


def _without_simple(value: str) -> bool:
    """Of the protocols only this one reaches the bandwidth of the machine."""
    return any(("simple" in names) is excluded for excluded, names in _choices(value))


def _below(least: int) -> Callable[[str], bool]:
    """-2 is how NCCL itself writes that a number was not given."""

    def is_below(value: str) -> bool:
        try:
            return _NOT_GIVEN != int(value, 0) < least
        except ValueError:
            return False

    return is_below


def _chosen(value: str) -> bool:
    """-1 is what is taken anyway: the automatic choice."""
    return not value.startswith("-")


def _everywhere(_machine: Machine) -> bool:
    return True


def _with_rdma(machine: Machine) -> bool:
    return machine.rdma is not False


def _with_nvls(machine: Machine) -> bool:
    return machine.nvls is True


def _chooses_gid(machine: Machine) -> bool:
    numbers = (machine.nccl or "").split(".")[:2]
    return len(numbers) == 2 and all(map(str.isdecimal, numbers)) and tuple(map(int, numbers)) >= GID_CHOSEN_SINCE


HARMS = (
    Harm("settings.ib_disable", ("NCCL_IB_DISABLE",), _on, _with_rdma),
    Harm("settings.p2p_disable", ("NCCL_P2P_DISABLE",), _on, _everywhere),
    Harm("settings.p2p_disable", ("NCCL_P2P_LEVEL",), _lowest, _everywhere),
    Harm("settings.gdr_level", ("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL"), _lowest, _with_rdma),
    Harm("settings.shm_disable", ("NCCL_SHM_DISABLE",), _on, _everywhere),
    Harm("settings.nvls_disable", ("NCCL_NVLS_ENABLE",), _zero, _with_nvls),
    Harm("settings.algo", ("NCCL_ALGO",), _one_algorithm, _everywhere),
    Harm("settings.proto", ("NCCL_PROTO",), _without_simple, _everywhere),
    Harm(
        "settings.channels",
        ("NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS"),
        _below(_FEWEST_CHANNELS),
        _everywhere,
    ),
    Harm("settings.gid_index", ("NCCL_IB_GID_INDEX",), _chosen, _chooses_gid),
    Harm("settings.forced", ("NCCL_NTHREADS",), _below(_USUAL_THREADS), _everywhere),
    Harm("settings.forced", ("NCCL_BUFFSIZE",), _below(_USUAL_BUFFER), _everywhere),
    Harm("settings.forced", ("NCCL_P2P_DIRECT_DISABLE",), _on, _everywhere),
)
"""What costs most comes first: the first one that is set names the rule of a node."""


def harm_of(name: str, value: str, machine: Machine) -> int | None:
    """The place in HARMS of what a variable does on this machine; None where it does no harm."""
    for place, harm in enumerate(HARMS):
        if name in harm.names and harm.values(value) and harm.counts(machine):
            return place
    return None
