"""`HostFiles` of a node of the Slurm job: each operation a short command, for all nodes that do the same one step."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from healthcheck.edge.push import FileState
from healthcheck.edge.srun_group import Payload, source_of
from healthcheck.model.command import Command
from healthcheck.model.host import Host
from healthcheck.model.message import say

if TYPE_CHECKING:
    from healthcheck.edge.srun_step import SrunTransport
    from healthcheck.ports import Running

_DEADLINE_S = 120.0
_WRITE_DEADLINE_S = 600.0
_MARGIN_S = 30.0
_HASH = 'for f; do if [ -L "$f" ]; then continue; fi; if [ -f "$f" ]; then sha256sum -- "$f"; fi; done'
_MKDIR = 'mkdir -m "$1" -- "$2" 2>/dev/null || [ -e "$2" ] || [ -L "$2" ] || mkdir -m "$1" -- "$2"'
# A new file, and no link that somebody put there: noclobber opens with O_EXCL.
_WRITE = 'umask 077; set -C; cat >"$1" && [ "$(wc -c <"$1")" -eq "$2" ]'


class SrunFiles:
    """Errors are OSError, with what the node said."""

    def __init__(self, transport: SrunTransport, host: Host) -> None:
        self._transport = transport
        self._host = host
        self._known: tuple[str, int] | None = None

    def home(self) -> str:
        """$HOME of the step."""
        return self._who()[0]

    def uid(self) -> int:
        """`id -u`."""
        return self._who()[1]

    def lstat(self, path: str) -> FileState | None:
        """None when there is nothing."""
        code, out, _ = self._run("stat", "-c", "%f %u", "--", path)
        mode, _, uid = out.strip().partition(" ")
        return FileState(int(mode, 16), int(uid)) if code == 0 and uid.isdecimal() else None

    def mkdir(self, path: str, mode: int) -> None:
        """It may exist."""
        self._do("sh", "-c", _MKDIR, "healthcheck-mkdir", f"{mode:o}", path)

    def chmod(self, path: str, mode: int) -> None:
        """Set permission bits."""
        self._do("chmod", f"{mode:o}", "--", path)

    def write(self, path: str, content: BinaryIO) -> None:
        """A new file, 0600 until its mode is set; its content goes through the stdin of the step."""
        source = source_of(content)
        payload = Payload(source=source) if source else Payload(content=content.read())
        size = content.seek(0, 2) if source else len(payload.content)
        said = _Said()
        argv = ("sh", "-c", _WRITE, "healthcheck-write", path, str(size))
        if _exit_code(self._transport.bring(self._host, argv, payload, said), _WRITE_DEADLINE_S) != 0:
            raise OSError(said.last or f"{path} could not be written there")

    def rename(self, old: str, new: str) -> None:
        """Atomically, over whatever is there."""
        self._do("mv", "-fT", "--", old, new)

    def remove(self, path: str) -> None:
        """Delete."""
        self._do("rm", "-f", "--", path)

    def sha256(self, paths: Sequence[str]) -> dict[str, str]:
        """By sha256sum of the node; a link is not followed."""
        _, out, _ = self._run("sh", "-c", _HASH, "healthcheck-hash", *paths)
        found = (line.partition("  ") for line in out.splitlines())
        return {path: digest for digest, _, path in found if path in paths}

    def _who(self) -> tuple[str, int]:
        if self._known is None:
            code, out, err = self._run("sh", "-c", 'id -u; printf "%s" "$HOME"', "healthcheck-who")
            uid, _, home = out.partition("\n")
            if code != 0 or not uid.isdecimal() or not home.startswith("/"):
                raise OSError(err or "the node did not say where its home folder is")
            self._known = (home, int(uid))
        return self._known

    def _do(self, *argv: str) -> None:
        code, _, err = self._run(*argv)
        if code != 0:
            raise OSError(err or f"{argv[0]} failed there")

    def _run(self, *argv: str) -> tuple[int, str, str]:
        said = _Said()
        command = Command(argv, _DEADLINE_S, token=f"push-{secrets.token_hex(6)}")
        running = self._transport.start(self._host, command, said)
        return _exit_code(running, _DEADLINE_S), said.out.decode("utf-8", "replace"), said.last


def _exit_code(running: Running, deadline_s: float) -> int:
    """That of a short command; OSError where it did not come to an end of its own."""
    result = running.wait(deadline_s + _MARGIN_S)
    if result is None:
        running.stop()
        raise OSError(str(say("job.timed_out", seconds=deadline_s)))
    if result.exit_code is None:
        raise OSError(str(result.reason or result.kind.value))
    return result.exit_code


class _Said:
    """A sink for a few lines."""

    def __init__(self) -> None:
        self.out = b""
        self._err = b""

    @property
    def last(self) -> str:
        """The last line of stderr."""
        return next(reversed(self._err.decode("utf-8", "replace").strip().splitlines()), "")[:200]

    def stdout(self, data: bytes) -> None:
        """Keep."""
        self.out += data

    def stderr(self, data: bytes) -> None:
        """Keep."""
        self._err += data
