"""In which state are the GPUs? One query for modes, memory errors, clocks, PCIe link and NVSwitch membership.

nvidia-smi refuses a whole query for one field its driver does not know, so the part asks again without all fields that
its help does not name, and then, should there be more, without one after the other. The answer is read by the names in
its first line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.gpu_facts import GpuState, GpuStates
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.gpu_query import FIELDS, OLD_THROTTLE, THROTTLE, cells_of, gpu_states
from healthcheck.parsing.nvidia_smi import NONE_FOUND, csv_table, explained, says_lost
from healthcheck.probes import gpu_verdicts
from healthcheck.probes.all_seen import VANISHED, of_all
from healthcheck.probes.batch import GPU_DRIVER, Part, PartOutput, one_line
from healthcheck.probes.gpu_told import untold
from healthcheck.probes.per_gpu import Fault, of_node, results
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "gpu_state"
MODE_CHECK = "gpu.mode"
ECC_CHECK = "gpu.ecc"
PCIE_CHECK = "gpu.pcie"
CLOCKS_CHECK = "gpu.clocks"
RECOVERY_CHECK = "gpu.recovery"
CHECKS = (MODE_CHECK, ECC_CHECK, PCIE_CHECK, CLOCKS_CHECK, RECOVERY_CHECK)
ECC_AFTER_CHECK = "gpu.ecc_errors"
LOADED_CLOCKS_CHECK = "gpu.loaded_clocks"
LOADED_PCIE_CHECK = "gpu.loaded_pcie"
SOURCE = "nvidia-smi --query-gpu"

_MOST_TRIES = 10
# With persistence mode off and a driver without fabric fields and its like: three calls of up to 10 s are healthy.
_TIMEOUT_S = 35
# The name of the refused field is only ever compared, never run. It is removed word by word, so that no character of
# it means anything to a pattern. A help that does not even name `index` is none.
_TEXT = one_line(rf"""
    fields={",".join(FIELDS)}; tries=0;
    while :; do
        answer=$(nvidia-smi --query-gpu="$fields" --format=csv 2>&1); code=$?;
        bad=$(printf "%s\n" "$answer" | sed -n "s/^Field \"\([A-Za-z0-9_.]*\)\" is not a valid field.*/\1/p" |
            head -n 1);
        tries=$((tries + 1));
        if [ -z "$bad" ] || [ "$tries" -ge {_MOST_TRIES} ]; then break; fi;
        help=;
        if [ "$tries" = 1 ]; then help=$(nvidia-smi --help-query-gpu 2>/dev/null | head -c 200000); fi;
        case $help in *\"index\"*) ;; *) help=; ;; esac;
        rest=; IFS=,;
        for field in $fields; do
            gone=;
            if [ "$field" = "$bad" ]; then gone=1; fi;
            if [ "$help" ]; then case $help in *\""$field"\"*) ;; *) gone=1 ;; esac; fi;
            if [ "$gone$field" = 1{THROTTLE} ]; then field={OLD_THROTTLE}; gone=; fi;
            if [ -z "$gone" ]; then rest="$rest,$field"; fi;
        done;
        unset IFS; fields=${{rest#,}};
    done;
    printf "%s\n" "$answer"; exit "$code"
""")


def part() -> Part:
    """The csv table of `FIELDS`, with its header and units, without what this driver does not know."""
    return Part(NAME, _TIMEOUT_S, _TEXT, GPU_DRIVER)


def read(output: PartOutput | None) -> Reading[GpuStates]:
    """Observed and empty: the driver has no GPU. A lost one is quoted in `evidence` or stands in its row."""
    answer = usable(SOURCE, output)
    if isinstance(answer, Reading):
        return answer
    table = csv_table(answer.stdout, FIELDS[0])
    complaints = [*answer.stderr.splitlines(), *(table.rest if table is not None else answer.stdout.splitlines())]
    if table is None:
        if NONE_FOUND.search(answer.stdout) and explained(answer.rc, complaints):
            return Reading(ReadingState.OBSERVED, GpuStates("", ()), quote(SOURCE, complaints))
        return garbled(SOURCE, answer)
    states = gpu_states(table)
    lost = says_lost(answer.stdout) or says_lost(answer.stderr)
    # A GPU that is lost is told in its row as well; then nothing else need explain the exit code.
    whole = explained(0 if lost else answer.rc, complaints)
    if states is None or not whole or not (states or lost):
        return garbled(SOURCE, answer)
    return Reading(ReadingState.OBSERVED, GpuStates(table.header, states), quote(SOURCE, complaints))


class _Look(Struct, frozen=True):
    """One check of every GPU. `fields`: what it claims to have read. `rules`: the first word of its rules."""

    check: str
    rules: str
    fields: tuple[str, ...]
    told: Callable[[GpuState], bool]
    fault: Callable[[GpuState, str], Fault | None]
    well: Message
    absent: Message


_MODE = _Look(
    MODE_CHECK,
    "mode",
    ("mig.mode.current", "compute_mode"),
    lambda gpu: gpu.mig is not None or gpu.compute_mode is not None,
    gpu_verdicts.mode,
    say("probe.mode.free"),
    say("probe.mode.absent"),
)
_ECC = _Look(
    ECC_CHECK,
    "ecc",
    (
        "ecc.mode.current",
        "ecc.mode.pending",
        "ecc.errors.uncorrected.volatile.total",
        "ecc.errors.uncorrected.aggregate.sram",
    ),
    lambda gpu: gpu.ecc_uncorrected is not None,
    gpu_verdicts.ecc,
    say("probe.ecc.clean"),
    say("probe.ecc.absent"),
)
_PCIE = _Look(
    PCIE_CHECK,
    "gpu_pcie",
    ("pcie.link.width.current", "pcie.link.width.max", "pcie.link.gen.max"),
    lambda gpu: gpu.pcie_width is not None and gpu.pcie_width_max is not None,
    gpu_verdicts.pcie_width,
    say("probe.gpu_pcie.wide"),
    say("probe.gpu_pcie.absent"),
)
_CLOCKS = _Look(
    CLOCKS_CHECK,
    "clocks",
    (THROTTLE, "temperature.gpu"),
    lambda gpu: gpu.throttle is not None,
    gpu_verdicts.clocks,
    say("probe.clocks.free"),
    say("probe.clocks.absent"),
)
_RECOVERY = _Look(
    RECOVERY_CHECK,
    "recovery",
    ("gpu_recovery_action",),
    lambda gpu: gpu.recovery is not None,
    gpu_verdicts.recovery,
    say("probe.recovery.none"),
    say("probe.recovery.absent"),
)
_LOADED_CLOCKS = _Look(
    LOADED_CLOCKS_CHECK,
    "clocks",
    (THROTTLE, "temperature.gpu", "clocks.sm", "clocks.max.sm"),
    lambda gpu: gpu.throttle is not None,
    gpu_verdicts.loaded_clocks,
    say("probe.clocks.kept"),
    say("probe.clocks.absent"),
)
_LOADED_PCIE = _Look(
    LOADED_PCIE_CHECK,
    "gpu_pcie",
    ("pcie.link.gen.current", "pcie.link.gen.max"),
    lambda gpu: gpu.pcie_gen is not None and gpu.pcie_gen_max is not None,
    gpu_verdicts.loaded_pcie,
    say("probe.gpu_pcie.fast"),
    say("probe.gpu_pcie.absent"),
)


def judge(host: str, reading: Reading[GpuStates]) -> tuple[CheckResult, ...]:
    """The five checks of GPUs that nobody loads; one result in all where nothing could be read."""
    states = reading.value
    if not reading.observed or states is None:
        return (unseen(MODE_CHECK, host, reading, say("probe.gpu_state.hides")),)
    found: list[CheckResult] = []
    for look in (_MODE, _ECC, _PCIE, _CLOCKS, _RECOVERY):
        more = _slow_slots(states) if look is _PCIE else []
        found += _judged(look, host, states.gpus, states.header, say("probe.gpu_state.none"), more)
    return tuple(_with_remark(result, states) for result in found)


def judge_under_load(host: str, reading: Reading[GpuStates], expected: int = 0) -> tuple[CheckResult, ...]:
    """For a reading taken while a benchmark runs: clocks and PCIe generation of the GPUs that are at work in it.

    `expected`: how many GPUs the node has.
    """
    states = reading.value
    if not reading.observed or states is None:
        return (unseen(LOADED_CLOCKS_CHECK, host, reading, say("probe.gpu_state.load_hides"), needed=False),)
    # One that does not tell may be at work, too.
    maybe = [gpu for gpu in states.gpus if gpu.throttle is None and THROTTLE in gpu.unreadable]
    sure = [gpu for gpu in states.gpus if gpu.throttle is not None and not gpu.throttle & gpu_verdicts.IDLE]
    at_work = tuple(sorted((*maybe, *sure), key=lambda gpu: gpu.index))
    nobody = say("probe.gpu_state.idle")
    found = (
        *_judged(_LOADED_CLOCKS, host, at_work, states.header, nobody),
        *_judged(_LOADED_PCIE, host, at_work, states.header, nobody),
    )
    return of_all(found, reading, expected)


def judge_after(host: str, before: Reading[GpuStates], after: Reading[GpuStates]) -> tuple[CheckResult, ...]:
    """ECC errors that appeared while the benchmarks ran; a GPU that was not there before is not compared."""
    for reading in (after, before):
        if not reading.observed or reading.value is None:
            hides = say("probe.gpu_state.after_hides")
            return (unseen(ECC_AFTER_CHECK, host, reading, hides, needed=False),)
    first = {gpu.uuid: gpu for gpu in (before.value.gpus if before.value is not None else ())}
    states = after.value.gpus if after.value is not None else ()
    counted = {uuid: gpu for uuid, gpu in first.items() if gpu.ecc_uncorrected is not None}
    pairs = [(counted[gpu.uuid], gpu) for gpu in states if gpu.uuid in counted]
    if not counted:
        return (of_node(ECC_AFTER_CHECK, host, Verdict.SKIPPED, "ecc.does_not_apply", _ECC.absent),)
    header = after.value.header if after.value is not None else ""
    faults = [fault for was, now in pairs if (fault := _new_errors(was, now, header)) is not None]
    well = of_node(ECC_AFTER_CHECK, host, Verdict.PASS, "ecc.none_new", say("probe.ecc.none_new"))
    return of_all(results(ECC_AFTER_CHECK, host, faults, len(pairs), well), after, len(first))


def _new_errors(before: GpuState, after: GpuState, header: str) -> Fault | None:
    if after.ecc_uncorrected is None:
        return _lost(after, header) or _not_told(_ECC, after, header, "ecc.errors.uncorrected.volatile.total")
    return gpu_verdicts.ecc_growth(before, after, header)


def settings(facts: NodeFacts) -> Settings:
    """`vbios`, `ecc`, `persistence` of the GPUs; several values where they differ within the node."""
    gpus = facts.gpu_state.value.gpus if facts.gpu_state.value is not None else ()
    told = (
        ("vbios", {gpu.vbios for gpu in gpus}),
        ("ecc", {gpu.ecc for gpu in gpus}),
        ("persistence", {gpu.persistence for gpu in gpus}),
    )
    joined = ((name, "+".join(sorted(value for value in values if value))) for name, values in told)
    return tuple((name, text) for name, text in joined if text)


def _judged(
    look: _Look, host: str, gpus: tuple[GpuState, ...], header: str, nobody: Message, more: Sequence[Fault] = ()
) -> tuple[CheckResult, ...]:
    found = {fault.index: fault for fault in more}
    missed = untold(gpus)
    for gpu in gpus:
        missing = next((field for field in look.fields if field in missed[gpu.index]), None)
        fault = _lost(gpu, header) or look.fault(gpu, header)
        if fault is None and missing is not None and gpu.index not in found:
            fault = _not_told(look, gpu, header, missing)
        if fault is not None:
            found[gpu.index] = fault
    if not found and not any(map(look.told, gpus)):
        message = look.absent if gpus else nobody
        return (of_node(look.check, host, Verdict.SKIPPED, f"{look.rules}.does_not_apply", message),)
    well = of_node(look.check, host, Verdict.PASS, f"{look.rules}.well", look.well)
    return results(look.check, host, tuple(found.values()), len(gpus), well)


def _lost(gpu: GpuState, header: str) -> Fault | None:
    """A row that says that its GPU is lost."""
    if not gpu.unreadable or not says_lost(gpu.row):
        return None
    field = next((field for field in gpu.unreadable if says_lost(cells_of(header, gpu.row, (field,))[0][1])), "name")
    evidence = gpu_verdicts.quoted(gpu, header, "uuid", field)
    return Fault(gpu.index, Verdict.FAIL, VANISHED, say("probe.gpu.vanished", line=evidence[0].text), evidence)


def _not_told(look: _Look, gpu: GpuState, header: str, field: str) -> Fault:
    cell = next((cell for _, cell in cells_of(header, gpu.row, (field,))), "")
    message = say("probe.gpu_state.error", field=field, cell=cell.strip()[:80] or "nothing")
    evidence = gpu_verdicts.quoted(gpu, header, field)
    return Fault(gpu.index, Verdict.INCONCLUSIVE, f"{look.rules}.unreadable", message, evidence)


def _slow_slots(states: GpuStates) -> list[Fault]:
    best = max((gpu.pcie_gen_max for gpu in states.gpus if gpu.pcie_gen_max is not None), default=0)
    found = (gpu_verdicts.slow_slot(gpu, states.header, best) for gpu in states.gpus)
    return [fault for fault in found if fault is not None]


def _with_remark(result: CheckResult, states: GpuStates) -> CheckResult:
    """Without persistence the GPUs wake slowly, which a job that runs does not feel: said, and no fault."""
    if result.rule != "mode.well" or not any(gpu.persistence == "Disabled" for gpu in states.gpus):
        return result
    return of_node(
        result.check, str(result.component), Verdict.PASS, "mode.no_persistence", say("probe.mode.slow_start")
    )
