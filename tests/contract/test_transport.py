"""What every transport promises, run against this machine, a real SSH server on loopback, and a stand-in for srun."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec import Struct

from healthcheck.edge.clock import SystemClock
from healthcheck.edge.local import LocalTransport
from healthcheck.edge.ssh import SshTransport
from healthcheck.errors import InputError
from healthcheck.model.command import Command, CommandResult, ExitKind
from healthcheck.model.host import Host
from healthcheck.ports import PushFile, Transport
from tests.contract.srun_place import SrunPlace
from tests.contract.ssh_place import SshPlace
from tests.sinks import Kept


class Subject(Struct, frozen=True):
    """A transport, a host it reaches, and that host's home folder."""

    transport: Transport
    host: Host
    home: Path

    def run(
        self, *argv: str, deadline_s: float = 120, env: tuple[tuple[str, str], ...] = ()
    ) -> tuple[CommandResult, Kept]:
        kept = Kept()
        running = self.transport.start(self.host, Command(argv, deadline_s, "contract", env), kept)
        result = running.wait(deadline_s + 20)
        assert result is not None
        return result, kept


def _local(home: Path) -> Iterator[Subject]:
    transport = LocalTransport(SystemClock(), home)
    yield Subject(transport, Host("here", "127.0.0.1"), home)
    transport.close()


def _ssh(home: Path) -> Iterator[Subject]:
    with SshPlace(home) as place:
        transport = SshTransport(place.settings(), SystemClock())
        yield Subject(transport, place.host, home)
        transport.close()


def _srun(home: Path) -> Iterator[Subject]:
    transport = SrunPlace(home.with_name(f"{home.name}-srun"), home).transport()
    yield Subject(transport, Host("here", "here"), home)
    transport.close()


SUBJECTS: dict[str, Callable[[Path], Iterator[Subject]]] = {"local": _local, "ssh": _ssh, "srun": _srun}


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Subject]:
    yield from SUBJECTS[request.param](tmp_path)


def test_a_good_host_is_reached(subject: Subject) -> None:
    assert subject.transport.connect(subject.host).result is None


@pytest.mark.parametrize("code", [0, 1, 7, 137, 255])
def test_exit_code_and_both_streams_come_back(subject: Subject, code: int) -> None:
    result, kept = subject.run("sh", "-c", f"echo out; echo err >&2; exit {code}")
    assert (result.kind, result.exit_code) == (ExitKind.EXITED, code)
    assert (kept.out, kept.err) == (b"out\n", b"err\n")


def test_words_and_environment_arrive_as_given(subject: Subject) -> None:
    words = ("a  b", "$HOME", "it's", '"', "`id`", "; exit 3", "*", "", "é\n")
    script = 'printf "[%s]" "$@" "$GREETING"'
    _, kept = subject.run("sh", "-c", script, "x", *words, env=(("GREETING", "$x 'y'"),))
    assert kept.out.decode() == "".join(f"[{word}]" for word in (*words, "$x 'y'"))


def test_stdin_is_empty(subject: Subject) -> None:
    result, kept = subject.run("cat")
    assert (result.exit_code, kept.out) == (0, b"")


def test_large_output_arrives_whole_on_both_streams(subject: Subject) -> None:
    _, kept = subject.run("sh", "-c", "yes 0123456789abcde | head -c 4000000 & head -c 3000000 /dev/zero >&2; wait")
    assert (len(kept.out), len(kept.err)) == (4_000_000, 3_000_000)
    assert kept.out == b"0123456789abcde\n" * 250_000


def test_output_appears_while_the_command_runs(subject: Subject) -> None:
    kept = Kept()
    running = subject.transport.start(subject.host, Command(("sh", "-c", "echo up; sleep 600"), 600, "contract"), kept)
    while not kept.out:
        assert running.wait(0.05) is None
    assert kept.out == b"up\n"
    running.stop()
    assert running.wait(60) is not None


def test_poll_does_not_block_and_keeps_the_result(subject: Subject) -> None:
    script = f"while [ ! -e {subject.home}/go ]; do sleep 0.05; done"
    running = subject.transport.start(subject.host, Command(("sh", "-c", script), 600, "contract"), Kept())
    assert running.poll() is None, "nothing ends it but the deadline, and its result would be one"
    (subject.home / "go").touch()
    result = running.wait(60)
    assert result is not None
    assert result.ok
    assert running.poll() == running.wait(1) == result


def test_wait_gives_up_after_its_timeout(subject: Subject) -> None:
    running = subject.transport.start(subject.host, Command(("sleep", "600"), 600, "contract"), Kept())
    started = time.monotonic()
    assert running.wait(0.3) is None
    assert 0.25 < time.monotonic() - started < 300
    running.stop()
    assert running.wait(60) is not None


def test_stop_ends_it_on_the_host(subject: Subject) -> None:
    kept = Kept()
    script = "trap 'echo bye; exit 0' INT; echo up; while :; do sleep 0.05; done"
    running = subject.transport.start(subject.host, Command(("sh", "-c", script), 600, "contract"), kept)
    while b"up" not in kept.out:
        assert running.wait(0.05) is None
    running.stop()
    running.stop()
    result = running.wait(60)
    assert result is not None
    assert (result.kind, result.exit_code) == (ExitKind.STOPPED, None)
    assert kept.out == b"up\nbye\n"


def test_the_deadline_ends_it(subject: Subject) -> None:
    result, _ = subject.run("sleep", "600", deadline_s=1)
    assert (result.kind, result.exit_code) == (ExitKind.TIMED_OUT, None)
    assert "deadline of 1 s" in str(result.reason) and "silent" not in str(result.reason), "the far side ended it"


def test_exit_124_before_the_deadline_is_the_commands_own(subject: Subject) -> None:
    result, _ = subject.run("sh", "-c", "exit 124")
    assert (result.kind, result.exit_code) == (ExitKind.EXITED, 124)


def test_a_child_that_escapes_with_the_output_is_not_waited_for(subject: Subject) -> None:
    child = f"echo $$; touch {subject.home}/up; exec sleep 600"
    result, kept = subject.run(
        "sh", "-c", f"setsid sh -c '{child}' & until [ -e {subject.home}/up ]; do sleep 0.05; done; exit 5"
    )
    assert (result.kind, result.exit_code) == (ExitKind.EXITED, 5)
    assert subject.run("kill", kept.out.decode().strip())[0].ok, "it was still there"


def test_many_commands_at_once(subject: Subject) -> None:
    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda n: subject.run("sh", "-c", f"echo {n}; exit {n}"), range(20)))
    assert [(result.exit_code, kept.out) for result, kept in results] == [(n, b"%d\n" % n) for n in range(20)]


FILES = (
    PushFile("bin/tool", 0o755, content=b"#!/bin/sh\necho pushed\n"),
    PushFile("hosts", 0o600, content=b"n1\n" * 99_999),
)


def test_push_copies_once_and_only_what_differs(subject: Subject) -> None:
    first = subject.transport.push(subject.host, "run/t1", FILES)
    assert (first.reason, first.copied) == (None, ("bin/tool", "hosts"))
    assert first.folder == str(subject.home / ".cache/healthcheck/run/t1")
    _, kept = subject.run(f"{first.folder}/bin/tool")
    assert kept.out == b"pushed\n"
    assert Path(first.folder, "hosts").stat().st_mode & 0o777 == 0o600
    Path(first.folder, "hosts").write_bytes(b"damaged")
    again = subject.transport.push(subject.host, "run/t1", FILES)
    assert (again.folder, again.copied) == (first.folder, ("hosts",))
    assert Path(first.folder, "hosts").read_bytes() == b"n1\n" * 99_999
    names = sorted(path.name for path in Path(first.folder).rglob("*"))
    assert names == ["bin", "hosts", "tool"], "nothing half-written stays"


def test_push_takes_local_files_and_names_a_missing_one(subject: Subject, tmp_path: Path) -> None:
    source = tmp_path / "all_reduce_perf"
    source.write_bytes(bytes(range(256)) * 10_000)
    file = PushFile("all_reduce_perf", 0o755, source=str(source))
    pushed = subject.transport.push(subject.host, "nccl", [file])
    assert pushed.folder is not None
    assert Path(pushed.folder, "all_reduce_perf").read_bytes() == source.read_bytes()
    missing = PushFile("x", 0o755, source=str(tmp_path / "none"))
    with pytest.raises(InputError, match="none: cannot be read"):
        subject.transport.push(subject.host, "nccl", [missing])


def test_push_makes_its_folder_private(subject: Subject) -> None:
    folder = subject.home / ".cache/healthcheck"
    folder.mkdir(parents=True, mode=0o755)
    folder.chmod(0o755)
    assert subject.transport.push(subject.host, "run", FILES).reason is None
    assert folder.stat().st_mode & 0o777 == 0o700


def test_push_refuses_a_link(subject: Subject, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (subject.home / ".cache").mkdir()
    (subject.home / ".cache/healthcheck").symlink_to(elsewhere)
    refused = subject.transport.push(subject.host, "run", FILES)
    assert refused.folder is None
    assert "is a link" in str(refused.reason)
    assert list(elsewhere.iterdir()) == []


def test_push_refuses_a_folder_others_can_write(subject: Subject) -> None:
    folder = subject.home / ".cache/healthcheck"
    folder.mkdir(parents=True)
    folder.chmod(0o770)
    refused = subject.transport.push(subject.host, "run", FILES)
    assert (refused.folder, refused.copied) == (None, ())
    assert "written by others" in str(refused.reason)


def test_many_pushes_into_one_home_agree(subject: Subject) -> None:
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: subject.transport.push(subject.host, "run", FILES), range(16)))
    assert {result.reason for result in results} == {None}
    names = sorted(path.name for path in (subject.home / ".cache/healthcheck/run").rglob("*"))
    assert names == ["bin", "hosts", "tool"]


def test_close_ends_what_still_runs(subject: Subject) -> None:
    kept = Kept()
    script = f"trap 'echo bye >{subject.home}/said; exit 0' INT; echo up; while :; do sleep 0.05; done"
    running = subject.transport.start(subject.host, Command(("sh", "-c", script), 600, "contract"), kept)
    while b"up" not in kept.out:
        assert running.wait(0.05) is None
    subject.transport.close()
    end = time.monotonic() + 60
    said = subject.home / "said"
    while not (said.exists() and said.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    assert said.read_text() == "bye\n"
