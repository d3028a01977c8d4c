"""Kernel, limits and settings of a node: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

from healthcheck.model.text_causes_kernel import KERNEL_CAUSE_TEXTS

SYSTEM_CAUSE_TEXTS: dict[str, str] = {
    **KERNEL_CAUSE_TEXTS,
    "cause.memlock_low": "a process can lock only {kbyte} kB of memory, too little for RDMA",
    "remedy.memlock_low": "Set memlock to unlimited: /etc/security/limits.d for ssh, LimitMEMLOCK for services, "
    "--ulimit memlock=-1 for containers; under Slurm let it not be inherited from the submit host.",
    "why.memlock_low": "RDMA buffers are pinned in memory. A process that may not lock enough cannot register them, "
    "so NCCL fails while it connects.",
    "against.memlock_low": "The ranks are started by something that raises the limit, such as a scheduler.",
    "cause.shm_size": "there are only {size:g} GB of shared memory",
    "remedy.shm_size": "Start the container with --shm-size=1g or more, or with --ipc=host.",
    "why.shm_size": "NCCL keeps the buffers between ranks of a node in shared memory. A container gets 64 MB of it "
    "unless told otherwise, and a rank that touches what is not there dies with a bus error.",
    "against.shm_size": "All ranks of the node reach each other over NVLink or PCIe, and the job was whole.",
    "cause.shm_full": "the shared memory is nearly full: {free:g} of {size:g} GB are free",
    "remedy.shm_full": "Remove from /dev/shm what no living process uses; files named nccl-* belong to jobs that died.",
    "why.shm_full": "NCCL keeps the buffers between ranks of a node in shared memory and removes them at the end. "
    "Jobs that were killed leave theirs behind, until there is no room for the next one.",
    "against.shm_full": "A job that is at work uses it: then it is free again when that one has ended.",
    "cause.settings_network_off": "a setting on the node keeps NCCL from using InfiniBand or RoCE: {names}",
    "remedy.settings_network_off": "Remove it from {sources}.",
    "why.settings_network_off": "With NCCL_IB_DISABLE=1 all traffic between nodes goes over TCP, at a fraction of "
    "the speed.",
    "against.settings_network_off": "The NCCL log of a job shows NET/IB between the nodes.",
    "cause.settings_peers_off": "a setting on the node keeps GPUs from reaching each other directly: {names}",
    "remedy.settings_peers_off": "Remove it from {sources}.",
    "why.settings_peers_off": "Without peer access NVLink lies idle, and all traffic inside the node goes through "
    "host memory.",
    "against.settings_peers_off": "The NCCL log of a job shows P2P between the GPUs of the node.",
    "cause.settings_gdr_off": "a setting on the node keeps network cards from reaching GPU memory: {names}",
    "remedy.settings_gdr_off": "Remove it from {sources}.",
    "why.settings_gdr_off": "Without GPUDirect RDMA everything between nodes is copied through host memory, which "
    "takes half of the bandwidth or more.",
    "against.settings_gdr_off": "The NCCL log of a job shows GDRDMA on its channels.",
    "cause.settings_shm_off": "a setting on the node keeps NCCL from using shared memory: {names}",
    "remedy.settings_shm_off": "Remove it from {sources}.",
    "why.settings_shm_off": "GPUs that do not reach each other directly then talk over the network card, within one "
    "node.",
    "against.settings_shm_off": "All GPUs of the node reach each other directly.",
    "cause.settings_nvls_off": "a setting on the node switches off reduction inside the NVSwitch: {names}",
    "remedy.settings_nvls_off": "Remove it from {sources}.",
    "why.settings_nvls_off": "From Hopper on the switch adds up what the GPUs send, which is worth about a quarter of "
    "the bandwidth of an all_reduce.",
    "against.settings_nvls_off": "It was set on purpose against a fault of the fabric manager.",
    "cause.settings_algorithm": "a setting on the node chooses algorithm or protocol for every job: {names}",
    "remedy.settings_algorithm": "Remove it from {sources}.",
    "why.settings_algorithm": "NCCL chooses by size, number of nodes and network. A choice made once for one case is "
    "wrong for most others.",
    "against.settings_algorithm": "The vendor of the machine prescribes it for this NCCL version.",
    "cause.settings_channels": "a setting on the node bounds the channels of every job: {names}",
    "remedy.settings_channels": "Remove it from {sources}.",
    "why.settings_channels": "Every channel drives a part of the links. With fewer channels than the links need, "
    "they are never filled.",
    "against.settings_channels": "The bound is above what NCCL would take by itself.",
    "cause.settings_gid": "a setting on the node fixes the RoCE address by its number: {names}",
    "remedy.settings_gid": "Remove it from {sources}: NCCL finds the right one by itself since version 2.21.",
    "why.settings_gid": "The order of the addresses of a port changes with its network settings. A number that was "
    "right once may name another protocol, or nothing.",
    "against.settings_gid": "The number is that of the RoCE v2 address on every port of every node.",
    "cause.cpu_held_back": "the processors are held back by the governor {name}",
    "remedy.cpu_held_back": "Set the governor to performance (cpupower frequency-set -g performance).",
    "why.cpu_held_back": "The governor raises the speed of a processor only when it is busy for a while. The short "
    "work of the network threads never gets there, so latency and copies through host memory suffer.",
    "against.cpu_held_back": "Bandwidth at small sizes and between sockets is that of the other nodes.",
    "cause.cpu_mixed": "the processors of the node are governed differently: {names}",
    "remedy.cpu_mixed": "Set all of them to performance (cpupower frequency-set -g performance).",
    "why.cpu_mixed": "A rank is as fast as the processor it happens to run on, so the same job is slow on one day and "
    "fast on the next.",
    "against.cpu_mixed": "Only processors that run no rank are governed differently.",
    "cause.files_few": "a process can open only {files} files",
    "remedy.files_few": "Raise nofile in /etc/security/limits.d, or LimitNOFILE of the service, to 65536 or more.",
    "why.files_few": "Every connection between ranks and every registered buffer takes a file. Large jobs run out of "
    "them while they connect.",
    "against.files_few": "The ranks are started by something that raises the limit, such as a scheduler.",
    "cause.clock_wrong": "the clock of the node is {seconds:g} s off",
    "remedy.clock_wrong": "Repair its time server (chrony, systemd-timesyncd), then look at the logs again.",
    "why.clock_wrong": "Lines of several nodes are put in order by their times. healthcheck takes the offset into "
    "account for its own window; nothing else does.",
    "against.clock_wrong": "The clock of the machine that runs healthcheck is the wrong one: then all nodes are off by "
    "the same.",
}
