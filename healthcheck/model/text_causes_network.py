"""Network cards and their cables: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

NETWORK_CAUSE_TEXTS: dict[str, str] = {
    "cause.hca_down": "port {port} of {device} is down ({state}): cable, transceiver, switch port or subnet manager",
    "remedy.hca_down": "Drain the node, then reseat the cable of {device} at both ends; check its switch port and the "
    "subnet manager.",
    "why.hca_down": "The port has no link: no light on the cable, a peer that is off, or, with the link up, no "
    "subnet manager to activate it. NCCL leaves such a port out or fails on it.",
    "against.hca_down": "The port is not meant to be cabled, or it came up by itself while the run went on.",
    "cause.hca_missing": "only {present} of {expected} {kind} {expected:port is|ports are} visible: a card is "
    "missing or has no driver",
    "remedy.hca_missing": "Drain the node, then compare the cards on the PCIe bus with the ports; reload the driver of "
    "the missing card, or reseat the card.",
    "why.hca_missing": "Fewer ports exist than the machine type has: a card fell off the bus, sits in another slot, "
    "or its driver refused it.",
    "against.hca_missing": "lspci shows all the cards, and only the driver (mlx5_ib) is not bound to one.",
    "cause.hca_inactive": "only {active} of {expected} {kind} {expected:port is|ports are} active",
    "remedy.hca_inactive": "Check the ports that are not active: cable, switch port, subnet manager.",
    "why.hca_inactive": "The port exists and is not ACTIVE. INIT means that no subnet manager has configured it, "
    "DOWN that there is no link.",
    "against.hca_inactive": "The ports that are not active belong to the storage or management network.",
    "cause.hca_slow": "the link of {device} came up at {rate:g} of {expected:g} Gb/s: cable, transceiver or port",
    "remedy.hca_slow": "Drain the node, then reseat or change the cable of {device}; check the speed of its switch "
    "port, measure again.",
    "why.hca_slow": "A link trains at the best rate all its lanes can hold. A bad lane, a dirty transceiver or a "
    "port fixed at a lower speed gives a lower rate, and nothing else shows an error.",
    "against.hca_slow": "The switch port is meant to run at this speed, and so do those of all other nodes.",
    "cause.hca_one_of": "a compute port is below {expected:g} Gb/s, and it may be any of {names}",
    "remedy.hca_one_of": "Find out which of {names} belong to the compute network, and repair the slow one.",
    "why.hca_one_of": "More ports than compute ports are on this node and at least one is slow; their firmware does "
    "not tell which are which.",
    "against.hca_one_of": "The slow port carries the default route or a file system: then it is no compute port.",
    "cause.hca_unclear": "{names} may be compute ports or storage ports, and only one of the two would be well",
    "remedy.hca_unclear": "See which of {names} carry a file system or the default route; look at the others by hand.",
    "why.hca_unclear": "More ports of one kind than compute ports are on this node, and neither the wiring of the GPUs "
    "nor card and firmware tell which are which.",
    "against.hca_unclear": "All other nodes show the same ports in the same state: then it is how they are built.",
    "cause.hca_tool_missing": "the network cards could not be read: no InfiniBand in sysfs and no ibstat",
    "remedy.hca_tool_missing": "Load the drivers (ib_core, mlx5_ib), or install infiniband-diags.",
    "why.hca_tool_missing": "Without the kernel driver there is no /sys/class/infiniband, and NCCL finds no card "
    "either.",
    "against.hca_tool_missing": "A container hides /sys/class/infiniband while the host has it.",
    "cause.hca_unreadable": "the network cards could not be read",
    "remedy.hca_unreadable": "Look at /sys/class/infiniband and ibstat by hand.",
    "why.hca_unreadable": "What the node says about its cards follows no form that is known, so a slow or missing "
    "one could not be seen.",
    "against.hca_unreadable": "ibstat by hand prints the usual blocks, and only the way it is read from here is new.",
    "cause.hca_no_subnet_manager": "port {port} of {device} has a link and no subnet manager serves it",
    "remedy.hca_no_subnet_manager": "Check that a subnet manager (opensm, UFM or the one of a switch) runs in this "
    "fabric: sudo sminfo; then look at {device}.",
    "why.hca_no_subnet_manager": "A port gets its address (LID) from the subnet manager, which alone can make it "
    "ACTIVE. Without one the link is up and carries nothing, and a running job stops at the next change of the "
    "fabric.",
    "against.hca_no_subnet_manager": "Only this port is concerned while others of the same fabric are served: then "
    "its switch port or its partition (P_Key) is at fault.",
    "cause.hca_other_link_layer": "{names} {count:is|are} set to {other} where {kind} is expected",
    "remedy.hca_other_link_layer": "Drain the node, then set LINK_TYPE of the card with mlxconfig and reboot; or name "
    "the compute ports with NCCL_IB_HCA.",
    "why.hca_other_link_layer": "The card can speak InfiniBand and Ethernet (VPI), and its firmware setting says "
    "which. Ports of both kinds cannot work together in one job.",
    "against.hca_other_link_layer": "The port is meant for storage and sits on the same kind of card.",
    "cause.hca_link_flaps": "the link of {device} was lost and came back during the run",
    "remedy.hca_link_flaps": "Drain the node, then reseat or change the cable of {device}, after that its "
    "transceiver; check the counters of the switch port.",
    "why.hca_link_flaps": "link_downed counts how often the port lost its link for good and trained again. Every "
    "transfer on it fails or waits meanwhile, which NCCL ends with an error after some seconds.",
    "against.hca_link_flaps": "The switch was restarted, or somebody reseated the cable while the run went on.",
    "cause.hca_link_errors": "the link of {device} has errors",
    "remedy.hca_link_errors": "Drain the node, then clean or change the cable and transceiver of {device}; sudo "
    "mlxlink shows bit errors and optical power.",
    "why.hca_link_errors": "Symbol errors and link recoveries that grow under load come from a bad cable, a dirty "
    "optic or a bad port. Every damaged packet is sent again, so bandwidth falls before anything fails.",
    "against.hca_link_errors": "Only port_rcv_remote_physical_errors grew: the damage happened before the last "
    "switch, on another cable.",
    "cause.hca_retries": "{device} loses packets and sends them again",
    "remedy.hca_retries": "On RoCE check that PFC and ECN are set alike on cards and switches; on InfiniBand check the "
    "cables along the path of {device}.",
    "why.hca_retries": "Acknowledgements that time out and packets out of sequence are loss somewhere on the path: "
    "without working flow control a full buffer drops packets, and the sender repeats them.",
    "against.hca_retries": "A job was ended by force during the run, or a peer went down: what was under way then "
    "times out too.",
    "cause.hca_congestion": "the ports of this node could not send as fast as they were asked to",
    "remedy.hca_congestion": "Check the load of the switches and adaptive routing (InfiniBand), or PFC and ECN (RoCE).",
    "why.hca_congestion": "Packets are dropped (port_xmit_discards) or wait (port_xmit_wait) where the other side "
    "gives no credit: too many flows on one link, a slow receiver, or a fabric with fewer up-links than down-links.",
    "against.hca_congestion": "Other jobs used the same switches while the run went on.",
    "cause.hca_unused": "{device} was hardly used by a job that used the other ports of this node",
    "remedy.hca_unused": "Check that NCCL_IB_HCA names {device} on every node, and that it is cabled to the rail of "
    "its GPU.",
    "why.hca_unused": "Each ring sends through the card nearest to its GPU. A card that stays silent is left out by "
    "a setting, by the topology NCCL sees, or because its peers on the same rail are down.",
    "against.hca_unused": "The job had fewer GPUs a node than there are cards, so some cards had nothing to do.",
    "cause.hca_mtu": "the compute ports of this node do not use packets of full size",
    "remedy.hca_mtu": "On RoCE set the MTU of the interface to 9000 on cards and switches; on InfiniBand set 4096 "
    "in the subnet manager.",
    "why.hca_mtu": "Small packets cost more headers and interrupts. Where two ends differ, small messages pass and "
    "large ones are lost, so that a job hangs.",
    "against.hca_mtu": "The fabric is meant to run with this MTU, on all nodes and switches alike.",
    "cause.uverbs_missing": "there is no /dev/infiniband/uverbs* although the node has cards",
    "remedy.uverbs_missing": "Load ib_uverbs, or give the container its devices: --device /dev/infiniband, or the "
    "RDMA device plugin.",
    "why.uverbs_missing": "Programs reach a card through its uverbs file. Without it NCCL finds no InfiniBand and "
    "takes TCP.",
    "against.uverbs_missing": "The benchmarks run in a container of their own that has the devices.",
    "cause.uverbs_closed": "cards of this node cannot be opened by this login: {names}",
    "remedy.uverbs_closed": "Give the login rights on /dev/infiniband/uverbs* (udev rules of rdma-core: mode 0666), "
    "or the container the device.",
    "why.uverbs_closed": "The file is there, and opening it fails: its mode, a device cgroup, or a card that has "
    "stopped answering.",
    "against.uverbs_closed": "The benchmarks run under another login or in a container that may open them.",
    "cause.hca_vanished": "port {port} of {device} disappeared during the run",
    "remedy.hca_vanished": "Drain the node, then power-cycle it; look for {device} on the PCIe bus and in the kernel "
    "log, and reseat the card if it disappears again.",
    "why.hca_vanished": "A card that stops answering is taken off the bus by the kernel, or reset by its driver "
    "after an internal error. Whatever used it fails at that moment.",
    "against.hca_vanished": "Somebody reloaded the driver or changed the card's settings while the run went on.",
}
