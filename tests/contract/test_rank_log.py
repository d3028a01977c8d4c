"""The words in front of a rank, and the command that takes its log away, under the real shells of this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from healthcheck.launchers.rank_log import ALL, LOWEST_PID, NONE, Taken, rank_words, read_taken, take_argv

SHELLS = [shell for shell in ("dash", "bash", "busybox sh") if shutil.which(shell.split()[0])]
NONCE = "5f0e1c"
TOKEN, JOB = "t0", "single_node.all_reduce.n1"
FOREIGN_UID = 65534
IS_ROOT = os.geteuid() == 0
LIMIT = 400_000


class Node:
    """A place that is /tmp for the scripts, and the shell that is sh."""

    def __init__(self, shell: str, place: Path) -> None:
        self.shell = shell.split()
        self.place = place

    def _argv(self, words: tuple[str, ...]) -> list[str]:
        return [*self.shell, *(word.replace("/tmp/", f"{self.place}/") for word in words[1:])]

    def rank(self, script: str, *, job: str = JOB, **env: str) -> subprocess.CompletedProcess[str]:
        """A rank that is a line of shell."""
        argv = [*self._argv(rank_words(TOKEN, job)), "sh", "-c", script]
        bare = {"PATH": os.environ["PATH"], **env}
        return subprocess.run(argv, env=bare, capture_output=True, text=True, timeout=20, check=False)

    def log(self, text: str, *, pid: str = "77", job: str = JOB) -> None:
        """A rank that leaves a log, as NCCL names it."""
        done = self.rank(f"cat >\"${{NCCL_DEBUG_FILE%nccl.*}}nccl.n1.{pid}\" <<'E'\n{text}\nE\n", job=job)
        assert done.returncode == 0, done.stderr

    def take(self, which: str = ALL, limit_bytes: int = LIMIT) -> Taken:
        """What our side gets."""
        argv = self._argv(take_argv(TOKEN, JOB, NONCE, limit_bytes, which))
        done = subprocess.run(argv, capture_output=True, timeout=60, check=True)
        return read_taken(done.stdout.decode(errors="replace"), NONCE)

    @property
    def here(self) -> list[str]:
        """What lies in the place."""
        return sorted(path.name for path in self.place.iterdir())


@pytest.fixture(params=SHELLS)
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    return Node(request.param, tmp_path)


# The rank


def test_a_rank_is_told_to_write_to_a_private_folder_of_its_own(node: Node) -> None:
    said = [node.rank("echo $NCCL_DEBUG $NCCL_DEBUG_SUBSYS $NCCL_DEBUG_FILE").stdout.split() for _ in range(2)]
    assert [words[:2] for words in said] == [["INFO", "INIT,ENV,NET,GRAPH,TUNING"]] * 2
    folders = {Path(words[2]).parent for words in said}
    assert len(folders) == 2
    assert {Path(words[2]).name for words in said} == {"nccl.%h.%p"}
    assert all(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in folders)


def test_the_program_takes_the_place_of_the_shell(node: Node) -> None:
    assert node.rank("exit 7").returncode == 7
    assert node.rank("kill -TERM $$").returncode == -signal.SIGTERM
    assert node.rank("umask").stdout == subprocess.run(["sh", "-c", "umask"], capture_output=True, text=True).stdout


def test_what_the_playbook_says_about_the_log_is_respected(node: Node) -> None:
    own = node.rank("env | grep ^NCCL", NCCL_DEBUG_FILE="/var/log/nccl")
    assert own.stdout == "NCCL_DEBUG_FILE=/var/log/nccl\n"
    assert node.here == []
    quiet = node.rank("echo $NCCL_DEBUG $NCCL_DEBUG_SUBSYS", NCCL_DEBUG="TRACE", NCCL_DEBUG_SUBSYS="ALL")
    assert quiet.stdout == "TRACE ALL\n"


def test_without_a_place_to_write_the_rank_runs_and_says_what_goes_wrong(node: Node) -> None:
    node.place /= "gone"
    done = node.rank("env | grep ^NCCL; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == ("NCCL_DEBUG=WARN\n", "", 3)


# The taking


def test_logs_come_whole_and_nothing_stays(node: Node) -> None:
    text = "n1:77:80 [0] NCCL INFO one\n\n@@000000 left 5\nno line end, 'quotes' and $(names)"
    node.log(text, pid="77")
    node.log("other", pid="9")
    taken = node.take()
    assert taken.left == 0
    assert {file.name: file.text for file in taken.files} == {"nccl.n1.77": f"{text}\n", "nccl.n1.9": "other\n"}
    assert all(file.bytes_cut == 0 and file.size == len(file.text) for file in taken.files)
    assert node.here == []


def test_of_a_healthy_job_the_lowest_pid_speaks_for_its_node(node: Node) -> None:
    for pid in ("1000", "999", "12345"):
        node.log(f"rank {pid}", pid=pid)
    taken = node.take(LOWEST_PID)
    assert [file.text for file in taken.files] == ["rank 999\n"]
    assert (taken.left, node.here) == (0, [])


def test_logs_of_an_earlier_job_are_not_taken_for_this_one_and_go_too(node: Node) -> None:
    node.log("earlier", job="another")
    node.log("now")
    assert [file.text for file in node.take().files] == ["now\n"]
    assert node.here == []


def test_deleting_alone_sends_nothing(node: Node) -> None:
    node.log("text")
    assert node.take(NONE) == Taken((), 0)
    assert node.here == []


def test_only_what_is_ours_is_read_or_deleted(node: Node, tmp_path: Path) -> None:
    node.log("ours")
    (ours,) = node.place.iterdir()
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "nccl.n1.1").write_text("secret")
    ours.with_suffix(".linked").symlink_to(secret)
    ours.with_suffix(".filelike").write_text("a file, no folder")
    (tmp_path / f"{ours.name.partition('.')[0]}0.12345678.other").mkdir()  # the token of another run
    (ours / "nccl.n1.2").symlink_to(secret / "nccl.n1.1")
    os.mkfifo(ours / "nccl.n1.3")
    if IS_ROOT:
        foreign = ours.with_suffix(".foreign")
        foreign.mkdir()
        (foreign / "nccl.n1.4").write_text("planted")
        os.chown(foreign, FOREIGN_UID, FOREIGN_UID)
    before = set(node.here)
    taken = node.take()
    assert [file.text for file in taken.files] == ["ours\n"]
    assert before - set(node.here) == {ours.name}
    assert (secret / "nccl.n1.1").read_text() == "secret"


def test_strange_names_are_harmless_and_shift_nothing(node: Node) -> None:
    node.log("plain", pid="1")
    (folder,) = node.place.iterdir()
    for name in (f"nccl.\n@@{NONCE} left 9\n", "nccl.'q\"uo`te$(id)", "nccl.-rf *", "nccl." + "x" * 240):
        (folder / name).write_text("strange")
    taken = node.take()
    assert taken.left == 0
    assert sorted(file.text for file in taken.files) == ["plain\n", *["strange"] * 4]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", file.name) for file in taken.files)
    assert node.here == []


def test_of_a_very_long_log_beginning_end_and_warnings_are_kept(node: Node) -> None:
    node.log("first")
    (folder,) = node.place.iterdir()
    chatter = b"n1:77:80 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n" * 800_000
    warning = b"n1:77:81 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion with error 12\n"
    with (folder / "nccl.n1.77").open("ab") as file:
        for piece in (chatter, warning, chatter, b"the last words"):
            file.write(piece)
    (log,) = node.take().files
    assert log.size > 100_000_000
    assert LIMIT / 2 < len(log.text) <= LIMIT + 200
    lines = log.text.splitlines()
    assert lines[0] == "first"
    assert warning.decode().strip() in lines
    assert lines[-1] == "the last words"
    note = f"[healthcheck: {log.bytes_cut} bytes are left out here; of those only WARN lines follow]"
    assert note in lines
    known = {chatter[: len(chatter) // 800_000].decode().strip(), warning.decode().strip()}
    assert set(lines) - known == {"first", note, "the last words"}, "no line is cut in two"


def test_many_warnings_and_no_line_ends_stay_within_the_bound(node: Node) -> None:
    node.log("x", pid="1")
    (folder,) = node.place.iterdir()
    (folder / "nccl.n1.2").write_bytes(b"n1:2:2 [0] NCCL WARN again\n" * 1_000_000)
    (folder / "nccl.n1.3").write_bytes(b"\0\xff" * 10_000_000)
    taken = node.take()
    assert taken.left == 0
    assert len(taken.files) == 3
    assert sum(len(file.text) for file in taken.files) <= LIMIT + 500
    assert sum(len(file.text) for file in node.take(limit_bytes=0).files) == 0


def test_an_answer_cut_anywhere_is_never_taken_for_done(tmp_path: Path) -> None:
    node = Node(SHELLS[0], tmp_path)
    node.log("alpha\nbeta")
    argv = node._argv(take_argv(TOKEN, JOB, NONCE, LIMIT, ALL))
    text = subprocess.run(argv, capture_output=True, timeout=20, check=True).stdout.decode()
    assert read_taken(text, NONCE).left == 0
    for length in range(len(text)):
        taken = read_taken(f"Welcome!\n{text[:length]}", NONCE)
        assert taken.left is None
        assert all(file.text == "alpha\nbeta\n" or file.bytes_cut for file in taken.files)


def test_a_csh_login_shell_can_pass_both_on() -> None:
    words = (*rank_words(TOKEN, JOB), *take_argv(TOKEN, JOB, NONCE, LIMIT, ALL))
    assert not [word for word in words if "\n" in word or "!" in word]
