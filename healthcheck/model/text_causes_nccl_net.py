"""Lines of NCCL about connections between nodes: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

NCCL_NET_CAUSE_TEXTS: dict[str, str] = {
    "cause.port_error_event": "the link of a port broke while the job ran",
    "remedy.port_error_event": "Drain the node, then reseat or change the cable of the port that the line names; "
    "check its switch port and its error counters.",
    "why.port_error_event": "The card told NCCL that its port went into an error state: the link went away in the "
    "middle of the job. A cable, a transceiver or the switch port flaps.",
    "against.port_error_event": "link_downed of the port did not grow during the run: then the event is older than "
    "the job.",
    "cause.retry_exceeded": "a peer did not answer on the network until all retries were used up (status 12)",
    "remedy.retry_exceeded": "Check port and counters of the printed card and of its peer, run ib_write_bw between "
    "these two rails, leave NCCL_IB_GID_INDEX unset; raise NCCL_IB_TIMEOUT to 22 only as a test.",
    "why.retry_exceeded": "The card sent a packet again and again, and no acknowledgement came. The peer's port is "
    "down, the route or GID is wrong, packets are dropped, or the peer process had died.",
    "against.retry_exceeded": "The rank on the other side died first: its own error is earlier. Or the pair passes "
    "ib_write_bw on the same two cards.",
    "cause.dma_blocked": "the card was not allowed to write into GPU memory (status 4)",
    "remedy.dma_blocked": "Switch off ACS on the PCIe switches and IOMMU translation, check that nvidia_peermem fits "
    "driver and MOFED; set NCCL_NET_GDR_LEVEL=0 only as a test.",
    "why.dma_blocked": "GPUDirect lets the card reach GPU memory over PCIe. ACS or an IOMMU redirects such requests, "
    "and a peermem module that does not fit registers wrong addresses; both end in a protection error.",
    "against.dma_blocked": "The same error comes with NCCL_NET_GDR_LEVEL=0, when the card only touches host memory.",
    "cause.remote_refused": "the peer refused a remote access (status 9, 10 or 11)",
    "remedy.remote_refused": "Install the same NCCL and driver on all nodes, and switch off ACS and IOMMU translation.",
    "why.remote_refused": "The key or address one rank was given does not hold on the other side. Different versions "
    "of NCCL lay out their buffers in different ways, and a wrong address translation looks the same.",
    "against.remote_refused": "All nodes run the same NCCL, driver and firmware, and the error stays on one pair of "
    "cards.",
    "cause.receiver_not_ready": "a receiver did not accept what was sent to it (status 13)",
    "remedy.receiver_not_ready": "Look at the rank on the other side: it is stuck or far behind.",
    "why.receiver_not_ready": "The network delivered, but the receiving rank had posted no buffer for a long time. "
    "Its process or GPU stopped.",
    "against.receiver_not_ready": "The other rank made progress at that time.",
    "cause.roce_peer_silent": "a RoCE connection found no answer: its address has no way to the peer (110)",
    "remedy.roce_peer_silent": "Give each RoCE interface a routable address; on rails that are not connected with "
    "each other set NCCL_CROSS_NIC=0.",
    "why.roce_peer_silent": "A queue pair is connected by asking for the peer's MAC address. With a link-local "
    "address, or between two rails that do not meet, nobody answers.",
    "against.roce_peer_silent": "ping between exactly these two interfaces works.",
    "cause.roce_no_route": "a RoCE interface has no route to its peer (101)",
    "remedy.roce_no_route": "Set the address and the route of every rail.",
    "why.roce_no_route": "The kernel finds no route for the address that the GID stands for, so the queue pair "
    "cannot be connected.",
    "against.roce_no_route": "ip route get with the peer's address names the interface of the rail.",
    "cause.gid_wrong": "the GID index in use does not fit the port (22)",
    "remedy.gid_wrong": "Unset NCCL_IB_GID_INDEX (NCCL 2.21 and later choose by themselves), or take the RoCE v2 "
    "entry that show_gids lists.",
    "why.gid_wrong": "Each port has a table of addresses. An index that is empty, of RoCE v1, or of another link "
    "layer gives a queue pair that cannot be connected.",
    "against.gid_wrong": "The index names a RoCE v2 entry with an IPv4 address on both sides.",
    "cause.device_hidden": "a card of NCCL_IB_HCA cannot be used by this process (19)",
    "remedy.device_hidden": "Correct NCCL_IB_HCA, give the container the device, or reinstall MOFED for the running "
    "kernel.",
    "why.device_hidden": "The name is known, but its network namespace or driver does not belong to this process.",
    "against.device_hidden": "rdma link and ibv_devinfo list the card in the same login or container.",
    "cause.gid_table_changed": "an address of a port changed while the job ran",
    "remedy.gid_table_changed": "Keep network management away from the RoCE interfaces: no DHCP renewal, no bonding "
    "change during jobs.",
    "why.gid_table_changed": "A GID follows the IP address or VLAN of its interface. Connections made with the old "
    "one break.",
    "against.gid_table_changed": "The line stands before the job began.",
    "cause.link_layers_mixed": "InfiniBand and RoCE ports are used in one job",
    "remedy.link_layers_mixed": "Name the ports of one link layer in NCCL_IB_HCA.",
    "why.link_layers_mixed": "A queue pair connects ports of one kind. With storage ports of the other kind beside "
    "the compute ports NCCL may pair them.",
    "against.link_layers_mixed": "All ports of all nodes have one link layer.",
    "cause.net_devices_differ": "the nodes of the job have different numbers of network cards",
    "remedy.net_devices_differ": "Repair the node that has fewer; set NCCL_IGNORE_NET_MISMATCH only as a test.",
    "why.net_devices_differ": "NCCL plans the same channels on every node. A node that lost a card breaks the plan.",
    "against.net_devices_differ": "All nodes list the same cards: then NCCL_IB_HCA differs between them.",
    "cause.ports_numbered_differently": "the cards of the nodes are numbered in different order",
    "remedy.ports_numbered_differently": "Give the cards the same names in the same order on every node.",
    "why.ports_numbered_differently": "NCCL pairs card 0 with card 0. Where the names follow another order, rails "
    "cross and meet at the wrong switch.",
    "against.ports_numbered_differently": "The names follow the PCIe order on every node.",
    "cause.memory_not_registered": "GPU memory could not be registered with the card (14)",
    "remedy.memory_not_registered": "Load nvidia_peermem; if that fails, drain the node and reinstall the NVIDIA "
    "driver after MOFED, or use the open kernel modules (DMA-BUF).",
    "why.memory_not_registered": "A card may only touch memory that is registered. For GPU memory this needs "
    "nvidia_peermem or DMA-BUF, fitting driver and MOFED.",
    "against.memory_not_registered": "lsmod lists nvidia_peermem and host memory fails in the same way.",
    "cause.verbs_memory_locked": "the login cannot lock enough memory for the card (12)",
    "remedy.verbs_memory_locked": "Set ulimit -l unlimited where the ranks are started: limits.conf, LimitMEMLOCK of "
    "sshd or slurmd, --ulimit memlock=-1 of the container.",
    "why.verbs_memory_locked": "Memory that a card uses is locked. Above the limit of the shell that started the "
    "rank, registering it or creating a queue fails.",
    "against.verbs_memory_locked": "ulimit -l in the shell that starts the ranks prints unlimited.",
    "cause.verbs_not_permitted": "the card cannot be opened by this user or container",
    "remedy.verbs_not_permitted": "Give the container /dev/infiniband and IPC_LOCK, and the user rights on uverbs.",
    "why.verbs_not_permitted": "Verbs talk to the card through /dev/infiniband/uverbs*. Without the device or the "
    "right to open it NCCL leaves the card out.",
    "against.verbs_not_permitted": "ibv_devinfo lists the card in the same login or container.",
    "cause.no_ib_device": "NCCL found no usable network card",
    "remedy.no_ib_device": "Check that ibv_devinfo lists active ports, that NCCL_IB_HCA names them, and that rdma-core "
    "is installed.",
    "why.no_ib_device": "No port is active, the driver or libibverbs is missing, or the filter of NCCL_IB_HCA leaves "
    "none. NCCL then falls back to TCP.",
    "against.no_ib_device": "ibv_devinfo lists active ports in the same login or container, and NCCL_IB_HCA is unset.",
    "cause.libibverbs_missing": "libibverbs is not installed here",
    "remedy.libibverbs_missing": "Install libibverbs1 and ibverbs-providers (rdma-core) on the node or in the image.",
    "why.libibverbs_missing": "NCCL loads libibverbs when it starts. Without it there is no InfiniBand or RoCE, and "
    "TCP is used.",
    "against.libibverbs_missing": "The machine has no such network, or a plugin of the cloud carries the traffic.",
    "cause.verbs_call_failed": "a call to the network card failed",
    "remedy.verbs_call_failed": "Read the call and the error number in the line; look at ports, limits and rights of "
    "that node.",
    "why.verbs_call_failed": "A verb did not succeed, and its number is none that is known here.",
    "against.verbs_call_failed": "The line stands behind an earlier one of another rank.",
    "cause.efa_missing": "the EFA adapter is not available to NCCL",
    "remedy.efa_missing": "Attach the adapter, and let the security group allow all traffic from itself.",
    "why.efa_missing": "The AWS plugin found no libfabric provider for EFA. Without it NCCL uses TCP.",
    "against.efa_missing": "fi_info -p efa lists the adapter.",
    "cause.net_plugin_forced": "NCCL_NET asks for a network plugin that is not there",
    "remedy.net_plugin_forced": "Unset NCCL_NET, or install the plugin on every node.",
    "why.net_plugin_forced": "NCCL_NET allows one network only; when its plugin cannot be loaded there is none.",
    "against.net_plugin_forced": "The plugin is in the library path of a non-interactive login.",
    "cause.net_plugin_missing": "NCCL found no network plugin",
    "remedy.net_plugin_missing": "Install the plugin of the cloud (aws-ofi-nccl, gIB, FasTrak) where its network "
    "needs one.",
    "why.net_plugin_missing": "Without a plugin NCCL uses verbs or sockets. On machines with InfiniBand this line is "
    "normal.",
    "against.net_plugin_missing": "The log says later that the network is IB.",
    "cause.sharp_failed": "in-network reduction (SHARP) could not be used",
    "remedy.sharp_failed": "Repair the SHARP aggregation manager, or unset NCCL_COLLNET_ENABLE.",
    "why.sharp_failed": "NCCL was asked to reduce in the switches, and the daemon of the fabric did not answer. It "
    "goes on without.",
    "against.sharp_failed": "NCCL_COLLNET_ENABLE is not set: then the line is a remark only.",
    "cause.no_socket_interface": "NCCL found no network interface for its first connections",
    "remedy.no_socket_interface": "Correct NCCL_SOCKET_IFNAME, or give the interface an address.",
    "why.no_socket_interface": "The ranks first meet over TCP. The name that is set exists on no interface, or only "
    "docker0 and lo are left.",
    "against.no_socket_interface": "The interface is up and has an address on the named host.",
    "cause.address_not_assigned": "a rank found no local address or port for a connection of its own",
    "remedy.address_not_assigned": "Set NCCL_SOCKET_IFNAME to an interface whose address the other nodes reach; look "
    "for used-up ports with ss -s.",
    "why.address_not_assigned": "The kernel refuses a connection from an address that is on none of its interfaces, as "
    "a link-local one without its interface, and one for which no local port is left.",
    "against.address_not_assigned": "The interface NCCL names has the address, and ss -s counts few connections.",
    "cause.peer_not_reached": "a rank could not connect to another one over TCP",
    "remedy.peer_not_reached": "Open the ports between the nodes, and set NCCL_SOCKET_IFNAME to the interface that "
    "all nodes share.",
    "why.peer_not_reached": "The ranks meet over TCP at the address NCCL chose. A firewall, a bridge of a container "
    "with the same address everywhere, or a wrong interface keeps them apart.",
    "against.peer_not_reached": "A TCP connection between the two nodes on that interface works.",
    "cause.stray_connection": "something that is not a rank of this job connected to it",
    "remedy.stray_connection": "Keep port scanners and other jobs away; install the same NCCL everywhere; do not "
    "share NCCL_COMM_ID.",
    "why.stray_connection": "Each connection starts with a mark. A scanner, another job on the same address, or "
    "another version of NCCL sends a wrong one.",
    "against.stray_connection": "The address of the connection belongs to a rank of the same job with the same "
    "version.",
    "cause.work_flushed": "a transfer was flushed because an earlier one had failed (status 5)",
    "remedy.work_flushed": "Look for the earliest WARN line of all ranks.",
    "why.work_flushed": "After one failed transfer the card throws away all that wait in the same queue.",
    "against.work_flushed": "There is no earlier failure on any rank.",
    "cause.peer_closed": "another rank closed its connection",
    "remedy.peer_closed": "Look for the rank that failed first.",
    "why.peer_closed": "A rank that ends closes its sockets, and all the others notice.",
    "against.peer_closed": "No other rank printed anything before.",
    "cause.proxy_failed": "the network thread of another rank could not set up its side",
    "remedy.proxy_failed": "Look at the log of the rank that the line names.",
    "why.proxy_failed": "Each rank has a helper thread for the network; its error is passed on to the ranks that "
    "talk to it.",
    "against.proxy_failed": "The named rank has no WARN line of its own.",
    "cause.error_without_reason": "NCCL ended with a general error",
    "remedy.error_without_reason": "Read the WARN line that stands before it; without one, run again with "
    "NCCL_DEBUG=WARN.",
    "why.error_without_reason": "The last words of NCCL only name the kind of error; the reason stands in an earlier "
    "WARN line.",
    "against.error_without_reason": "There is no WARN line on any rank: then NCCL_DEBUG was not set there.",
}
