"""What the variables of a rank decide: the GPUs it sees, the HCAs NCCL may use, the group it belongs to.

Formats: CUDA programming guide (CUDA_VISIBLE_DEVICES), NCCL user guide (NCCL_IB_HCA), nccl-tests README
(NCCL_TESTS_SPLIT since 2.14.0, NCCL_TESTS_SPLIT_MASK since 2.13.4, which goes first).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_SELECTING = ("CUDA_VISIBLE_DEVICES", "NCCL_IB_HCA", "NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK")
_MASK_SINCE, _SPLIT_SINCE = (2, 13, 4), (2, 14, 0)
_OPERATION = re.compile(r"\s*(AND|OR|MOD|DIV|[&|%/])\s*(0x[0-9a-f]+|0b[01]+|\d+)\s*", re.IGNORECASE)
_NUMBER_BASES = {"0x": 16, "0b": 2}


def selected(env: Sequence[tuple[str, str]]) -> str:
    """The variables by which two jobs on the same hosts are different jobs, to be put behind their key."""
    return "".join(f" {name}={value}" for name, value in env if name in _SELECTING)


def visible_gpus(variables: Mapping[str, str], there: int) -> tuple[int, ...]:
    """The GPUs of a node that its ranks see, in their order; the list ends before the first that is not `there`."""
    asked = variables.get("CUDA_VISIBLE_DEVICES")
    if asked is None:
        return tuple(range(there))
    seen: list[int] = []
    for word in asked.split(","):
        if not word.strip().isdecimal() or int(word) >= there or int(word) in seen:
            break
        seen.append(int(word))
    return tuple(seen)


def allowed_hcas(variables: Mapping[str, str], devices: Sequence[str]) -> tuple[int, ...]:
    """Positions of the HCAs NCCL may use: `mlx5` is a beginning, `=mlx5_2` the whole name, `^` all but these."""
    asked = variables.get("NCCL_IB_HCA", "")
    words = asked.lstrip("^=")
    if not words:
        return tuple(range(len(devices)))
    marks = asked[: len(asked) - len(words)]
    names = [word.partition(":")[0] for word in words.split(",") if word]

    def named(device: str) -> bool:
        return device in names if "=" in marks else any(device.startswith(name) for name in names)

    return tuple(index for index, device in enumerate(devices) if named(device) != ("^" in marks))


def group_of_rank(variables: Mapping[str, str], tool_version: str) -> Callable[[int], int] | None:
    """The group number of a rank of the whole job; None where nccl-tests of this version makes one group of all."""
    version = tuple(int(part) for part in tool_version.split("."))
    mask = variables.get("NCCL_TESTS_SPLIT_MASK")
    if mask is not None and version >= _MASK_SINCE:
        bits = _hexadecimal(mask)
        return lambda rank: rank & bits
    found = _OPERATION.fullmatch(variables.get("NCCL_TESTS_SPLIT", ""))
    if found is None or version < _SPLIT_SINCE:
        return None
    text = found[2].lower()
    value = int(text, _NUMBER_BASES.get(text[:2], 10))
    operation = found[1].upper()
    if operation in ("MOD", "%", "DIV", "/") and value == 0:
        return None
    operations: dict[str, Callable[[int], int]] = {
        "AND": lambda rank: rank & value,
        "OR": lambda rank: rank | value,
        "MOD": lambda rank: rank % value,
        "DIV": lambda rank: rank // value,
    }
    return operations[{"&": "AND", "|": "OR", "%": "MOD", "/": "DIV"}.get(operation, operation)]


def _hexadecimal(text: str) -> int:
    """As strtoul reads it: what is no number is 0."""
    found = re.match(r"\s*(?:0x)?([0-9a-f]+)", text, re.IGNORECASE)
    return int(found[1], 16) if found else 0
