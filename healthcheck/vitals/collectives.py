"""Collectives as a profile names them: which kernels are communication, what they carried, how fast that was.

Names of kernels changed with every generation of NCCL and RCCL; the one thing that holds is `nccl` somewhere in them.
Sizes are counted as nccl-tests counts them (facts: model/collective.py), so that a bus bandwidth here can be held
against one measured there.
"""

from __future__ import annotations

import re

from healthcheck.model.collective import Collective
from healthcheck.vitals.columns import Kind

# MSCCL are RCCL's own algorithms (`mscclKernel_…`); MSCCL++ is another library.
_NCCL = re.compile(r"nccl|rccl|mscclKernel", re.IGNORECASE)

# Communication without NCCL: DeepEP, HybridEP, MORI, NVSHMEM, the all-reduce kernels of inference engines, those of
# symmetric memory in PyTorch and of TransformerEngine's user buffers.
_FOREIGN = re.compile(
    r"deep_?ep\b|deep_ep::|hybrid_?ep|nvshmem|rocshmem|userbuffers|mscclpp|"
    r"cross_device_reduce|multimem_all|multimem_one_shot|(?:one|two)_?shot_?all_?reduce|all_?reduce_(?:fusion|lamport)|"
    r"custom_?all_?reduce|quick_?(?:all_?)?reduce|internode::|intranode::|EpDispatch|EpCombine",
    re.IGNORECASE,
)

# The longer first: `AllReduce` is no `Reduce`, `ReduceScatter` is neither.
_IN_KERNEL = (
    ("allreduce", Collective.ALL_REDUCE),
    ("allgather", Collective.ALL_GATHER),
    ("reducescatter", Collective.REDUCE_SCATTER),
    ("alltoallv", Collective.ALLTOALLV),
    ("alltoall", Collective.ALLTOALL),
    ("sendrecv", Collective.SENDRECV),
    ("broadcast", Collective.BROADCAST),
    ("reduce", Collective.REDUCE),
    ("scatter", Collective.SCATTER),
    ("gather", Collective.GATHER),
)
_BY_NAME = {collective.value: collective for collective in Collective}
_SAID = dict(_IN_KERNEL) | {"send": Collective.SENDRECV, "recv": Collective.SENDRECV}
_VARIANT = re.compile(r"^_|_base$|_coalesced$|_oop$|_into_tensor|_tensor|_sparse$")

SIZE_OF: dict[str, int] = {
    **dict.fromkeys(("byte", "char", "bool", "uint8", "int8"), 1),
    **dict.fromkeys(("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"), 1),
    **dict.fromkeys(("short", "half", "bfloat16", "uint16", "int16", "float16"), 2),
    **dict.fromkeys(("int", "float", "uint32", "int32", "float32"), 4),
    **dict.fromkeys(("long", "double", "uint64", "int64", "float64", "complexfloat"), 8),
    "complexdouble": 16,
}
"""Bytes of an element, by PyTorch's name of its type in lower case."""


def kind_of_kernel(name: str) -> Kind:
    """What a kernel does; `name` as printed, mangled or not. Communication of others counts as compute."""
    return Kind.COLLECTIVE if _NCCL.search(name) else Kind.COMPUTE


def is_foreign(name: str) -> bool:
    """True for a kernel that communicates without NCCL, so that the collective share is a lower bound."""
    return not _NCCL.search(name) and _FOREIGN.search(name) is not None


def name_of(kernel: str, said: str | None = None) -> str:
    """nccl-tests' name of what a kernel did, `said` being what its launcher called it (`_allgather_base`).

    All-to-all runs as a kernel of send and receive: only `said` tells it. What is neither known stays as it is said;
    a kernel that names nothing (RCCL's `ncclDevKernel_Generic`) is named by itself.
    """
    for text, exact in ((said or "", True), (kernel, False)):
        known = _known(text, exact)
        if known:
            return known.value
    return said or kernel.partition("(")[0]


def _known(text: str, exact: bool) -> Collective | None:
    """The collective that is `exact`ly this word, but for its variants, or that stands in the name of a kernel."""
    plain = text.lower()
    if not exact:
        plain = plain.replace("_", "")
        return next((collective for part, collective in _IN_KERNEL if part in plain), None)
    while (shorter := _VARIANT.sub("", plain)) != plain:
        plain = shorter
    return _SAID.get(plain.replace("_", ""))


def is_peer_to_peer(name: str) -> bool:
    """True for send and receive, by the name of `name_of`."""
    return name == Collective.SENDRECV.value


def size_bytes(
    name: str, sent: int | None, received: int | None, dtype: str | None, group_size: int | None
) -> int | None:
    """The size nccl-tests prints for a call, in bytes; None where it cannot be known.

    `sent` and `received` are elements on one rank (`In msg nelems`, `Out msg nelems`), `dtype` PyTorch's name. Where
    nccl-tests counts the data of all ranks (all_gather, reduce_scatter, alltoall, gather, scatter), that is the larger
    side.
    """
    each = SIZE_OF.get(dtype.lower()) if dtype else None
    known = [nelems for nelems in (sent, received) if nelems is not None and nelems > 0]
    if each is None or not known or name not in _BY_NAME:
        return None
    if not _BY_NAME[name].size_is_of_all_ranks:
        return known[0] * each
    if len(known) == 2:
        return max(known) * each
    whole = received if name in (Collective.ALL_GATHER, Collective.GATHER) else sent
    if whole:
        return whole * each
    # Only the share of one rank is known.
    return known[0] * group_size * each if group_size and name not in _SYMMETRIC else None


_SYMMETRIC = frozenset({Collective.ALLTOALL, Collective.ALLTOALLV})


def busbw_gbyte_s(name: str, size: int | None, group_size: int | None, seconds: float) -> float | None:
    """nccl-tests' BusBW of one call in GB/s (10^9 bytes); None where size or group are unknown, or nobody is there to
    talk to."""
    if size is None or group_size is None or group_size < 2 or seconds <= 0 or name not in _BY_NAME:
        return None
    return size / seconds / 1e9 * _BY_NAME[name].factor(group_size)
