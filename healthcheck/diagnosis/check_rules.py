"""Which rules a check can end with, as far as the catalogue of causes knows them."""

from __future__ import annotations

from healthcheck.diagnosis.cause import Cause
from healthcheck.diagnosis.causes import BY_CODE, BY_RULE, CAUSES, WARN

OTHER = "nccl_error"
"""The cause of a line of NCCL that bears no signature."""
_NOT_ALL = ("gpu.vanished", "gpu.not_told")
_UNSEEN = "unseen"
_ENDS: dict[str, tuple[str, ...]] = {
    "host.reached": ("connect", "probe"),
    "host.distinct": ("host.same_machine",),
    "host.same_boot": ("host.booted",),
    "hostfile.slots": ("slots",),
    "platform.detect": ("platform",),
    "nccl_tests.binary": ("binary",),
    "mpi.launcher": ("mpi",),
    "node.busy": ("busy.foreign", "busy.leftover", "busy.tool_missing", "busy.unreadable"),
    "node.allocation": ("busy.allocated",),
    "node.leftovers": ("busy.leftover", "busy.locked", "busy.let_go", "busy.no_lock", "busy.unreadable", "leftovers"),
    "gpu.count": (
        "gpu.lost",
        "gpu.none",
        "gpu.fewer",
        "gpu.more",
        "gpu.no_driver",
        "gpu.tool_missing",
        "gpu.unreadable",
        "gpu.no_platform",
    ),
    "gpu.stayed": ("gpu.vanished", _UNSEEN),
    "gpu.model": ("gpu.other_model",),
    "gpu.mode": ("mode", *_NOT_ALL, _UNSEEN),
    "gpu.ecc": ("ecc.uncorrected", "ecc.sram", "ecc.off", "ecc.pending", "ecc.unreadable", *_NOT_ALL, _UNSEEN),
    "gpu.ecc_errors": ("ecc.grew", "ecc.corrected_grew", "ecc.unreadable", *_NOT_ALL, _UNSEEN),
    "gpu.rows": ("rows", *_NOT_ALL, _UNSEEN),
    "gpu.pcie": ("gpu_pcie.narrow", "gpu_pcie.slow_slot", "gpu_pcie.unreadable", *_NOT_ALL, _UNSEEN),
    "gpu.loaded_pcie": ("gpu_pcie.slow", "gpu_pcie.unreadable", *_NOT_ALL, _UNSEEN),
    "gpu.clocks": (
        "clocks.power_brake",
        "clocks.hw_thermal",
        "clocks.sw_thermal",
        "clocks.hw_slowdown",
        "clocks.hot",
        "clocks.unreadable",
        *_NOT_ALL,
        _UNSEEN,
    ),
    "gpu.loaded_clocks": (
        "clocks.power_brake",
        "clocks.hw_thermal",
        "clocks.sw_thermal",
        "clocks.hw_slowdown",
        "clocks.hot",
        "clocks.low",
        *_NOT_ALL,
        _UNSEEN,
    ),
    "gpu.recovery": ("recovery", *_NOT_ALL, _UNSEEN),
    "gpu.topology": ("topology", *_NOT_ALL, _UNSEEN),
    "nvlink.links": (
        "nvlink.all_inactive",
        "nvlink.inactive",
        "nvlink.fewer",
        "nvlink.slow",
        "nvlink.unreadable",
        *_NOT_ALL,
        _UNSEEN,
    ),
    "nvlink.errors": (
        "nvlink.dropped",
        "nvlink.recovery",
        "nvlink.replay",
        "nvlink.crc",
        "nvlink.unreadable",
        *_NOT_ALL,
        _UNSEEN,
    ),
    "fabric.manager": (
        "fabric.down",
        "fabric.starting",
        "fabric.not_installed",
        "fabric.other_version",
        "fabric.switch_missing",
        _UNSEEN,
    ),
    "fabric.state": ("fabric.not_joined", "fabric.not_well", "fabric.unreadable", *_NOT_ALL, _UNSEEN),
    "hca.count": (
        "hca.missing",
        "hca.inactive",
        "hca.other_link_layer",
        "hca.unclear",
        "hca.other_type",
        "hca.no_platform",
        "hca.tool_missing",
        "hca.unreadable",
    ),
    "hca.rate": ("hca.down", "hca.rate_broken", "hca.rate_low", "hca.rate_unknown", "hca.one_of", "hca.unclear"),
    "hca.subnet": ("hca.no_subnet_manager", "hca.no_lid"),
    "hca.verbs": ("hca.verbs_missing", "hca.verbs_closed", _UNSEEN),
    "hca.mtu": ("hca.mtu_small", "hca.mtu_differs", _UNSEEN),
    "hca.errors": ("hca.link_downed", "hca.link_errors", "hca.retries", "hca.vanished", _UNSEEN),
    "hca.traffic": ("hca.unused", "hca.congestion"),
    "hca.pcie": ("pcie.narrow", "pcie.slow", "pcie.slot_too_small", _UNSEEN),
    "rail.map": ("rail", *_NOT_ALL, _UNSEEN),
    "gdr.support": ("gdr.load_failed", "gdr.not_loaded", "gdr.none", _UNSEEN),
    "pcie.acs": ("pcie.acs_on", _UNSEEN),
    "pcie.iommu": ("pcie.iommu_on", _UNSEEN),
    "kernel.log": ("xid", "sxid", "kernel", _UNSEEN),
    "node.clock": ("clock", _UNSEEN),
    "os.memlock": ("memlock", _UNSEEN),
    "os.shm": ("shm", _UNSEEN),
    "os.files": ("files", _UNSEEN),
    "cpu.governor": ("cpu", _UNSEEN),
    "software.versions": (_UNSEEN,),
    "nccl.settings": ("settings", _UNSEEN),
    "nccl.transport": ("transport", _UNSEEN),
    "nccl.gdr": ("gdr.off", "gdr.far"),
    "nccl.nics": ("nics",),
    "nccl.p2p": ("p2p",),
    "nccl.nvls": ("nvls",),
    "nccl.warning": (WARN,),
    "fleet.drift": ("drift",),
    "fleet.pin": ("pin",),
    "job.integrity": ("integrity", "launch"),
    "gate.single_node": (),
    "bandwidth.busbw": (
        "peak",
        "limits",
        "known_good",
        "peers",
        "history",
        "transport",
        "p2p",
        "nvls",
        "nics",
        "gdr.off",
        "gdr.far",
    ),
    "bandwidth.algbw": ("peak", "limits"),
    "localise.node": ("slow_node", "breaks_alone", "node_lost"),
    "localise.gpu": ("slow_gpu", "slow_gpu_pair"),
    "localise.rail": ("slow_rail",),
    "localise.link": ("slow_link",),
    "localise.path": ("slow_path", "slow_leaf"),
    "localise.search": ("search",),
    "stage.run": ("stage", "push"),
    "run.raw": ("raw",),
}
"""Rules, whole or by their first word."""


def rules_of(check: str) -> tuple[tuple[str, Cause], ...]:
    """(rule, its cause) of a check, the most urgent first; those of `warn` by the lines that show them."""
    ends = _ENDS.get(check, ())
    if ends == (WARN,):
        return tuple((WARN + cause.code, cause) for cause in CAUSES if cause.signature or cause.code == OTHER)
    of_check = ((rule, cause) for rule, cause in BY_RULE.items() if not rule.startswith(WARN))
    found = [(rule, cause) for rule, cause in of_check if rule in ends or rule.partition(".")[0] in ends]
    order = {code: place for place, code in enumerate(BY_CODE)}
    return tuple(sorted(found, key=lambda entry: order[entry[1].code]))
