"""What a number that is too low is consistent with: title, remedy, mechanism, counter-evidence, and its sentence."""

from __future__ import annotations

FINGERPRINT_TEXTS: dict[str, str] = {
    "hint.ring": "healthy machines of this kind read {ring_gbyte_s:g} GB/s with a ring and {usual_gbyte_s:g} where "
    "their switches add up (NVLS)",
    "hint.capped": "GPUs with {links} of {expected} NVLinks, as A800 and H800 have, or links that are not in use",
    "hint.pcie": "PCIe between the GPUs, without their NVLinks",
    "hint.host_memory": "a way through host memory: across the sockets, behind an IOMMU, or over a narrow slot",
    "hint.network_inside": "data between GPUs of one node that leaves it over a network card, or TCP",
    "hint.fewer_nics": "{used} of {count} network cards at {each_gbyte_s:g} GB/s each",
    "hint.half": "half of the {total_gbyte_s:g} GB/s that the network cards carry: no GPUDirect RDMA, slots or ports "
    "at half their rate",
    "hint.through_cpu": "two thirds of the {usual_gbyte_s:g} GB/s that are usual: GPUDirect RDMA through the "
    "processor, or ACS",
    "hint.staged": "GPUDirect RDMA that is lost: everything is copied through host memory of one socket",
    "hint.tcp": "TCP sockets on 25 to 100 Gb/s Ethernet instead of RDMA",
    "hint.ethernet": "one Ethernet port of {rate_gbit_s} Gb/s",
    "hint.consistent": "{observed_gbyte_s:g} GB/s is consistent with {looks}",
    "parse.consistent": "consistent with: {looks}",
    "cause.nvls_unused": "as fast as a ring: NVLS is not used",
    "remedy.nvls_unused": "Look for NVLS in the NCCL log, unset NCCL_NVLS_ENABLE and NCCL_ALGO, and check that every "
    "GPU has joined the fabric (nvidia-smi -q).",
    "why.nvls_unused": "Without NVLS every GPU sends and receives nearly everything twice. The switches add up only "
    "where the fabric manager gave them multicast, and with five GPUs or more.",
    "against.nvls_unused": "The NCCL log says that NVLS is used, or an algorithm was chosen on purpose.",
    "cause.capped_links": "as fast as GPUs with {links} NVLinks instead of {expected}",
    "remedy.capped_links": "Read the name of the GPUs and count their links (nvidia-smi nvlink -s); name the platform "
    "that they are (healthcheck platform list).",
    "why.capped_links": "A800 and H800 carry the chip of an A100 or H100 and two thirds or fewer of its links, so they "
    "read less in just that proportion.",
    "against.capped_links": "Every GPU has all its links, and its name is that of the platform.",
    "cause.pcie_speed": "as fast as PCIe: the NVLinks between the GPUs seem not to be used",
    "remedy.pcie_speed": "Compare nvidia-smi topo -m with a healthy node, check the fabric manager, and unset "
    "NCCL_P2P_DISABLE and NCCL_P2P_LEVEL.",
    "why.pcie_speed": "Without peer access over NVLink the data take the PCIe slots, a tenth of the rate.",
    "against.pcie_speed": "The NCCL log says via P2P between all GPUs.",
    "cause.host_memory_speed": "as fast as host memory: the GPUs seem not to reach each other directly",
    "remedy.host_memory_speed": "Look for via SHM in the NCCL log, check nvidia-smi topo -p2p n, the IOMMU, and the "
    "width and speed of the slots.",
    "why.host_memory_speed": "Data that one GPU writes to host memory and another reads from there cross the memory "
    "twice, and mostly the link between the sockets too.",
    "against.host_memory_speed": "The NCCL log says via P2P between all GPUs.",
    "cause.network_inside": "slower than PCIe: data between GPUs of this node seem to leave it",
    "remedy.network_inside": "Look for via NET in the NCCL log; unset NCCL_P2P_DISABLE and NCCL_SHM_DISABLE, and start "
    "all ranks of a node in one container.",
    "why.network_inside": "Where neither peer access nor shared memory works between two GPUs of a node, NCCL goes out "
    "over a network card and in again.",
    "against.network_inside": "The NCCL log shows no connection via NET in a job on one node.",
    "cause.fewer_nics": "as fast as {used} of {count} network cards",
    "remedy.fewer_nics": "Count the cards in the line NET/IB : Using of the NCCL log, correct NCCL_IB_HCA, and compare "
    "the counters of the ports: one that is not used does not move.",
    "why.fewer_nics": "Each card carries its share, and what one does not carry nobody else does.",
    "against.fewer_nics": "The NCCL log names all cards, and all their counters grow alike.",
    "cause.half_of_nics": "as fast as half of what the network cards carry",
    "remedy.half_of_nics": "Check width and speed of the slots and the rate of the ports, and whether the NCCL log "
    "says GDRDMA.",
    "why.half_of_nics": "A slot with half its lanes or one generation lower, ports trained at half their rate, and "
    "data that pass host memory all halve the rate.",
    "against.half_of_nics": "Slots and ports run at full rate, and the connections end in GDRDMA.",
    "cause.through_cpu": "as fast as network cards that reach the GPUs through the processor",
    "remedy.through_cpu": "Compare nvidia-smi topo -m with a healthy node, and switch ACS off on the PCIe bridges.",
    "why.through_cpu": "Where GPU and card hang on different PCIe switches, or ACS sends every access to the root, the "
    "processor passes the data on at two thirds of the rate.",
    "against.through_cpu": "Each GPU shows PIX or PXB to a card, and no bridge has ACS on.",
    "cause.gdr_lost": "as slow as without GPUDirect RDMA",
    "remedy.gdr_lost": "Look for GDRDMA in the NCCL log; load nvidia_peermem or use DMA-BUF on every node.",
    "why.gdr_lost": "Every byte is copied to host memory and from there to the card, often through one socket for all "
    "cards.",
    "against.gdr_lost": "The connections in the NCCL log end in GDRDMA.",
    "cause.tcp_speed": "as slow as TCP: RDMA seems not to be used",
    "remedy.tcp_speed": "Look for NET/Socket in the NCCL log; check that ibv_devinfo lists active ports where the "
    "ranks start, and which interface NCCL_SOCKET_IFNAME and NCCL_IB_HCA leave.",
    "why.tcp_speed": "Where NCCL finds no port for RDMA it goes on over TCP, without an error, on whatever network "
    "the host has.",
    "against.tcp_speed": "The NCCL log says Using network IB, or names the plugin of the cloud.",
    "cause.ethernet_speed": "as fast as one Ethernet port of {rate_gbit_s} Gb/s",
    "remedy.ethernet_speed": "See which interface the NCCL log names; keep NCCL off the management network with "
    "NCCL_SOCKET_IFNAME, and let it find the cards for the GPUs.",
    "why.ethernet_speed": "Without RDMA NCCL takes an interface that both sides have, which often is the management "
    "network.",
    "against.ethernet_speed": "The NCCL log says Using network IB, and names several cards.",
}
