"""Events that torch.profiler wrote as no JSON, in the ways it is known to, made JSON.

Versions of 2024 leave out the description of a process group without one (`"Process Group Description": ,`), in every
kernel of NCCL; older ones print `N/A` and `-nan` bare, and Windows paths without escapes.
"""

from __future__ import annotations

import re

_NOTHING = re.compile(r"(:\s*)(?:[-+]?(?:nan|inf|infinity)|N/A|)(?=\s*[,}\]])", re.IGNORECASE)
_BACKSLASH = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')


def mended(event: str) -> str:
    """The text of an event with its known faults taken out; it may still be none."""
    return _BACKSLASH.sub(_escaped, _NOTHING.sub(r"\1null", event))


def _escaped(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else r"\\"
