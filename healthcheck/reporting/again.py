"""Lines about the run itself, ready to type where it was started: its folder, going on, measuring again, raw output."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from healthcheck.model.alert import MASKED, NOTIFY
from healthcheck.model.record import JobRecord, RunRecord
from healthcheck.reporting.decision import excluded

DEFAULT_RESULTS = "reports"
_HOSTS, _RESULTS, _START = ("H", "hosts"), ("o", "results"), (None, "launch-from")
_FLAGS_BEFORE = "qv"
"""Short flags without a value: they may stand before another short option in one word."""


def run_folder(record: RunRecord) -> str:
    """The run directory as the user would write it where the run was started."""
    results = [DEFAULT_RESULTS, *values_of(record.provenance.arguments, *_RESULTS)][-1]
    return f"{results.rstrip('/') or '/'}/{record.run_id}"


def typed(record: RunRecord) -> tuple[str, ...]:
    """The words the run was started with, without the addresses of alerts: a record does not hold them."""
    return tuple(without(record.provenance.arguments, None, NOTIFY, lambda value: value == MASKED))


def resume_line(record: RunRecord, folder: str | None = None) -> str | None:
    """The line that goes on with a run that was ended; None where that is not possible."""
    if record.state == "complete" or record.provenance.arguments[:1] == ("demo",):
        return None
    default = f"{DEFAULT_RESULTS}/{record.run_id}"
    where = folder or run_folder(record)
    return shlex.join(("healthcheck", "run", "--resume", record.run_id if where == default else where))


def again_line(record: RunRecord) -> str | None:
    """The line that measures the excluded hosts again, with the arguments of the run; None where it would not work.

    The hosts of an in-process simulation and of `demo` are gone. A resumed run had its arguments before: its playbook
    lies in its folder.
    """
    arguments = typed(record)
    if not excluded(record) or not record.provenance.hostfile or arguments[:1] not in (("run",), ("probe",)):
        return None
    folder = run_folder(record)
    words = without(arguments, *_HOSTS, lambda _: True)
    words = without(words, *_START, lambda host: host not in ("first", "local", *excluded(record)))
    if any(True for _ in values_of(arguments, None, "resume")):
        words = [*without(words, None, "resume", lambda _: True), f"{folder}/inputs/playbook.yaml"]
    return shlex.join(("healthcheck", *words, "-H", f"{folder}/exclude.hosts"))


def whole_line(record: RunRecord) -> str | None:
    """The line that measures the hosts of a run as a whole, with its arguments; None where nothing less was asked for.

    `--playbook` of a probe is what a run names without a flag. A resumed run does not say what it had before.
    """
    arguments = typed(record)
    if arguments[:1] not in (("run",), ("probe",)) or any(True for _ in values_of(arguments, None, "resume")):
        return None
    words = without(arguments[1:], None, "only", lambda _: True)
    if arguments[0] == "run":
        return shlex.join(("healthcheck", "run", *words)) if len(words) < len(arguments[1:]) else None
    playbook = [record.playbook.name, *values_of(words, None, "playbook")][-1]
    return shlex.join(("healthcheck", "run", playbook, *without(words, None, "playbook", lambda _: True)))


def raw_line(record: RunRecord, job: JobRecord) -> str | None:
    """The line that shows both streams of a job as received; None where their place is not recorded."""
    if not job.raw:
        return None
    return shlex.join(("less", *(f"{run_folder(record)}/{job.raw}/{stream}" for stream in ("stdout", "stderr"))))


def nccl_line(record: RunRecord, job: JobRecord) -> str | None:
    """The line that shows what NCCL logged in a job, of all ranks; None where the place of the job is not recorded.

    NCCL writes into files of its own, which its two streams do not hold.
    """
    if not job.raw:
        return None
    return shlex.join(("grep", "-r", "NCCL", f"{run_folder(record)}/{job.raw}/nccl/")) + " | less"


def _taken(words: Sequence[str], short: str | None, long: str) -> Iterator[tuple[int, int, str, str]]:
    """(place, how many words, what stays of the first, value) of every use of one option that takes a value."""
    place = 0
    while place < len(words):
        word = words[place]
        joined = re.fullmatch(rf"-([{_FLAGS_BEFORE}]*){short}(.*)", word, re.DOTALL) if short else None
        if joined is not None:
            stays = f"-{joined[1]}" if joined[1] else ""
            if joined[2]:
                yield place, 1, stays, joined[2]
            elif place + 1 < len(words):
                yield place, 2, stays, words[place + 1]
                place += 1
        elif word.startswith(f"--{long}="):
            yield place, 1, "", word.partition("=")[2]
        elif word == f"--{long}" and place + 1 < len(words):
            yield place, 2, "", words[place + 1]
            place += 1
        place += 1


def values_of(words: Sequence[str], short: str | None, long: str) -> Iterator[str]:
    """The values of every use of one option that takes a value, in order."""
    for _, _, _, value in _taken(words, short, long):
        yield value


def without(words: Sequence[str], short: str | None, long: str, drop: Callable[[str], bool]) -> list[str]:
    """The words without the uses of one option whose value is to be dropped."""
    kept = list(words)
    for place, length, stays, value in reversed(list(_taken(words, short, long))):
        if drop(value):
            kept[place : place + length] = [stays] if stays else []
    return kept
