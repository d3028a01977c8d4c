"""What the search between nodes names. A part that a look or NCCL itself named goes before these."""

from __future__ import annotations

from healthcheck.diagnosis.catalogue.lines import CARDS, KERNEL, LOCALISATION, NET_TROUBLE, PORT, TESTS, TOPOLOGY
from healthcheck.diagnosis.catalogue.repairs import CLEAR_COUNTERS, RESET
from healthcheck.diagnosis.cause import Cause, Drain, Severity
from healthcheck.model.finding import Confidence

_GPU_LINKS = (
    ("ssh", "{host}", "nvidia-smi nvlink -s; nvidia-smi nvlink -e"),
    ("ssh", "{host}", "nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE"),
    *KERNEL,
)
_SLOWS = ("peak", "integrity")
_BLOCKS = (*_SLOWS, "search.no_order")
_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED

SEARCH_CAUSES: tuple[Cause, ...] = (
    Cause(
        "breaks_alone",
        rules=("breaks_alone",),
        explains=_SLOWS,
        commands=KERNEL,
        drain=Drain.FIRST,
        reference=NET_TROUBLE,
    ),
    Cause(
        "slow_gpu",
        rules=("slow_gpu",),
        explains=(*_SLOWS, "slow_node"),
        commands=_GPU_LINKS,
        drain=Drain.FIRST,
        repairs=RESET,
        reference=NET_TROUBLE,
    ),
    Cause(
        "slow_gpu_pair",
        rules=("slow_gpu_pair",),
        confidence=_LIKELY,
        explains=_SLOWS,
        commands=(("ssh", "{host}", "nvidia-smi topo -m; nvidia-smi nvlink -s"), *KERNEL),
        reference=LOCALISATION,
    ),
    Cause(
        "slow_rail",
        rules=("slow_rail",),
        explains=(*_SLOWS, "slow_node"),
        commands=(*PORT, CARDS[0]),
        drain=Drain.FIRST,
        repairs=CLEAR_COUNTERS,
        reference=NET_TROUBLE,
    ),
    Cause("slow_leaf", rules=("slow_leaf",), confidence=_LIKELY, explains=_SLOWS, reference=NET_TROUBLE),
    Cause(
        "slow_node",
        rules=("slow_node",),
        explains=_SLOWS,
        commands=(*CARDS, *TOPOLOGY),
        drain=Drain.FIRST,
        reference=NET_TROUBLE,
    ),
    Cause("slow_path", rules=("slow_path",), explains=_BLOCKS, reference=NET_TROUBLE),
    Cause("slow_link", Severity.WARNING, rules=("slow_link",), explains=_BLOCKS, reference=TESTS + "/issues/106"),
    Cause(
        "slow_once", Severity.INFO, rules=("search.once",), confidence=_LIKELY, explains=_SLOWS, reference=LOCALISATION
    ),
    Cause(
        "slow_at_scale",
        Severity.WARNING,
        rules=("search.scale",),
        confidence=_LIKELY,
        explains=_SLOWS,
        reference=LOCALISATION,
    ),
    Cause(
        "nobody_proven_good", Severity.WARNING, rules=("search.nobody_good",), explains=_SLOWS, reference=LOCALISATION
    ),
    Cause("slow_pair", Severity.WARNING, rules=("search.pair",), explains=_SLOWS, reference=LOCALISATION),
    Cause(
        "slow_unexplained",
        Severity.WARNING,
        rules=("search.unexplained", "search.verified", "search.no_order"),
        confidence=_SUSPECTED,
        explains=_SLOWS,
        reference=LOCALISATION,
    ),
    Cause("search_not_measured", Severity.INFO, rules=("search.nothing_measured",), reference=LOCALISATION),
    Cause("node_lost", Severity.INFO, rules=("node_lost",), confidence=_SUSPECTED, reference=LOCALISATION),
    Cause("search_cut_short", Severity.INFO, rules=("search",), explains=_SLOWS, reference=LOCALISATION),
)
