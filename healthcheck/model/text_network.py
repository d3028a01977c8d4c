"""Texts about looks at HCAs, their PCIe slots and GPUDirect."""

NETWORK_TEXTS: dict[str, str] = {
    "probe.hca.other_link_layer": "of {expected} {kind} compute ports, {names} {count:is|are} set to {other}",
    "probe.hca.no_subnet": "ports with {kind} need no subnet manager",
    "probe.hca.subnet_serves": "a subnet manager serves every active compute port",
    "probe.hca.no_subnet_manager": "port {port} of {device} has a link and waits for a subnet manager: {state}",
    "probe.hca.no_lid": "port {port} of {device} is active without an address: its {name} is {lid}",
}
