"""What the search between nodes names: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

SEARCH_CAUSE_TEXTS: dict[str, str] = {
    "cause.slow_rail": "rail {rail} of this node ({device}) is slow: it carries about {percent} % less than the others",
    "remedy.slow_rail": "Drain the node, then look at that HCA, its PCIe slot, its cable and its switch port, and at "
    "the GPU beside it; swap the cable with the one of a healthy rail and search again.",
    "why.slow_rail": "Rail r of every node talks to rail r of all others, so one slow rail makes all wait. Measured by "
    "itself with a proven-good partner, only this one is slow. A rail is a GPU, a PCIe slot, an HCA, a cable and a "
    "switch port; the number does not say which of them.",
    "against.slow_rail": "The partner's rail of that number is slow with others, too.",
    "cause.slow_gpu": "GPU {gpu} of this node is slow: about {percent} % below the others in pairs of GPUs",
    "remedy.slow_gpu": "Drain the node, then look at its NVLinks (nvidia-smi nvlink -s, -e), its clocks under load and "
    "the kernel log; reset the GPU, and have it replaced if it stays slow.",
    "why.slow_gpu": "A ring inside a node runs at the pace of its slowest GPU. This one is slow with both neighbours, "
    "and they are fast with others.",
    "against.slow_gpu": "It is fast in the half of the GPUs it belongs to.",
    "cause.slow_gpu_pair": "GPUs {a} and {b} of this node are slow with each other: about {percent} %",
    "remedy.slow_gpu_pair": "Look at the NVLinks between the two (nvidia-smi topo -m, nvlink -s) and at their "
    "bridge or switch.",
    "why.slow_gpu_pair": "Both are fast with their other neighbours, so it is what joins them.",
    "against.slow_gpu_pair": "They are joined by fewer links by design.",
    "cause.breaks_alone": "a job on this node alone breaks, as the joint job did",
    "remedy.breaks_alone": "Drain the node, then read the end of the raw output and its kernel log.",
    "why.breaks_alone": "The joint job named this host in its error, and a job that needs no other node breaks there "
    "as well.",
    "against.breaks_alone": "It passes alone when it is measured again.",
    "cause.slow_node": "jobs with this node are slow: about {percent} % below its peers, with {partners} "
    "{partners:partner|partners}",
    "remedy.slow_node": "Drain the node, then compare with a healthy one: NCCL's log (GDRDMA, devices), ibstat, the "
    "PCIe links of its HCAs, versions and settings in this report.",
    "why.slow_node": "A job between nodes runs at the pace of its slowest node. Every pair with this one was slow, and "
    "its partners are fast with others, so it is neither they nor what lies between.",
    "against.slow_node": "It is fast with a partner, or all its partners are slow elsewhere, too.",
    "cause.slow_link": "what lies between {a} and {b} is slow: about {percent} % below their peers",
    "remedy.slow_link": "Look for the switch ports and cables the two use and no other pair does (ibtracert, error "
    "counters of the switches); neither node has to leave.",
    "why.slow_link": "The two are slow with each other, repeatedly, and fast with everybody else: routing gave this "
    "pair a bad port or cable. A node that is sick only now and then can look the same.",
    "against.slow_link": "One of them is slow with others, too.",
    "cause.slow_path": "the fabric between the leaves {a} and {b} is slow: pairs across it lose about {percent} %",
    "remedy.slow_path": "Look at the uplinks of both leaves and the spines between them: ports down or at half rate, "
    "error counters, routing. No node has to leave.",
    "why.slow_path": "Nearly all pairs across these two leaves are slow, over many different nodes, and the same nodes "
    "are fast otherwise.",
    "against.slow_path": "Pairs of other nodes across the same leaves are fast.",
    "cause.slow_leaf": "most nodes on the leaf {leaf} are slow: {sick} of {nodes}",
    "remedy.slow_leaf": "Look at the leaf switch first, then at what its nodes share (rack power, cooling, image).",
    "why.slow_leaf": "So many nodes of one leaf hardly fall ill by themselves. The numbers do not tell the switch from "
    "something its nodes share.",
    "against.slow_leaf": "Pairs on that leaf are fast, and only those that leave it are slow.",
    "cause.slow_once": "the nodes together were slow at first and fast at the end",
    "remedy.slow_once": "Run the check-up again; where it comes back, look at what else uses the fabric at that time, "
    "and at the node that the slow pairs share.",
    "why.slow_once": "The same nodes together were measured again and were as fast as expected, and no pair stayed "
    "slow: other traffic, a cold start, or a fault that comes and goes.",
    "against.slow_once": "The slow job comes back at every second run.",
    "cause.slow_unexplained": "the nodes together are slow and what was found does not account for it",
    "remedy.slow_unexplained": "See in the rounds of the search how slow the pairs are: where all are well, look at "
    "what a full job alone loads (spines, adaptive routing, other jobs), or correct the expectation.",
    "why.slow_unexplained": "Losses too small to be told from noise add up, or only a job of all nodes loads what is "
    "slow, or the expectation is too high for this cluster.",
    "against.slow_unexplained": "A search with a smaller --sensitivity names somebody.",
    "cause.slow_at_scale": "only all together ({hosts}) are slow, both halves are fast",
    "remedy.slow_at_scale": "Look at what connects the halves (spines, oversubscription, adaptive routing), and at the "
    "start-up of large jobs.",
    "why.slow_at_scale": "Every pair and both halves are well, so it is the fabric between them or the size of the "
    "job.",
    "against.slow_at_scale": "The halves taken another way are slow.",
    "cause.slow_pair": "two nodes are slow together: which of them, or what lies between, two cannot show",
    "remedy.slow_pair": "Measure each of the two with a third node (healthcheck localise on three nodes or more), and "
    "look at the ports and cables of both.",
    "why.slow_pair": "A pair shows the worse of both nodes and of the link between them. To tell them apart takes a "
    "partner that is known to be good.",
    "against.slow_pair": "One of the two is slow by itself, or a look at it names a part.",
    "cause.nobody_proven_good": "so many nodes are slow that none can be held against a good one",
    "remedy.nobody_proven_good": "Look for what all share: NCCL settings, GPUDirect RDMA, driver, a slow spine, or "
    "another platform than the one that was assumed.",
    "why.nobody_proven_good": "A node is named by its readings with partners that are proven good. Where nobody is, "
    "naming somebody would be a guess.",
    "against.nobody_proven_good": "A search among fewer nodes finds good ones.",
    "cause.search_cut_short": "the search ended before everybody was out of doubt",
    "remedy.search_cut_short": "Go on with it: healthcheck localise --resume and this run, with a larger --budget or "
    "--max-rounds.",
    "why.search_cut_short": "It stops at its budget of time, at its most rounds, when it is interrupted, or when fewer "
    "than two nodes are left. What stands is what was measured until then.",
    "against.search_cut_short": "Everything that is named is confirmed already.",
    "cause.search_not_measured": "no pair of nodes could be measured",
    "remedy.search_not_measured": "Pairs start on their first node and need ssh from there to the second; without it "
    "search with --launch-from local. Look at the raw output of one of the jobs.",
    "why.search_not_measured": "The joint job started from one node only; pairs start from many.",
    "against.search_not_measured": "Single pairs were measured.",
    "cause.node_lost": "this node could not be measured with others any more",
    "remedy.node_lost": "Look at the raw output of its pairs, and whether it can be reached from other nodes over ssh.",
    "why.node_lost": "Jobs with three different partners did not start, while those partners did with others.",
    "against.node_lost": "It takes part in other jobs over several nodes.",
}
