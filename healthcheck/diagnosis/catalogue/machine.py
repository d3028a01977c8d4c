"""The way to a node, and what has to be there before anything can be measured."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import (
    BUILD,
    EXECVE,
    FIRST_RUN,
    GATE,
    HOST_KEYS,
    LOADER,
    LOOKS,
    MAN,
    MONTHLY,
    MPI_FOUND,
    MPI_SLOTS,
    MPIRUN,
    PERFORMANCE,
    PLATFORMS,
    REACH,
    REJUDGE,
    REPORT,
    RESUME,
    SSH,
    SSH_CONFIG,
    TESTS,
    UNSEEN,
)
from healthcheck.diagnosis.cause import Cause, Severity
from healthcheck.model.finding import Confidence

_INFO = Severity.INFO


MACHINE_CAUSES: tuple[Cause, ...] = (
    # The way to the node.
    Cause("host_key_changed", rules=("connect.host_key_changed",), told=True, reference=HOST_KEYS),
    Cause("host_key_unknown", _INFO, rules=("connect.host_key_unknown",), told=True, reference=SSH),
    Cause(
        "login_refused",
        rules=("connect.login_refused",),
        commands=(("ssh", "-v", "-o", "BatchMode=yes", "{host}", "true"),),
        reference=SSH,
    ),
    Cause(
        "unreachable",
        rules=("connect.unreachable",),
        commands=REACH,
        reference=SSH_CONFIG + "#ConnectTimeout",
    ),
    Cause(
        "no_step",
        rules=("connect.no_step",),
        commands=(("sinfo", "--Node", "--long", "--nodes={host}"), ("squeue", "--nodelist={host}")),
        reference="https://slurm.schedmd.com/troubleshoot.html",
    ),
    Cause(
        "connection_lost",
        rules=("connect",),
        commands=REACH,
        reference="https://man.openbsd.org/sshd_config#MaxStartups",
    ),
    Cause(
        "push_refused", rules=("push",), commands=(("ssh", "{host}", "df -h ~; ls -ld ~/.cache"),), reference=FIRST_RUN
    ),
    Cause("no_answer", rules=("probe.no_output",), commands=(("ssh", "{host}", "echo it works"),), reference=SSH),
    # What is there.
    Cause("binary_missing", rules=("binary.missing",), commands=(("healthcheck", "doctor"),), reference=BUILD),
    Cause(
        "binary_not_executable",
        rules=("binary.not_executable",),
        commands=(("ssh", "{host}", "findmnt -T ~; mount | grep noexec"),),
        reference=EXECVE,
    ),
    Cause(
        "binary_architecture",
        rules=("binary.architecture",),
        commands=(("ssh", "{host}", "uname -m"),),
        reference=EXECVE,
    ),
    Cause("binary_library", rules=("binary.library",), reference=LOADER),
    Cause("not_mpi_build", rules=("binary.not_mpi",), reference=TESTS + "/issues/27"),
    Cause("ranks_alone", rules=("integrity.not_mpi_build",), reference=TESTS + "/issues/27"),
    Cause("binary_unreadable", rules=("binary.unreadable",), reference=MAN + "man1/ldd.1.html"),
    Cause("job_library", rules=("integrity.missing_library", "integrity.library_missing"), reference=LOADER),
    Cause(
        "mpi_missing",
        rules=("mpi.missing", "launch.mpirun_missing"),
        commands=(("ssh", "{host}", "command -v mpirun"),),
        reference=MPI_FOUND,
    ),
    Cause(
        "mpi_other_family",
        rules=("mpi.other_family",),
        commands=(("ssh", "{host}", "mpirun --version"),),
        reference=MPI_FOUND,
    ),
    Cause(
        "slots_differ",
        Severity.WARNING,
        rules=("slots.differ",),
        commands=(("ssh", "{host}", "nvidia-smi -L"),),
        reference=MPI_SLOTS,
    ),
    Cause("other_machine_type", Severity.WARNING, rules=("hca.other_type",), reference=PERFORMANCE),
    Cause("above_peak", Severity.WARNING, rules=("peak.above",), reference=PERFORMANCE),
    Cause(
        "same_machine",
        rules=("host.same_machine",),
        commands=(("ssh", "{host}", "hostname; cat /etc/machine-id"),),
        reference=MAN + "man5/machine-id.5.html",
    ),
    Cause(
        "booted",
        rules=("host.booted",),
        commands=(("ssh", "{host}", "uptime -s; last -x reboot shutdown | head -n 5"),),
        reference=LOOKS,
    ),
    Cause(
        "mpi_no_daemon",
        rules=("mpi.no_daemon",),
        commands=(("ssh", "{host}", "command -v mpirun orted"),),
        reference=MPI_FOUND,
    ),
    Cause(
        "mpi_unreadable", rules=("mpi.unreadable",), commands=(("ssh", "{host}", "mpirun --version"),), reference=MPIRUN
    ),
    Cause(
        "busy_unknown",
        _INFO,
        rules=("busy.tool_missing", "busy.unreadable"),
        commands=(("ssh", "{host}", "nvidia-smi"),),
        reference=LOOKS,
    ),
    Cause(
        "platform_unknown",
        _INFO,
        rules=("platform.unknown", "gpu.no_platform", "hca.no_platform", "limits"),
        commands=PLATFORMS,
        reference=FIRST_RUN,
    ),
    Cause("no_bound", _INFO, rules=("limits.no_peak",), commands=PLATFORMS, reference=PERFORMANCE),
    Cause("not_judged", _INFO, rules=("peak",), reference=PERFORMANCE),
    # Left alone on purpose.
    Cause("busy_leftover", _INFO, rules=("busy.leftover",), commands=(("healthcheck", "clean"),), reference=FIRST_RUN),
    Cause("locked", _INFO, rules=("busy.locked",), reference=MONTHLY),
    Cause("let_go", _INFO, rules=("busy.let_go",), reference=MONTHLY),
    Cause("no_lock", _INFO, rules=("busy.no_lock",), reference=MONTHLY),
    Cause(
        "may_still_run",
        _INFO,
        rules=("leftovers.may_still_run",),
        commands=(("healthcheck", "clean", "{run_id}"),),
        reference=FIRST_RUN,
    ),
    Cause(
        "allocated",
        _INFO,
        rules=("busy.allocated",),
        explains=("busy.foreign",),
        commands=(("squeue", "--nodelist={host}"),),
        reference="https://slurm.schedmd.com/squeue.html",
    ),
    Cause("busy_foreign", _INFO, rules=("busy.foreign",), commands=(("ssh", "{host}", "nvidia-smi"),), reference=LOOKS),
    # Not begun, not ended, or not known.
    Cause("out_of_time", _INFO, rules=("integrity.cut", "stage.no_time"), reference=GATE),
    Cause("stopped", _INFO, rules=("integrity.stopped",), commands=RESUME, reference=FIRST_RUN),
    Cause("raw_gone", _INFO, rules=("integrity.raw_gone", "raw.gone"), reference=REJUDGE),
    Cause("hosts_held", _INFO, rules=("stage.held",), reference=MONTHLY),
    Cause("stage_not_run", _INFO, rules=("stage",), confidence=Confidence.SUSPECTED, reference=REPORT),
    Cause("not_measured", _INFO, reference=REPORT),
    Cause(
        "unseen", _INFO, rules=("unseen",), commands=(("ssh", "{host}", "nvidia-smi -L; ibstat -s"),), reference=UNSEEN
    ),
    Cause("unexplained", _INFO, confidence=Confidence.SUSPECTED, reference=REPORT),
)
