"""What a benchmark itself shows: how it ended, how fast it was. A part that is named goes before these."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import (
    ARGUMENTS,
    BANDWIDTH,
    BUILD,
    CARDS,
    GPUS,
    KERNEL,
    MPI_FOUND,
    MPI_SSH,
    MPI_TROUBLE,
    MPIRUN,
    NCCL,
    NET_TROUBLE,
    NUMBERS,
    PERFORMANCE,
    REPORT,
    RUN_TROUBLE,
    SLURM_MPI,
    TESTS,
    TOPOLOGY,
    XID,
)
from healthcheck.diagnosis.catalogue.repairs import DIAGNOSE
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED


JOB_CAUSES: tuple[Cause, ...] = (
    Cause(
        "wrong_results",
        rules=("integrity.data_check",),
        confidence=_LIKELY,
        commands=(*GPUS, ("ssh", "{host}", "nvidia-smi -q -d ECC,ROW_REMAPPER")),
        drain=Drain.FIRST,
        repairs=DIAGNOSE,
        reference=NCCL + "/issues/1184",
    ),
    Cause(
        "rank_died",
        rules=("integrity.rank_signalled", "integrity.killed"),
        confidence=_LIKELY,
        commands=KERNEL,
        reference=RUN_TROUBLE,
    ),
    Cause(
        "out_of_memory",
        rules=("integrity.out_of_memory",),
        signature=r"[Cc]uda failure .*out of memory",
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "nvidia-smi"),),
        reference=ARGUMENTS,
    ),
    Cause(
        "job_hung",
        rules=("integrity.stalled", "integrity.timed_out", "integrity.timeout"),
        confidence=_LIKELY,
        commands=KERNEL,
        reference=NCCL + "/issues/606",
    ),
    Cause(
        "cuda_error",
        rules=("integrity.cuda",),
        signature=r"[Cc]uda failure",
        confidence=_LIKELY,
        commands=GPUS,
        reference=XID,
    ),
    Cause(
        "network_error",
        rules=("integrity.ib_completion", "integrity.socket", "integrity.bootstrap"),
        confidence=_LIKELY,
        commands=CARDS,
        reference=NET_TROUBLE,
    ),
    Cause(
        "far_below_peak",
        rules=("peak.below_broken",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=PERFORMANCE,
    ),
    Cause(
        "below_peak",
        Severity.WARNING,
        rules=("peak.below_healthy",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=PERFORMANCE,
    ),
    Cause(
        "below_known_good",
        Severity.WARNING,
        rules=("known_good.below",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=BANDWIDTH,
    ),
    Cause(
        "slow_vs_peers",
        Severity.WARNING,
        rules=("peers.outlier",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=BANDWIDTH,
    ),
    Cause(
        "slow_vs_past",
        Severity.WARNING,
        rules=("history.worse",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=BANDWIDTH,
    ),
    Cause(
        "rank_failed",
        rules=("integrity.rank_exited", "integrity.mpi_abort", "integrity.exit_code"),
        confidence=_LIKELY,
        reference=RUN_TROUBLE,
    ),
    Cause("daemon_lost", rules=("integrity.daemon_lost",), confidence=_LIKELY, reference=MPI_TROUBLE),
    Cause(
        "mpi_interface",
        rules=("integrity.bad_interface",),
        commands=(("ssh", "{host}", "ip -br addr"),),
        reference=RUN_TROUBLE,
    ),
    Cause(
        "mpi_collectives",
        signature=r"(?i:\bhcoll\b.*(?:error|fail))|UCX +ERROR|UCX_\w+ERROR",
        confidence=_SUSPECTED,
        reference=RUN_TROUBLE,
    ),
    Cause("pmix_shared_memory", signature=r"PMIX ERROR.*gds", confidence=_SUSPECTED, reference=RUN_TROUBLE),
    Cause(
        "launch_login",
        rules=("integrity.login_refused", "integrity.host_key_unknown", "integrity.host_key_changed"),
        reference=MPI_SSH,
    ),
    Cause(
        "launch_unreached",
        rules=(
            "integrity.unresolvable",
            "integrity.connection_refused",
            "integrity.no_route",
            "integrity.connect_timeout",
        ),
        reference=MPI_SSH,
    ),
    Cause("launch_daemon_missing", rules=("integrity.daemon_missing", "integrity.mpirun_missing"), reference=MPI_FOUND),
    Cause("launch_program_missing", rules=("integrity.binary_missing", "integrity.not_executable"), reference=BUILD),
    # Behind all that was measured: NCCL says that something broke, and not what.
    Cause("nccl_error", rules=("integrity.nccl",), confidence=_LIKELY, reference=RUN_TROUBLE),
    Cause("too_few_slots", Severity.INFO, rules=("integrity.too_few_slots",), reference=TESTS + "/issues/21"),
    Cause("launch_as_root", Severity.INFO, rules=("integrity.as_root",), reference=MPIRUN),
    Cause("launch_no_pmi", rules=("integrity.no_pmi",), commands=(("srun", "--mpi=list"),), reference=SLURM_MPI),
    Cause("program_refused", Severity.INFO, rules=("integrity.usage", "integrity.no_measurement"), reference=ARGUMENTS),
    Cause(
        "other_shape",
        Severity.INFO,
        rules=("integrity.ranks", "integrity.hosts"),
        confidence=_LIKELY,
        reference=TESTS + "/issues/213",
    ),
    Cause("not_verified", Severity.INFO, rules=("integrity.unverified",), reference=ARGUMENTS),
    Cause("numbers_contradict", Severity.INFO, rules=("integrity.inconsistent",), reference=PERFORMANCE),
    Cause("job_not_whole", Severity.INFO, rules=("integrity", "launch"), confidence=_SUSPECTED, reference=NUMBERS),
    Cause("follows_from", Severity.INFO, confidence=_SUSPECTED, secondary=True, reference=REPORT),
)
