"""Can the nccl-tests program run here, and was it built for MPI?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import Binary
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.trouble import garbled, quote, usable

NAME = "binary"
CHECK = "nccl_tests.binary"
_SCRIPT, _INSIDE = "script", "inside"
_TEXT = one_line("""
    echo "machine $(uname -m)";
    for p in PATHS; do
        echo "path $p";
        if [ -e "$p" ]; then :; else echo "state missing"; continue; fi;
        if [ -f "$p" ] && [ -x "$p" ]; then echo "state ok"; else echo "state not_executable"; continue; fi;
        set -- $(od -An -v -tx1 -N20 "$p");
        case "$1$2$3$4 ${19}${20}" in
            "7f454c46 3e00") echo "arch x86_64" ;;
            "7f454c46 b700") echo "arch aarch64" ;;
            "7f454c46 1500" | "7f454c46 0015") echo "arch ppc64le" ;;
            7f454c46*) echo "arch elf-${19}${20}" ;;
            2321*) echo "arch script"; continue ;;
            *) echo "arch unknown"; continue ;;
        esac;
        if grep -q MPI_Init "$p"; then echo "mpi_symbol yes"; else echo "mpi_symbol no"; fi;
        ldd "$p" 2>&1 | while read -r line; do echo "ldd $line"; done;
    done
""")
# Where a wrapper starts the program, a look from outside would look at the wrong place.
_WRAPPED = one_line("""
    if command -v WRAPPER >/dev/null 2>&1; then
        for p in PATHS; do echo "path $p"; echo "state ok"; echo "arch inside"; done;
    else
        echo "path "WRAPPER; echo "state missing";
    fi
""")
_KEYS = frozenset({"state", "arch", "mpi_symbol"})
_MISSING = re.compile(r"(?P<soname>\S+) => not found")
_CANNOT_OPEN = re.compile(r"loading shared libraries: (?P<soname>[^\s:]+): cannot open")
_VERSION_MISSING = re.compile(r"version [`'](?P<version>[^'\s]+)' not found")
_LIBRARY = re.compile(r"\S+ => /\S+|\S+ \(0x[0-9a-f]+\)|\S+ => not found")
_STATIC = re.compile(r"statically linked|not a dynamic executable")
_MPI = re.compile(r"(?:^|[\s/])libp?mpi(?:ch)?(?:_\w+)?[\w.\-]*\.so")


def part(paths: Iterable[str]) -> Part:
    """Per path: `path`, `state ok|missing|not_executable`, `arch`, `mpi_symbol`, `ldd ...` lines; first `machine`."""
    return Part(NAME, 10, _TEXT.replace("PATHS", " ".join(shlex.quote(path) for path in paths)))


def wrapped_part(paths: Iterable[str], wrapper: str) -> Part:
    """The same answer about the program that starts them: it is there (`arch inside`), or `state missing`."""
    words = {"WRAPPER": shlex.quote(wrapper), "PATHS": " ".join(shlex.quote(path) for path in paths)}
    return Part(NAME, 10, re.sub("WRAPPER|PATHS", lambda found: words[found[0]], _WRAPPED))


def read(output: PartOutput | None) -> Reading[Binary]:
    """The first program that cannot be used, else the first; `ldd` that says nothing usable is not a value."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    machine = ""
    blocks: list[tuple[str, dict[str, str], list[str]]] = []
    for line in answer.stdout.splitlines():
        key, _, value = line[:2000].partition(" ")
        if key == "machine" and not blocks:
            machine = value.strip()
        elif key == "path":
            blocks.append((value.strip(), {}, []))
        elif blocks and key == "ldd":
            blocks[-1][2].append(value.strip())
        elif blocks and key in _KEYS:
            blocks[-1][1].setdefault(key, value.strip())
    readings = [_one(path, words, ldd, machine) for path, words, ldd in blocks]
    if not readings:
        return garbled(NAME, answer)
    return next((reading for reading in readings if not reading.observed or _wrong(reading.value)), readings[0])


def _one(path: str, words: dict[str, str], ldd: list[str], machine: str) -> Reading[Binary]:
    state, arch = words.get("state", ""), words.get("arch", "")
    if state in ("missing", "not_executable"):
        shown = quote(path, [f"state {state}"])
        return Reading(ReadingState.OBSERVED, Binary(path, False, state=state), shown)
    if state != "ok":
        return Reading(ReadingState.UNPARSABLE, None, quote(path, [*words.values(), *ldd]))
    if arch in (_SCRIPT, _INSIDE):
        # What a script or a wrapper starts cannot be seen from here, the benchmark itself will tell.
        return Reading(ReadingState.OBSERVED, Binary(path, True, architecture=arch), quote(path, [f"arch {arch}"]))
    if arch == "unknown" or (arch and machine and arch != machine):
        wrong = Binary(path, False, architecture_ok=False, architecture=arch)
        return Reading(ReadingState.OBSERVED, wrong, quote(path, [f"arch {arch}, machine {machine or 'unknown'}"]))
    missing = _missing(ldd)
    linked = any(_LIBRARY.search(line) for line in ldd)
    symbol = words.get("mpi_symbol") == "yes"
    mpi_lines = [line for line in ldd if _MPI.search(line)]
    static = any(_STATIC.search(line) for line in ldd)
    if not missing and not linked and not (static and symbol):
        return Reading(ReadingState.UNPARSABLE, None, quote(f"ldd {path}", ldd or ["(no output)"]))
    found = Binary(path, bool(mpi_lines) or symbol, missing, architecture=arch)
    complaints = [line for line in ldd if "not found" in line or _CANNOT_OPEN.search(line)]
    return Reading(ReadingState.OBSERVED, found, quote(f"ldd {path}", complaints or mpi_lines or ldd))


def _missing(ldd: list[str]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for line in ldd:
        for pattern in (_MISSING, _CANNOT_OPEN, _VERSION_MISSING):
            match = pattern.search(line)
            if match is not None:
                names[match[1]] = None
    return tuple(names)


def _wrong(binary: Binary | None) -> bool:
    return binary is None or not (
        binary.state == "ok" and binary.architecture_ok and binary.mpi_built and not binary.missing_libraries
    )


def judge(host: str, reading: Reading[Binary]) -> CheckResult:
    """INCONCLUSIVE with its own rule for each way in which the program cannot be used: nothing was measured."""
    verdict = Verdict.INCONCLUSIVE
    rule, message = _ruling(reading)
    if rule == "binary.usable":
        verdict = Verdict.PASS
    return CheckResult(CHECK, node(host), verdict, message, rule, stage="probe", evidence=reading.evidence)


def _ruling(reading: Reading[Binary]) -> tuple[str, Message]:
    binary = reading.value if reading.observed else None
    if binary is None:
        return "binary.unreadable", say("probe.binary.unreadable", detail=reading.detail)
    path = binary.path
    if binary.state == "missing":
        return "binary.missing", say("probe.binary.missing", path=path)
    if binary.state == "not_executable":
        return "binary.not_executable", say("probe.binary.not_executable", path=path)
    if not binary.architecture_ok:
        return "binary.architecture", say("probe.binary.architecture", path=path, arch=binary.architecture)
    if binary.missing_libraries:
        return "binary.library", say("probe.binary.library", path=path, names=", ".join(binary.missing_libraries))
    if not binary.mpi_built:
        return "binary.not_mpi", say("probe.binary.not_mpi", path=path)
    if binary.architecture == _INSIDE:
        return "binary.usable", say("probe.binary.inside", path=path)
    return "binary.usable", say("probe.binary.usable", path=path)
