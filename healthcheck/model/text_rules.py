"""Texts of the rules that hold a bandwidth against healthy machines, its peers and its own past."""

RULE_TEXTS: dict[str, str] = {
    "rules.not_judged": "the reading itself cannot be judged",
    "rules.known_good.passed": "{percent} % of the {expected_gbyte_s:g} GB/s that healthy machines of this kind read",
    "rules.known_good.below": "busbw {observed_gbyte_s:.1f} GB/s ({placement}, {size_gib:g} GiB), {percent} % of the "
    "{expected_gbyte_s:g} GB/s that healthy machines of this kind read; they stay above {least_percent} %",
    "rules.known_good.none": "no known-good number for {collective} over {nodes} {nodes:node|nodes}",
    "rules.known_good.none_of_fewer": "no known-good number for {gpus} of {count} {count:GPU|GPUs}",
    "rules.known_good.none_of_algorithm": "no known-good number for {algorithm}, which this job forces",
    "rules.known_good.uneven": "no known-good number for nodes that use different numbers of GPUs",
    "rules.known_good.small": "over {nodes} {nodes:node|nodes} known-good numbers hold from {least_gib:g} GiB",
    "rules.peers.passed": "within the scatter of the {peers} other nodes (median of all {expected_gbyte_s:.1f} GB/s)",
    "rules.peers.outlier": "busbw {observed_gbyte_s:.1f} GB/s ({placement}), {percent} % under the median of it and "
    "the {peers} other {peers:node|nodes} in the same job, {expected_gbyte_s:.1f} GB/s, {sigmas} times their scatter",
    "rules.peers.too_few": "fewer than {least} peers: {peers} other {peers:node|nodes} with the same job",
    "rules.peers.joint": "a job over several nodes has no peers",
    "rules.history.passed": "{percent} % of its own {expected_gbyte_s:.1f} GB/s in {n} healthy runs ({source})",
    "rules.history.worse": "busbw {observed_gbyte_s:.1f} GB/s ({placement}, {size_gib:g} GiB), {percent} % under its "
    "own {expected_gbyte_s:.1f} GB/s in {n} healthy runs, which scatter by {spread_gbyte_s} ({source})",
    "rules.history.none_given": "no baseline",
    "rules.history.other_platform": "{source} was made of {made_of}, and this is judged as {judged_as}",
    "rules.history.none": "no baseline of this {hosts:node|set of nodes}",
    "rules.history.other_sizes": "no baseline of these sizes",
    "rules.history.too_few": "the baseline has {n} healthy {n:run|runs} of it, fewer than {least}",
    "rules.transport.unseen": "NCCL said nothing of its network",
    "rules.transport.on": "{host}: {what}",
    "report.rules": "Other rules: {rules}",
    "report.rules.said": "{name} {verdict}, {what}",
    "report.rules.not_asked": "{name} not asked, {why}",
    "report.rule.peak": "peak",
    "report.rule.known_good": "known good",
    "report.rule.peers": "peers",
    "report.rule.history": "history",
    "report.rule.transport": "transport",
}
