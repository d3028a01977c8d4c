"""How much did the counters of a port grow between two looks? Unknown where they were reset or are at their end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from healthcheck.model.network_facts import PortCounters

_BITS = {
    "symbol_error": 16,
    "link_error_recovery": 8,
    "link_downed": 8,
    "port_rcv_errors": 16,
    "port_rcv_remote_physical_errors": 16,
    "port_xmit_discards": 16,
    "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4,
    "VL15_dropped": 16,
}
"""Widths of the counters of an InfiniBand port that stop at their end (PortCounters of the InfiniBand specification);
newer cards count some of them further. All others have 32 or 64 bits."""
_ENDS = {name: (1 << bits) - 1 for name, bits in _BITS.items()}
_ENDS_OF_ALL = frozenset({(1 << 32) - 1, (1 << 64) - 1})
_MOVED = frozenset({"port_xmit_data", "port_rcv_data"})
"""Compared with each other, so that a lower bound is of no use; of an error it is."""


class Counted(Struct, frozen=True):
    """One counter before and after. `growth` None: it was reset, wrapped, or had stopped at its end before."""

    name: str
    before: int
    after: int
    growth: int | None

    @property
    def line(self) -> str:
        """Both values, to be quoted."""
        return f"{self.before}, after the stages {self.after}"


class Growth(Struct, frozen=True):
    """All counters of one port that were there both times, by name."""

    device: str
    port: int
    counters: Mapping[str, Counted]

    def of(self, name: str) -> int | None:
        """Growth of one counter; None: unknown, or there is no such counter."""
        counted = self.counters.get(name)
        return None if counted is None else counted.growth


def grown(
    before: Iterable[PortCounters], after: Iterable[PortCounters], ports: Sequence[tuple[str, int]]
) -> tuple[Growth, ...]:
    """The growth of these ports, in their order; a port without counters in one of the looks is left out."""
    first = {(port.device, port.port): port.values for port in before}
    second = {(port.device, port.port): port.values for port in after}
    return tuple(
        Growth(*place, _compared(dict(first[place]), dict(second[place])))
        for place in ports
        if place in first and place in second
    )


def _compared(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, Counted]:
    return {
        name: Counted(name, old, after[name], _difference(name, old, after[name]))
        for name, old in before.items()
        if name in after
    }


def _difference(name: str, before: int, after: int) -> int | None:
    stopped = before in _ENDS_OF_ALL or before == _ENDS.get(name) or (name in _MOVED and after in _ENDS_OF_ALL)
    return None if stopped or after < before else after - before
