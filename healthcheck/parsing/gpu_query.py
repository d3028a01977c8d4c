"""Reads the states of GPUs out of the csv of `nvidia-smi --query-gpu`, whatever fields the driver knew."""

from __future__ import annotations

import re
from functools import lru_cache

from healthcheck.model.gpu_facts import GpuState
from healthcheck.parsing.nvidia_smi import CsvTable, absent, failed, fields_of, mask_of, number_of, text_of

_UNKNOWN_FIELD = "[N/A]"
THROTTLE, OLD_THROTTLE = "clocks_event_reasons.active", "clocks_throttle_reasons.active"
FIELDS = (
    "index",
    "uuid",
    "name",
    "vbios_version",
    "persistence_mode",
    "compute_mode",
    "mig.mode.current",
    "ecc.mode.current",
    "ecc.mode.pending",
    "ecc.errors.uncorrected.volatile.total",
    "ecc.errors.corrected.volatile.total",
    "ecc.errors.uncorrected.aggregate.sram",
    "retired_pages.single_bit_ecc.count",
    "retired_pages.double_bit.count",
    "retired_pages.pending",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "clocks.sm",
    "clocks.max.sm",
    "temperature.gpu",
    THROTTLE,
    "fabric.state",
    "fabric.status",
    "gpu_recovery_action",
)
_ALIASES = {
    OLD_THROTTLE: THROTTLE,
    "clocks.current.sm": "clocks.sm",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
}
"""Names under which some drivers print a field."""

_SWITCH = re.compile(r"enabled|disabled", re.IGNORECASE)
_WORDS = {
    "persistence_mode": _SWITCH,
    "compute_mode": re.compile(r"default|prohibited|(e\. |exclusive[_ ])(process|thread)", re.IGNORECASE),
    "mig.mode.current": _SWITCH,
    "ecc.mode.current": _SWITCH,
    "ecc.mode.pending": _SWITCH,
    "retired_pages.pending": re.compile(r"yes|no", re.IGNORECASE),
    "fabric.state": re.compile(r"completed|not started|in progress", re.IGNORECASE),
    "gpu_recovery_action": re.compile(r"none|.*\b(reset|reboot|drain)\b.*", re.IGNORECASE),
}
"""The words we know where a field has few; any other one is no answer."""

_TEXTS = frozenset({"index", "uuid", "name", "vbios_version", "fabric.status"})


def gpu_states(table: CsvTable) -> tuple[GpuState, ...] | None:
    """None where a row does not begin with an index, or has that or its uuid of another one: then it is no answer."""
    places = _places(table.fields)
    states: list[GpuState] = []
    for line, cells in table.rows:
        if not (cells[0].isascii() and cells[0].isdigit() and len(cells[0]) <= 4):
            return None
        states.append(_state(line, (*cells, _UNKNOWN_FIELD), places))
    told = [state.uuid for state in states if state.uuid is not None]
    twice = len({state.index for state in states}) < len(states) or len(set(told)) < len(told)
    return None if twice else tuple(states)


def cells_of(header: str, row: str, wanted: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """(name as this driver prints it, cell as printed) of each wanted field that the row has."""
    names, places = fields_of(header), _places(fields_of(header))
    cells = row.split(", ")
    at = (places[field] for field in wanted)
    return tuple((names[place], cells[place]) for place in at if place < min(len(names), len(cells)))


@lru_cache(maxsize=256)
def _places(fields: tuple[str, ...]) -> dict[str, int]:
    """Where each of `FIELDS` stands in a row; behind its last cell where the driver did not know it."""
    found = {_ALIASES.get(field, field): place for place, field in enumerate(fields)}
    return {field: found.get(field, len(fields)) for field in FIELDS}


def _state(line: str, cells: tuple[str, ...], at: dict[str, int]) -> GpuState:
    words = {field: text_of(cells[at[field]]) if understood(field, cells[at[field]]) else None for field in _WORDS}
    return GpuState(
        index=int(cells[0]),
        uuid=text_of(cells[at["uuid"]]),
        name=text_of(cells[at["name"]]),
        row=line,
        vbios=text_of(cells[at["vbios_version"]]),
        persistence=words["persistence_mode"],
        compute_mode=words["compute_mode"],
        mig=words["mig.mode.current"],
        ecc=words["ecc.mode.current"],
        ecc_pending=words["ecc.mode.pending"],
        ecc_uncorrected=number_of(cells[at["ecc.errors.uncorrected.volatile.total"]]),
        ecc_corrected=number_of(cells[at["ecc.errors.corrected.volatile.total"]]),
        sram_uncorrected=number_of(cells[at["ecc.errors.uncorrected.aggregate.sram"]]),
        retired_single=number_of(cells[at["retired_pages.single_bit_ecc.count"]]),
        retired_double=number_of(cells[at["retired_pages.double_bit.count"]]),
        retired_pending=words["retired_pages.pending"],
        pcie_gen=number_of(cells[at["pcie.link.gen.current"]]),
        pcie_gen_max=number_of(cells[at["pcie.link.gen.max"]]),
        pcie_width=number_of(cells[at["pcie.link.width.current"]]),
        pcie_width_max=number_of(cells[at["pcie.link.width.max"]]),
        sm_mhz=number_of(cells[at["clocks.sm"]]),
        sm_max_mhz=number_of(cells[at["clocks.max.sm"]]),
        throttle=mask_of(cells[at[THROTTLE]]),
        temperature_c=number_of(cells[at["temperature.gpu"]]),
        fabric_state=words["fabric.state"],
        fabric_status=text_of(cells[at["fabric.status"]]),
        recovery=words["gpu_recovery_action"],
        absent=tuple(field for field, place in at.items() if place < len(cells) - 1 and absent(cells[place])),
        unreadable=tuple(field for field, place in at.items() if not _answers(field, cells[place])),
    )


@lru_cache(maxsize=8192)
def understood(field: str, cell: str) -> bool:
    """Whether a cell holds a value of this field; N/A is none."""
    if field in _WORDS:
        return _WORDS[field].fullmatch(cell.strip()) is not None
    if field == THROTTLE:
        return mask_of(cell) is not None
    return text_of(cell) is not None if field in _TEXTS else number_of(cell) is not None


@lru_cache(maxsize=8192)
def _answers(field: str, cell: str) -> bool:
    return absent(cell) or (understood(field, cell) and not failed(cell))
