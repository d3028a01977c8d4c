"""What a benchmark shows: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

JOB_CAUSE_TEXTS: dict[str, str] = {
    "finding.no_result": "no result was recorded for this node",
    "cause.wrong_results": "the result of a collective is wrong: GPU memory, NVLink or the network corrupts data",
    "remedy.wrong_results": "Drain the node at once, then run dcgmi diag and look for ECC and Xid errors.",
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
    "remedy.cuda_error": "Look for Xid lines in the kernel log; on NVSwitch machines check whether the fabric manager "
    "runs.",
    "why.cuda_error": "A CUDA call failed in a rank. The error text names the kind; the hardware ones also leave an "
    "Xid line in the kernel log.",
    "against.cuda_error": "No Xid at that time, and the same error on every node: then software, not a part, is the "
    "reason.",
    "cause.network_error": "the ranks lost each other on the network",
    "remedy.network_error": "Check the ports and cables of the named hosts, and the interface NCCL chose.",
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
    "cause.below_known_good": "slower than healthy machines of this kind",
    "remedy.below_known_good": "Compare links, network ports and transports in the NCCL log with a healthy node; "
    "where all nodes read alike, compare versions and settings with the machine the number comes from.",
    "why.below_known_good": "The peak leaves room that healthy machines do not need. NVLS that is silently off, or one "
    "network port of eight that is lost, stay above 70 % of it and below what such machines read.",
    "against.below_known_good": "The number was measured with another version or another setting, and all nodes of "
    "the fleet read alike.",
    "cause.slow_vs_peers": "slower than its peers",
    "remedy.slow_vs_peers": "Compare links, clocks and versions with a node that is fast; measure again to see whether "
    "it stays.",
    "why.slow_vs_peers": "Nodes of one kind read the same in the same job. One that lies below all others has "
    "something they do not have, and in a job over all of them everybody waits for it.",
    "against.slow_vs_peers": "A second run reads like the others: then it shared the node with somebody.",
    "cause.slow_vs_past": "slower than it used to be",
    "remedy.slow_vs_past": "See what changed since: driver, firmware, settings, repairs.",
    "why.slow_vs_past": "The same machine reads the same in the same job. What fell by more than it ever scattered "
    "was changed, or wears out.",
    "against.slow_vs_past": "All nodes fell by as much after a change that was wanted.",
    "cause.job_not_whole": "the job gave no complete measurement",
    "remedy.job_not_whole": "Read the raw output of the job; the reason is among the evidence.",
    "why.job_not_whole": "The table has no end, lacks sizes or ranks, or the program gave no numbers. What is there "
    "cannot be held against a limit.",
    "against.job_not_whole": "The raw output is whole, and only its form is new.",
    "cause.follows_from": "most likely a consequence of what is wrong with {parts}",
    "remedy.follows_from": "Repair {parts} first, then measure again.",
    "why.follows_from": "A job is as slow as its slowest part, and one of its parts is known to be sick.",
    "against.follows_from": "The job stays slow without that node.",
    "cause.rank_failed": "a process of the benchmark ended with an error",
    "remedy.rank_failed": "Read the end of the raw output: the first error that was printed names the rank and the "
    "reason.",
    "why.rank_failed": "A rank that meets an error prints it and ends with a code; the launcher then ends all the "
    "others.",
    "against.rank_failed": "The code belongs to the launcher and every rank had ended well.",
    "cause.daemon_lost": "the launcher lost its daemon on a node",
    "remedy.daemon_lost": "Check whether the node went down, whether MPI is installed there in the same version and "
    "place, and whether a firewall closes the ports of mpirun.",
    "why.daemon_lost": "mpirun starts a daemon on every node and talks to it over TCP. The daemon could not start "
    "there, or the node or the connection went away.",
    "against.daemon_lost": "The node answers ssh, and the same job starts when it is tried again.",
    "cause.mpi_interface": "the ranks cannot reach each other over the interface MPI chose",
    "remedy.mpi_interface": "Name the shared interface for MPI (btl_tcp_if_include, oob_tcp_if_include), and leave "
    "docker0 and virbr0 out.",
    "why.mpi_interface": "MPI tries the addresses of all interfaces. Bridges of containers have the same address on "
    "every node and lead nowhere.",
    "against.mpi_interface": "The named interface is up on all nodes and they reach each other over it.",
    "cause.mpi_collectives": "a collective library of MPI failed on its own",
    "remedy.mpi_collectives": "Set OMPI_MCA_coll_hcoll_enable=0 and UCX_TLS=tcp in the playbook (env): MPI only "
    "starts the ranks here.",
    "why.mpi_collectives": "hcoll and UCX use GPUs and cards on their own when MPI starts, and can fail there "
    "although NCCL would work.",
    "against.mpi_collectives": "The lines come after NCCL had begun to measure.",
    "cause.pmix_shared_memory": "the shared memory of PMIx failed",
    "remedy.pmix_shared_memory": "Set PMIX_MCA_gds=hash in the playbook (env).",
    "why.pmix_shared_memory": "PMIx keeps the data of a job in shared memory; some versions of its component fail on "
    "some file systems.",
    "against.pmix_shared_memory": "The job measured after this line.",
    "cause.launch_login": "a node refuses the ssh login of the node that starts the job",
    "remedy.launch_login": "Let the nodes log in to each other with keys and known host keys.",
    "why.launch_login": "mpirun on the first node starts its daemons over ssh on all the others, without anybody to "
    "answer a question.",
    "against.launch_login": "The same ssh from that node works without a question.",
    "cause.launch_unreached": "the node that starts the job cannot reach another one over ssh",
    "remedy.launch_unreached": "Check that names resolve there and that sshd of the other node answers on the port "
    "that is used.",
    "why.launch_unreached": "mpirun on the first node connects to all the others. A name, a port or a route that is "
    "right here may be wrong there.",
    "against.launch_unreached": "The same ssh from that node works.",
    "cause.launch_daemon_missing": "MPI is missing for a non-interactive login on a node of the job",
    "remedy.launch_daemon_missing": "Install the same MPI in the same place on all nodes, or put its bin folder into "
    "the PATH of non-interactive logins.",
    "why.launch_daemon_missing": "mpirun starts a daemon by its name or by its own path, which has to be there on "
    "every node.",
    "against.launch_daemon_missing": "ssh NODE command -v orted, from the node that starts the job, prints a path.",
    "cause.launch_program_missing": "the benchmark cannot be started on a node of the job",
    "remedy.launch_program_missing": "Install nccl-tests under the same path on every node, or let the playbook copy "
    "it (nccl_tests: push).",
    "why.launch_program_missing": "The launcher starts the same path everywhere.",
    "against.launch_program_missing": "The path is there and can be executed on the named node.",
    "cause.too_few_slots": "the launcher was given fewer slots than ranks",
    "remedy.too_few_slots": "Write slots= for each host of the hostfile, as many as it has GPUs.",
    "why.too_few_slots": "Without slots= a launcher counts cores, or one.",
    "against.too_few_slots": "The hostfile has the slots: then a scheduler gave the job less.",
    "cause.launch_as_root": "mpirun refuses to start as root",
    "remedy.launch_as_root": "Run as a user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.",
    "why.launch_as_root": "Open MPI protects against mistakes of root and must be told that it is meant.",
    "against.launch_as_root": "The login is no root login.",
    "cause.launch_no_pmi": "the ranks were started with a PMI that the MPI of nccl-tests does not understand",
    "remedy.launch_no_pmi": "Name the plugin that this MPI understands: --launcher srun:pmix for Open MPI, srun:pmi2 "
    "for MPICH and Intel MPI, the latter with I_MPI_PMI_LIBRARY set to libpmi2.so of Slurm.",
    "why.launch_no_pmi": "srun starts processes; that they are ranks of one job they learn by PMI, of which Open MPI, "
    "MPICH and Intel MPI speak different kinds. Some end then, some run on, each a job of its own.",
    "against.launch_no_pmi": "srun --mpi=PLUGIN with the same program prints one table for all ranks.",
    "cause.program_refused": "nccl-tests did not accept what it was asked to do",
    "remedy.program_refused": "Compare the command line of the job with the help of the program; an older version "
    "lacks options.",
    "why.program_refused": "The program ended with its help text or without a measured row.",
    "against.program_refused": "The same command line by hand measures.",
    "cause.other_shape": "the job ran with other ranks or hosts than asked for",
    "remedy.other_shape": "See in the raw output which hosts and ranks the table lists; check placement and build of "
    "the program.",
    "why.other_shape": "A build without MPI, or a plugin of the scheduler that does not fit, makes each rank a world "
    "of its own.",
    "against.other_shape": "The list of devices was cut in the output.",
    "cause.not_verified": "the results were not checked, although that was asked for",
    "remedy.not_verified": "Check that the job runs with -c 1 and that its column #wrong has numbers.",
    "why.not_verified": "Without the check wrong sums look fast and healthy.",
    "against.not_verified": "The collective has no check in this version.",
    "cause.numbers_contradict": "bandwidths of a row contradict each other",
    "remedy.numbers_contradict": "Read the row in the raw output; foreign lines may have mixed into the table.",
    "why.numbers_contradict": "Bus bandwidth is algorithm bandwidth times a factor of the collective and the ranks. "
    "A row that breaks this was not read or not printed whole.",
    "against.numbers_contradict": "The program counts in another way in this version.",
}
