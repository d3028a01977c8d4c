"""`healthcheck run` on the head of a lab, and what a person would have afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import expand
from healthcheck.parsing.record_codec import decode_record
from tests.testbed.lab import HERE, Lab

PLAYBOOK = """\
name: testbed
nccl_tests: {{{binaries}}}
stages:
  - {{name: probe}}
  - {{name: single_node, {sizes}, iterations: 5, timeout: {timeout_s}s, stall: {stall_s}s}}
  - {{name: multi_node, {sizes}, iterations: 5, timeout: {timeout_s}s, stall: {stall_s}s}}
"""
SIZES = "sizes: {min: 1G, max: 4G, factor: 2}"


@dataclass
class CheckUp:
    """One run of the command. `binaries` is the value of the playbook's `nccl_tests`."""

    lab: Lab
    binaries: str
    hosts: Sequence[str] = ()
    options: Sequence[str] = ()
    environment: Sequence[str] = ()
    timeout_s: int = 40
    stall_s: int = 8
    playbook: str = PLAYBOOK
    started: subprocess.Popen[bytes] = field(init=False)

    @property
    def results(self) -> Path:
        """Folder of the run directories."""
        return self.lab.folder / "reports"

    def start(self, *more: str) -> CheckUp:
        """Begin, and go on while it runs."""
        playbook = self.lab.folder / "playbook.yaml"
        hostfile = self.lab.folder / "cluster.hosts"
        times = {"timeout_s": self.timeout_s, "stall_s": self.stall_s}
        playbook.write_text(self.playbook.format(binaries=self.binaries, sizes=SIZES, **times), encoding="utf-8")
        hostfile.write_text("".join(f"{host}\n" for host in self.hosts or self.lab.hosts), encoding="utf-8")
        arguments = [str(playbook), "-H", str(hostfile), "--platform", str(HERE / "platform.yaml")]
        return self.command("run", *arguments, "-o", str(self.results), *self.options, *more)

    def command(self, *words: str) -> CheckUp:
        """Begin any command of ours on the head."""
        self.started = self.lab.start(
            "head",
            "env",
            f"TMPDIR={self.lab.folder}",  # a bug report is wanted here, not in the head's own /tmp
            *self.environment,
            sys.executable,
            "-m",
            "healthcheck",
            *words,
            stdout=self._file("stdout"),
            stderr=self._file("stderr"),
        )
        return self

    def _file(self, name: str) -> Path:
        return self.lab.folder / f"healthcheck.{name}"

    def wait(self, seconds: float = 300) -> CheckUp:
        """Until it has ended."""
        try:
            self.started.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            raise AssertionError(f"healthcheck did not end within {seconds} s:\n{self.stderr}") from None
        return self

    def wait_for_rows(self, stage: str, seconds: float = 120) -> None:
        """Until a job of a stage has printed a row of its table."""
        self._until(
            lambda: any(b" float " in file.read_bytes() for file in self._raw(stage)), f"a row in {stage}", seconds
        )

    def wait_for_table(self, stage: str, job: str, seconds: float = 120) -> None:
        """Until a job has started: it has printed the head of its table."""
        self._until(
            lambda: any(
                b"Using devices" in file.read_bytes() for file in self._raw(stage) if file.parent.name.startswith(job)
            ),
            f"a table of {job}",
            seconds,
        )

    def wait_for_words(self, words: str, seconds: float = 120) -> None:
        """Until it has told something."""
        self._until(lambda: words in self.stderr, f"the words {words!r}", seconds)

    def wait_for_folder(self, seconds: float = 120) -> None:
        """Until the run has a directory."""
        self._until(lambda: any(self.results.glob("*/record.json")), "a run directory", seconds)

    def _raw(self, stage: str) -> list[Path]:
        return [path for path in self.results.glob(f"*/raw/{stage}/*/*") if path.is_file()]

    def _until(self, true: Callable[[], bool], what: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not true():
            if self.started.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"never saw {what} (exit code {self.started.poll()}):\n{self.stderr}")
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        """Send a signal to healthcheck itself, as a terminal or a kill would."""
        pid = self.lab.pid_of(self.started)
        if pid:
            os.kill(pid, number)

    @property
    def exit_code(self) -> int | None:
        """What the shell would see."""
        code = self.started.returncode
        return code if code is None or code >= 0 else 128 - code

    @property
    def stdout(self) -> str:
        """The line for programs."""
        return self._file("stdout").read_text(errors="replace")

    @property
    def stderr(self) -> str:
        """The story."""
        return self._file("stderr").read_text(errors="replace")

    @property
    def folder(self) -> Path:
        """The newest run directory."""
        return max(path.parent for path in self.results.glob("*/record.json"))

    @property
    def record(self) -> RunRecord:
        """What was kept."""
        file = self.folder / "record.json"
        return decode_record(file.read_bytes(), str(file))

    def verdict(self, host: str) -> Verdict:
        """The verdict of one host."""
        return next(entry.verdict for entry in self.record.hosts if entry.name == host)

    def why(self, host: str) -> str:
        """The reasons the record gives for one host."""
        return " | ".join(str(reason) for entry in self.record.hosts if entry.name == host for reason in entry.reasons)

    def assert_ended(self, exit_code: int) -> None:
        """The exit code of the contract, with a report that a person can open."""
        story = "\n".join((self.stdout, self.stderr, *(bug.read_text() for bug in self.lab.folder.glob("*-bug-*.log"))))
        assert self.exit_code == exit_code, f"exit code {self.exit_code}, not {exit_code}\n{story}"
        assert len(self.stdout.splitlines()) == 1, self.stdout
        record = self.record
        assert record.exit_code == exit_code
        for name in ("report.md", "report.html"):
            assert record.run_id in (self.folder / name).read_text(encoding="utf-8")

    def assert_why(self, host: str, *words: str) -> None:
        """One sentence names the reason for a host, in the record and in both reports."""
        why = self.why(host)
        for word in words:
            assert word.lower() in why.lower(), f"{host}: {why}"
        assert "\n" not in why
        page = (self.folder / "report.md").read_text(encoding="utf-8")
        named = {name for text in re.findall(r"n\d+|n\[[\d,-]+\]", page) for name in expand(text, "report.md")}
        assert host in named, f"{host} is neither named nor folded in report.md:\n{page}"

    def wait_for_processes(self, *hosts: str, seconds: float = 120) -> None:
        """Until something of the run is at work on each of these hosts."""
        self._until(lambda: {one.host for one in self.lab.processes(hosts)} == set(hosts), f"work on {hosts}", seconds)

    def assert_nothing_left(self, seconds: float = 10, hosts: Sequence[str] = ()) -> None:
        """No process of the run on any host that can be reached.

        What has ended is seen at once; what hangs has a deadline of its own, and that is later than `seconds`.
        """
        left = self.lab.left_after(seconds, hosts)
        assert not left, "\n".join(map(str, left))

    def logs_on(self, host: str) -> list[str]:
        """Folders with NCCL logs of the run that lie on a host."""
        return self.lab.run(host, "sh", "-c", f"ls -d /tmp/healthcheck-{self.record.owner.token}.*").stdout.split()

    def assert_no_logs_left(self, *hosts: str) -> None:
        """No NCCL log of the run on any host (default: all)."""
        left = [path for host in hosts or ("head", *self.lab.hosts) for path in self.logs_on(host)]
        assert not left, left

    def kept_logs(self, stage: str) -> dict[str, list[str]]:
        """Host -> texts of the NCCL logs that were brought from it in a stage."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.folder.glob(f"raw/{stage}/*/nccl/*/*")):
            found.setdefault(path.parent.name, []).append(path.read_text())
        return found
