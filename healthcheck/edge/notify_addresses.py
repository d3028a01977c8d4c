"""Where alerts go: addresses from the command line, from a private file or from the environment. They are secrets, so
nothing in here repeats one of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, MutableMapping, Sequence
from pathlib import Path

from msgspec import Struct

from healthcheck.edge.places import at_home
from healthcheck.errors import InputError

OPTION = "--notify"
VARIABLE = "HEALTHCHECK_NOTIFY"
MOST_BYTES = 65536
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Address(Struct, frozen=True):
    """One address as apprise spells it, and what to call it in a sentence: never by itself."""

    url: str
    where: str

    def __repr__(self) -> str:
        return f"Address({self.where})"


def read_addresses(given: Sequence[str], environment: MutableMapping[str, str]) -> tuple[Address, ...]:
    """All addresses that were given; those of the command line replace those of the environment.

    The variable is taken out of `environment`: what we start later, such as mpirun, has no use for it. InputError for
    a file that cannot be read, or that others may read.
    """
    inherited = environment.pop(VARIABLE, "")
    if given:
        return tuple(address for value in given for address in _of(value, OPTION))
    return tuple(address for value in inherited.split() for address in _of(value, VARIABLE))


def _of(value: str, where: str) -> Iterator[Address]:
    if value.startswith("@"):
        yield from _of_file(value[1:], where)
    elif value.strip():
        yield Address(value.strip(), where)
    else:
        raise InputError(where, "is empty; give an address such as slack://..., or @FILE with one a line")


def _at_once(path: str, flags: int) -> int:
    """An `opener` that waits for no pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _of_file(name: str, where: str) -> Iterator[Address]:
    path = at_home(Path(name))
    try:
        with open(path, "rb", opener=_at_once) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise InputError(where, f"{name!a} is no file")
            if found.st_mode & _OTHERS:
                raise InputError(where, f"others may read {name}, and addresses are secrets: chmod 600 {name}")
            text = file.read(MOST_BYTES + 1).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError(where, f"{name!a} cannot be read: {reason}") from None
    if len(text) > MOST_BYTES:
        raise InputError(where, f"{name} is larger than any list of addresses; name the file that holds one a line")
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    addresses = [Address(line, f"{name}:{number}") for number, line in lines if line and not line.startswith("#")]
    if not addresses:
        raise InputError(where, f"{name} holds no address; write one a line, such as slack://...")
    yield from addresses
