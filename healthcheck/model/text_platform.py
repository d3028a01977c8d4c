"""Texts about machine types: how their peaks come about, and which one a node looks like."""

from __future__ import annotations

PLATFORM_TEXTS = {
    "platform.nics": "{count} x {rate_gbit_s:g} Gb/s {link_layer}",
    "platform.nics.none": "not published: nothing between nodes is judged",
    "platform.stage": "{stage} ({nodes} {nodes:node|nodes} x {gpus} {gpus:GPU|GPUs}, {collective}, {algorithm}; bus "
    "bandwidth)",
    "platform.peak.raw": "{gbyte_s:.5g} GB/s  (raw: from line rates)",
    "platform.peak.effective": "{gbyte_s:.5g} GB/s  (effective: what the topology can deliver; the line rate inside a "
    "node is {line_rate_gbyte_s:g} GB/s)",
    "platform.judged": "against the ring's {gbyte_s:.5g} GB/s, whatever NCCL chooses",
    "platform.peak.one_rank": "one rank alone has no bus bandwidth: nothing is judged",
    "platform.peak.none": "no bound is published: such a job is INCONCLUSIVE",
    "platform.healthy": "{gbyte_s:.5g} GB/s  ({percent:g} % of peak: PASS)",
    "platform.broken": "{gbyte_s:.5g} GB/s  (below {percent:g} %: FAIL)",
    "platform.ceiling": "{gbyte_s:.5g} GB/s  (no algorithm is faster: what reads more is of another machine)",
    "platform.known": "{gbyte_s:g} GB/s  ({percent} % of peak), {how}; below {least_gbyte_s:.5g} is DEGRADED",
    "platform.known.other": "{gbyte_s:g} GB/s  ({percent} % of peak), {how}",
    "platform.known.none": "nobody has published what healthy machines read in such a job",
    "platform.known.chosen": "as NCCL chooses",
    "platform.known.forced": "with {algorithm}",
    "platform.two_nodes": "a run forces the ring on two nodes, because a tree there hides a lost NIC: see --algo ring",
    "platform.contradiction.ceiling": "{value:g} GB/s is above the {ceiling_gbyte_s:.5g} that such a job can reach at "
    "most; compare it with healthcheck platform show",
    "platform.contradiction.slow": "{value:g} GB/s is {percent:g} % of the peak of such a job, {peak_gbyte_s:.5g}: by "
    "the thresholds of this file that is {verdict}, so it cannot be what healthy machines read",
    "platform.contradiction.no_bound": "is about a job that has no peak here, so nothing would be held against it",
    "platform.contradiction.algorithm": "such machines cannot use {algorithm}",
    "platform.detect.seen": "{n} {n:node shows|nodes show} {seen}",
    "platform.detect.fits": "fits {names}",
    "platform.detect.none": "fits no machine type",
}
