"""The catalogue of causes, as data: rule that fired -> what is behind it, what to do, what to look at.

The order is the urgency within one verdict. `code` names the texts `cause.<code>` and `remedy.<code>`; their
placeholders are the arguments of the check's own message. A command is an argv whose words may hold `{host}`,
`{device}` (the part behind the colon of a component) and `{run_id}`; of `ssh {host} ...` the last word is what the
shell over there gets. `explain` fills and quotes them; nothing here is ever run by us. Where the raw output of a job is
kept is no command of a cause: a finding names its job, and the reports know its folder.
"""

from __future__ import annotations

from msgspec import Struct

from healthcheck.model.finding import Confidence


class Cause(Struct, frozen=True):
    """One row: stable code, how sure the rule makes us, suggested commands.

    `told`: the message of the check brings the command itself, in its argument `command`.
    """

    code: str
    confidence: Confidence = Confidence.CONFIRMED
    commands: tuple[tuple[str, ...], ...] = ()
    told: bool = False


_GPUS = (
    ("ssh", "{host}", "nvidia-smi -L"),
    ("ssh", "{host}", "sudo dmesg -T | grep -i -e xid -e nvrm | tail -n 20"),
)
_PORT = (
    ("ssh", "{host}", "ibstat {device}"),
    ("ssh", "{host}", "sudo mlxlink -d {device} -m -c -e"),
    ("ssh", "{host}", "sudo dmesg -T | grep -w {device} | tail -n 20"),
)
_CARDS = (
    ("ssh", "{host}", "ibstat -s"),
    ("ssh", "{host}", "lspci | grep -i -e infiniband -e mellanox"),
    ("ssh", "{host}", "sudo dmesg -T | grep -i mlx | tail -n 20"),
)
_RESUME = (("healthcheck", "run", "--resume", "{run_id}"),)
_LIKELY, _SUSPECTED = Confidence.LIKELY, Confidence.SUSPECTED

STOPPED = Cause("stopped", commands=_RESUME)

CAUSES: dict[str, Cause] = {
    # Parts that are missing or slow, as read on the node.
    "gpu.lost": Cause("gpu_lost", commands=_GPUS),
    "gpu.none": Cause("gpu_none", commands=_GPUS),
    "gpu.fewer": Cause("gpu_fewer", commands=_GPUS),
    "hca.down": Cause("hca_down", commands=_PORT),
    "hca.missing": Cause("hca_missing", commands=_CARDS),
    "hca.inactive": Cause("hca_inactive", commands=_CARDS),
    "hca.rate_broken": Cause("hca_slow", commands=_PORT),
    "hca.rate_low": Cause("hca_slow", commands=_PORT),
    "hca.one_of": Cause("hca_one_of", commands=_CARDS),
    # What the benchmarks showed.
    "integrity.data_check": Cause("wrong_results", _LIKELY, (*_GPUS, ("ssh", "{host}", "dcgmi diag -r 3"))),
    "integrity.rank_signalled": Cause("rank_died", _LIKELY),
    "integrity.killed": Cause("rank_died", _LIKELY),
    "integrity.out_of_memory": Cause("out_of_memory", _LIKELY, (("ssh", "{host}", "nvidia-smi"),)),
    "integrity.stalled": Cause("job_hung", _LIKELY),
    "integrity.timed_out": Cause("job_hung", _LIKELY),
    "integrity.timeout": Cause("job_hung", _LIKELY),
    "integrity.cuda": Cause("cuda_error", _LIKELY, _GPUS),
    "integrity.ib_completion": Cause("network_error", _LIKELY, _CARDS),
    "integrity.socket": Cause("network_error", _LIKELY),
    "integrity.bootstrap": Cause("network_error", _LIKELY),
    "integrity.nccl": Cause("nccl_error", _LIKELY),
    "peak.below_broken": Cause("far_below_peak", _LIKELY, (("ssh", "{host}", "nvidia-smi topo -m"),)),
    "peak.below_healthy": Cause("below_peak", _LIKELY, (("ssh", "{host}", "nvidia-smi topo -m"),)),
    # Not measured: the way to the node.
    "connect.host_key_changed": Cause("host_key_changed", told=True),
    "connect.host_key_unknown": Cause("host_key_unknown", told=True),
    "connect.login_refused": Cause("login_refused", commands=(("ssh", "-v", "-o", "BatchMode=yes", "{host}", "true"),)),
    "connect.unreachable": Cause(
        "unreachable",
        commands=(("ping", "-c", "3", "{host}"), ("ssh", "-v", "-o", "ConnectTimeout=5", "{host}", "true")),
    ),
    "connect": Cause("connection_lost", commands=(("ping", "-c", "3", "{host}"),)),
    "push": Cause("push_refused", commands=(("ssh", "{host}", "df -h ~; ls -ld ~/.cache"),)),
    "probe.no_output": Cause("no_answer", commands=(("ssh", "{host}", "echo it works"),)),
    # Not measured: what is there.
    "binary.missing": Cause("binary_missing", commands=(("healthcheck", "doctor"),)),
    "binary.not_executable": Cause("binary_not_executable"),
    "binary.architecture": Cause("binary_architecture", commands=(("ssh", "{host}", "uname -m"),)),
    "binary.library": Cause("binary_library"),
    "binary.not_mpi": Cause("not_mpi_build"),
    "binary.unreadable": Cause("binary_unreadable"),
    "integrity.not_mpi_build": Cause("not_mpi_build"),
    "integrity.missing_library": Cause("job_library"),
    "integrity.library_missing": Cause("job_library"),
    "mpi.missing": Cause("mpi_missing", commands=(("ssh", "{host}", "command -v mpirun"),)),
    "mpi.other_family": Cause("mpi_other_family", commands=(("ssh", "{host}", "mpirun --version"),)),
    "slots.differ": Cause("slots_differ"),
    "peak.above": Cause("above_peak"),
    "host.same_machine": Cause("same_machine"),
    "mpi.no_daemon": Cause("mpi_no_daemon", commands=(("ssh", "{host}", "command -v mpirun orted"),)),
    "mpi.unreadable": Cause("mpi_unreadable", commands=(("ssh", "{host}", "mpirun --version"),)),
    "launch.mpirun_missing": Cause("mpi_missing"),
    "gpu.no_driver": Cause("gpu_no_driver", commands=(("ssh", "{host}", "nvidia-smi; lsmod | grep nvidia"),)),
    "gpu.tool_missing": Cause("gpu_tool_missing", commands=(("ssh", "{host}", "command -v nvidia-smi"),)),
    "gpu.unreadable": Cause("gpu_unreadable", commands=_GPUS),
    "gpu.other_model": Cause("gpu_other_model", commands=(("healthcheck", "platform", "list"),)),
    "gpu.more": Cause("gpu_other_model", commands=(("healthcheck", "platform", "list"),)),
    "hca.tool_missing": Cause("hca_tool_missing", commands=(("ssh", "{host}", "lsmod | grep -e ib_core -e mlx5_ib"),)),
    "hca.unreadable": Cause("hca_unreadable", commands=_CARDS),
    "hca.rate_unknown": Cause("hca_unreadable", commands=_PORT),
    "busy.tool_missing": Cause("busy_unknown"),
    "busy.unreadable": Cause("busy_unknown", commands=(("ssh", "{host}", "nvidia-smi"),)),
    "platform.unknown": Cause("platform_unknown", commands=(("healthcheck", "platform", "list"),)),
    "gpu.no_platform": Cause("platform_unknown", commands=(("healthcheck", "platform", "list"),)),
    "hca.no_platform": Cause("platform_unknown", commands=(("healthcheck", "platform", "list"),)),
    "limits": Cause("platform_unknown", commands=(("healthcheck", "platform", "list"),)),
    "peak": Cause("not_judged"),
    # Left alone on purpose.
    "busy.leftover": Cause("busy_leftover", commands=(("healthcheck", "clean"),)),
    "leftovers.may_still_run": Cause("may_still_run", commands=(("healthcheck", "clean", "{run_id}"),)),
    "busy.foreign": Cause("busy_foreign", commands=(("ssh", "{host}", "nvidia-smi"),)),
    # Ended by the user.
    "integrity.stopped": STOPPED,
    # Everything else a job can end with.
    "integrity": Cause("job_not_whole", _SUSPECTED),
    "launch": Cause("job_not_whole", _SUSPECTED),
    "stage": Cause("stage_not_run", _SUSPECTED),
}
"""By whole rule, else by the first word of the rule."""

UNEXPLAINED = Cause("unexplained", _SUSPECTED)
NOT_MEASURED = Cause("not_measured")
FOLLOWS = Cause("follows_from", _SUSPECTED)

CONSEQUENCES = frozenset({"integrity.not_run", "stage.not_run"})
"""Rules that only repeat what another result on the same component already says."""


def cause_of(rule: str) -> Cause:
    """The row of a rule."""
    return CAUSES.get(rule) or CAUSES.get(rule.partition(".")[0]) or UNEXPLAINED


def urgency(rule: str) -> int:
    """Position in the catalogue; the smaller, the more urgent within one verdict."""
    return _URGENCY.get(rule, _URGENCY.get(rule.partition(".")[0], len(_URGENCY)))


_URGENCY = {rule: position for position, rule in enumerate(CAUSES)}
