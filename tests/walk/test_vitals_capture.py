"""`vitals capture` with a stand-in for Nsight Systems: what is printed, recorded, explained; and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from healthcheck.edge.captures import BEGUN
from healthcheck.edge.clock import SystemClock
from healthcheck.edge.host_locks import FolderLocks
from healthcheck.edge.owner import current_owner
from healthcheck.model.training import Framework, LogFacts
from healthcheck.model.vitals_capture import BEGUN_SCHEMA, CaptureBegun
from healthcheck.model.vitals_log import SCHEMA, LogVitals, StepTime
from healthcheck.parsing.record_codec import decode_document, encode_document
from tests.contract.ssh_place import SshPlace
from tests.walk.cli import Said, Shell

STANDIN = Path(__file__).parent.parent / "standin_nsys"
TRAIN = str(STANDIN / "pretrain_standin.py")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, where the reports of a node go."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def capture(shell: Shell, home: Path, tmp_path: Path) -> Callable[..., Said]:
    def run(*words: str, options: tuple[str, ...] = (), launcher: tuple[str, ...] = ()) -> Said:
        always = ("--run", "--allow-busy", "-q", "--nsys", str(STANDIN / "nsys"), "--first-step", "5")
        training = (*launcher, sys.executable, TRAIN, "--mark", str(tmp_path), *words)
        return shell("vitals", "capture", *always, *options, "--", *training)

    return run


def log_vitals(step_s: float) -> LogVitals:
    """The document of a log whose steps took so long."""
    time_ = StepTime(step_s, step_s, 0.0, step_s, 9, 9, 1, 0, False)
    return LogVitals(
        files=("train.log",),
        framework=Framework.MEGATRON,
        facts=LogFacts(),
        first_step=1,
        last_step=9,
        starts=1,
        rank_copies=0,
        step_time=time_,
        rate=None,
        printed=None,
        mfu=None,
        hfu=None,
        mfu_basis=None,
        goodput=None,
        rollbacks=0,
        skipped=0,
        nan_losses=0,
        events=(),
        remarks=(),
        missing=(),
        points=(),
        exit_code=0,
    )


def processes(mark: Path, also: str = "") -> list[str]:
    """Command lines of the training of this test; with `also`, only those that hold that, too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f" {mark} " in line and also in line and " vitals capture " not in line:
            found.append(line)
    return found


def test_without_run_the_commands_are_printed_and_nothing_is_made(shell: Shell, tmp_path: Path) -> None:
    said = shell(
        "vitals", "capture", "-H", "n[1-2]", "--on", "n1", "--", "torchrun", "--node-rank", "{node_rank}",
        "--nnodes", "{nodes}", "--master-addr", "{first}", "pretrain_gpt.py",
    )  # fmt: skip
    assert said.code == 0
    assert "Nothing was run" in said.out
    assert (
        "--output=healthcheck-capture/node0 torchrun --node-rank 0 --nnodes 2 --master-addr n1 pretrain_gpt.py"
        in said.out
    )
    assert "--profile-step-start 20 --profile-step-end 23" in said.out
    assert f"  cd {tmp_path} && torchrun --node-rank 1" in said.out
    assert "healthcheck vitals trace healthcheck-capture/node0.sqlite" in said.out
    assert list(tmp_path.iterdir()) == []


def test_a_script_that_is_not_megatrons_is_told_to_call_the_profiler(shell: Shell) -> None:
    said = shell("vitals", "capture", "--", "python", "train.py")
    assert "has to call cudaProfilerStart" in said.out
    assert "--profile-step-start" not in said.out
    document = json.loads(shell("vitals", "capture", "--json", "--", "python", "train.py").out)
    assert document["ran"] is False
    assert document["commands"][0]["argv"][-2:] == ["python", "train.py"]


def test_a_recorded_training_is_ended_and_its_export_is_here(
    capture: Callable[..., Said], shell: Shell, home: Path, tmp_path: Path
) -> None:
    said = capture("--train-iters", "100000", "--leave-behind")
    assert said.code == 0, said.out + said.err
    (folder,) = (shell.results / "captures").iterdir()
    assert {"node0.sqlite", "node0.nsys-rep"} <= {entry.name for entry in folder.iterdir()}
    assert f"in {folder.relative_to(Path.cwd())}" in said.out
    assert "60 % compute" in said.out or "61 % compute" in said.out
    assert json.loads((folder / "trace.json").read_text())["source"] == "nsys"
    assert processes(tmp_path) == []
    assert list((home / ".cache" / "healthcheck" / "run").iterdir()) == []
    assert not list((shell.results / "locks").glob("*.lock"))


@pytest.mark.parametrize(
    ("how", "words", "says"),
    [
        ("", ("--train-iters", "3"), "without calling the profiler: Megatron calls the profiler at step 5"),
        ("", ("--fail-at", "3"), "exit code 17 before the range was over; its last words: torch.OutOfMemoryError"),
        ("", ("--hang-at", "3"), "nothing was heard of a recording on localhost within 12 s: Megatron calls"),
        ("", ("--hang-at", "7"), "began and did not end within 12 s"),
        ("hang-before", (), "ended, but nsys had made no report of it when 12 s were over"),
        ("no-permission", (), "lets no ordinary user profile on this node (ERR_NVGPUCTRPERM"),
        ("old", (), "does not know an option (unrecognised option '--cuda-graph-trace=node')"),
    ],
)
def test_why_there_is_no_profile_is_said(
    capture: Callable[..., Said],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    how: str,
    words: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.setenv("STANDIN_NSYS", how)
    said = capture(*words, options=("--grace", "1s", "--timeout", "12s" if "hang" in how + str(words) else "1m"))
    assert said.code == 3
    assert says in said.out
    assert processes(tmp_path) == []


def test_an_export_without_a_kernel_is_no_profile(
    capture: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDIN_NSYS", "empty")
    said = capture()
    assert said.code == 3
    assert said.out.startswith("No profile: the export holds no kernel")


def test_ranks_behind_a_launcher_have_reports_of_their_own(capture: Callable[..., Said], shell: Shell) -> None:
    launcher = ("sh", "-c", 'RANK=0 "$@" & RANK=1 "$@" & RANK=2 "$@"; wait', "launch", "{nsys}")
    said = capture(options=("--ranks", "0,2", "--json"), launcher=launcher)
    assert said.code == 0, said.out + said.err
    document = json.loads(said.out)
    assert [Path(file["export"]).name for file in document["files"]] == ["rank0.sqlite", "rank2.sqlite"]
    assert [rank["rank"] for rank in document["trace"]["ranks"]] == [0, 2]
    assert document["trace"]["shares"]["exposed"] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    ("logged_s", "says"),
    [
        (50e-6, "(+100 %): the profiler slows this training"),
        (99e-6, "0.000 s"),
        (200e-6, "(-50 %): no profiler speeds a step up"),
    ],
)
def test_what_the_profiler_costs_is_told_by_the_log(capture: Callable[..., Said], logged_s: float, says: str) -> None:
    Path("log.json").write_text(encode_document(SCHEMA, log_vitals(logged_s)))
    said = capture(options=("--vitals", "log.json"))
    assert said.code == 0
    assert says in said.out
    assert ("slows this training" in said.out) == (logged_s < 90e-6)


def test_processes_without_a_rank_are_told(capture: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    said = capture(launcher=("env", "{nsys}"))
    assert said.code == 3
    assert "put {nsys} behind the launcher that starts the ranks" in said.out


def test_a_host_in_the_hands_of_another_run_is_left_alone(capture: Callable[..., Said], shell: Shell) -> None:
    shell.results.mkdir()
    clock = SystemClock()
    other = FolderLocks(shell.results, "20260101T000000Z-abcd", current_owner(), clock)
    other.take(["localhost"])
    said = capture()
    other.release()
    assert said.code == 3
    assert "localhost is in use by healthcheck run 20260101T000000Z-abcd" in said.out


def test_a_report_that_could_not_be_exported_is_kept_where_it_is(
    capture: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("STANDIN_NSYS", "no-export")
    said = capture()
    assert said.code == 3
    assert "could not be exported: Export failed: the report is of another version" in said.out
    (folder,) = (home / ".cache" / "healthcheck" / "run").iterdir()
    assert (folder / "node0.nsys-rep").exists()
    assert f"is kept on localhost in {folder}" in said.out


def test_nsys_that_hangs_after_its_report_costs_no_profile(
    capture: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STANDIN_NSYS", "hang")
    said = capture(options=("--grace", "1s"))
    assert said.code == 0
    assert "did not end within 1 s after the recording and was ended" in said.out
    assert processes(tmp_path) == []


def test_no_nsys_is_said_before_anything_starts(shell: Shell, home: Path) -> None:
    said = shell("vitals", "capture", "--run", "-q", "--allow-busy", "--nsys", "/opt/nsys", "--", "touch", "started")
    assert said.code == 3
    assert "there is no /opt/nsys on localhost" in said.out
    assert "nothing was started, on any host" in said.out and "what the training said" not in said.out
    assert not Path("started").exists()


def test_ctrl_c_ends_the_training(capture: Callable[..., Said], tmp_path: Path) -> None:
    def interrupt() -> None:
        while not processes(tmp_path):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    said = capture("--hang-at", "3")
    assert said.code == 130
    assert "stopped before it was recorded" in said.out
    assert processes(tmp_path) == []


def test_over_ssh_one_host_is_profiled_and_no_host_goes_on_training(shell: Shell, home: Path, tmp_path: Path) -> None:
    with SshPlace(home) as place:
        line = place.server.known_hosts_line
        place.known_hosts.write_text(line + line.replace("127.0.0.1", "localhost"))
        port = place.server.port
        Path("cluster.hosts").write_text(f"node1 address=127.0.0.1 port={port}\nnode2 address=localhost port={port}\n")
        said = shell(
            "vitals", "capture", "--run", "--allow-busy", "-q", "-H", "cluster.hosts",
            "--ssh-config", str(place.config), "--on", "node2", "--ranks", "8", "--first-step", "5",
            "--nsys", str(STANDIN / "nsys"),
            "--", sys.executable, TRAIN, "--mark", str(tmp_path), "--train-iters", "100000",
        )  # fmt: skip
    assert said.code == 0, said.out + said.err
    assert "Recorded on node2" in said.out
    (folder,) = (shell.results / "captures").iterdir()
    assert (folder / "node1.sqlite").exists()
    # What `clean` would need, had this been killed.
    begun = decode_document((folder / BEGUN).read_bytes(), BEGUN, CaptureBegun, BEGUN_SCHEMA, "begin of a capture")
    assert begun.ssh_config == str(place.config)
    assert {entry.name for entry in (folder / "raw" / "capture").iterdir()} == {"node1", "node2"}
    assert processes(tmp_path) == []


def test_what_a_killed_capture_left_is_cleaned(shell: Shell, home: Path, tmp_path: Path) -> None:
    words = ["vitals", "capture", "--run", "--allow-busy", "--nsys", str(STANDIN / "nsys"), "--first-step", "5", "--"]
    training = [sys.executable, TRAIN, "--mark", str(tmp_path), "--hang-at", "6", "--leave-behind"]
    killed = subprocess.Popen([sys.executable, "-m", "healthcheck", *words, *training], stderr=subprocess.DEVNULL)
    while not processes(tmp_path, "time.sleep"):
        time.sleep(0.05)
    assert "still" not in shell("clean").err  # it is alive: nothing to clean
    assert processes(tmp_path, "time.sleep")
    killed.kill()
    killed.wait()
    said = shell("clean")
    assert said.code == 0
    assert "nothing is left on localhost" in said.err
    assert processes(tmp_path) == []
    assert list((home / ".cache" / "healthcheck" / "run").iterdir()) == []
    assert "nothing to clean" in shell("clean").err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--", "srun", "-N2", "python", "train.py"), "put {nsys} before the program it starts"),
        (("-H", "n[1-2]", "--", "mpirun", "{nsys}", "train"), "names 2 hosts, and mpirun would start there each time"),
        (("-H", "n[1-2]", "--on", "n3", "--", "train"), "--on: 'n3' is not among the 2 hosts"),
        (("-H", "n[1-2]", "--on", "n2", "--", "pretrain_gpt.py"), "--ranks: is missing: rank 0 does not run on n2"),
        (("--ranks", "0-7", "--", "python", "train.py"), "--ranks: needs {nsys} in the command"),
        (("--ranks", "7-0", "--", "srun", "{nsys}", "train"), "--ranks: '7-0' is no range"),
        (("--ranks", "x", "--", "srun", "{nsys}", "train"), "--ranks: 'x' is no list of ranks"),
        (("--timeout", "30", "--", "train"), "--timeout: '30' is not a duration"),
        (("--node-folder", "scratch", "--", "train"), "--node-folder: must be absolute"),
        (("--step-range", "step [", "--", "train"), "--step-range: 'step [' is not a regular expression"),
        (("--vitals", "gone.json", "--", "train"), "gone.json: there is no such file"),
        (("--", "{nsys}", "train"), "begins with {nsys}"),
        ((), "is missing"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(shell: Shell, words: tuple[str, ...], says: str) -> None:
    said = shell("vitals", "capture", "--run", *words)
    assert said.code == 2
    assert says in said.err
    assert said.err.count("\n") == 1
    assert not shell.results.exists()
