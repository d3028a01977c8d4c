"""Lines that several causes suggest, and where the facts behind many causes are written down."""

from __future__ import annotations

KERNEL = (("ssh", "-t", "{host}", "sudo dmesg -T | grep -i -e xid -e nvrm -e killed | tail -n 20"),)
GPUS = (
    ("ssh", "{host}", "nvidia-smi -L"),
    ("ssh", "-t", "{host}", "sudo dmesg -T | grep -i -e xid -e nvrm | tail -n 20"),
)
PORT = (
    ("ssh", "{host}", "ibstat {device}"),
    ("ssh", "-t", "{host}", "sudo mlxlink -d {device} -m -c -e"),
    ("ssh", "-t", "{host}", "sudo dmesg -T | grep -w {device} | tail -n 20"),
)
CARDS = (
    ("ssh", "{host}", "ibstat -s"),
    ("ssh", "{host}", "lspci | grep -i -e infiniband -e mellanox"),
    ("ssh", "-t", "{host}", "sudo dmesg -T | grep -i mlx | tail -n 20"),
)
ACS = ("ssh", "-t", "{host}", 'sudo lspci -vvv | grep -e "^[0-9a-f]" -e ACSCtl: | grep -B 1 ACSCtl:')
"""Each ACSCtl line below the line of its own bridge or function."""
TOPOLOGY = (("ssh", "{host}", "nvidia-smi topo -m"),)
RESUME = (("healthcheck", "run", "--resume", "{run_id}"),)
REACH = (
    ("ping", "-c", "3", "{host}"),
    ("ssh", "-v", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "{host}", "true"),
)
PLATFORMS = (("healthcheck", "platform", "list"),)

# Vendors.
SMI = "https://docs.nvidia.com/deploy/nvidia-smi/index.html"
XID = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"
DRIVER = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"
FABRIC_MANAGER = "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html"
SYSFS = "https://www.kernel.org/doc/Documentation/ABI/stable/sysfs-class-infiniband"
PCI = "https://www.kernel.org/doc/Documentation/ABI/testing/sysfs-bus-pci"

# NCCL and its tests.
GUIDE = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
SETTINGS = GUIDE + "env.html"
GPU_TROUBLE = GUIDE + "troubleshooting/gpu_troubleshooting.html"
NET_TROUBLE = GUIDE + "troubleshooting/networking_troubleshooting.html"
RUN_TROUBLE = GUIDE + "troubleshooting/runtime_and_mpi_issues.html"
NCCL = "https://github.com/NVIDIA/nccl"
SOURCE = NCCL + "/blob/master/src/"
TESTS = "https://github.com/NVIDIA/nccl-tests"
BUILD = TESTS + "/blob/master/README.md#build"
ARGUMENTS = TESTS + "/blob/master/README.md#arguments"
PERFORMANCE = TESTS + "/blob/master/doc/PERFORMANCE.md"

# MPI, ssh and the loader.
OPEN_MPI = "https://docs.open-mpi.org/en/v5.0.x/"
MPI_FOUND = OPEN_MPI + "launching-apps/prerequisites.html"
MPI_SSH = OPEN_MPI + "launching-apps/ssh.html"
MPI_SLOTS = OPEN_MPI + "launching-apps/scheduling.html"
MPI_TROUBLE = OPEN_MPI + "launching-apps/troubleshooting.html"
SLURM_MPI = "https://slurm.schedmd.com/mpi_guide.html"
MPIRUN = OPEN_MPI + "man-openmpi/man1/mpirun.1.html"
HOST_KEYS = "https://man.openbsd.org/ssh#VERIFYING_HOST_KEYS"
SSH_CONFIG = "https://man.openbsd.org/ssh_config"
MAN = "https://man7.org/linux/man-pages/"
EXECVE = MAN + "man2/execve.2.html"
LOADER = MAN + "man8/ld.so.8.html"

# Health checks of others.
AZURE = "https://github.com/Azure/azurehpc-health-checks/blob/HEAD/customTests/"
IMBUE = "https://github.com/imbue-ai/cluster-health/blob/HEAD/health_checks/"
OFI = "https://github.com/aws/aws-ofi-nccl/blob/HEAD/"

# Pages of this repository, for what is of our own making.
FIRST_RUN = "docs/howto/first-run.md"
GATE = "docs/howto/before-a-large-job.md"
LOOKS = "docs/howto/looks-at-the-nodes.md"
MONTHLY = "docs/howto/monthly.md"
REPORT = "docs/howto/read-a-report.md"
REJUDGE = "docs/howto/rejudge.md"
SSH = "docs/howto/ssh.md"
NUMBERS = "docs/reading-nccl-tests.md"
LOCALISATION = "docs/localisation.md"
BANDWIDTH = "docs/bandwidth.md"
UNSEEN = "docs/adr/0005-what-could-not-be-seen.md"
