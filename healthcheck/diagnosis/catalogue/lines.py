"""Lines that several causes suggest, and where the facts behind many causes are written down."""

from __future__ import annotations

GPUS = (
    ("ssh", "{host}", "nvidia-smi -L"),
    ("ssh", "{host}", "sudo dmesg -T | grep -i -e xid -e nvrm | tail -n 20"),
)
PORT = (
    ("ssh", "{host}", "ibstat {device}"),
    ("ssh", "{host}", "sudo mlxlink -d {device} -m -c -e"),
    ("ssh", "{host}", "sudo dmesg -T | grep -w {device} | tail -n 20"),
)
CARDS = (
    ("ssh", "{host}", "ibstat -s"),
    ("ssh", "{host}", "lspci | grep -i -e infiniband -e mellanox"),
    ("ssh", "{host}", "sudo dmesg -T | grep -i mlx | tail -n 20"),
)
TOPOLOGY = (("ssh", "{host}", "nvidia-smi topo -m"),)
RESUME = (("healthcheck", "run", "--resume", "{run_id}"),)
PLATFORMS = (("healthcheck", "platform", "list"),)

SMI = "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
XID = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"
FABRIC_MANAGER = "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html"
SYSFS = "https://www.kernel.org/doc/Documentation/ABI/stable/sysfs-class-infiniband"
GUIDE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
TROUBLE = GUIDE + "troubleshooting.html"
SETTINGS = GUIDE + "env.html"
NCCL = "https://github.com/NVIDIA/nccl"
TESTS = "https://github.com/NVIDIA/nccl-tests"
OPEN_MPI = "https://docs.open-mpi.org/"
