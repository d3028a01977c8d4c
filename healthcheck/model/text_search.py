"""Texts of the search for what slows a job between nodes: its progress, its results, its page."""

SEARCH_TEXTS: dict[str, str] = {
    "search.begins": "{hosts} {hosts:node|nodes} together read {measured} GB/s where {expected} are expected: "
    "searching for who slows them, in pairs {way}",
    "search.way.rails": "rail by rail",
    "search.way.nodes": "of whole nodes",
    "search.whole_nodes": "no single rail is slow: once more with pairs of whole nodes",
    "search.rails": "the rails of {nodes} {nodes:node|nodes}, each by itself: {jobs} {jobs:job|jobs}",
    "search.round": "round {round}: {jobs} {jobs:job|jobs}",
    "search.done": "{rounds} {rounds:round|rounds}: {how}",
    "search.nothing_to_search": "nothing to search: the nodes together are not slow",
    "search.no_joint_job": "no job over all nodes was measured, so there is nothing to search for",
    "search.reading_source": "round {round}, with {partner}",
    "search.pair_source": "round {round}, {a} with {b}",
    "search.reading": "{measured} GB/s, {expected} expected ({percent:+d} %)",
    "search.reading_stuck": "did not finish",
    "search.fine": "round {round}, {a} with {b}: {measured} GB/s, {expected} expected ({percent:+d} %)",
    "search.joint_source": "round {round}, {hosts} {hosts:node|nodes} together",
    "search.node.confirmed": "loses about {percent} % in pairs with {partners} {partners:partner|different partners}",
    "search.node.likely": "most likely loses about {percent} %: slow in pairs with {partners} "
    "{partners:partner|partners}, not all of which are cleared themselves",
    "search.node.suspected": "may lose about {percent} %: the pairs with {partners} {partners:partner|partners} do not "
    "settle it",
    "search.node.intermittent": "two of the links at it are slow, each repeatedly, and it lost about {percent} % with "
    "{partners} {partners:partner|partners}: it may be sick only now and then",
    "search.node.lost": "could not be measured in three pairs with different partners: {why}",
    "search.rail.confirmed": "rail {rail} ({device}) loses about {percent} % by itself, the other rails of the node do "
    "not",
    "search.rail.unnamed": "HCA not known",
    "search.rails.node_wide": "{slow} of {rails} rails are slow: the cause is the node's, not that of one rail",
    "search.rails.losses": "what each rail loses by itself, from rail 0 on: {losses}",
    "search.rails.none": "no rail of it is slow by itself",
    "search.gpu.slow": "GPU {gpu} loses about {percent} % with both of its neighbours, which are well with others",
    "search.gpu.pair": "GPUs {a} and {b} lose about {percent} % with each other, and are well with others",
    "search.gpu.alike": "all {pairs} pairs of its GPUs are equally fast",
    "search.gpu.source": "GPUs {gpus} alone",
    "search.gpus": "the GPUs of {nodes} {nodes:node|nodes} that {nodes:is|are} slow alone, in pairs and halves",
    "search.node.breaks": "a job on it alone breaks, too: {why}",
    "search.begins_stuck": "{hosts} {hosts:node|nodes} together did not come to an end: searching for who stops them, "
    "in pairs {way}",
    "search.link.slow": "what lies between {a} and {b} loses about {percent} %: slow in {jobs} {jobs:job|jobs}, and "
    "both are well with others",
    "report.heading.search": "Who slowed the fabric",
    "report.search.cost": "{rounds} {rounds:round|rounds}, {jobs} {jobs:job|jobs}, the slow run and the verification "
    "among them.",
    "report.search.unseen": "Losses below {unseen} % could not be seen; the readings scatter by {noise} %.",
    "report.search.gone": "Could no longer be measured on the way: {hosts}.",
    "report.search.suspects": "Not out of doubt, and what lies between:",
    "report.search.suspect": "{host}: {standing}, loses about {loss} % (a loss is {sure} % probable), {partners} "
    "{partners:partner|partners}",
    "report.search.link": "link {a} to {b}: {state}, {loss} % in {jobs} {jobs:job|jobs}",
    "report.search.path": "path {a} to {b}: slow over many different nodes",
    "report.search.round": "Round {round}: {kind}, {jobs} {jobs:job|jobs}",
    "report.search.slow_run": "the slow run",
    "report.search.rails": "pairs, rail by rail (the slowest rail)",
    "report.search.nodes": "pairs of whole nodes",
    "report.search.verify": "all that are left, together",
    "report.search.halves": "both halves",
    "report.search.together": "{n} {n:node|nodes} together",
    "report.search.folded": "{n} {n:pair|pairs} more, none with a loss above {loss} %.",
    "report.search.untested": "{n} {n:pair|pairs} could not be measured: {hosts}.",
    "report.search.stuck": "did not finish",
    "report.search.slow": "slow, -{loss} %",
    "report.search.fine": "as expected",
    "report.search.of_expected": "{percent} % of expected",
    "report.search.col.who": "Who",
    "report.search.col.why": "Why",
    "report.search.col.measured": "GB/s",
    "report.search.col.expected": "Expected",
    "report.search.col.says": "Says",
    "plan.search_if_slow": "localise: only where the nodes together are slow",
    "plan.search_always": "localise",
    "plan.search_round": "round {round}: {pairs} {pairs:pair|pairs} at once, {a} with {b} the first (rail by rail "
    "where nccl-tests can split)",
    "plan.search_then": "then retests of whoever is in doubt, and the others together again",
    "plan.search_clean": "one culprit, seen at once: {rounds} {rounds:round|rounds}, about {minutes:.1f} minutes, "
    "{hours:.1f} node-hours",
    "plan.search_worst": "at most: {rounds} {rounds:round|rounds}, {minutes:.1f} minutes, {hours:.1f} node-hours",
    "search.path.slow": "pairs between the leaves {a} and {b} lose about {percent} %, and the nodes are well "
    "with others",
    "search.leaf.slow": "{sick} of the {nodes} on the leaf {leaf} are slow: its switch, or something they share",
    "search.end.verified": "{hosts} {hosts:node|nodes} together are as fast as expected: {measured} of {expected} GB/s",
    "search.end.once": "slow once and not again: the same {hosts} {hosts:node|nodes} together then read {measured} of "
    "{expected} GB/s, and no pair is slow",
    "search.end.still_slow": "what is named does not account for all of it: {hosts} {hosts:node|nodes} together "
    "without it stay slow; losses below {unseen} % could not be seen",
    "search.end.no_order": "no rank order of the other {hosts} avoids what is slow between nodes: they cannot be "
    "proven together before it is repaired",
    "search.end.unexplained": "nobody is named, and {hosts} {hosts:node|nodes} together stay slow: losses below "
    "{unseen} % could not be seen; the expectation may be too high",
    "search.end.scale": "no pair is slow and both halves of the nodes are fast, only all {hosts} together are slow",
    "search.end.nobody_good": "so many pairs are slow that no node is proven good: nobody can be blamed",
    "search.end.rounds": "stopped after {rounds} {rounds:round|rounds} (--max-rounds) without an answer for everybody",
    "search.end.budget": "stopped after {rounds} {rounds:round|rounds}: the time for it (--budget) was used up",
    "search.end.too_few": "fewer than two nodes are left to be measured together",
    "search.end.stopped": "interrupted after {rounds} {rounds:round|rounds}",
    "search.end.nothing_measured": "no pair could be measured: {why}",
}
