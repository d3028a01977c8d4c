"""The element types of nccl-tests and rccl-tests, by the names that any of their versions printed."""

from __future__ import annotations

SIZE_BYTES: dict[str, int] = {
    **dict.fromkeys(("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16"), 2),
    **dict.fromkeys(("float", "int32", "uint32", "int"), 4),
    **dict.fromkeys(("double", "int64", "uint64"), 8),
}

# Longest first: `int8` before `int`.
NAMES_PATTERN = "|".join(sorted(SIZE_BYTES, key=len, reverse=True))
