"""Lines of NCCL about a node itself: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

NCCL_CAUSE_TEXTS: dict[str, str] = {
    "cause.gpu_memory_fault": "a GPU could not serve a memory access (ECC error or illegal address)",
    "remedy.gpu_memory_fault": "Drain the node, then reset the GPU and run dcgmi diag; look for Xid 48, 63, 64, 94, 95 "
    "and 13, 31 in the kernel log of that host.",
    "why.gpu_memory_fault": "Memory that cannot be corrected ends every kernel that touches it. An illegal address "
    "may also be a fault of software, which then shows on any GPU.",
    "against.gpu_memory_fault": "No Xid at that time, and the same error moves with the program and not with the GPU.",
    "cause.nvml_lost_gpu": "the driver lost a GPU while the job ran",
    "remedy.nvml_lost_gpu": "Drain the node, then power-cycle it; look for Xid 79 in the kernel log, and reseat the "
    "GPU if it is lost again.",
    "why.nvml_lost_gpu": "The management library no longer reaches the GPU: it fell off the bus.",
    "against.nvml_lost_gpu": "nvidia-smi lists all GPUs without a power-cycle.",
    "cause.driver_library_differ": "the NVIDIA driver and its library are of different versions",
    "remedy.driver_library_differ": "Drain the node, then reload the driver or reboot.",
    "why.driver_library_differ": "The package was upgraded while the old kernel module stayed loaded.",
    "against.driver_library_differ": "/proc/driver/nvidia/version names the version of the library.",
    "cause.driver_too_old": "the program or NCCL needs a newer driver, or was not built for this GPU",
    "remedy.driver_too_old": "Upgrade the driver, or build NCCL and nccl-tests with the architecture of the GPU "
    "(NVCC_GENCODE).",
    "why.driver_too_old": "A driver runs CUDA up to its own version only, and a program holds code only for the "
    "architectures it was built for.",
    "against.driver_too_old": "The same program runs on another node with the same GPU and driver.",
    "cause.fabric_not_initialised": "CUDA waits for the NVSwitch fabric, which is not set up (802)",
    "remedy.fabric_not_initialised": "Drain the node, then start the fabric manager in exactly the version of the "
    "driver; its log says why it did not run.",
    "why.fabric_not_initialised": "On NVSwitch boards the fabric manager programs the switches at boot. Until it "
    "has, no CUDA program may start.",
    "against.fabric_not_initialised": "nvidia-fabricmanager is active and nvidia-smi -q shows the fabric as Completed.",
    "cause.nvls_stale": "NVLS could not be set up: the NVSwitch fabric holds a stale state",
    "remedy.nvls_stale": "Drain the node, then restart the fabric manager and reset all GPUs after it; "
    "NCCL_NVLS_ENABLE=0 until then.",
    "why.nvls_stale": "When the fabric manager is restarted without a reset of the GPUs, multicast groups of before "
    "stay behind and new ones are refused.",
    "against.nvls_stale": "The fabric manager was not restarted since the GPUs came up.",
    "cause.nvls_unavailable": "NVLS is not available, although the GPUs and switches have it",
    "remedy.nvls_unavailable": "Drain the node, then restart the fabric manager and reset the GPUs; check first that "
    "no NCCL_NVLS_ENABLE=0 is set and no virtual machine hides multicast.",
    "why.nvls_unavailable": "NVLS lets the switches add up, which is worth about a quarter of the bandwidth. It "
    "needs a matching fabric manager and multicast in the driver.",
    "against.nvls_unavailable": "The GPUs are of a generation before Hopper, or only some GPUs of the board take "
    "part: then this is normal.",
    "cause.nvlink_peers_off": "two GPUs joined by NVLink cannot reach each other",
    "remedy.nvlink_peers_off": "Drain the node, then look at nvidia-smi nvlink -s and topo -p2p n, and reset the GPUs; "
    "replace the part if the links stay off.",
    "why.nvlink_peers_off": "NCCL sees the NVLink between two GPUs, but the driver refuses peer access over it: a "
    "link or its switch is out of use.",
    "against.nvlink_peers_off": "nvidia-smi topo -p2p r shows OK between all GPUs.",
    "cause.pcie_peers_off": "GPUs cannot reach each other directly over PCIe",
    "remedy.pcie_peers_off": "Switch off ACS on the PCIe switches and IOMMU translation; on GeForce cards this is "
    "normal.",
    "why.pcie_peers_off": "Without peer access data goes through host memory. ACS, the chipset or the kind of card "
    "forbids it.",
    "against.pcie_peers_off": "The machine type has no peer access over PCIe.",
    "cause.peer_access_refused": "peer access between two GPUs was refused",
    "remedy.peer_access_refused": "Let each rank see all GPUs of the node, switch MIG off, keep GPUs in one IOMMU "
    "domain.",
    "why.peer_access_refused": "CUDA grants peer access only between GPUs that both processes may see and that are "
    "in no separate partitions.",
    "against.peer_access_refused": "nvidia-smi topo -p2p r shows OK between the two.",
    "cause.too_many_peers": "one process asked for more than eight GPU peers (711)",
    "remedy.too_many_peers": "Start one process per GPU: -g 1 with as many ranks as GPUs.",
    "why.too_many_peers": "A process may map a limited number of peers. Several GPUs per process on a large machine "
    "exceed it.",
    "against.too_many_peers": "Each process drives one GPU.",
    "cause.imex_missing": "memory cannot be shared between the nodes of the NVLink domain (800)",
    "remedy.imex_missing": "Start nvidia-imex on all trays, give the container an IMEX channel and the rights it "
    "needs.",
    "why.imex_missing": "NVLink between nodes hands out memory through IMEX channels. Without a channel the driver "
    "refuses.",
    "against.imex_missing": "/dev/nvidia-caps-imex-channels/channel0 exists in the same login or container.",
    "cause.mnnvl_not_working": "NVLink between nodes is present but does not work",
    "remedy.mnnvl_not_working": "Set up nvidia-imex on all trays; NCCL_MNNVL_ENABLE=0 only as a test.",
    "why.mnnvl_not_working": "NCCL sees one NVLink domain over several nodes, but memory cannot be exported to the "
    "others, so it uses the network.",
    "against.mnnvl_not_working": "nvidia-imex-ctl -N shows all nodes READY.",
    "cause.handles_across_containers": "memory handles were passed between containers that see different GPUs (101)",
    "remedy.handles_across_containers": "Expose all GPUs to each container, or set NCCL_CUMEM_ENABLE=0.",
    "why.handles_across_containers": "A handle names its GPU by number, and the number means another GPU, or none, "
    "in the other container.",
    "against.handles_across_containers": "All ranks run in one container.",
    "cause.too_many_ranks": "more ranks than GPUs were started on a node",
    "remedy.too_many_ranks": "Use -g 1 with one rank per GPU; check slots= in the hostfile and CUDA_VISIBLE_DEVICES.",
    "why.too_many_ranks": "Each rank takes the GPU of its local number. When ranks times -g is more than the node "
    "has, the last ones find none.",
    "against.too_many_ranks": "nvidia-smi -L lists fewer GPUs than the machine type has: then a GPU is missing.",
    "cause.duplicate_gpu": "two ranks use the same GPU",
    "remedy.duplicate_gpu": "Let the launcher place as many ranks on a node as it has GPUs, with a build of "
    "nccl-tests that knows MPI.",
    "why.duplicate_gpu": "A rank takes its GPU by its local number. Without MPI, or with a wrong placement, two get "
    "the same number.",
    "against.duplicate_gpu": "Two nodes have the same name: then NCCL takes their GPUs for the same.",
    "cause.nccl_versions_differ": "the nodes load different versions of NCCL",
    "remedy.nccl_versions_differ": "Install one version, and see which library a non-interactive login finds first.",
    "why.nccl_versions_differ": "The ranks speak a protocol of their version only.",
    "against.nccl_versions_differ": "All ranks print the same version at their start.",
    "cause.message_truncated": "ranks disagree about the size of a message",
    "remedy.message_truncated": "Install one version of NCCL everywhere; give two jobs on the same nodes different "
    "ports.",
    "why.message_truncated": "At the start the ranks exchange structures. Another version, another number of ranks "
    "or a second job on the same address sends one of another length.",
    "against.message_truncated": "All ranks have one version and no other job used the nodes.",
    "cause.shm_too_small": "the shared memory in /dev/shm is full or too small",
    "remedy.shm_too_small": "Start the container with --shm-size=1g or --ipc=host; remove stale nccl-* files from "
    "/dev/shm.",
    "why.shm_too_small": "Ranks of one node exchange data through files in /dev/shm. The 64 MB that containers get "
    "by default do not hold them; a write beyond ends with a bus error.",
    "against.shm_too_small": "df /dev/shm shows more than 1 GB free in the same container.",
    "cause.shm_not_shared": "ranks of one node do not see each other's shared memory",
    "remedy.shm_not_shared": "Start them with one IPC namespace (--ipc=host), or set NCCL_SHM_DISABLE=1 on purpose.",
    "why.shm_not_shared": "A segment is found by its name in /dev/shm. In another container or as another user it "
    "does not exist.",
    "against.shm_not_shared": "All ranks run as one user in one container.",
    "cause.shm_removed": "shared memory was removed while the job ran",
    "remedy.shm_removed": "Set RemoveIPC=no in logind.conf, and keep cleanup jobs away from /dev/shm.",
    "why.shm_removed": "systemd removes the shared memory of a user when the last login ends, although the job still "
    "runs.",
    "against.shm_removed": "The user stays logged in, and no cleanup job runs.",
    "cause.too_many_open_files": "a rank ran out of file handles",
    "remedy.too_many_open_files": "Raise ulimit -n to 65536 or more where the ranks are started.",
    "why.too_many_open_files": "Every connection and every shared buffer takes a handle; their number grows with the "
    "number of ranks.",
    "against.too_many_open_files": "ulimit -n in the shell that starts the ranks is high: then something leaks "
    "handles.",
    "cause.numa_forbidden": "the container is not allowed to place memory on NUMA nodes",
    "remedy.numa_forbidden": "Give the container SYS_NICE, or set NCCL_CUMEM_HOST_ENABLE=0.",
    "why.numa_forbidden": "NCCL asks for memory near its GPU. The filter of the container refuses those calls.",
    "against.numa_forbidden": "The ranks run outside a container.",
    "cause.rank_pinned": "a rank is bound to a single core",
    "remedy.rank_pinned": "Start with --bind-to none, or bind to the NUMA node.",
    "why.rank_pinned": "All threads of a rank, also those that serve the network, share the cores it is bound to.",
    "against.rank_pinned": "The mask has many cores.",
    "cause.topology_broken": "NCCL could not make sense of the topology of the node",
    "remedy.topology_broken": "Use the topology file of the provider (NCCL_TOPO_FILE), or mount the real /sys.",
    "why.topology_broken": "NCCL reads the paths from /sys, or from a file. A VM can show a tree that contradicts "
    "itself.",
    "against.topology_broken": "The same file works on other nodes of this kind.",
    "cause.topology_hidden": "the topology of the node is not visible to NCCL",
    "remedy.topology_hidden": "Mount the real /sys into the container, or use the topology file of the provider "
    "(NCCL_TOPO_FILE).",
    "why.topology_hidden": "NCCL reads from /sys how near a GPU is to a card. Where it is hidden, NCCL assumes long "
    "ways and may leave out GPUDirect.",
    "against.topology_hidden": "The node is bare metal with the real /sys.",
    "cause.algorithm_impossible": "NCCL_ALGO or NCCL_PROTO leaves no way to run the collective",
    "remedy.algorithm_impossible": "Unset NCCL_ALGO and NCCL_PROTO (environment, /etc/nccl.conf, ~/.nccl.conf).",
    "why.algorithm_impossible": "The settings allow only algorithms that this machine or this collective does not "
    "have.",
    "against.algorithm_impossible": "Neither is set in the environment nor in nccl.conf.",
    "nccl.warning.first": "NCCL on {host} was the first to give a reason (rank {rank}, {at}); other ranks that only "
    "followed: {followers}. It wrote: {line}",
    "nccl.warning.together": "NCCL on {host} gave a reason (rank {rank}, {at}) within {tolerance:g} s of {others}, so "
    "either may be first; other ranks that only followed: {followers}. It wrote: {line}",
    "nccl.warning.undated": "NCCL on {host} gave a reason (rank {rank}), as on {others}, and no time that would tell "
    "which was first; other ranks that only followed: {followers}. It wrote: {line}",
    "nccl.warning.printed": "the output of the job gives a reason: {line}",
}
