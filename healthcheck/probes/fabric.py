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
from healthcheck.model.message import Arg, say
from healthcheck.model.node import Gpu, NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.reading import Evidence, Reading, ReadingState, noted
from healthcheck.model.verdict import Verdict
from healthcheck.probes.all_seen import expected_gpus, of_all
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.gpu_told import untold
from healthcheck.probes.gpu_verdicts import quoted
from healthcheck.probes.per_gpu import Fault, of_node, results
from healthcheck.probes.trouble import garbled, usable
from healthcheck.probes.unseen import unseen

NAME = "fabric"
MANAGER_CHECK = "fabric.manager"
STATE_CHECK = "fabric.state"
UNIT = "nvidia-fabricmanager"
_UP, _DOWN = ("active", "reloading"), ("inactive", "failed", "deactivating", "not-found")
"""ActiveState of systemd, and our word for a unit that does not exist; any other says nothing yet."""

_PCI = "/sys/bus/pci/devices"
_FIELDS = frozenset({"fabric.state", "fabric.status"})
_HOPPER_LINKS = 18
"""NVLinks of the boards whose GPUs tell a fabric state: Hopper and later."""

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
    if [ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ -e /run/systemd/container ]; then echo container; fi;
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
    """NVIDIA devices of sysfs, `virtual`, `container`, `unit Key=value`, `process yes|no`, `version ...`, `end`."""
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
            container="container" in lines,
        ),
    )


def judge(
    host: str,
    reading: Reading[Fabric],
    gpus: Reading[tuple[Gpu, ...]],
    links: Reading[tuple[GpuLinks, ...]],
    states: Reading[GpuStates],
    platform: Platform | None = None,
) -> tuple[CheckResult, ...]:
    """The manager by itself; the fabric state as the GPUs tell it (`states`), Hopper and later."""
    expected = expected_gpus(gpus, platform)
    return (
        *_manager(host, reading, gpus.value or (), links.value or (), states, expected),
        *of_all(_state(host, states), states, expected),
    )


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
    expected: int,
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
    told = states.value.gpus if states.value is not None else ()
    joined = bool(told) and len(told) >= expected and all(map(_joined, told))
    starting = fabric.service not in (None, *_UP, *_DOWN)
    runs = not starting and (fabric.process or fabric.service in _UP)
    stands = of_node(MANAGER_CHECK, host, Verdict.PASS, "fabric.stands", say("probe.fabric.stands"))
    guest = fabric.virtual or fabric.container
    if guest and not runs and (joined or _all_active(links, expected)):
        # Its host runs the manager.
        return (stands,)
    driver = next((gpu.driver for gpu in gpus if gpu.driver is not None), None)
    evidence = _evidence(fabric)
    if fabric.version is not None and driver is not None and fabric.version != driver:
        message = say("probe.fabric.other_version", version=fabric.version, driver=driver)
        return (of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.other_version", message, evidence),)
    if runs:
        return (of_node(MANAGER_CHECK, host, Verdict.PASS, "fabric.running", say("probe.fabric.running")),)
    if joined:
        return (stands,)
    if starting:
        message = say("probe.fabric.starting", state=fabric.service or "")
        return (of_node(MANAGER_CHECK, host, Verdict.INCONCLUSIVE, "fabric.starting", message, evidence),)
    if fabric.service is None:
        # No systemd to ask: a container that may not see the processes of its host either.
        unknown: Reading[Fabric] = Reading(ReadingState.TOOL_MISSING, None, evidence)
        return (unseen(MANAGER_CHECK, host, unknown, say("probe.fabric.hides")),)
    if fabric.service == "not-found":
        message = say("probe.fabric.missing")
        return (of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.not_installed", message, evidence),)
    message = say("probe.fabric.down", state=fabric.service)
    return (of_node(MANAGER_CHECK, host, Verdict.FAIL, "fabric.down", message, evidence),)


def _all_active(links: tuple[GpuLinks, ...], expected: int) -> bool:
    """Whether every GPU of the node has all NVLinks of its model."""
    boards = [(gpu, board_gpu(gpu.name)) for gpu in links]
    whole = all(board is not None and gpu.active == board.links for gpu, board in boards)
    return whole and 1 < expected <= len(links)


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
    running = {True: "evidence.running", False: "evidence.not_running", None: "evidence.running_unknown"}
    service: Arg = "LoadState=not-found" if fabric.service == "not-found" else f"ActiveState={fabric.service}"
    if fabric.service is None:
        service = say("evidence.no_systemd")
    switches = say("evidence.switches", switches=len(fabric.switches), gpus=fabric.gpus)
    return (
        noted(f"systemctl show {UNIT}", service),
        noted("pgrep nv-fabricmanage", say(running[fabric.process])),
        noted(_PCI, switches),
        *((Evidence("nv-fabricmanager --version", fabric.version),) if fabric.version is not None else ()),
    )


def _state(host: str, reading: Reading[GpuStates]) -> tuple[CheckResult, ...]:
    states = reading.value
    if not reading.observed or states is None:
        return (unseen(STATE_CHECK, host, reading, say("probe.fabric.state_hides")),)
    missed = untold(states.gpus)
    silent = {gpu.index for gpu in states.gpus if not _FIELDS.isdisjoint(missed[gpu.index])}
    if not silent and not any(gpu.fabric_state for gpu in states.gpus):
        boards = [gpu for gpu in states.gpus if _in_fabric(gpu)]
        if len(boards) < FULL_BOARD:
            message = say("probe.fabric.state_absent")
            return (of_node(STATE_CHECK, host, Verdict.SKIPPED, "fabric.does_not_apply", message),)
        silent = {gpu.index for gpu in boards}
    faults = [
        fault for gpu in states.gpus if (fault := _apart(gpu, states.header, silent=gpu.index in silent)) is not None
    ]
    well = of_node(STATE_CHECK, host, Verdict.PASS, "fabric.joined", say("probe.fabric.joined"))
    return results(STATE_CHECK, host, faults, len(states.gpus), well)


def _in_fabric(gpu: GpuState) -> bool:
    """Whether its model tells a fabric state where eight of it stand on a board, and its driver knows the field."""
    board = board_gpu(gpu.name or "")
    return "fabric.state" in gpu.absent and board is not None and board.switched and board.links == _HOPPER_LINKS


def _joined(gpu: GpuState) -> bool:
    return gpu.fabric_state == "Completed" and gpu.fabric_status in ("Success", None)


def _apart(gpu: GpuState, header: str, *, silent: bool) -> Fault | None:
    evidence = quoted(gpu, header, "fabric.state", "fabric.status")
    if silent and gpu.fabric_state in ("Completed", None):
        message = say("probe.fabric.untold", cell=evidence[0].text.partition(", ")[2])
        return Fault(gpu.index, Verdict.INCONCLUSIVE, "fabric.unreadable", message, evidence)
    if _joined(gpu) or gpu.fabric_state is None:
        return None
    if gpu.fabric_state != "Completed":
        message = say("probe.fabric.not_joined", state=gpu.fabric_state or "")
        return Fault(gpu.index, Verdict.FAIL, "fabric.not_joined", message, evidence)
    message = say("probe.fabric.not_well", status=gpu.fabric_status or "")
    return Fault(gpu.index, Verdict.FAIL, "fabric.not_well", message, evidence)
