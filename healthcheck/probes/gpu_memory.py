"""Is GPU memory worn out? Rows that were remapped since Ampere, pages that were retired before it."""

from __future__ import annotations

from functools import lru_cache

from healthcheck.model.finding import CheckResult
from healthcheck.model.gpu_facts import GpuState, GpuStates, RemappedRows
from healthcheck.model.gpu_fields import REMAPPED_ROWS, tells
from healthcheck.model.message import say
from healthcheck.model.node import Gpu
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nvidia_smi import (
    NO_SUCH_QUERY,
    NONE_FOUND,
    absent,
    csv_table,
    explained,
    flag_of,
    lost_lines,
    number_of,
    says_lost,
)
from healthcheck.probes.all_seen import VANISHED
from healthcheck.probes.batch import GPU_DRIVER, Part, PartOutput
from healthcheck.probes.gpu_verdicts import quoted
from healthcheck.probes.per_gpu import Fault, of_node, results
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "gpu_memory"
CHECK = "gpu.rows"
MOST_REMAPPED = 512
"""Remapped rows with errors that could not be corrected: above it Azure has the GPU replaced."""
MOST_RETIRED = 60
"""Retired pages of a V100: from here on it is replaced; there is room for 64."""
_FIELDS = (
    "gpu_uuid",
    "remapped_rows.correctable",
    "remapped_rows.uncorrectable",
    "remapped_rows.pending",
    "remapped_rows.failure",
)
_SOURCE = "nvidia-smi --query-remapped-rows"
_RETIRED_FIELDS = ("retired_pages.single_bit_ecc.count", "retired_pages.double_bit.count", "retired_pages.pending")


def part() -> Part:
    """The csv table of remapped rows, with its header; GPUs that remap nothing print N/A."""
    return Part(NAME, 15, f"nvidia-smi --query-remapped-rows={','.join(_FIELDS)} --format=csv", GPU_DRIVER)


def read(output: PartOutput | None) -> Reading[tuple[RemappedRows, ...]]:
    """Observed and empty: no GPU of the node remaps rows, or it has none."""
    answer = usable(_SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    table = csv_table(answer.stdout, _FIELDS[0])
    if table is None:
        said = [*answer.stderr.splitlines(), *answer.stdout.splitlines()]
        if NONE_FOUND.search(answer.stdout) and explained(answer.rc, said):
            return Reading(ReadingState.OBSERVED, (), quote(_SOURCE, said))
        old = answer.rc != 0 and NO_SUCH_QUERY.search(f"{answer.stdout}\n{answer.stderr}")
        state = garbled(_SOURCE, answer)
        return Reading(ReadingState.TOOL_MISSING, evidence=state.evidence) if old else state
    complaints = [*answer.stderr.splitlines(), *table.rest]
    # A GPU that is lost may be told in its row alone.
    lost = lost_lines(answer.stdout)
    at = {field: place for place, field in enumerate(table.fields)}
    whole = all(field in at for field in _FIELDS) and all(cells[0].startswith("GPU-") for _, cells in table.rows)
    twice = len({cells[0] for _, cells in table.rows}) < len(table.rows)
    if not whole or twice or not explained(0 if lost else answer.rc, complaints):
        return garbled(_SOURCE, answer)
    rows = tuple(
        RemappedRows(
            cells[0],
            line,
            number_of(cells[at["remapped_rows.correctable"]]),
            number_of(cells[at["remapped_rows.uncorrectable"]]),
            flag_of(cells[at["remapped_rows.pending"]]),
            flag_of(cells[at["remapped_rows.failure"]]),
            not all(_understood(field, cells[at[field]]) for field in _FIELDS[1:]),
        )
        for line, cells in table.rows
    )
    return Reading(ReadingState.OBSERVED, rows, quote(_SOURCE, dict.fromkeys((*complaints, *lost))))


@lru_cache(maxsize=1024)
def _understood(field: str, cell: str) -> bool:
    flag = field in ("remapped_rows.pending", "remapped_rows.failure")
    return absent(cell) or (flag_of(cell) if flag else number_of(cell)) is not None


def judge(
    host: str,
    reading: Reading[tuple[RemappedRows, ...]],
    state: Reading[GpuStates],
    gpus: Reading[tuple[Gpu, ...]],
) -> tuple[CheckResult, ...]:
    """`gpus` names the GPUs; `state` tells the retired pages of those that remap no rows."""
    if not reading.observed or reading.value is None:
        return (unseen(CHECK, host, reading, say("probe.rows.hides")),)
    states = state.value if state.value is not None else GpuStates("", ())
    listed = {gpu.uuid: (gpu.index, gpu.name or "") for gpu in states.gpus if gpu.uuid is not None}
    listed |= {gpu.uuid: (gpu.index, gpu.name) for gpu in gpus.value or ()}
    places = [(*listed.get(row.uuid, (place, "")), row) for place, row in enumerate(reading.value)]
    # What one GPU tells, the others of its model should tell, too.
    due = {name for _, name, row in places if _told(row) or row.unreadable or tells(name, REMAPPED_ROWS)}
    remapping = [(index, row) for index, name, row in places if name in due]
    paging = [gpu for gpu in states.gpus if gpu.retired_pending is not None or gpu.retired_double is not None]
    if not remapping and not paging:
        return (of_node(CHECK, host, Verdict.SKIPPED, "rows.does_not_apply", say("probe.rows.absent")),)
    faults = [fault for place, row in remapping if (fault := _remapped(place, row)) is not None]
    if not remapping:
        faults = [fault for gpu in paging if (fault := _retired(gpu, states.header)) is not None]
    well = of_node(CHECK, host, Verdict.PASS, "rows.well", say("probe.rows.well"))
    return results(CHECK, host, faults, len(remapping or paging), well)


def _told(row: RemappedRows) -> bool:
    return row.pending is not None or row.failure is not None


def _remapped(index: int, row: RemappedRows) -> Fault | None:
    evidence = (Evidence(f"{_SOURCE}={','.join(_FIELDS)}", row.row),)
    if row.unreadable and says_lost(row.row):
        return Fault(index, Verdict.FAIL, VANISHED, say("probe.gpu.vanished", line=row.row), evidence)
    if row.failure:
        return Fault(index, Verdict.FAIL, "rows.failure", say("probe.rows.failure"), evidence)
    if row.pending:
        return Fault(index, Verdict.FAIL, "rows.pending", say("probe.rows.pending"), evidence)
    if row.uncorrectable is not None and row.uncorrectable > MOST_REMAPPED:
        message = say("probe.rows.many", count=row.uncorrectable, most=MOST_REMAPPED)
        numbers = float(row.uncorrectable), float(MOST_REMAPPED)
        return Fault(index, Verdict.FAIL, "rows.many", message, evidence, *numbers, "rows")
    if row.unreadable or None in (row.pending, row.failure, row.uncorrectable):
        return Fault(index, Verdict.INCONCLUSIVE, "rows.unreadable", say("probe.rows.unreadable"), evidence)
    return None


def _retired(gpu: GpuState, header: str) -> Fault | None:
    retired = (gpu.retired_single or 0) + (gpu.retired_double or 0)
    if retired >= MOST_RETIRED:
        message = say("probe.rows.retired", count=retired, most=MOST_RETIRED)
        numbers = float(retired), float(MOST_RETIRED)
        evidence = quoted(gpu, header, *_RETIRED_FIELDS)
        return Fault(gpu.index, Verdict.FAIL, "rows.retired", message, evidence, *numbers, "pages")
    if (gpu.retired_pending or "").lower() == "yes":
        evidence = quoted(gpu, header, *_RETIRED_FIELDS)
        return Fault(gpu.index, Verdict.DEGRADED, "rows.page_pending", say("probe.rows.page_pending"), evidence)
    return None
