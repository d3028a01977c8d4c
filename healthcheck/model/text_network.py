"""Texts about looks at HCAs, their PCIe slots and GPUDirect."""

NETWORK_TEXTS: dict[str, str] = {
    "probe.hca.other_link_layer": "of {expected} {kind} compute ports, {names} {count:is|are} set to {other}",
    "probe.hca.unclear": "{names} {count:is|are} not at {expected:g} Gb/s, and may be compute or storage ports",
    "probe.hca.unclear_place": "{near} of {expected} {kind} compute ports are next to a GPU: {names} may be the rest, "
    "or storage ports, with a compute port missing",
    "probe.hca.no_subnet": "ports with {kind} need no subnet manager",
    "probe.hca.subnet_serves": "a subnet manager serves every active compute port",
    "probe.hca.none_promised": "platform {platform} does not say how many network cards such a node has, so none is "
    "judged",
    "probe.hca.no_subnet_manager": "port {port} of {device} has a link and waits for a subnet manager: {state}",
    "probe.hca.no_lid": "port {port} of {device} is active without an address: its {name} is {lid}",
    "probe.mtu.full": "all compute ports use packets of full size",
    "probe.mtu.hides": "whether the ports use packets of full size",
    "probe.mtu.small": "packets of {mtu} bytes where {wanted} are usual ({what} of {device})",
    "probe.mtu.differs": "the compute ports of this node do not agree on an MTU: {found}",
    "probe.mtu.no_port": "no compute port to look at",
    "probe.mtu.efa": "EFA has packets of its own",
    "probe.verbs.ready": "every card can be opened from user space",
    "probe.verbs.hides": "whether programs can reach the network cards",
    "probe.verbs.no_card": "no card to open",
    "probe.verbs.missing": "no /dev/infiniband/uverbs*: no program can reach the {count} {count:card|cards} here",
    "probe.verbs.closed": "no program of this user can open {names}: {count} of {total} {total:card|cards}",
    "probe.counters.hides": "errors and congestion of the network ports",
    "probe.counters.efa": "EFA counts under names of its own",
    "probe.counters.lost": "how much {count} {count:counter|counters} of the network ports grew: reset, or at the end "
    "of {count:its|their} range",
    "probe.counters.vanished": "port {port} of {device} was there before the run and is gone",
    "probe.counters.clean": "no error counter of a compute port grew",
    "probe.counters.link_downed": "the link of {device} went down {times} {times:time|times} during the run",
    "probe.counters.errors": "{device} counted errors on its link during the run: {grown}",
    "probe.counters.retries": "{device} lost packets or had to send them again during the run: {grown}",
    "probe.traffic.unclear": "which of the ports belong to the compute network is not certain",
    "probe.traffic.even": "every compute port moved its share",
    "probe.traffic.none": "too little was moved between nodes to compare the ports",
    "probe.traffic.hides": "whether every port was used",
    "probe.traffic.unused": "{device} sent {sent:.1f} GB while the ports of this node sent {median:.1f} GB each "
    "(median): it was not used",
    "probe.traffic.discards": "the ports dropped {discards} {discards:packet|packets} they could not send: {grown}",
    "probe.traffic.waits": "every compute port waited more than it sent: {grown}",
}
