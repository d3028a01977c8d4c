"""How the limit of a check comes about, as docs/checks.md says it; only of checks that have more than one."""

from __future__ import annotations

LIMIT_TEXTS: dict[str, str] = {
    "limit.gpu.mode": "MIG FAIL; Prohibited FAIL; Exclusive DEGRADED; persistence off is only said",
    "limit.gpu.ecc": "an error that ECC could not correct FAIL; ECC off or about to change DEGRADED",
    "limit.gpu.ecc_errors": "uncorrected ones FAIL, 100 or more corrected ones DEGRADED",
    "limit.gpu.rows": "a row that waits, or none to spare, FAIL; a page that waits for a reboot DEGRADED",
    "limit.gpu.pcie": "fewer lanes than the card has FAIL; a slower slot DEGRADED; the generation in use says nothing "
    "at idle",
    "limit.gpu.loaded_clocks": "held down by hardware or heat, or below half of the highest clock, DEGRADED; the power "
    "cap is normal",
    "limit.nvlink.links": "FAIL on a board, DEGRADED on bridged cards and for a slower link",
    "limit.nvlink.errors": "counters that grew DEGRADED; a link that went down FAIL; counts from before the run say "
    "nothing",
    "limit.hca.rate": "the promised rate is that of the platform; at or below 50 % of it FAIL, above that DEGRADED",
    "limit.hca.verbs": "FAIL before jobs between nodes, else DEGRADED",
    "limit.hca.errors": "link_downed FAIL; symbol_error, port_rcv_errors, port_rcv_remote_physical_errors and "
    "VL15_dropped by more than 10, and retries by more than 10, DEGRADED; any other error counter by more than 0 too",
    "limit.hca.mtu": "interface at 4200 or more; InfiniBand: active_mtu 4096",
    "limit.hca.traffic": "at least 5 % of the median of its node during a job between nodes (where that is 1 GB or "
    "more), and drop at most 10 packets for want of room",
    "limit.gdr.support": "FAIL where a job over several nodes follows, else DEGRADED",
    "limit.kernel.log": "a fatal Xid of the day before is DEGRADED, everything during the run counts in full",
    "limit.nccl.transport": "TCP where InfiniBand or RoCE is, or data between GPUs of one node over its network cards, "
    "is FAIL whatever the number says",
    "limit.localise.node": "FAIL from a tenth of loss up or where the job was FAIL, else DEGRADED; likely and "
    "suspected: DEGRADED",
    "limit.localise.rail": "FAIL from a tenth of loss up, else DEGRADED",
    "limit.bandwidth.busbw": "below the healthy fraction of peak DEGRADED, below the broken fraction FAIL; below 90 % "
    "of known-good numbers, an outlier among five peers or more, or 5 % and its spread below its own past DEGRADED; a "
    "wrong way of NCCL as bad as the check about it; the worst decides",
    "limit.bandwidth.algbw": "below the healthy fraction of the platform DEGRADED, below its broken fraction FAIL",
}
