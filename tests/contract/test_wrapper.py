"""The remote wrapper, run for real under the shells that are here."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from healthcheck.errors import InputError
from healthcheck.launchers.wrapper import DEADLINE_EXIT_CODE, END_STEPS_S, SCRIPT, unwrap, wrap
from healthcheck.model.command import Command

SHELLS = [shell for shell in ("dash", "bash", "busybox sh") if shutil.which(shell.split()[0])]


@pytest.fixture
def token() -> Iterator[str]:
    """A token no other test uses; whatever carries it afterwards was left behind."""
    token = f"t{uuid4().hex}"
    yield token
    left = wait_gone(token)
    assert not left, f"left behind: {left}"


def carriers(token: str) -> list[str]:
    """Command lines of living processes that carry the token in environment or command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
            if not words:
                continue  # a zombie
            if token.encode() in words or token.encode() in (entry / "environ").read_bytes():
                found.append(f"{entry.name} {words[-60:]!r}")
        except OSError:
            continue
    return found


def wait_gone(token: str, timeout_s: float = 30.0) -> list[str]:
    """What still carries the token after at most `timeout_s`."""
    end = time.monotonic() + timeout_s
    while left := carriers(token):
        if time.monotonic() > end:
            return left
        time.sleep(0.02)
    return []


def launch(shell: str, token: str, *argv: str, deadline_s: float = 60, env: dict[str, str] | None = None) -> Popen:
    """Start the wrapper as sshd would: a line for a shell, stdin a pipe that stays open."""
    command = Command(argv=argv, deadline_s=deadline_s, token=token, env=tuple((env or {}).items()))
    line = wrap(command).replace("sh -c", f"{shell} -c", 1)
    pipe = subprocess.PIPE
    return subprocess.Popen(line, shell=True, stdin=pipe, stdout=pipe, stderr=pipe)


Popen = subprocess.Popen[bytes]


def end(process: Popen, timeout_s: float = 60) -> tuple[int, bytes, bytes]:
    """(exit code, stdout, stderr), with stdin held open until the wrapper ended."""
    code = process.wait(timeout_s)
    assert process.stdin and process.stdout and process.stderr
    result = code, process.stdout.read(), process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    return result


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("argv", "code", "out"),
    [
        (("true",), 0, b""),
        (("sh", "-c", "exit 7"), 7, b""),
        (("sh", "-c", "kill -9 $$"), 137, b""),
        (("echo", "a  b", "$HOME", "it's", '"x"', "`id`"), 0, b'a  b $HOME it\'s "x" `id`\n'),
        (("cat",), 0, b""),  # stdin is /dev/null
        (("/no/such/program",), 127, b""),
    ],
)
def test_exit_code_and_words_pass_through(shell: str, token: str, argv: tuple[str, ...], code: int, out: bytes) -> None:
    got_code, got_out, got_err = end(launch(shell, token, *argv))
    assert (got_code, got_out) == (code, out)
    assert (b"/no/such/program" in got_err) is (code == 127)


@pytest.mark.parametrize("shell", SHELLS)
def test_environment_and_streams_reach_the_command(shell: str, token: str) -> None:
    script = 'printf %s "$GREETING/$HEALTHCHECK_TOKEN"; echo oops >&2; trap'
    env = {"GREETING": 'it\'s a "test" $x'}
    assert end(launch(shell, token, "sh", "-c", script, env=env)) == (
        0,
        f'it\'s a "test" $x/{token}'.encode(),
        b"oops\n",
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_end_of_stdin_interrupts_a_willing_command_at_once(shell: str, token: str) -> None:
    process = launch(shell, token, "sh", "-c", "trap 'echo bye; exit 9' INT; echo up; while :; do sleep 0.05; done")
    assert process.stdin and process.stdout
    assert process.stdout.readline() == b"up\n"
    process.stdin.close()
    assert process.wait(60) == 9  # by the INT: the TERM that follows it would show as 143
    assert process.stdout.read() == b"bye\n"


def test_end_of_stdin_kills_a_tree_that_ignores_int_and_term(token: str) -> None:
    stubborn = "(while :; do sleep 0.2; done) & setsid -f sleep 1000 & echo up; while :; do sleep 0.2; done"
    process = launch("dash", token, "sh", "-c", f"trap '' INT TERM; set -m; {stubborn}")
    assert process.stdin and process.stdout
    assert process.stdout.readline() == b"up\n"
    while not any("sleep\\x001000" in line for line in carriers(token)):
        assert process.poll() is None
    process.stdin.close()
    started = time.monotonic()
    assert process.wait(120) == 137
    assert time.monotonic() - started > 2 * END_STEPS_S - 1
    own_session = [line for line in wait_gone(token, 1) if "sleep\\x001000" in line]
    assert len(own_session) == 1, "what left the session is the sweep's to find, by its token"
    subprocess.run(["kill", "-9", own_session[0].split()[0]], check=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_deadline_ends_the_command_and_says_124(shell: str, token: str) -> None:
    started = time.monotonic()
    code, out, _ = end(launch(shell, token, "sh", "-c", "echo up; exec sleep 1000", deadline_s=1))
    assert (code, out) == (DEADLINE_EXIT_CODE, b"up\n")
    assert time.monotonic() - started > 0.9


@pytest.mark.parametrize("shell", SHELLS)
def test_children_left_in_the_group_are_ended(shell: str, token: str) -> None:
    code, _, _ = end(launch(shell, token, "sh", "-c", "sleep 1000 & exit 3"))
    assert code == 3
    assert wait_gone(token) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_killed_wrapper_takes_its_command_along(shell: str, token: str) -> None:
    process = launch(shell, token, "sh", "-c", "echo up; exec sleep 1000")
    assert process.stdin and process.stdout
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdin.close()
    assert wait_gone(token) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_deadline_holds_even_when_part_of_the_wrapper_was_killed(shell: str, token: str) -> None:
    code, _, _ = end(launch(shell, token, "sh", "-c", "kill -9 $PPID; exec sleep 1000", deadline_s=1))
    assert code == DEADLINE_EXIT_CODE


def test_a_short_command_waits_for_nothing() -> None:
    took: list[float] = []
    bare: list[float] = []
    for _ in range(15):
        started = time.monotonic()
        end(launch("dash", f"t{uuid4().hex}", "true"))
        took.append(time.monotonic() - started)
        started = time.monotonic()
        subprocess.run("true", shell=True, check=True)
        bare.append(time.monotonic() - started)
    slack = 10 * statistics.median(bare)
    assert statistics.median(took) < 0.1 + slack, "the wrapper takes about 5 ms here; polling would show"


@pytest.mark.parametrize("shell", SHELLS)
def test_many_short_commands_leave_nobody(shell: str, token: str) -> None:
    for process in [launch(shell, token, "true") for _ in range(20)]:
        assert end(process)[0] == 0
    assert wait_gone(token) == []


def test_unwrap_is_the_inverse_of_wrap() -> None:
    command = Command(
        argv=("sh", "-c", "echo 'a' \"b\"\nexit 1", "--", "é", "", "x=y"),
        deadline_s=2.5,
        token="run.1-a_B",
        env=(("A", "1=2"), ("B", "")),
    )
    assert unwrap(wrap(command)) == command


@pytest.mark.parametrize(
    "line", ["", "true", "sh -c true healthcheck-run t 1 0 true", "sh -c '", f"sh -c '{SCRIPT}' x"]
)
def test_unwrap_knows_foreign_lines(line: str) -> None:
    assert unwrap(line) is None


def test_an_impossible_environment_name_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"env: A-B"):
        wrap(Command(argv=("true",), deadline_s=1, token="t", env=(("A-B", "1"),)))


def test_the_script_survives_csh_and_fish_quoting() -> None:
    assert not set(SCRIPT) & set("'\\!\n")
