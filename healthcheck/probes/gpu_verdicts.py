"""What is wrong with one GPU, by the state nvidia-smi tells: one function a check, None where nothing is.

Severity of each field: https://man.archlinux.org/man/nvidia-smi.1.raw for its meaning, the checks of Azure and OCI for
what takes a node out of service.
"""

from __future__ import annotations

from healthcheck.model.gpu_facts import GpuState
from healthcheck.model.gpu_models import has_ecc_on
from healthcheck.model.message import say
from healthcheck.model.reading import Evidence
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.gpu_query import THROTTLE, cells_of
from healthcheck.probes.per_gpu import Fault
from healthcheck.probes.trouble import QUOTED_CHARS

IDLE, HW_SLOWDOWN, SW_THERMAL, HW_THERMAL, POWER_BRAKE = 0x1, 0x8, 0x20, 0x40, 0x80
"""Bits of the throttle reasons. Not among them: 0x4, the power cap, which is normal under full load."""

HOT_IDLE_C, HOT_LOADED_C = 85, 90
SLOW_CLOCK_FRACTION = 0.5
MANY_CORRECTED = 100
"""Corrected errors in one run that say that a memory cell is failing; a few an hour are what ECC is for."""

_HELD_DOWN = (
    (POWER_BRAKE, "clocks.power_brake", say("probe.clocks.power_brake")),
    (HW_THERMAL, "clocks.hw_thermal", say("probe.clocks.hw_thermal")),
    (HW_SLOWDOWN, "clocks.hw_slowdown", say("probe.clocks.hw_slowdown")),
    (SW_THERMAL, "clocks.sw_thermal", say("probe.clocks.sw_thermal")),
)
_CLOCK_FIELDS = (THROTTLE, "temperature.gpu", "clocks.sm", "clocks.max.sm")
_ECC_FIELDS = (
    "ecc.mode.current",
    "ecc.mode.pending",
    "ecc.errors.uncorrected.volatile.total",
    "ecc.errors.uncorrected.aggregate.sram",
)


def quoted(gpu: GpuState, header: str, *fields: str) -> tuple[Evidence, ...]:
    """The index and these cells of a row, as the query for just these fields prints them."""
    shown = cells_of(header, gpu.row, ("index", *fields))
    names, cells = ",".join(name for name, _ in shown), ", ".join(cell for _, cell in shown)
    return (Evidence(f"nvidia-smi --query-gpu={names}", cells[:QUOTED_CHARS]),)


def mode(gpu: GpuState, header: str) -> Fault | None:
    """MIG and compute mode."""
    compute = (gpu.compute_mode or "").lower()
    if (gpu.mig or "").lower() == "enabled":
        found = Verdict.FAIL, "mode.mig", say("probe.mode.mig")
    elif compute == "prohibited":
        found = Verdict.FAIL, "mode.prohibited", say("probe.mode.prohibited")
    elif compute.startswith("exclusive"):
        found = Verdict.DEGRADED, "mode.exclusive", say("probe.mode.exclusive")
    else:
        return None
    return Fault(gpu.index, *found, quoted(gpu, header, "mig.mode.current", "compute_mode"))


def ecc(gpu: GpuState, header: str) -> Fault | None:
    """Errors that ECC could not correct; ECC itself only where the model has it switched on by default."""
    count: int | None = None
    if gpu.ecc_uncorrected:
        count = gpu.ecc_uncorrected
        found = Verdict.FAIL, "ecc.uncorrected", say("probe.ecc.uncorrected", count=count)
    elif gpu.sram_uncorrected:
        count = gpu.sram_uncorrected
        found = Verdict.FAIL, "ecc.sram", say("probe.ecc.sram", count=count)
    elif gpu.ecc == "Disabled" and has_ecc_on(gpu.name or ""):
        found = Verdict.DEGRADED, "ecc.off", say("probe.ecc.off")
    elif gpu.ecc is not None and gpu.ecc_pending is not None and gpu.ecc != gpu.ecc_pending:
        message = say("probe.ecc.pending", current=gpu.ecc, pending=gpu.ecc_pending)
        found = Verdict.DEGRADED, "ecc.pending", message
    else:
        return None
    evidence = quoted(gpu, header, *_ECC_FIELDS)
    if count is None:
        return Fault(gpu.index, *found, evidence)
    return Fault(gpu.index, *found, evidence, float(count), 0.0, "errors")


def ecc_growth(before: GpuState, after: GpuState, header: str) -> Fault | None:
    """Errors that appeared between two looks; a counter that was reset in between says nothing."""
    grew = _growth(before.ecc_uncorrected, after.ecc_uncorrected)
    if grew > 0:
        evidence = quoted(after, header, "ecc.errors.uncorrected.volatile.total")
        return Fault(
            after.index, Verdict.FAIL, "ecc.grew", say("probe.ecc.grew", count=grew), evidence, float(grew), 0.0
        )
    corrected = _growth(before.ecc_corrected, after.ecc_corrected)
    if corrected >= MANY_CORRECTED:
        evidence = quoted(after, header, "ecc.errors.corrected.volatile.total")
        message = say("probe.ecc.corrected_grew", count=corrected)
        return Fault(
            after.index, Verdict.DEGRADED, "ecc.corrected_grew", message, evidence, float(corrected), unit="errors"
        )
    return None


def _growth(before: int | None, after: int | None) -> int:
    return after - before if before is not None and after is not None else 0


def pcie_width(gpu: GpuState, header: str) -> Fault | None:
    """Lanes in use; unlike the generation, their number does not change when a GPU idles."""
    if gpu.pcie_width is None or gpu.pcie_width_max is None or gpu.pcie_width >= gpu.pcie_width_max:
        return None
    message = say("probe.gpu_pcie.narrow", width=gpu.pcie_width, most=gpu.pcie_width_max)
    evidence = quoted(gpu, header, "pcie.link.width.current", "pcie.link.width.max")
    numbers = float(gpu.pcie_width), float(gpu.pcie_width_max)
    return Fault(gpu.index, Verdict.FAIL, "gpu_pcie.narrow", message, evidence, *numbers, "lanes")


def slow_slot(gpu: GpuState, header: str, best: int) -> Fault | None:
    """The generation in use is low on any idle GPU, but not the one it could reach: `best` GPUs of its node can."""
    if gpu.pcie_gen_max is None or gpu.pcie_gen_max >= best:
        return None
    message = say("probe.gpu_pcie.slow_slot", gen=gpu.pcie_gen_max, best=best)
    evidence = quoted(gpu, header, "pcie.link.gen.max")
    numbers = float(gpu.pcie_gen_max), float(best)
    return Fault(gpu.index, Verdict.DEGRADED, "gpu_pcie.slow_slot", message, evidence, *numbers, "generation")


def loaded_pcie(gpu: GpuState, header: str) -> Fault | None:
    """The generation of a GPU that works now."""
    if gpu.pcie_gen is None or gpu.pcie_gen_max is None or gpu.pcie_gen >= gpu.pcie_gen_max:
        return None
    message = say("probe.gpu_pcie.slow", gen=gpu.pcie_gen, most=gpu.pcie_gen_max)
    evidence = quoted(gpu, header, "pcie.link.gen.current", "pcie.link.gen.max")
    numbers = float(gpu.pcie_gen), float(gpu.pcie_gen_max)
    return Fault(gpu.index, Verdict.DEGRADED, "gpu_pcie.slow", message, evidence, *numbers, "generation")


def clocks(gpu: GpuState, header: str, hot_c: int = HOT_IDLE_C) -> Fault | None:
    """What the hardware, or heat, holds down; other reasons are normal."""
    bits = gpu.throttle or 0
    for bit, rule, message in _HELD_DOWN:
        if bits & bit:
            return Fault(gpu.index, Verdict.DEGRADED, rule, message, quoted(gpu, header, *_CLOCK_FIELDS))
    if gpu.temperature_c is None or gpu.temperature_c < hot_c:
        return None
    message = say("probe.clocks.hot", temperature=gpu.temperature_c)
    numbers = float(gpu.temperature_c), float(hot_c)
    evidence = quoted(gpu, header, *_CLOCK_FIELDS)
    return Fault(gpu.index, Verdict.DEGRADED, "clocks.hot", message, evidence, *numbers, "°C")


def loaded_clocks(gpu: GpuState, header: str) -> Fault | None:
    """As `clocks`, and a clock far below what the GPU can do while it works."""
    held_down = clocks(gpu, header, HOT_LOADED_C)
    if held_down is not None or gpu.sm_mhz is None or not gpu.sm_max_mhz:
        return held_down
    if gpu.sm_mhz >= SLOW_CLOCK_FRACTION * gpu.sm_max_mhz:
        return None
    message = say("probe.clocks.low", mhz=gpu.sm_mhz, most=gpu.sm_max_mhz)
    evidence = quoted(gpu, header, "clocks.sm", "clocks.max.sm")
    numbers = float(gpu.sm_mhz), float(gpu.sm_max_mhz)
    return Fault(gpu.index, Verdict.DEGRADED, "clocks.low", message, evidence, *numbers, "MHz")


def recovery(gpu: GpuState, header: str) -> Fault | None:
    """What the driver itself says has to be done with the GPU."""
    if gpu.recovery is None or gpu.recovery.lower() == "none":
        return None
    message = say("probe.recovery.asked", action=gpu.recovery)
    return Fault(gpu.index, Verdict.FAIL, "recovery.asked", message, quoted(gpu, header, "gpu_recovery_action"))
