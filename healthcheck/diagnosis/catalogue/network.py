"""Host channel adapters, their ports and cables."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import CARDS, PORT, SYSFS
from healthcheck.diagnosis.cause import Cause

_SLOWS = ("peak",)
_BREAKS = ("peak", "integrity")

NETWORK_CAUSES: tuple[Cause, ...] = (
    Cause("hca_down", rules=("hca.down",), explains=(*_BREAKS, "hca.inactive"), commands=PORT, reference=SYSFS),
    Cause("hca_missing", rules=("hca.missing",), explains=_SLOWS, commands=CARDS, reference=SYSFS),
    Cause("hca_inactive", rules=("hca.inactive",), explains=_SLOWS, commands=CARDS, reference=SYSFS),
    Cause("hca_slow", rules=("hca.rate_broken", "hca.rate_low"), explains=_SLOWS, commands=PORT, reference=SYSFS),
    Cause("hca_one_of", rules=("hca.one_of",), explains=_SLOWS, commands=CARDS, reference=SYSFS),
    Cause(
        "hca_tool_missing",
        rules=("hca.tool_missing",),
        commands=(("ssh", "{host}", "lsmod | grep -e ib_core -e mlx5_ib"),),
    ),
    Cause("hca_unreadable", rules=("hca.unreadable", "hca.rate_unknown"), commands=CARDS, reference=SYSFS),
)
