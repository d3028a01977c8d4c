"""Do the NVSwitches of the board work: is the fabric manager up, of the driver's version, and are all GPUs joined?

Only boards with NVSwitches need it. A virtual machine that is given GPUs but no switches leaves both to its host.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from healthcheck.model.finding import CheckResult
from healthcheck.model.fleet import Settings
from healthcheck.model.gpu_facts import Fabric, GpuLinks, GpuState, GpuStates, NvSwitch
from healthcheck.model.gpu_models import FULL_BOARD, SWITCH_MODELS, board_gpu
from healthcheck.model.message import say
from healthcheck.model.node import Gpu, NodeFacts
from healthcheck.model.reading import Evidence, Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.gpu_verdicts import quoted
from healthcheck.probes.per_gpu import Fault, of_node, results
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "fabric"
MANAGER_CHECK = "fabric.manager"
STATE_CHECK = "fabric.state"
UNIT = "nvidia-fabricmanager"
_PCI = "/sys/bus/pci/devices"
# pgrep sees the first 15 letters of a name. A unit that does not exist is `inactive` to `is-active`, so show is asked.
_TEXT = one_line(rf"""
    for dir in {_PCI}/*; do
        read -r vendor 2>/dev/null <"$dir/vendor" || continue;
        if [ "$vendor" = 0x10de ] && read -r class <"$dir/class" && read -r device <"$dir/device"; then
            case $class in
                0x0680*) echo "switch ${{dir##*/}} $device" ;;
                0x0300*|0x0302*) echo "gpu ${{dir##*/}} $device" ;;
            esac;
        fi;
    done 2>/dev/null;
    if head -n 40 /proc/cpuinfo 2>/dev/null | grep -q -w hypervisor; then echo virtual; fi;
    if command -v systemctl >/dev/null; then
        systemctl show -p LoadState -p ActiveState {UNIT} 2>/dev/null | sed -n "s/^/unit /p" | head -n 4;
    fi;
    if command -v pgrep >/dev/null; then
        if pgrep nv-fabricmanage >/dev/null; then echo "process yes"; else echo "process no"; fi;
    fi;
    if command -v nv-fabricmanager >/dev/null; then
        nv-fabricmanager --version 2>/dev/null | head -n 4 | sed -n "s/^/version /p";
    fi;
    echo end
""")
_SWITCH = re.compile(r"(switch|gpu) ([0-9a-f:.]{5,16}) 0x([0-9a-f]{4})", re.ASCII)
_VERSION = re.compile(r"version .*?(\d{3,4}(?:\.\d{1,4}){1,2})\b.*", re.ASCII)


def part() -> Part:
    """NVIDIA devices from sysfs, `virtual`, `unit Key=value` of systemd, `process yes|no`, `version ...`, `end`."""
    return Part(NAME, 8, _TEXT)


def read(output: PartOutput | None) -> Reading[Fabric]:
    """Observed also where nobody could say whether the manager runs: then `service` and `process` are None."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    if answer.rc != 0 or not lines or lines[-1] != "end":
        return garbled(NAME, answer)
    devices = [match for line in lines if (match := _SWITCH.fullmatch(line)) is not None]
    unit = dict(line.removeprefix("unit ").split("=", 1) for line in lines if line.startswith("unit ") and "=" in line)
    loaded, active = unit.get("LoadState", ""), unit.get("ActiveState", "")
    version = next((match[1] for line in lines if (match := _VERSION.fullmatch(line)) is not None), None)
    return Reading(
        ReadingState.OBSERVED,
        Fabric(
            switches=tuple(NvSwitch(match[2], match[3]) for match in devices if match[1] == "switch"),
            gpus=sum(match[1] == "gpu" for match in devices),
            virtual="virtual" in lines,
            service=("not-found" if loaded == "not-found" else active) or None,
            process=True if "process yes" in lines else False if "process no" in lines else None,
            version=version,
        ),
    )


def judge(
    host: str,
    reading: Reading[Fabric],
    gpus: Reading[tuple[Gpu, ...]],
    links: Reading[tuple[GpuLinks, ...]],
    states: Reading[GpuStates],
) -> tuple[CheckResult, ...]:
    """The manager by itself; the fabric state as the GPUs tell it (`states`), Hopper and later."""
    return (*_manager(host, reading, gpus.value or (), links.value or (), states), *_state(host, states))


def settings(facts: NodeFacts) -> Settings:
    """`fabric_manager`: the version of the program."""
    found = facts.fabric.value
    return () if found is None or found.version is None else (("fabric_manager", found.version),)


def _manager(
    host: str,
    reading: Reading[Fabric],
    gpus: tuple[Gpu, ...],
    links: tuple[GpuLinks, ...],
    states: Reading[GpuStates],
) -> tuple[CheckResult, ...]:
    fabric = reading.value
    if not reading.observed or fabric is None:
        return (unseen(MANAGER_CHECK, host, reading, say("probe.fabric.hides")),)
    if not needs_manager(fabric, gpus, links):
        message = say("probe.fabric.absent")
        return (of_node(MANAGER_CHECK, host, Verdict.SKIPPED, "fabric.does_not_apply", message),)
    missing = _switches(host, fabric)
    if missing is not None:
        return (missing,)
    runs = fabric.process or fabric.service in ("active", "reloading")
    driver = next((gpu.driver for gpu in gpus if gpu.driver is not None), None)
    evidence = _evidence(fabric)
    if fabric.version is not None and driver is not None and fabric.version != driver:
        message = say("probe.fabric.other_version", version=fabric.version, driver=driver)
        return (of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.other_version", message, evidence),)
    if runs:
        return (of_node(MANAGER_CHECK, host, Verdict.PASS, "fabric.running", say("probe.fabric.running")),)
    joined = states.value is not None and bool(states.value.gpus) and all(map(_joined, states.value.gpus))
    if joined:
        return (of_node(MANAGER_CHECK, host, Verdict.PASS, "fabric.stands", say("probe.fabric.stands")),)
    if fabric.service is None:
        # No systemd to ask: a container that may not see the processes of its host either.
        unknown: Reading[Fabric] = Reading(ReadingState.TOOL_MISSING, None, evidence)
        return (unseen(MANAGER_CHECK, host, unknown, say("probe.fabric.hides")),)
    if fabric.service == "not-found":
        message = say("probe.fabric.missing")
        return (of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.not_installed", message, evidence),)
    message = say("probe.fabric.down", state=fabric.service)
    return (of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.down", message, evidence),)


def needs_manager(fabric: Fabric, gpus: Iterable[Gpu], links: Iterable[GpuLinks]) -> bool:
    """Switches are there, or must be: eight GPUs of a model that only switches join, on a real machine."""
    if fabric.switches:
        return True
    boards = [board_gpu(gpu.name) for gpu in gpus]
    switched = sum(board is not None and board.switched for board in boards)
    return not fabric.virtual and switched >= FULL_BOARD and any(gpu.links or gpu.all_inactive for gpu in links)


def _switches(host: str, fabric: Fabric) -> CheckResult | None:
    """Fewer switches than a full board has; a smaller slice of one (a virtual machine) may have fewer."""
    counts = Counter(switch.device for switch in fabric.switches)
    for model in SWITCH_MODELS:
        found = counts[model.device]
        if 0 < found < model.on_board and fabric.gpus >= FULL_BOARD:
            message = say("probe.fabric.fewer_switches", found=found, expected=model.on_board)
            lines = (f"{switch.bus_id} 10de:{switch.device}" for switch in fabric.switches)
            evidence = (Evidence(_PCI, ", ".join(lines)[:300]),)
            return of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.switch_missing", message, evidence)
    return None


def _evidence(fabric: Fabric) -> tuple[Evidence, ...]:
    running = {True: "yes", False: "no", None: "not known"}[fabric.process]
    service = {None: "no systemd", "not-found": "LoadState=not-found"}.get(
        fabric.service, f"ActiveState={fabric.service}"
    )
    return (
        Evidence(f"systemctl show {UNIT}", service),
        Evidence("pgrep nv-fabricmanage", running),
        Evidence(_PCI, f"{len(fabric.switches)} NVSwitches, {fabric.gpus} GPUs of NVIDIA"),
        *((Evidence("nv-fabricmanager --version", fabric.version),) if fabric.version is not None else ()),
    )


def _state(host: str, reading: Reading[GpuStates]) -> tuple[CheckResult, ...]:
    states = reading.value
    if not reading.observed or states is None:
        return (unseen(STATE_CHECK, host, reading, say("probe.fabric.state_hides")),)
    told = [gpu for gpu in states.gpus if gpu.fabric_state is not None]
    if not told:
        message = say("probe.fabric.state_absent")
        return (of_node(STATE_CHECK, host, Verdict.SKIPPED, "fabric.does_not_apply", message),)
    faults = [fault for gpu in told if (fault := _apart(gpu, states.header)) is not None]
    well = of_node(STATE_CHECK, host, Verdict.PASS, "fabric.joined", say("probe.fabric.joined"))
    return results(STATE_CHECK, host, faults, len(told), well)


def _joined(gpu: GpuState) -> bool:
    return gpu.fabric_state == "Completed" and gpu.fabric_status in ("Success", None)


def _apart(gpu: GpuState, header: str) -> Fault | None:
    if _joined(gpu):
        return None
    evidence = quoted(gpu, header, "fabric.state", "fabric.status")
    if gpu.fabric_state != "Completed":
        message = say("probe.fabric.not_joined", state=gpu.fabric_state or "")
        return Fault(gpu.index, Verdict.FAIL, "fabric.not_joined", message, evidence)
    message = say("probe.fabric.not_well", status=gpu.fabric_status or "")
    return Fault(gpu.index, Verdict.FAIL, "fabric.not_well", message, evidence)
