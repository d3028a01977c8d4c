"""May a process that was started over ssh lock memory, open files and use shared memory?

The part runs in the very kind of login from which ranks are started, so it sees the limits that they inherit.
"""

from __future__ import annotations

import re

from healthcheck.model.component import node
from healthcheck.model.finding import CheckResult
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.reading import Reading, ReadingState
from healthcheck.model.system_facts import Limits
from healthcheck.model.verdict import Verdict
from healthcheck.probes.batch import Part, PartOutput, one_line
from healthcheck.probes.probe import Needs
from healthcheck.probes.trouble import garbled, quote, usable
from healthcheck.probes.unseen import unseen

NAME = "limits"
MEMLOCK_CHECK = "os.memlock"
SHM_CHECK = "os.shm"
FILES_CHECK = "os.files"
CHECKS = (MEMLOCK_CHECK, SHM_CHECK, FILES_CHECK)
GIB = 1024**3
LEAST_BYTES = GIB
"""Of locked memory and of shared memory. NCCL asks for unlimited and for 1 GB: see its guide, Troubleshooting."""
FEW_FILES, ENOUGH_FILES = 1024, 4096
_CAP_IPC_LOCK = 1 << 14

_TEXT = one_line("""
    echo "memlock $(ulimit -l)"; echo "files $(ulimit -n)"; echo "stack $(ulimit -s)";
    echo "cap $(sed -n "s/^CapEff:[^0-9a-f]*//p" /proc/self/status 2>/dev/null)";
    echo "nccl $(ls /dev/shm 2>/dev/null | grep -c "^nccl-")";
    df -P -k /dev/shm 2>/dev/null | tail -n 1 | sed "s/^/shm /";
    exit 0
""")
_DF = re.compile(r"shm (?P<line>\S+\s+(?P<size>\d{1,15})\s+\d{1,15}\s+(?P<free>\d{1,15})\s+\d{1,3}%\s+\S+)", re.ASCII)


def part() -> Part:
    """Lines `memlock`, `files`, `stack` (as ulimit prints them), `cap` (hex), `nccl` (files), `shm` (a line of df)."""
    return Part(NAME, 5, _TEXT)


def read(output: PartOutput | None) -> Reading[Limits]:
    """Observed when all three limits are numbers, or unlimited; /dev/shm may be missing."""
    answer = usable(NAME, output)
    if isinstance(answer, Reading):
        return answer
    lines = answer.stdout.splitlines()
    words = dict(line.partition(" ")[::2] for line in reversed(lines))
    memlock, files, stack = (_limit(words.get(key, "")) for key in ("memlock", "files", "stack"))
    if answer.rc != 0 or memlock is None or files is None or stack is None:
        return garbled(NAME, answer)
    shm = next((match for line in lines if (match := _DF.fullmatch(line.rstrip()))), None)
    cap, leftover = words.get("cap", ""), words.get("nccl", "")
    limits = Limits(
        memlock=None if memlock < 0 else memlock * 1024,
        open_files=None if files < 0 else files,
        stack=None if stack < 0 else stack * 1024,
        may_lock=bool(re.fullmatch(r"[0-9a-f]{1,32}", cap)) and bool(int(cap, 16) & _CAP_IPC_LOCK),
        shm_size=None if shm is None else int(shm["size"]) * 1024,
        shm_free=None if shm is None else int(shm["free"]) * 1024,
        shm_line="" if shm is None else shm["line"],
        nccl_files=int(leftover) if re.fullmatch(r"[0-9]{1,9}", leftover) else 0,
    )
    return Reading(ReadingState.OBSERVED, limits, quote("ulimit", lines[:3]))


def _limit(text: str) -> int | None:
    """-1 for unlimited, None for what is no limit."""
    if text.strip() == "unlimited":
        return -1
    return int(text) if re.fullmatch(r"[0-9]{1,19}", text.strip()) else None


def judge(facts: NodeFacts, needs: Needs) -> tuple[CheckResult, ...]:
    """One result for each of the three, or one unseen for each."""
    limits = facts.limits.value
    if limits is None:
        hides = say("probe.limits.hides")
        return tuple(unseen(check, facts.host, facts.limits, hides, needed=False) for check in CHECKS)
    return (_memlock(facts, limits, needs), _shm(facts, limits), _files(facts, limits))


def _memlock(facts: NodeFacts, limits: Limits, needs: Needs) -> CheckResult:
    if limits.memlock is None or limits.memlock >= LEAST_BYTES:
        return _well(facts, MEMLOCK_CHECK, "memlock.enough", say("probe.limits.memlock_enough"))
    if limits.may_lock:
        return _well(facts, MEMLOCK_CHECK, "memlock.capable", say("probe.limits.memlock_capable"))
    rdma = needs.platform is not None and needs.platform.has_rdma
    return CheckResult(
        MEMLOCK_CHECK,
        node(facts.host),
        Verdict.FAIL if rdma and needs.together else Verdict.DEGRADED,
        say("probe.limits.memlock", kbyte=limits.memlock // 1024),
        "memlock.low",
        stage="probe",
        observed=float(limits.memlock),
        expected=float(LEAST_BYTES),
        unit="bytes",
        evidence=quote("ulimit -l", (f"{limits.memlock // 1024}",)),
    )


def _shm(facts: NodeFacts, limits: Limits) -> CheckResult:
    # No rank runs while nobody holds a GPU, so what NCCL has there then was left behind.
    idle = facts.gpu_processes.observed and not facts.gpu_processes.value
    stale = limits.nccl_files if idle else 0
    if limits.shm_free is None:
        return CheckResult(
            SHM_CHECK,
            node(facts.host),
            Verdict.SKIPPED,
            say("probe.unparsable", hides=say("probe.limits.shm_hides"), detail="df -P -k /dev/shm"),
            "unseen.unparsable",
            stage="probe",
        )
    if limits.shm_free >= LEAST_BYTES:
        if stale:
            return _well(facts, SHM_CHECK, "shm.stale_files", say("probe.limits.shm_stale", stale=stale))
        return _well(facts, SHM_CHECK, "shm.enough", say("probe.limits.shm_enough"))
    size = limits.shm_size or 0
    message = say("probe.limits.shm_low", free=round(limits.shm_free / 1e9, 2), size=round(size / 1e9, 2), stale=stale)
    return CheckResult(
        SHM_CHECK,
        node(facts.host),
        Verdict.FAIL,
        message,
        "shm.low" if size >= LEAST_BYTES else "shm.small",
        stage="probe",
        observed=float(limits.shm_free),
        expected=float(LEAST_BYTES),
        unit="bytes",
        evidence=quote("df -P -k /dev/shm", (limits.shm_line,)),
    )


def _files(facts: NodeFacts, limits: Limits) -> CheckResult:
    if limits.open_files is not None and limits.open_files < FEW_FILES:
        return CheckResult(
            FILES_CHECK,
            node(facts.host),
            Verdict.DEGRADED,
            say("probe.limits.files_low", files=limits.open_files),
            "files.low",
            stage="probe",
            observed=float(limits.open_files),
            expected=float(ENOUGH_FILES),
            unit="files",
            evidence=quote("ulimit -n", (f"{limits.open_files}",)),
        )
    if limits.open_files is not None and limits.open_files < ENOUGH_FILES:
        return _well(facts, FILES_CHECK, "files.few", say("probe.limits.files_few", files=limits.open_files))
    if limits.stack is None:
        return _well(facts, FILES_CHECK, "files.stack_unlimited", say("probe.limits.stack_unlimited"))
    return _well(facts, FILES_CHECK, "files.enough", say("probe.limits.files_enough"))


def _well(facts: NodeFacts, check: str, rule: str, message: Message) -> CheckResult:
    return CheckResult(check, node(facts.host), Verdict.PASS, message, rule, stage="probe")
