"""Network cards and their cables: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

NETWORK_CAUSE_TEXTS: dict[str, str] = {
    "cause.hca_down": "port {port} of {device} is down ({state}): cable, transceiver, switch port or subnet manager",
    "remedy.hca_down": "Reseat the cable of {device} at both ends, look at its switch port and at the subnet manager.",
    "why.hca_down": "The port has no link: no light on the cable, a peer that is off, or, with the link up, no "
    "subnet manager to activate it. NCCL leaves such a port out or fails on it.",
    "against.hca_down": "The port is not meant to be cabled, or it came up by itself while the run went on.",
    "cause.hca_missing": "only {present} of {expected} {kind} {expected:port is|ports are} visible: a card is "
    "missing or has no driver",
    "remedy.hca_missing": "Compare the cards on the PCIe bus with the ports; reseat the card or reload its driver.",
    "why.hca_missing": "Fewer ports exist than the machine type has: a card fell off the bus, sits in another slot, "
    "or its driver refused it.",
    "against.hca_missing": "lspci shows all the cards, and only the driver (mlx5_ib) is not bound to one.",
    "cause.hca_inactive": "only {active} of {expected} {kind} {expected:port is|ports are} active",
    "remedy.hca_inactive": "Look at the ports that are not active: cable, switch port, subnet manager.",
    "why.hca_inactive": "The port exists and is not ACTIVE. INIT means that no subnet manager has configured it, "
    "DOWN that there is no link.",
    "against.hca_inactive": "The ports that are not active belong to the storage or management network.",
    "cause.hca_slow": "the link of {device} came up at {rate:g} of {expected:g} Gb/s: cable, transceiver or port",
    "remedy.hca_slow": "Reseat or change the cable of {device}, look at the speed of its switch port, measure again.",
    "why.hca_slow": "A link trains at the best rate all its lanes can hold. A bad lane, a dirty transceiver or a "
    "port fixed at a lower speed gives a lower rate, and nothing else shows an error.",
    "against.hca_slow": "Counters of the port stayed clean and its job moved as much data as those of its peers.",
    "cause.hca_one_of": "a compute port is below {expected:g} Gb/s, and it may be any of {names}",
    "remedy.hca_one_of": "Find out which of {names} belong to the compute network, and repair the slow one.",
    "why.hca_one_of": "More ports than compute ports are on this node and at least one is slow; their firmware does "
    "not tell which are which.",
    "against.hca_one_of": "The slow port carries the default route or a file system: then it is no compute port.",
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
}
