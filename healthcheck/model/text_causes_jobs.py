"""What a benchmark shows: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

JOB_CAUSE_TEXTS: dict[str, str] = {
    "finding.no_result": "no result was recorded for this node",
    "cause.wrong_results": "the result of a collective is wrong: GPU memory, NVLink or the network corrupts data",
    "remedy.wrong_results": "Take the node out of service at once, run dcgmi diag and look for ECC and Xid errors.",
    "why.wrong_results": "The sums that came back differ from the sums that were sent: bits were changed in memory, "
    "on NVLink, on PCIe or on the network. Error correction did not catch it.",
    "against.wrong_results": "The same job is right when it runs again on the same nodes, and no counter of ECC or "
    "link errors moved.",
    "cause.rank_died": "a process of the benchmark died",
    "remedy.rank_died": "Read the end of the raw output, then the kernel log of that host (out of memory, Xid).",
    "why.rank_died": "One process ended by a signal; the launcher then ended the others. The signal tells the kind: "
    "9 mostly memory, 7 mostly /dev/shm, 11 a crash.",
    "against.rank_died": "Somebody or a scheduler ended the job: its log shows a cancel at that time.",
    "cause.out_of_memory": "there was not enough GPU memory for the benchmark",
    "remedy.out_of_memory": "See what else holds GPU memory, or lower the largest size in the playbook.",
    "why.out_of_memory": "The buffers of the benchmark did not fit into the free memory of a GPU. A buffer is as "
    "large as the largest size, and there are two or more of them.",
    "against.out_of_memory": "Nothing else held memory and the size fits: then memory leaks in the driver, and a "
    "reset frees it.",
    "cause.job_hung": "the benchmark stopped making progress",
    "remedy.job_hung": "Read the end of the raw output; look for a GPU or a port that stopped (Xid, link down).",
    "why.job_hung": "All ranks wait for one that no longer takes part: its GPU, its port or its process stopped. "
    "Peer-to-peer behind an active ACS or IOMMU hangs in the same way.",
    "against.job_hung": "The time limit was simply short: the table was still growing when it ended.",
    "cause.cuda_error": "CUDA reported an error",
    "remedy.cuda_error": "Look for Xid lines; on NVSwitch machines see whether the fabric manager runs.",
    "why.cuda_error": "A CUDA call failed in a rank. The error text names the kind; the hardware ones also leave an "
    "Xid line in the kernel log.",
    "against.cuda_error": "No Xid at that time, and the same error on every node: then software, not a part, is the "
    "reason.",
    "cause.network_error": "the ranks lost each other on the network",
    "remedy.network_error": "Look at the ports and cables of the named hosts, and at the interface NCCL chose.",
    "why.network_error": "A connection between ranks broke or never came about: a port lost its link, packets found "
    "no way, or a rank on the other side had died before.",
    "against.network_error": "Another rank died first: its own error stands earlier in the raw output.",
    "cause.nccl_error": "NCCL reported an error",
    "remedy.nccl_error": "Read the first WARN line in the raw output: it names the call and the host.",
    "why.nccl_error": "NCCL gave up a call and printed why in a WARN line before. The text of the error alone says "
    "little.",
    "against.nccl_error": "The earliest WARN line belongs to another host: look there.",
    "cause.far_below_peak": "far below what the links can carry: a link, a card or a whole path is out of use",
    "remedy.far_below_peak": "Compare topology, links and transports in the NCCL log with a healthy node.",
    "why.far_below_peak": "One link or card that is out of use pulls a collective far down, because all ranks wait "
    "for the slowest. A fall back to host memory or TCP looks the same.",
    "against.far_below_peak": "A second run on the same nodes is fast: then something else used the links meanwhile.",
    "cause.below_peak": "slower than the links allow",
    "remedy.below_peak": "Compare topology, links and transports in the NCCL log with a healthy node.",
    "why.below_peak": "All ranks wait for the slowest path, so one GPU that throttles, a link at a lower rate or a "
    "longer way through the CPU shows in the whole job.",
    "against.below_peak": "The largest size was too small to saturate the links, or all nodes of the fleet are "
    "equally slow.",
    "cause.job_not_whole": "the job gave no whole measurement",
    "remedy.job_not_whole": "Read the raw output of the job; the reason stands among what speaks for it.",
    "why.job_not_whole": "The table has no end, lacks sizes or ranks, or the program gave no numbers. What is there "
    "cannot be held against a limit.",
    "against.job_not_whole": "The raw output is whole, and only its form is new.",
    "cause.follows_from": "most likely a consequence of what is wrong with {parts}",
    "remedy.follows_from": "Repair {parts} first, then measure again.",
    "why.follows_from": "A job is as slow as its slowest part, and one of its parts is known to be sick.",
    "against.follows_from": "The job stays slow without that node.",
}
