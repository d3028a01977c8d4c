"""Hostfiles in every usual spelling: Open MPI `slots=8`, MPICH `:8`, plain, `user@host`, `[v6]:port`, node sets.

One line names one host or one node set, then words: `slots=`, `max_slots=`, `user=`, `port=`, `address=`, and labels
such as `leaf=l3 rack=r1`. A colon behind a plain name gives slots (MPICH), behind a bracket the SSH port.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from pathlib import PurePath

from msgspec import Struct

from healthcheck.errors import InputError
from healthcheck.model.host import Host
from healthcheck.parsing.nodeset import MAX_HOSTS, expand, is_host_name, not_a_name, shown, split

MAX_CHARACTERS = 16_000_000
MAX_SLOTS = 1024

_KNOWN = ("slots", "max_slots", "user", "port", "address")
_USUAL_LABELS = ("leaf", "rack", "pod")
_LABEL_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}(?:@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?")
# `[10-11].0.0.1` is a node set, `[10]:22` a name in brackets with its SSH port.
_RANGES_FIRST = re.compile(r"\[[0-9,/-]+\](?!:|$)|\[[0-9/]+[,-][0-9,/-]+\]")
_RESERVED = frozenset({"fabric"})
_ENDINGS = frozenset({".hosts", ".hostfile", ".txt", ".list", ".yaml", ".yml"})


class _Target(Struct, frozen=True):
    """The first word of a line, taken apart."""

    names: tuple[str, ...]
    user: str | None = None
    port: int | None = None
    slots: int | None = None


def parse_hostfile(text: str, source: str) -> tuple[Host, ...]:
    """The hosts of a hostfile in its order; `source` names it in errors.

    InputError with the line number for duplicates, slots or ports out of range, more than 20,000 hosts, names that
    are not host names and words that look like a misspelt one; also when no host is left.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(source, f"is larger than {MAX_CHARACTERS // 1_000_000} MB, which is no hostfile")
    found = _Found(source)
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff")), 1):
        line = re.sub(r"(?:^|\s)#.*", "", raw).strip()
        if line:
            found.add(_line(line, f"{source}:{number}"), number)
    return found.hosts()


def parse_hosts(text: str, source: str) -> tuple[Host, ...]:
    """The hosts of a node set given on the command line: `gpu[001-004],admin@gpu007:8`.

    Every part may be what a hostfile line may start with. `source` names the option in errors.
    """
    found = _Found(source)
    for part in split(text):
        if not part:
            raise InputError(source, f"{shown(text)} names an empty host; write for example gpu[001-128]")
        found.add(_line(part, source), None)
    return found.hosts()


class _Found:
    """The hosts so far, and where each was first named."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._hosts: list[Host] = []
        self._first: dict[tuple[str, int], tuple[str, int | None]] = {}
        self._names: dict[str, int | None] = {}

    def add(self, hosts: tuple[Host, ...], number: int | None) -> None:
        where = self._source if number is None else f"{self._source}:{number}"
        if len(self._hosts) + len(hosts) > MAX_HOSTS:
            raise InputError(where, f"this is host {MAX_HOSTS + 1:,} or more; at most {MAX_HOSTS:,} are read")
        for host in hosts:
            key = host.name.casefold()
            if key in self._names:
                first = "" if self._names[key] is None else f" (first on line {self._names[key]})"
                raise InputError(where, f"{host.name} is listed twice{first}; name a host once, with slots=N for ranks")
            endpoint = (host.address.casefold(), host.port or 22)
            if endpoint in self._first:
                other, line = self._first[endpoint]
                at = "" if line is None else f" (line {line})"
                raise InputError(where, f"{host.name} has the same address and port as {other}{at}; keep one of them")
            self._names[key] = number
            self._first[endpoint] = (host.name, number)
            self._hosts.append(host)

    def hosts(self) -> tuple[Host, ...]:
        if not self._hosts:
            raise InputError(self._source, "names no host; write one a line, for example gpu[001-128] slots=8")
        return tuple(self._hosts)


def _line(line: str, where: str) -> tuple[Host, ...]:
    words = re.sub(r"\s*=\s*", "=", line).split()
    target = _target(words[0], where)
    given, labels = _words(words[1:], where)
    if "slots" in given and target.slots is not None:
        raise InputError(where, f"gives slots twice, as :{target.slots} and as slots={given['slots']}; keep one")
    if "user" in given and target.user is not None:
        raise InputError(where, f"gives the user twice, as {target.user}@ and as user={given['user']}; keep one")
    if "port" in given and target.port is not None:
        raise InputError(where, f"gives the port twice, as :{target.port} and as port={given['port']}; keep one")
    slots = _number(given["slots"], "slots", 1, MAX_SLOTS, where) if "slots" in given else target.slots
    if "max_slots" in given:
        most = _number(given["max_slots"], "max_slots", 1, 1_000_000, where)
        if slots is not None and most < slots:
            raise InputError(where, f"max_slots={most} is below slots={slots}; drop max_slots or raise it")
    port = _number(given["port"], "port", 1, 65535, where) if "port" in given else target.port
    user = _user(given["user"], where) if "user" in given else target.user
    addresses = _addresses(given["address"], len(target.names), where) if "address" in given else target.names
    return tuple(
        Host(name=name, address=address, port=port, user=user, slots=slots, labels=labels)
        for name, address in zip(target.names, addresses, strict=True)
    )


def _target(word: str, where: str) -> _Target:
    user: str | None = None
    if "@" in word and not word.startswith("@"):
        left, _, word = word.rpartition("@")
        user = _user(left, where)
    if word.startswith("[") and not _RANGES_FIRST.match(word):
        return _bracketed(word, user, where)
    if word.count(":") > 1:
        return _Target((_ipv6(word, where),), user)
    name, colon, slots = word.partition(":")
    names = expand(name, where)
    for each in names:
        if each.casefold() in _RESERVED:
            raise InputError(where, f"{shown(each)} cannot name a host: reports use that word for the whole network")
    if colon and not slots.isdigit():
        hint = "write gpu-01:8, or [gpu-01]:2222 for an SSH port"
        raise InputError(where, f"{shown(slots)} behind the colon of {shown(word)} is no number of slots; {hint}")
    return _Target(names, user, slots=_number(slots, "slots", 1, MAX_SLOTS, where) if colon else None)


def _bracketed(word: str, user: str | None, where: str) -> _Target:
    inside, closed, behind = word[1:].partition("]")
    if not closed or (behind and not behind.startswith(":")):
        raise InputError(where, f"{shown(word)} is not [address]:port; write for example [fe80::1]:2222")
    port = _number(behind[1:], "port", 1, 65535, where) if behind else None
    if ":" in inside:
        return _Target((_ipv6(inside, where),), user, port)
    if not is_host_name(inside):
        raise InputError(where, not_a_name(inside))
    if port is None:
        raise InputError(where, f"{shown(word)} lacks its port ([{inside}]:2222); inventory sections are not read")
    return _Target((inside,), user, port)


def _words(words: list[str], where: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """The known words and the labels behind a host."""
    given: dict[str, str] = {}
    labels: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        key = "max_slots" if key == "max-slots" else key
        if not equals or not value:
            raise InputError(where, f"{shown(word)} is not key=value, such as slots=8 or leaf=l3; one host a line")
        if key in given or key in labels:
            raise InputError(where, f"gives {key}= twice; keep one")
        if key in _KNOWN:
            given[key] = value
            continue
        if not _LABEL_KEY.fullmatch(key):
            raise InputError(where, f"{shown(key)} is not a word; known are {', '.join(_KNOWN + _USUAL_LABELS)}")
        near = difflib.get_close_matches(key.lower(), _KNOWN + _USUAL_LABELS, n=1, cutoff=0.75)
        if near and key not in _USUAL_LABELS:
            raise InputError(where, f"unknown word {key}=; did you mean {near[0]}=?")
        if not _LABEL_VALUE.fullmatch(value):
            raise InputError(where, f"the label {key}={shown(value)} may hold letters, digits and . _ : / - only")
        labels[key] = value
    return given, tuple(labels.items())


def _number(text: str, what: str, least: int, most: int, where: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise InputError(where, f"{what} must be a whole number from {least} to {most:,}, got {shown(text)}")
    return int(text)


def _user(text: str, where: str) -> str:
    if not _USER.fullmatch(text):
        raise InputError(where, f"{shown(text)} is not a user name")
    return text


def _ipv6(text: str, where: str) -> str:
    address, percent, zone = text.partition("%")
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        hint = "an IPv6 address; slots stand behind one colon (gpu-01:8)"
        raise InputError(where, f"{shown(text)} is not {hint}") from None
    if percent and not re.fullmatch(r"[A-Za-z0-9_.-]{1,15}", zone):
        raise InputError(where, f"{shown(zone)} is not the name of a network interface")
    return text


def _addresses(text: str, wanted: int, where: str) -> tuple[str, ...]:
    """One address a host; a node set of addresses fits a node set of the same length."""
    if ":" in text:
        addresses: tuple[str, ...] = (_ipv6(text.removeprefix("[").removesuffix("]"), where),)
    else:
        addresses = expand(text, where)
    if len(addresses) != wanted:
        raise InputError(where, f"address= gives {len(addresses)} address(es) for {wanted} host(s)")
    return addresses


def looks_like_path(text: str) -> bool:
    """Whether a `-H` argument was meant as a file: it has a folder (a `/` outside brackets) or a file ending."""
    outside = re.sub(r"\[[^\]]*\]", "", text)
    return "/" in outside or PurePath(outside).suffix in _ENDINGS
