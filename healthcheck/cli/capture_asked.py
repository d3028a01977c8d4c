"""From the flags of `vitals capture` to what is asked for, everything checked before anything is touched."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from healthcheck.cli.durations import duration_s
from healthcheck.errors import InputError
from healthcheck.launchers.nsys import PLACE, is_megatron, starts_elsewhere
from healthcheck.model.host import Host
from healthcheck.model.vitals_capture import CaptureAsked

_MOST_RANKS = 64
_HIGHEST_RANK = 10_000_000
_LONGEST_S = 7 * 86400.0


class CaptureFlags(Struct, frozen=True):
    """As typed by the user."""

    words: tuple[str, ...]
    hosts: str | None = None
    on: str | None = None
    framework: str = "auto"
    first_step: int = 20
    steps: int = 3
    ranks: str | None = None
    nsys: str = "nsys"
    cwd: str | None = None
    node_folder: str | None = None
    timeout: str = "30m"
    grace: str = "5m"
    allow_busy: bool = False


def asked_capture(flags: CaptureFlags) -> CaptureAsked:
    """What is asked for; InputError for the first thing that is wrong."""
    from healthcheck.edge.shipped import load_hosts
    from healthcheck.workflows.request import LOCALHOST

    hosts = load_hosts(flags.hosts)[0] if flags.hosts is not None else ()
    profiled = _profiled(flags.on, hosts) if hosts else _nobody_else(flags.on, LOCALHOST.name)
    words = _command(flags.words, hosts)
    megatron = is_megatron(words) if flags.framework == "auto" else flags.framework == "megatron"
    return CaptureAsked(
        words=words,
        hosts=hosts,
        profiled=profiled,
        nsys=_one_line("--nsys", flags.nsys),
        first=flags.first_step,
        steps=flags.steps,
        ranks=_ranks(flags, words, megatron, first_host=not hosts or profiled == hosts[0].name),
        megatron=megatron,
        cwd=_folder("--cwd", flags.cwd) or (str(Path.cwd()) if hosts else None),
        node_folder=_folder("--node-folder", flags.node_folder),
        timeout_s=_seconds("--timeout", flags.timeout),
        grace_s=_seconds("--grace", flags.grace),
        allow_busy=flags.allow_busy,
    )


def _command(words: tuple[str, ...], hosts: tuple[Host, ...]) -> tuple[str, ...]:
    words = words[1:] if words[:1] == ("--",) else words
    if not words:
        raise InputError("COMMAND", "is missing; put the training command behind --, such as -- torchrun train.py")
    for word in words:
        _one_line("COMMAND", word)
    if words.count(PLACE) > 1:
        raise InputError("COMMAND", f"has {PLACE} {words.count(PLACE)} times; nsys starts in one place")
    if words[0] == PLACE:
        raise InputError("COMMAND", f"begins with {PLACE}, which is meant for behind a launcher; leave it away")
    launcher = starts_elsewhere(words)
    if launcher is not None and PLACE not in words:
        raise InputError(
            "COMMAND",
            f"{launcher} starts the training elsewhere, where an nsys in front of it sees nothing; put {PLACE} before "
            f"the program it starts, such as {launcher} ... {PLACE} python train.py",
        )
    if launcher is not None and len(hosts) > 1:
        raise InputError("-H", f"names {len(hosts)} hosts, and {launcher} would start there each time; name one")
    return words


def _profiled(on: str | None, hosts: tuple[Host, ...]) -> str:
    if on is None:
        return hosts[0].name
    if on not in {host.name for host in hosts}:
        raise InputError("--on", f"{on!a} is not among the {len(hosts)} hosts of -H; they begin with {hosts[0].name}")
    return on


def _nobody_else(on: str | None, here: str) -> str:
    if on is not None and on != here:
        raise InputError("--on", "chooses one of the hosts of -H; without -H the training runs on this machine")
    return here


def _ranks(flags: CaptureFlags, words: tuple[str, ...], megatron: bool, *, first_host: bool) -> tuple[int, ...]:
    """Rank 0 unless it is said otherwise: it is on the first host."""
    if flags.ranks is None:
        if not first_host and (megatron or PLACE in words):
            raise InputError("--ranks", f"is missing: rank 0 does not run on {flags.on}; name a rank that does")
        return (0,)
    if not megatron and PLACE not in words:
        raise InputError("--ranks", f"needs {PLACE} in the command; in front of it nsys records all ranks of the host")
    found: set[int] = set()
    for part in flags.ranks.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError("--ranks", f"{flags.ranks!a} is no list of ranks, such as 0,8 or 0-7")
        low, high = int(first), int(last or first)
        if high < low or high > _HIGHEST_RANK or high - low + len(found) >= _MOST_RANKS:
            raise InputError("--ranks", f"{part.strip()!a} is no range of at most {_MOST_RANKS} ranks, such as 0-7")
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def _folder(option: str, value: str | None) -> str | None:
    if value is None:
        return None
    if not _one_line(option, value).startswith("/"):
        raise InputError(option, f"must be absolute, it is on the hosts; got {value!a}")
    return value.rstrip("/") or "/"


def _one_line(option: str, value: str) -> str:
    if not value or "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise InputError(option, f"{value!a} is not a word of a command line in UTF-8")
    return value


def _seconds(option: str, text: str) -> float:
    found = duration_s(option, text)
    if found > _LONGEST_S:
        raise InputError(option, f"{text!a} is longer than a week")
    return found
