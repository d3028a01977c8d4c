"""`HostFiles` of a node of the Slurm job: each operation a short command, for all nodes that do the same one step."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from healthcheck.edge.push import FileState, NeverReachedError
from healthcheck.edge.srun_group import Payload, source_of
from healthcheck.model.command import NEVER_STARTED, Command, CommandResult
from healthcheck.model.host import Host
from healthcheck.model.message import say
from healthcheck.workflows.fanout import MARGIN_S, Capture, run_short

if TYPE_CHECKING:
    from healthcheck.edge.srun_step import SrunTransport

_DEADLINE_S = 120.0
FILE_DEADLINE_S = 600.0
"""For a file that is brought to many nodes at once."""
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
        said = Capture()
        running = self._transport.bring(
            self._host, ("sh", "-c", _WRITE, "healthcheck-write", path, str(size)), payload, said
        )
        result = running.wait(FILE_DEADLINE_S + MARGIN_S)
        if result is None:
            running.stop()
            raise OSError(str(say("job.timed_out", seconds=FILE_DEADLINE_S)))
        if _exit_code(result) != 0:
            raise OSError(_last_line(said.err) or f"{path} could not be written there")

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
        """(exit code, stdout, last line of stderr)."""
        command = Command(argv, _DEADLINE_S, token=f"push-{secrets.token_hex(6)}")
        result, said = run_short(self._transport, self._host, command)
        return _exit_code(result), said.out, _last_line(said.err)


def _exit_code(result: CommandResult) -> int:
    """OSError where the command did not come to an end of its own."""
    if result.exit_code is None:
        if result.kind in NEVER_STARTED and result.reason is not None:
            raise NeverReachedError(result.reason)
        raise OSError(str(result.reason or result.kind.value))
    return result.exit_code


def _last_line(text: str) -> str:
    return next(reversed(text.strip().splitlines()), "")[:200]
