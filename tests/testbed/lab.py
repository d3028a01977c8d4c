"""Eight hosts on one machine, things that go wrong on them, and what is left there afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
NETLAB = HERE / "netlab.sh"
OURS = ("HEALTHCHECK_TOKEN=", "healthcheck-run", "all_reduce_perf")


@dataclass(frozen=True)
class Mpi:
    """One MPI on the hosts. `path` stands first in PATH there; None for what the distribution put into /usr/bin."""

    name: str
    daemon: str
    path: Path | None = None

    @property
    def folder(self) -> Path:
        """Where its mpirun, mpicc and daemon are."""
        return self.path or Path("/usr/bin")

    def build(self) -> Path:
        """A folder with the stand-in all_reduce_perf, built by this MPI's own compiler."""
        return compiled(self.name, [str(self.folder / "mpicc")])


def compiled(name: str, compiler: Sequence[str]) -> Path:
    """A build folder with the stand-in `all_reduce_perf`, made again only when its source is newer."""
    source = HERE / "standin" / "all_reduce_perf.c"
    folder = HERE / "build" / name
    program = folder / "all_reduce_perf"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        mine = folder / f"all_reduce_perf.{os.getpid()}"  # two workers may build at once
        subprocess.run([*compiler, "-O1", "-Wall", "-o", str(mine), str(source)], check=True)
        mine.rename(program)
    return folder


@dataclass(frozen=True)
class Process:
    """A process of a lab host, seen from outside."""

    host: str
    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.host}: {self.pid} {self.command}"


class Lab:
    """`head` and n001 ... each with its own network, processes, /tmp, /usr/bin and sshd."""

    def __init__(self, mpi: Mpi, n_hosts: int) -> None:
        self.mpi = mpi
        self.folder = Path(tempfile.mkdtemp(prefix="healthcheck-lab-", dir="/tmp"))
        self.hosts = tuple(f"n{k:03d}" for k in range(1, n_hosts + 1))
        self._environment = os.environ | {
            "LAB": str(self.folder),
            "LAB_PREFIX": f"{self.folder.name[-5:]}-",
            "LAB_SHARE": ":".join(_below_tmp(REPOSITORY, sys.prefix, sys.base_prefix, mpi.folder)),
            "LAB_OVERLAY": ":".join(["/usr/bin", *([str(mpi.path)] if mpi.path else [])]),
            "LAB_TOOLS": str(HERE / "standin" / "bin"),
            "LAB_PATH": str(mpi.path or ""),
        }

    def up(self) -> None:
        """Start all hosts and tell the stand-ins which Python and which machine type they have."""
        (self.folder / "owner").write_text(f"{REPOSITORY}\n")
        self._netlab("up", str(len(self.hosts)))
        for host in self.hosts:
            self.standin(host, "python", sys.executable)
            self.standin(host, "model", f"--platform {HERE / 'platform.yaml'}")

    def down(self) -> None:
        """Remove everything."""
        self._netlab("down")
        shutil.rmtree(self.folder, ignore_errors=True)

    # What happens on a host

    def run(self, host: str, *argv: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """A command inside a host, to its end."""
        return subprocess.run(
            [str(NETLAB), "exec", host, *argv],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def start(self, host: str, *argv: str, stdout: Path, stderr: Path) -> subprocess.Popen[bytes]:
        """A command inside a host. The Popen is nsenter's, which passes on the exit code but no signals: `pid_of`."""
        with stdout.open("wb") as out, stderr.open("wb") as err:
            return subprocess.Popen(
                [str(NETLAB), "exec", host, *argv],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @staticmethod
    def pid_of(started: subprocess.Popen[bytes]) -> int:
        """The process that a `start` started, as seen from outside; 0 when it has ended."""
        try:
            children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        except OSError:
            return 0
        return int(children[0]) if children else 0

    def standin(self, host: str, name: str, text: str | None) -> None:
        """Write (None: remove) one file that the stand-in tools of a host read."""
        file = self.folder / "host" / host / "standin" / name
        if text is None:
            file.unlink(missing_ok=True)
        else:
            file.write_text(f"{text}\n")

    def fault(self, host: str, text: str | None) -> None:
        """Plant a fault in the stand-in all_reduce_perf of a host; see its source for the words."""
        self.standin(host, "fault", text)

    def cut(self, host: str) -> None:
        """Pull the network cable."""
        self._netlab("cut", host)

    def heal(self, host: str) -> None:
        """Plug it in again."""
        self._netlab("heal", host)

    def stop_sshd(self, host: str) -> None:
        """No new logins; sessions that are open stay."""
        self._netlab("stop-sshd", host)

    def hide(self, host: str, file: Path) -> None:
        """Take a file away on one host."""
        self._netlab("hide", host, str(file))

    def refuse_key(self, host: str) -> None:
        """Let a host accept no key any more."""
        (self.folder / "host" / host / "authorized_keys").write_text("")

    @property
    def known_hosts(self) -> Path:
        """~/.ssh/known_hosts of every host of the lab."""
        return self.folder / "dotssh" / "known_hosts"

    def forget_host_key(self, host: str) -> None:
        """Remove a host from known_hosts."""
        lines = self.known_hosts.read_text().splitlines(keepends=True)
        self.known_hosts.write_text("".join(line for line in lines if not line.startswith(f"{host},")))

    # What is left

    def processes(self, only: Iterable[str] = ()) -> tuple[Process, ...]:
        """Living processes of a run (by token, wrapper or program) on the hosts; zombies are not alive."""
        wanted = tuple(only) or ("head", *self.hosts)
        host_of = {self._namespace(int((self.folder / "host" / host / "pid1").read_text())): host for host in wanted}
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                host = host_of.get(self._namespace(int(entry.name)))
                if host is None or entry.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z":
                    continue
                command = entry.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                text = command + entry.joinpath("environ").read_bytes().decode(errors="replace")
            except OSError:  # it ended while we looked
                continue
            if any(mark in text for mark in OURS):
                found.append(Process(host, int(entry.name), command[:300]))
        return tuple(sorted(found, key=str))

    def left_after(self, seconds: float, only: Iterable[str] = ()) -> tuple[Process, ...]:
        """What of a run is still alive when `seconds` have passed; returns as soon as nothing is."""
        end = time.monotonic() + seconds
        while (left := self.processes(only)) and time.monotonic() < end:
            time.sleep(0.2)
        return left

    def kill_all(self) -> None:
        """End whatever a test left behind, so that the next one starts clean."""
        for process in self.processes():
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    @staticmethod
    def _namespace(pid: int) -> str:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())

    def _netlab(self, *words: str) -> None:
        # Its daemons inherit stdout and stderr, so no pipe may be waited for.
        log = self.folder.with_suffix(".log")
        with log.open("ab") as file:
            done = subprocess.run(
                [str(NETLAB), *words],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                timeout=60,
                check=False,
            )
        text = log.read_text(errors="replace")
        log.unlink()
        if done.returncode != 0:
            raise RuntimeError(f"netlab.sh {' '.join(words)}: {text}")


def _below_tmp(*paths: str | Path) -> list[str]:
    """Folders the hosts need that would disappear below their private /tmp."""
    return sorted({str(path) for path in paths if str(path).startswith("/tmp/")})
