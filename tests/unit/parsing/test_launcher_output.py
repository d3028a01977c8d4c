"""Every way a launch fails, as Open MPI 4.1 and 5.0 really say it; hydra and srun from their own texts."""

from __future__ import annotations

import pytest

from healthcheck.parsing.launcher_output import classify
from tests.unit.parsing.captures import MPIRUN, mpirun_capture

# case -> (kind, host of Open MPI 4, host of Open MPI 5)
CASES: dict[str, tuple[str, str | None, str | None]] = {
    "abort": ("mpi_abort", None, "n002"),
    "badif_btl": ("bad_interface", "n001", "n001"),
    "badkey": ("login_refused", "n004", "n004"),
    "blackhole_ct3": ("connect_timeout", "n003", "n003"),
    "changedkey": ("host_key_changed", "n003", "n003"),
    "cut_midrun": ("killed", None, None),
    "daemon_killed": ("daemon_lost", "n003", "n003"),
    "daemon_missing": ("daemon_missing", None, "n002"),
    "exit3": ("rank_exited", None, None),
    "hang": ("timeout", None, None),
    "kill9": ("rank_signalled", "n002", "n002"),
    "link_cut_ct5": ("no_route", "n003", "n003"),
    "nobin": ("binary_missing", "n002", "n005"),
    "noexec": ("binary_missing", "n003", "n005"),
    "nohostfile": ("hostfile_missing", None, None),
    "nosharedlib": ("library_missing", None, None),
    "segv": ("rank_signalled", "n002", "n002"),
    "sshd_down": ("connection_refused", "n003", "n003"),
    "timeoutopt": ("timeout", None, None),
    "toofew": ("too_few_slots", None, None),
    "unknownkey": ("host_key_unknown", None, "n003"),
    "unresolvable": ("unresolvable", "nosuchhost", "nosuchhost"),
}
BY_VERSION = {
    "ompi4/blackhole_default": ("timeout", None),
    "ompi4/link_cut_default": ("no_route", "n003"),
    "ompi5/blackhole_default": ("killed", None),
    "ompi5/link_cut_default": ("connect_timeout", "n003"),
}
EXPECTED: dict[str, tuple[str, str | None]] = {
    **{f"ompi4/{name}": (kind, host) for name, (kind, host, _) in CASES.items()},
    **{f"ompi5/{name}": (kind, host) for name, (kind, _, host) in CASES.items()},
    **BY_VERSION,
}


def test_every_capture_is_expected_here() -> None:
    assert sorted(EXPECTED) == sorted(f"{path.parent.name}/{path.stem}" for path in MPIRUN.glob("*/*.txt"))


@pytest.mark.parametrize("name", EXPECTED)
def test_kind_and_culprit(name: str) -> None:
    capture = mpirun_capture(name)
    failure = classify(capture.stdout, capture.stderr, capture.exit_code)
    assert failure is not None
    assert (failure.kind, failure.host) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_one_sentence_names_the_host(name: str) -> None:
    capture = mpirun_capture(name)
    failure = classify(capture.stdout, capture.stderr, capture.exit_code)
    assert failure is not None
    sentence = str(failure.message)
    assert failure.message.code == f"launch.{failure.kind}"
    assert "\n" not in sentence
    assert "{" not in sentence
    if failure.host is not None:
        assert failure.host in sentence


@pytest.mark.parametrize("name", EXPECTED)
def test_the_line_is_one_of_the_text(name: str) -> None:
    capture = mpirun_capture(name)
    failure = classify(capture.stdout, capture.stderr, capture.exit_code)
    assert failure is not None
    assert failure.line in capture.stderr.replace("\r", "") or failure.line in capture.stdout
    assert "setpgid" not in failure.line


def test_the_second_box_of_orte_names_nobody() -> None:
    capture = mpirun_capture("ompi4/sshd_down")
    assert "target node:  n001" in capture.stderr
    failure = classify(capture.stdout, capture.stderr, capture.exit_code)
    assert failure is not None
    assert failure.host == "n003"


def _sentence(name: str) -> str:
    capture = mpirun_capture(name)
    failure = classify(capture.stdout, capture.stderr, capture.exit_code)
    assert failure is not None
    return str(failure.message)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("ompi5/nosharedlib", "libfeasx.so"),
        ("ompi4/toofew", "the 9 asked for"),
        ("ompi5/nohostfile", "/opt/lab/nope"),
        ("ompi4/badif_btl", "eth9"),
        ("ompi5/exit3", "exit code 3"),
        ("ompi5/kill9", "9 (Killed)"),
        ("ompi4/daemon_missing", "orted"),
    ],
)
def test_the_sentence_says_what_to_look_at(name: str, part: str) -> None:
    assert part in _sentence(name)


@pytest.mark.parametrize(
    ("text", "exit_code", "kind", "host"),
    [
        ("bash: line 1: mpirun: command not found\n", 127, "mpirun_missing", None),
        ("sh: 1: exec: mpirun: not found\n", 127, "mpirun_missing", None),
        ("timeout: failed to run command 'mpirun': No such file or directory\n", 127, "mpirun_missing", None),
        ("env: ‘mpirun’: No such file or directory\n", 127, "mpirun_missing", None),
        ("timeout: failed to run command 'orted': No such file or directory\n", 127, "daemon_missing", None),
        (
            "timeout: failed to run command ‘/opt/ompi/bin/prted’: No such file or directory\n",
            127,
            "daemon_missing",
            None,
        ),
        (
            "mpirun has detected an attempt to run as root.\n\nRunning as root is *strongly* discouraged\n",
            1,
            "as_root",
            None,
        ),
        ("root@gpu-07: Permission denied (publickey).\r\n", 255, "login_refused", "gpu-07"),
        (
            "No ED25519 host key is known for gpu-07 and you have requested strict checking.\r\n"
            "Host key verification failed.\r\n",
            255,
            "host_key_unknown",
            "gpu-07",
        ),
        ("ssh: connect to host fd00::7 port 2222: Network is unreachable\n", 255, "no_route", "fd00::7"),
        (
            "[proxy:0:1@n003] HYDU_create_process (lib/utils/launch.c:73): execvp error on file /opt/x "
            "(No such file or directory)\n",
            255,
            "binary_missing",
            "n003",
        ),
        (
            "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 3012 RUNNING AT n002\n"
            "=   EXIT CODE: 3\n=   CLEANING UP REMAINING PROCESSES\n",
            3,
            "rank_exited",
            "n002",
        ),
        (
            "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 1 PID 3012 RUNNING AT n002\n"
            "=   KILLED BY SIGNAL: 9 (Killed)\n",
            9,
            "rank_signalled",
            "n002",
        ),
        (
            "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 3012 RUNNING AT n002\n"
            "=   EXIT CODE: 139\n"
            "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n",
            139,
            "rank_signalled",
            "n002",
        ),
        (
            "Abort(471483408): Fatal error in internal_Init: Internal MPI error!, error stack:\n"
            "MPIR_pmi_init(225)..............: \n"
            "check_MPIR_CVAR_PMI_VERSION(167):  Runtime environment uses unsupported PMI version PMIx. Aborting.\n"
            "srun: error: n001: tasks 0-1: Exited with exit code 16\n",
            16,
            "no_pmi",
            None,
        ),
        (
            "[n001:27249] OPAL ERROR: Unreachable in file ext3x_client.c at line 112\n"
            'The application appears to have been direct launched using "srun",\n'
            "but OMPI was not built with SLURM's PMI support and therefore cannot\nexecute.\n"
            "srun: error: n001: tasks 0-1: Exited with exit code 1\n",
            1,
            "no_pmi",
            None,
        ),
        (
            "No PMIx server was reachable, but a PMI1/2 was detected.\n"
            "If srun is being used to launch application, 4 singletons will be started.\n",
            0,
            "no_pmi",
            None,
        ),
        (
            "Sorry!  You were supposed to get help about:\n    no-pmix-but\nfrom the file:\n"
            "    /opt/openmpi/share/openmpi/help-mpi-runtime.txt: No such file or directory\n",
            0,
            "no_pmi",
            None,
        ),
        (
            "MPI startup(): PMI server not found. Please set I_MPI_PMI_LIBRARY variable if it is not a singleton "
            "case.\n",
            0,
            "no_pmi",
            None,
        ),
        ("application called MPI_Abort(MPI_COMM_WORLD, 7) - process 1\n", 7, "mpi_abort", None),
        ("srun: error: gpu-03: task 3: Exited with exit code 3\n", 3, "rank_exited", "gpu-03"),
        ("srun: error: gpu-03: task 3: Segmentation fault\n", 139, "rank_signalled", "gpu-03"),
        (
            "slurmstepd: error: *** STEP 7.0 ON g1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n",
            1,
            "timeout",
            None,
        ),
        (
            "PRTE has lost communication with a remote daemon.\n\n  Remote daemon: [x] on node n3\n",
            0,
            "daemon_lost",
            "n3",
        ),
        ("sh: 1: exec: /opt/x: Permission denied\n", 126, "not_executable", None),
        ("bash: line 1: /opt/x: Permission denied\n", 126, "not_executable", None),
        ("something odd\n", 42, "unknown", None),
    ],
)
def test_other_texts(text: str, exit_code: int, kind: str, host: str | None) -> None:
    failure = classify("", text, exit_code)
    assert failure is not None
    assert (failure.kind, failure.host) == (kind, host)


@pytest.mark.parametrize("exit_code", [0, None])
def test_nothing_failed(exit_code: int | None) -> None:
    noise = (
        "[head:00122] plm:rsh: Warning: setpgid(127,127) failed in parent with errno=Permission denied(13)\n"
        "Warning: Permanently added 'n001' (ED25519) to the list of known hosts.\n"
    )
    assert classify("rank 0/4 host n001\n", noise, exit_code) is None


def test_an_unknown_end_quotes_the_first_useful_line() -> None:
    noise = "[head:00122] plm:rsh: Warning: setpgid(127,127) failed in parent with errno=Permission denied(13)\n"
    failure = classify("", noise + "-" * 74 + "\nthe real reason\n", 42)
    assert failure is not None
    assert failure.line == "the real reason"
    assert "the real reason" in str(failure.message)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("healthcheck-rank: 1: exec: /opt/b/all_reduce_perf: not found", "binary_missing"),
        ("healthcheck-rank: line 1: /opt/b/all_reduce_perf: No such file or directory", "binary_missing"),
        ("healthcheck-rank: exec: line 0: /opt/b/all_reduce_perf: not found", "binary_missing"),
        ("healthcheck-rank: 1: exec: /opt/b/all_reduce_perf: Permission denied", "not_executable"),
        ("healthcheck-rank: line 1: exec: /opt/b/all_reduce_perf: cannot execute: Permission denied", "not_executable"),
    ],
    ids=["dash", "bash", "busybox", "dash-mode", "bash-mode"],
)
def test_the_shell_in_front_of_a_rank_cannot_start_the_program(line: str, kind: str) -> None:
    failure = classify("", f"{line}\n", 127)
    assert failure is not None
    assert failure.kind == kind
    assert "/opt/b/all_reduce_perf" in str(failure.message)
