"""What the numbers of NVIDIA's kernel driver mean, as data.

Source: https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html. The order is the urgency: where a GPU
logged several, the first one names the cause.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct


class Weight(StrEnum):
    """What an Xid says about the GPU."""

    FATAL = "fatal"  # not usable until it was reset, or for good
    WARNING = "warning"  # works, and will be a problem
    APPLICATION = "application"  # a program went wrong; the hardware only if it comes again and again


class Xid(Struct, frozen=True):
    """One number. `name` (`xid.79`) is the code of its meaning in the catalogue of texts.

    `own`: well-known enough for a rule and a cause of its own, called like `name`. `as_text`: it is as
    heavy only where the line itself says "Fatal".
    """

    name: str
    weight: Weight
    own: bool = False
    as_text: bool = False

    @property
    def code(self) -> int:
        """The number."""
        return int(self.name.partition(".")[2])


_F, _W, _A = Weight.FATAL, Weight.WARNING, Weight.APPLICATION

_ROWS = (
    Xid("xid.79", _F, own=True),
    Xid("xid.48", _F, own=True),
    Xid("xid.64", _F, own=True),
    Xid("xid.95", _F, own=True),
    Xid("xid.140", _F, own=True),
    Xid("xid.74", _F, own=True),
    Xid("xid.149", _F, own=True, as_text=True),
    Xid("xid.145", _F, own=True, as_text=True),
    Xid("xid.136", _F, own=True),
    Xid("xid.119", _F, own=True),
    Xid("xid.120", _F, own=True),
    Xid("xid.38", _F),
    Xid("xid.44", _F),
    Xid("xid.46", _F),
    Xid("xid.61", _F),
    Xid("xid.62", _F),
    Xid("xid.122", _F),
    Xid("xid.123", _F),
    Xid("xid.143", _F),
    Xid("xid.144", _F, as_text=True),
    Xid("xid.146", _F, as_text=True),
    Xid("xid.147", _F, as_text=True),
    Xid("xid.148", _F, as_text=True),
    Xid("xid.150", _F, as_text=True),
    Xid("xid.157", _F),
    Xid("xid.158", _F),
    Xid("xid.154", _F, own=True),
    Xid("xid.94", _W, own=True),
    Xid("xid.63", _W, own=True),
    Xid("xid.92", _W, own=True),
    Xid("xid.137", _W, own=True),
    Xid("xid.68", _W),
    Xid("xid.69", _W),
    Xid("xid.81", _W),
    Xid("xid.109", _W),
    Xid("xid.121", _W),
    Xid("xid.155", _W),
    Xid("xid.156", _W),
    Xid("xid.167", _W),
    Xid("xid.13", _A),
    Xid("xid.31", _A),
    Xid("xid.32", _A),
    Xid("xid.43", _A),
    Xid("xid.45", _A),
)

RECOVERY = 154
_NOTHING_TO_DO = re.compile(r"\bto (?:\S+ )?\(None\)")

XIDS = {row.code: row for row in _ROWS}
URGENCY = {row.code: place for place, row in enumerate(_ROWS)}
UNKNOWN = Xid("xid.other", Weight.WARNING)
"""A number that is not in the table: NVIDIA adds some with every generation."""

SXID_HARMLESS = frozenset({12028})
"""Logged by an NVSwitch whenever a program that used the fabric ends early."""


def weight_of(code: int, says_fatal: bool | None, text: str) -> Weight | None:
    """How heavy one line is; None: it says nothing is wrong."""
    row = XIDS.get(code, UNKNOWN)
    if row.as_text and says_fatal is not True:
        return Weight.WARNING
    return None if is_repaired(code, text) else row.weight


def is_repaired(code: int, text: str) -> bool:
    """`GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)`: the GPU was reset."""
    return code == RECOVERY and _NOTHING_TO_DO.search(text) is not None
