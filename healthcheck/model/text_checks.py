"""What each check asks, and why: one sentence a check id."""

CHECK_TEXTS: dict[str, str] = {
    "check.kernel.log": "did the kernel log Xid, NVSwitch, link, PCIe or memory errors; it is the first to know, and "
    "no benchmark says why a GPU or a link stopped",
    "check.node.clock": "is the clock of the node right; without that, lines of two logs cannot be put in order",
    "check.os.memlock": "may a process started over ssh lock enough memory; RDMA registers its buffers, or fails",
    "check.os.shm": "is enough shared memory free; NCCL keeps buffers there, and without it ranks end with a bus error",
    "check.os.files": "may a process open enough files; every connection between ranks takes some",
    "check.cpu.governor": "do the processors run at full speed; a slow one delays every small message and every copy "
    "through host memory",
    "check.nccl.settings": "does a login bring NCCL settings along that slow jobs down; they apply to every job and "
    "show on no command line",
    "check.node.allocation": "has Slurm given the node to another job; it may not have begun to use the GPUs yet",
    "check.nccl.warning": "what did NCCL complain of first, over all ranks of a job that was not well; the first line "
    "names the part, the others only follow",
    "check.fleet.drift": "are versions and settings the same on all nodes; the one node that differs takes other paths "
    "than its peers, or refuses them",
    "check.fleet.pin": "does every node have the versions that the playbook or the platform pins; an update that "
    "missed a node shows here first",
    "check.gpu.topology": "is every GPU joined to every other one by all NVLinks, where the board joins them all; one "
    "that is not slows every ring of the node",
    "check.rail.map": "has each GPU a NIC below its own PCIe switch, where other GPUs of the node have one; a rail "
    "that goes through the processor runs at about two thirds",
    "check.hca.pcie": "has the PCIe link of each compute NIC all lanes, at full speed, and a slot fast enough for its "
    "port; half the lanes halve the rail, and the port shows no error",
    "check.gdr.support": "can the NICs reach GPU memory, by nvidia_peermem or DMA-BUF; without it everything between "
    "nodes is copied through main memory",
    "check.pcie.acs": "do PCIe switches above GPUs and NICs send their traffic through the processor (ACS); that is "
    "slow, and on some machines hangs or corrupts data",
    "check.pcie.iommu": "does the IOMMU translate addresses on bare metal; transfers between GPU and NIC then go "
    "through the processor and its tables",
}
