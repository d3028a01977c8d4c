"""The way to a node, and what has to be there before anything can be measured."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import GUIDE, OPEN_MPI, PLATFORMS, RESUME, TESTS
from healthcheck.diagnosis.cause import Cause, Severity
from healthcheck.model.finding import Confidence

_INFO = Severity.INFO
_PERF = TESTS + "/blob/master/doc/PERFORMANCE.md"

MACHINE_CAUSES: tuple[Cause, ...] = (
    # The way to the node.
    Cause("host_key_changed", rules=("connect.host_key_changed",), told=True),
    Cause("host_key_unknown", _INFO, rules=("connect.host_key_unknown",), told=True),
    Cause(
        "login_refused",
        rules=("connect.login_refused",),
        commands=(("ssh", "-v", "-o", "BatchMode=yes", "{host}", "true"),),
    ),
    Cause(
        "unreachable",
        rules=("connect.unreachable",),
        commands=(("ping", "-c", "3", "{host}"), ("ssh", "-v", "-o", "ConnectTimeout=5", "{host}", "true")),
    ),
    Cause("connection_lost", rules=("connect",), commands=(("ping", "-c", "3", "{host}"),)),
    Cause("push_refused", rules=("push",), commands=(("ssh", "{host}", "df -h ~; ls -ld ~/.cache"),)),
    Cause("no_answer", rules=("probe.no_output",), commands=(("ssh", "{host}", "echo it works"),)),
    # What is there.
    Cause("binary_missing", rules=("binary.missing",), commands=(("healthcheck", "doctor"),), reference=TESTS),
    Cause("binary_not_executable", rules=("binary.not_executable",)),
    Cause("binary_architecture", rules=("binary.architecture",), commands=(("ssh", "{host}", "uname -m"),)),
    Cause("binary_library", rules=("binary.library",)),
    Cause("not_mpi_build", rules=("binary.not_mpi", "integrity.not_mpi_build"), reference=TESTS),
    Cause("binary_unreadable", rules=("binary.unreadable",)),
    Cause("job_library", rules=("integrity.missing_library", "integrity.library_missing"), reference=OPEN_MPI),
    Cause(
        "mpi_missing",
        rules=("mpi.missing", "launch.mpirun_missing"),
        commands=(("ssh", "{host}", "command -v mpirun"),),
        reference=OPEN_MPI,
    ),
    Cause("mpi_other_family", rules=("mpi.other_family",), commands=(("ssh", "{host}", "mpirun --version"),)),
    Cause("slots_differ", Severity.WARNING, rules=("slots.differ",), reference=OPEN_MPI),
    Cause("above_peak", Severity.WARNING, rules=("peak.above",), reference=_PERF),
    Cause("same_machine", rules=("host.same_machine",)),
    Cause("mpi_no_daemon", rules=("mpi.no_daemon",), commands=(("ssh", "{host}", "command -v mpirun orted"),)),
    Cause("mpi_unreadable", rules=("mpi.unreadable",), commands=(("ssh", "{host}", "mpirun --version"),)),
    Cause(
        "busy_unknown",
        _INFO,
        rules=("busy.tool_missing", "busy.unreadable"),
        commands=(("ssh", "{host}", "nvidia-smi"),),
    ),
    Cause(
        "platform_unknown",
        _INFO,
        rules=("platform.unknown", "gpu.no_platform", "hca.no_platform", "limits"),
        commands=PLATFORMS,
    ),
    Cause("not_judged", _INFO, rules=("peak",), reference=_PERF),
    # Left alone on purpose.
    Cause("busy_leftover", _INFO, rules=("busy.leftover",), commands=(("healthcheck", "clean"),)),
    Cause("may_still_run", _INFO, rules=("leftovers.may_still_run",), commands=(("healthcheck", "clean", "{run_id}"),)),
    Cause(
        "allocated",
        _INFO,
        rules=("busy.allocated",),
        explains=("busy.foreign",),
        commands=(("squeue", "--nodelist={host}"),),
        reference="https://slurm.schedmd.com/squeue.html",
    ),
    Cause("busy_foreign", _INFO, rules=("busy.foreign",), commands=(("ssh", "{host}", "nvidia-smi"),)),
    # Not begun, not ended, or not known.
    Cause("stopped", _INFO, rules=("integrity.stopped",), commands=RESUME),
    Cause("stage_not_run", _INFO, rules=("stage",), confidence=Confidence.SUSPECTED),
    Cause("not_measured", _INFO),
    Cause("unseen", _INFO, rules=("unseen",)),
    Cause("unexplained", _INFO, confidence=Confidence.SUSPECTED, reference=GUIDE + "troubleshooting.html"),
)
