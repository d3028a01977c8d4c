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
}
