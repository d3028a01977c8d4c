"""Ways NCCL should not have taken: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

NCCL_PATH_CAUSE_TEXTS: dict[str, str] = {
    "cause.tcp_fallback": "NCCL does not use InfiniBand or RoCE on this node: it fell back to TCP",
    "remedy.tcp_fallback": "Check that ibv_devinfo lists active ports in the environment the ranks start in; install "
    "libibverbs, give a container /dev/infiniband, correct NCCL_IB_HCA.",
    "why.tcp_fallback": "When NCCL finds no usable port it says so in one line and goes on over TCP, at a tenth of "
    "the bandwidth and without an error.",
    "against.tcp_fallback": "The log of the same node says Using network IB in another job.",
    "cause.nic_loopback": "GPUs of one node talk to each other over the network cards",
    "remedy.nic_loopback": "Unset NCCL_P2P_DISABLE and NCCL_SHM_DISABLE; start all ranks of a node in one container; "
    "check that NVLink and /dev/shm work.",
    "why.nic_loopback": "NCCL goes out and in again through a card only where neither peer access nor shared memory "
    "works between two GPUs of a node.",
    "against.nic_loopback": "The two ranks are on different nodes that have the same name.",
    "cause.nvlink_unused": "the GPUs of this node do not use the NVLinks between them",
    "remedy.nvlink_unused": "Check nvidia-smi topo -m, nvlink -s and the fabric manager; unset NCCL_P2P_DISABLE and "
    "NCCL_P2P_LEVEL; share the IPC namespace between containers.",
    "why.nvlink_unused": "Without peer access NCCL copies through host memory or PCIe, ten times slower than NVLink.",
    "against.nvlink_unused": "nvidia-smi topo -p2p n shows OK between all GPUs, and the log says via P2P.",
    "cause.gdr_unsupported": "the network does not reach GPU memory: NCCL works without GPUDirect RDMA",
    "remedy.gdr_unsupported": "modprobe nvidia_peermem, or use the open kernel modules with DMA-BUF; check that "
    "NCCL_NET_GDR_LEVEL is not set.",
    "why.gdr_unsupported": "Every byte is copied to host memory and from there to the card, which costs between a "
    "tenth and nearly all of the bandwidth.",
    "against.gdr_unsupported": "The connections of the same node end in GDRDMA in another job.",
    "cause.gdr_too_far": "GPUs and network cards are too far apart for GPUDirect RDMA",
    "remedy.gdr_too_far": "Compare nvidia-smi topo -m with a healthy node; put the card behind the PCIe switch of its "
    "GPU, or give a VM the topology file of its provider.",
    "why.gdr_too_far": "NCCL leaves GPUDirect out where the way between GPU and card leads through the processor.",
    "against.gdr_too_far": "nvidia-smi topo -m shows PIX or PXB between each GPU and a card.",
    "cause.nics_unused": "NCCL uses {used} of {expected} network ports",
    "remedy.nics_unused": "Check the ports that are not in the list of NCCL: their state, NCCL_IB_HCA, the devices of "
    "the container.",
    "why.nics_unused": "A port that is not active, not visible or filtered out carries nothing; the others carry its "
    "share, so the job is slower by it.",
    "against.nics_unused": "All ports are active and their counters grow alike.",
    "cause.settings_forced": "variables set on the node force NCCL off its way: {names}",
    "remedy.settings_forced": "Take them out of /etc/nccl.conf, ~/.nccl.conf, login files and images, and measure "
    "again.",
    "why.settings_forced": "What was once set to work around a fault or to try something out stays behind, and takes "
    "a way or an algorithm from NCCL for good.",
    "against.settings_forced": "The site set them on purpose, and a healthy node with them is as fast.",
}
