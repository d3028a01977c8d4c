"""What a benchmark itself shows: how it ended, how fast it was. A part that is named goes before these."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import CARDS, GPUS, NCCL, TESTS, TOPOLOGY, TROUBLE, XID
from healthcheck.diagnosis.cause import Cause, Severity
from healthcheck.model.finding import Confidence

_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED
_PERF = TESTS + "/blob/master/doc/PERFORMANCE.md"

JOB_CAUSES: tuple[Cause, ...] = (
    Cause(
        "wrong_results",
        rules=("integrity.data_check",),
        confidence=_LIKELY,
        commands=(*GPUS, ("ssh", "{host}", "dcgmi diag -r 3")),
        reference=NCCL + "/issues/1184",
    ),
    Cause("rank_died", rules=("integrity.rank_signalled", "integrity.killed"), confidence=_LIKELY, reference=TROUBLE),
    Cause(
        "out_of_memory",
        rules=("integrity.out_of_memory",),
        confidence=_LIKELY,
        commands=(("ssh", "{host}", "nvidia-smi"),),
    ),
    Cause(
        "job_hung",
        rules=("integrity.stalled", "integrity.timed_out", "integrity.timeout"),
        confidence=_LIKELY,
        reference=NCCL + "/issues/606",
    ),
    Cause("cuda_error", rules=("integrity.cuda",), confidence=_LIKELY, commands=GPUS, reference=XID),
    Cause(
        "network_error",
        rules=("integrity.ib_completion", "integrity.socket", "integrity.bootstrap"),
        confidence=_LIKELY,
        commands=CARDS,
        reference=TROUBLE,
    ),
    Cause("nccl_error", rules=("integrity.nccl",), confidence=_LIKELY, reference=TROUBLE),
    Cause(
        "far_below_peak",
        rules=("peak.below_broken",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=_PERF,
    ),
    Cause(
        "below_peak",
        Severity.WARNING,
        rules=("peak.below_healthy",),
        confidence=_LIKELY,
        commands=TOPOLOGY,
        reference=_PERF,
    ),
    Cause("job_not_whole", Severity.INFO, rules=("integrity", "launch"), confidence=_SUSPECTED),
    Cause("follows_from", Severity.INFO, confidence=_SUSPECTED, secondary=True),
)
