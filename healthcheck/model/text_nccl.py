"""Texts about what NCCL says in its own log."""

NCCL_TEXTS: dict[str, str] = {
    "nccl.no_log": "no log of NCCL came from this node, so {hides} stay unseen",
    "nccl.hides": "the network, NICs and transports NCCL took",
    "nccl.as_asked": "as this run asked for: it sets {names} itself",
    "nccl.rdma": "NCCL uses the network of the GPUs",
    "nccl.socket": "NCCL fell back to TCP ({network}): it did not get at the InfiniBand or RoCE ports of this node",
    "nccl.loopback": "NCCL sends data between GPUs of this node over the network cards ({count} "
    "{count:connection|connections}): neither NVLink nor shared memory can be used",
    "nccl.gdr_on": "the network reaches GPU memory by itself (GPUDirect RDMA)",
    "nccl.gdr_off": "NCCL works without GPUDirect RDMA: every byte goes through host memory",
    "nccl.gdr_far": "NCCL works without GPUDirect RDMA: the path between GPU and network card is too long",
    "nccl.nics_all": "NCCL uses as many network ports as the machine type has",
    "nccl.nics_fewer": "NCCL uses only {used} of {expected} network {expected:port|ports}",
    "nccl.p2p": "the GPUs reach each other directly",
    "nccl.shm": "NCCL moves data between GPUs of this node through host memory, not over NVLink",
    "nccl.pcie": "NCCL sees no NVLink between the GPUs: it expects {estimate:g} GB/s, which is PCIe",
    "nccl.nvls_on": "the switches can add up by themselves (NVLS)",
    "nccl.nvls_off": "NVLS is not available, though the GPUs and switches of this machine type have it",
    "nccl.settings_plain": "no variable forces NCCL off its way",
    "nccl.settings_forced": "set on this node, not by this run: {names}",
}
