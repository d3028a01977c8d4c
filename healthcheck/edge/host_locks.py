"""One lock file a host, `<results>/locks/<host>.lock`: one check-up of a host at a time, for all who share the folder.

A run writes who it is into one file of its own and links that under the name of each host it wants: a link is made by
one of two who try at once, also over NFS, and a lock is never half written. (Where a file system has no links, the file
is made with O_EXCL.) The lock of a process of this machine that has ended, or of a Slurm job that is over, is taken
over; of any other process elsewhere nothing can be known from here, so its lock is explained and left.

Whoever takes locks, or takes one over, first gets its turn by flock(2): two runs that want the same hundred nodes then
do not get every other one. Where the file system has no flock, what is stale stays until somebody deletes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import socket
import stat
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from healthcheck.edge.owner import boot_id, has_ended, pid_space
from healthcheck.model.lock import UNLOCKABLE, Holder, Refusal, StaleLock, Taken
from healthcheck.model.message import Message, say
from healthcheck.model.record import Owner
from healthcheck.ports import Clock

LOCKS = "locks"
SUFFIX = ".lock"
TURN = ".turn"
TURN_S = 60.0
_NAP_S = 0.05
_TRIES = 5
_LONGEST = 200
_MOST_BYTES = 1 << 16
# No links on this file system, or no more of them to one file.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK})
# These mean another machine to everyone who shares the folder.
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class FolderLocks:
    """ports.HostLocks below one results folder, for one run of this process."""

    def __init__(self, results: Path, run_id: str, owner: Owner, clock: Clock) -> None:
        self._folder = results / LOCKS
        self._clock = clock
        self._holder = Holder(
            run_id,
            owner.user,
            owner.machine,
            owner.pid,
            owner.pid_started,
            boot_id(),
            pid_space(),
            f"{clock.now():%Y-%m-%dT%H:%M:%SZ}",
            owner.in_job,
        )
        self._own = self._folder / f".{secrets.token_hex(8)}.owner"
        self._held: list[Path] = []

    def take(self, hosts: Iterable[str], need: int = 0) -> Taken:
        """Lock what is free, and none of it where that is less than `need`; of everything else, who has it. Never
        raises for a host."""
        wanted = sorted(set(hosts))
        try:
            self._announce()
            with _turn(self._folder, self._clock) as has_turn:
                taken = self._take(wanted, has_turn)
                if len(self._held) >= need:
                    return taken
                # Still in our turn: whoever comes next finds them free.
                self.release()
                return replace(taken, let_go=tuple(host for host in wanted if host not in taken.refused))
        except OSError as error:
            self.release()
            message = say("lock.impossible", folder=str(self._folder), problem=error.strerror or str(error))
            return Taken({host: Refusal(message, UNLOCKABLE) for host in wanted})

    def release(self) -> None:
        """Let go of every host; what somebody else has put in its place stays."""
        for path in self._held:
            if _read(path) == self._holder:
                with contextlib.suppress(OSError):
                    path.unlink()
        self._held.clear()
        with contextlib.suppress(OSError):
            self._own.unlink()

    def _announce(self) -> None:
        """Write who we are; the folder may be used by whoever may use the one it is in.

        But for the sticky bit, with which nobody could take over what a dead run of somebody else has locked.
        """
        made = not self._folder.exists()
        self._folder.mkdir(exist_ok=True)
        if made:
            with contextlib.suppress(OSError):
                self._folder.chmod(self._folder.parent.stat().st_mode & 0o7777 & ~stat.S_ISVTX)
        self._write(self._own)

    def _write(self, path: Path) -> None:
        """A file that everybody may read and that was not there before; FileExistsError where it was."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            os.fchmod(descriptor, 0o644)
            os.write(descriptor, msgspec.json.encode(self._holder) + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _take(self, wanted: list[str], has_turn: bool) -> Taken:
        refused: dict[str, Refusal] = {}
        dead: Counter[Holder] = Counter()
        for host in wanted:
            refusal = self._take_one(self._folder / lock_name(host), has_turn, dead)
            if refusal is not None:
                refused[host] = refusal
        notes = tuple(say("lock.taken_over", n=n, who=_who(holder)) for holder, n in dead.items())
        return Taken(refused, notes)

    def _take_one(self, path: Path, has_turn: bool, dead: Counter[Holder]) -> Refusal | None:
        """Lock one host, or why not. Of a run that is dead its lock is removed first, and counted in `dead`."""
        for _ in range(_TRIES):
            if self._link(path):
                self._held.append(path)
                return None
            holder = _read(path)
            if holder is None and not os.path.lexists(path):
                continue  # released between the two looks
            if holder is None or not has_turn or not _is_dead(holder):
                return Refusal(_why(path, holder))
            try:
                path.unlink()
                dead[holder] += 1
            except FileNotFoundError:
                continue  # somebody else removed it
            except OSError:
                return Refusal(_why(path, holder))
        return Refusal(_why(path, _read(path)))

    def _link(self, path: Path) -> bool:
        """Whether the lock is ours now."""
        try:
            try:
                os.link(self._own, path)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                self._write(path)
        except FileExistsError:
            # Over NFS the answer to a link that was made may get lost, and its repetition finds it there.
            return _read(path) == self._holder
        return True


def lock_name(host: str) -> str:
    """The file of a host: any name as one file, never outside the folder; upper and lower case are one host."""
    name = host.lower().rstrip(".")
    if name in _HERE:
        name = f"{name}@{socket.gethostname()}"
    safe = urllib.parse.quote(name, safe="-_.@", errors="backslashreplace")
    if safe.startswith("."):
        safe = f"%2E{safe[1:]}"
    if len(safe) > _LONGEST:
        safe = f"{safe[: _LONGEST - 13]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"{safe}{SUFFIX}"


def stale_locks(results: Path) -> tuple[StaleLock, ...]:
    """The locks of which nobody here knows a living owner: it is dead, on another machine, or not readable."""
    found = []
    for path in sorted((results / LOCKS).glob(f"*{SUFFIX}")):
        holder = _read(path)
        if holder is not None and _is_dead(holder):
            found.append(StaleLock(_host(path), str(path), say("lock.stale", who=_who(holder)), _who(holder)))
        elif holder is None or not _is_here(holder):
            found.append(StaleLock(_host(path), str(path), _why(path, holder)))
    return tuple(found)


def remove_stale(results: Path, clock: Clock) -> tuple[StaleLock, ...]:
    """Delete the locks whose process of this machine has ended; those that are gone now."""
    folder = results / LOCKS
    removed = []
    if not folder.is_dir():
        return ()
    with contextlib.suppress(OSError), _turn(folder, clock) as has_turn:
        # Looked at once more now that nobody can take one over at the same time.
        for lock in stale_locks(results) if has_turn else ():
            if lock.dead is not None:
                with contextlib.suppress(OSError):
                    Path(lock.file).unlink()
                    removed.append(lock)
        for path in folder.glob(".*.owner") if has_turn else ():
            holder = _read(path)
            if holder is not None and _is_dead(holder):
                with contextlib.suppress(OSError):
                    path.unlink()
    return tuple(removed)


@contextlib.contextmanager
def _turn(folder: Path, clock: Clock) -> Iterator[bool]:
    """Alone among those who take locks in this folder; False where the file system cannot promise that."""
    descriptor = _open_turn(folder / TURN)
    if descriptor is None:
        yield False
        return
    try:
        yield _locked(descriptor, clock)
    finally:
        os.close(descriptor)


def _open_turn(path: Path) -> int | None:
    try:
        # Opened before it is made: in a folder with the sticky bit, O_CREAT is refused on a file of somebody else.
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError:
        return None
    # Somebody else may have made it meanwhile; then it is theirs to say who may use it.
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, 0o666 & (path.parent.stat().st_mode | 0o600))
    return descriptor


def _locked(descriptor: int, clock: Clock) -> bool:
    give_up = clock.monotonic() + TURN_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic() >= give_up:
                return False
            clock.sleep(_NAP_S)
        except OSError:
            return False
        else:
            return True


def _read(path: Path) -> Holder | None:
    try:
        # Whatever lies there in a folder that many may write in: a pipe must not be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return msgspec.json.decode(os.read(descriptor, _MOST_BYTES), type=Holder)
        finally:
            os.close(descriptor)
    except (OSError, msgspec.MsgspecError):
        return None


def _is_here(holder: Holder) -> bool:
    """Whether its pid means something in this process."""
    return holder.machine == socket.gethostname() and holder.pid_space == pid_space()


def _is_dead(holder: Holder) -> bool:
    """Whether that process has ended; after a reboot all of this machine have that were before it."""
    here = _is_here(holder)
    return (here and holder.boot != boot_id()) or has_ended(holder, here=here)


def _host(path: Path) -> str:
    return urllib.parse.unquote(path.name.removesuffix(SUFFIX))


def _who(holder: Holder) -> Message:
    return say(
        "lock.holder",
        run_id=holder.run_id,
        user=holder.user,
        machine=holder.machine,
        pid=holder.pid,
        since=holder.since,
    )


def _why(path: Path, holder: Holder | None) -> Message:
    if holder is None:
        return say("lock.unreadable", who=say("lock.nobody"), file=str(path))
    if _is_here(holder) and not _is_dead(holder):
        return say("lock.held", who=_who(holder))
    code = "lock.dead" if _is_dead(holder) else "lock.elsewhere"
    return say(code, who=_who(holder), file=str(path))
