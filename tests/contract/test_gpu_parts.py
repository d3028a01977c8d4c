"""The looks at GPUs, NVLinks and NVSwitches under the real shells of this machine, with a made-up nvidia-smi."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from healthcheck.model.reading import ReadingState
from healthcheck.parsing.gpu_query import FIELDS, OLD_THROTTLE
from healthcheck.probes import fabric, gpu_memory, gpu_processes, gpu_state, gpus, nvlink
from healthcheck.probes.batch import Part, PartOutput, PartState
from tests.contract.shells import SHELLS, words
from tests.unit.probes.fixtures import answer

# Refuses a query for the first field it does not know, as nvidia-smi does, and counts how often it was asked. Its help
# names the fields it knows where HELP is set.
NVIDIA_SMI = """\
echo asked >>"${0%/*}/asked"
case $1 in
    --query-gpu=*) ;;
    --help-query-gpu)
        [ "$HELP" ] || exit 1
        for field in $HELP; do
            case " $UNKNOWN " in *" $field "*) ;; *) printf '"%s"\\nWhat it means.\\n\\n' "$field" ;; esac
        done
        exit 0 ;;
    *) cat "${0%/*}/answer"; exit 0 ;;
esac
IFS=,; header=; row=
for field in ${1#--query-gpu=}; do
    case " $UNKNOWN " in
        *" $field "*) echo "Field \\"$field\\" is not a valid field to query."; echo; exit 2 ;;
    esac
    value=0
    case $field in
        uuid) value=GPU-1 ;;
        name) value="NVIDIA A100-SXM4-80GB" ;;
        pcie.link.width.*) value=16 ;;
        mig.mode.current) value=Disabled ;;
        *_reasons.active) value=0x0000000000000040 ;;
    esac
    header="$header${header:+, }$field"; row="$row${row:+, }$value"
done
echo "$header"; echo "$row"
"""


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node with two NVSwitches, one GPU and a card of another maker."""
    for bus_id, vendor, kind, device in (
        ("0000:07:00.0", "0x10de", "0x030200", "0x20b2"),
        ("0000:08:00.0", "0x15b3", "0x020700", "0x101b"),
        ("0000:c4:00.0", "0x10de", "0x068000", "0x1af1"),
        ("0000:c5:00.0", "0x10de", "0x068000", "0x1af1"),
    ):
        folder = tmp_path / "sys/bus/pci/devices" / bus_id
        folder.mkdir(parents=True)
        for name, text in (("vendor", vendor), ("class", kind), ("device", device)):
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "sys/bus/pci/devices/0000:ff:00.0").mkdir()
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu vme svm hypervisor lahf_lm\n")
    (tmp_path / "bin").mkdir()
    return tmp_path


def tool(node: Path, name: str, text: str) -> None:
    file = node / "bin" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return words(request.param)


def run(part: Part, node: Path, shell: list[str], unknown: str = "", fields: str = "") -> PartOutput:
    assert "!" not in part.text and "\n" not in part.text  # csh would stumble
    text = re.sub(r"(?<![\w/])/(sys|proc)/", rf"{node}/\1/", part.text)
    done = subprocess.run(
        [*shell, "-c", text],
        env={"PATH": f"{node}/bin:{os.environ['PATH']}", "LC_ALL": "C", "UNKNOWN": unknown, "HELP": fields},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    out, err = done.stdout.decode().rstrip("\n"), done.stderr.decode().rstrip("\n")
    return PartOutput(part.name, done.returncode, out, err, PartState.ENDED)


def asked(node: Path) -> int:
    return len((node / "bin/asked").read_text().splitlines())


def test_a_driver_that_knows_every_field_is_asked_once(node: Path, shell: list[str]) -> None:
    tool(node, "nvidia-smi", NVIDIA_SMI)
    reading = gpu_state.read(run(gpu_state.part(), node, shell))
    assert reading.value is not None, reading.evidence
    state = reading.value.gpus[0]
    assert (state.name, state.throttle, state.pcie_width, state.mig) == ("NVIDIA A100-SXM4-80GB", 0x40, 16, "Disabled")
    assert asked(node) == 1


@pytest.mark.parametrize(("named", "calls"), [((*FIELDS, OLD_THROTTLE), 3), ((), 6)], ids=["help", "no-help"])
def test_an_old_driver_is_asked_again_without_what_it_does_not_know(
    node: Path, shell: list[str], named: tuple[str, ...], calls: int
) -> None:
    tool(node, "nvidia-smi", NVIDIA_SMI)
    unknown = "fabric.state fabric.status gpu_recovery_action clocks_event_reasons.active"
    output = run(gpu_state.part(), node, shell, unknown, " ".join(named))
    reading = gpu_state.read(output)
    assert reading.value is not None, reading.evidence
    assert "clocks_throttle_reasons.active" in reading.value.header
    state = reading.value.gpus[0]
    assert (state.throttle, state.fabric_state, state.recovery) == (0x40, None, None)
    assert asked(node) == calls


def test_an_old_driver_with_persistence_off_has_the_time_to_answer(node: Path, shell: list[str]) -> None:
    """Each call may take 10 s then: two queries and the help, the links and their counters."""
    tool(node, "nvidia-smi", NVIDIA_SMI)
    run(gpu_state.part(), node, shell, "fabric.state gpu_recovery_action", " ".join(FIELDS))
    assert asked(node) * 10 <= gpu_state.part().timeout_s
    assert nvlink.part().timeout_s >= 2 * 10


def test_a_field_that_the_help_forgets_is_left_out_only_where_another_one_is_refused(
    node: Path, shell: list[str]
) -> None:
    tool(node, "nvidia-smi", NVIDIA_SMI)
    named = " ".join(field for field in FIELDS if field != "mig.mode.current")
    reading = gpu_state.read(run(gpu_state.part(), node, shell, "", named))
    assert reading.value is not None
    assert reading.value.gpus[0].mig == "Disabled"
    assert asked(node) == 1


def test_a_driver_that_knows_nothing_is_not_asked_for_ever(node: Path, shell: list[str]) -> None:
    tool(node, "nvidia-smi", NVIDIA_SMI)
    output = run(gpu_state.part(), node, shell, " ".join(FIELDS))
    assert gpu_state.read(output).state is ReadingState.UNPARSABLE
    assert asked(node) == 11


def test_the_name_of_a_refused_field_is_never_run(node: Path, shell: list[str]) -> None:
    tool(node, "nvidia-smi", f"""echo 'Field "$(touch {node}/ran)`touch {node}/ran`" is not a valid field to query.'""")
    assert gpu_state.read(run(gpu_state.part(), node, shell)).state is ReadingState.UNPARSABLE
    tool(node, "nvidia-smi", """echo 'Field "index" is not a valid field to query.'; exit 2""")
    assert gpu_state.read(run(gpu_state.part(), node, shell)).state is ReadingState.UNPARSABLE
    assert not (node / "ran").exists()


def test_without_nvidia_smi_the_tool_is_missing(node: Path, shell: list[str]) -> None:
    tool(node, "nvidia-smi", "echo 'sh: 1: nvidia-smi: not found' >&2; exit 127")
    for look in (gpu_state, gpu_memory, nvlink):
        assert look.read(run(look.part(), node, shell)).state is ReadingState.TOOL_MISSING


def test_links_and_counters_come_in_one_answer(node: Path, shell: list[str]) -> None:
    tool(
        node,
        "nvidia-smi",
        """echo "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)"
        case $2 in
            -s) echo "   Link 0: 25 GB/s"; echo "   Link 1: <inactive>" ;;
            -e) echo "   Link 0: CRC Errors: 7" ;;
        esac
        """,
    )
    reading = nvlink.read(run(nvlink.part(), node, shell))
    assert reading.value is not None, reading.evidence
    gpu = reading.value[0]
    assert (gpu.active, len(gpu.links), [counter.count for counter in gpu.counters]) == (1, 2, [7])


def test_switches_service_process_and_version_are_found(node: Path, shell: list[str]) -> None:
    tool(node, "systemctl", "echo LoadState=loaded; echo ActiveState=failed")
    tool(node, "pgrep", "exit 1")
    tool(node, "nv-fabricmanager", "echo Fabric Manager version is : 550.90.07")
    found = fabric.read(run(fabric.part(), node, shell)).value
    assert found is not None
    assert [(switch.bus_id, switch.device) for switch in found.switches] == [
        ("0000:c4:00.0", "1af1"),
        ("0000:c5:00.0", "1af1"),
    ]
    assert (found.gpus, found.virtual, found.service, found.process) == (1, True, "failed", False)
    assert found.version == "550.90.07"


def test_a_unit_that_does_not_exist_is_not_merely_inactive(node: Path, shell: list[str]) -> None:
    tool(node, "systemctl", "echo LoadState=not-found; echo ActiveState=inactive")
    tool(node, "pgrep", "echo 812; exit 0")
    found = fabric.read(run(fabric.part(), node, shell)).value
    assert found is not None
    assert (found.service, found.process, found.version) == ("not-found", True, None)


LISTED = gpus.read(answer("gpus", "healthy"))


@pytest.mark.parametrize(
    "words",
    [
        "exit 139",
        "kill -SEGV $$",
        "echo 'nobody knows what' >&2",
        "head -c 10000000 /dev/zero | tr '\\000' '\\n'",
        "printf '\\n\\n\\n'",
        "yes 'No running processes found'",
        "echo 'No running processes found on GPU 3: Unknown Error'",
        "echo 'user 12 bob'",
    ],
)
def test_a_tool_that_is_silent_or_strange_does_not_say_that_nobody_computes(
    node: Path, shell: list[str], words: str
) -> None:
    tool(node, "nvidia-smi", words)
    assert gpu_processes.read(run(gpu_processes.part(), node, shell), LISTED).state is ReadingState.UNPARSABLE


@pytest.mark.parametrize(
    "words", ["exit 0", "echo 'No running processes found'", "printf 'No running processes found'"]
)
def test_a_tool_that_ends_well_and_lists_nobody_says_that_nobody_computes(
    node: Path, shell: list[str], words: str
) -> None:
    tool(node, "nvidia-smi", words)
    reading = gpu_processes.read(run(gpu_processes.part(), node, shell), LISTED)
    assert (reading.state, reading.value) == (ReadingState.OBSERVED, ()), reading.evidence


@pytest.mark.parametrize("end", ["", "\\n"])
def test_whoever_computes_is_listed_with_or_without_a_line_end(node: Path, shell: list[str], end: str) -> None:
    tool(node, "nvidia-smi", f"printf '4711, GPU-a, python3 rc 0{end}'")
    reading = gpu_processes.read(run(gpu_processes.part(), node, shell), LISTED)
    assert [(process.pid, process.name) for process in reading.value or ()] == [(4711, "python3 rc 0")]
