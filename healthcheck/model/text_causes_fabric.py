"""The paths inside a node: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

FABRIC_CAUSE_TEXTS: dict[str, str] = {
    "cause.gpu_cut_off": "{gpu} has lost NVLinks to {lost} of {others} other GPUs ({found})",
    "remedy.gpu_cut_off": "Drain the node, then reset its GPUs or reboot; look for Xid and NVLink lines in the kernel "
    "log and at the fabric manager. If {gpu} comes back like this, have it replaced.",
    "why.gpu_cut_off": "On a board with NVSwitches every GPU reaches every other one over all its links. One that "
    "does not was taken out of the NVLink fabric, or some of its links are down; rings then run at the pace of that "
    "GPU, or over PCIe.",
    "against.gpu_cut_off": "The board has no NVSwitch and its GPUs are joined unevenly by design.",
    "cause.gpus_without_nvlink": "none of the {pairs} pairs of GPUs is joined by NVLink, on a machine that has it",
    "remedy.gpus_without_nvlink": "Drain the node, then check that the fabric manager runs in the version of the "
    "driver, and reboot.",
    "why.gpus_without_nvlink": "Without fabric manager, or with one of another version, the switches stay without "
    "routes and all traffic between GPUs goes over PCIe, ten times slower.",
    "against.gpus_without_nvlink": "The machine has PCIe cards without bridges, and the platform it was held against "
    "is another one.",
    "cause.gpu_pairs_slow": "{bad} of {pairs} pairs of GPUs have fewer than {links} NVLinks between them",
    "remedy.gpu_pairs_slow": "Check the links of the GPUs in these rows (nvidia-smi nvlink -s), the seat of the "
    "bridges, and the fabric manager.",
    "why.gpu_pairs_slow": "Links between some pairs are down while others are whole: no single GPU accounts for it, "
    "so a bridge, a switch or the board between them is the first place to look.",
    "against.gpu_pairs_slow": "The GPUs are joined in groups by design, and only within a group by NVLink.",
    "cause.hca_link_trained_low": "the PCIe link of {device} came up narrower or slower than card and slot allow",
    "remedy.hca_link_trained_low": "Drain the node, then power-cycle it; if the link stays low, reseat the card of "
    "{device}, then try another slot or riser.",
    "why.hca_link_trained_low": "A PCIe link trains to what all its lanes can hold. A card that sits badly, a dirty "
    "contact or a bad riser costs lanes or a generation, and a network card never lowers its link by itself.",
    "against.hca_link_trained_low": "The firmware limits this slot on purpose, on all nodes alike.",
    "cause.gdr_refused": "the kernel refused nvidia_peermem: {line}",
    "remedy.gdr_refused": "Drain the node, then install the network stack (MOFED or DOCA) first and the NVIDIA driver "
    "after it, so that nvidia_peermem is built against it; then modprobe nvidia_peermem.",
    "why.gdr_refused": "nvidia_peermem is built against the symbols of the installed ib_core. Where the network stack "
    "was installed after the driver, the module does not fit and is refused with Unknown symbol or Invalid argument.",
    "against.gdr_refused": "The line is older than the last installation, and the module loads by hand.",
    "cause.gdr_not_loaded": "nvidia_peermem is installed and not loaded, so NICs cannot reach GPU memory",
    "remedy.gdr_not_loaded": "sudo modprobe nvidia_peermem, and have it loaded at boot "
    "(/etc/modules-load.d/nvidia-peermem.conf).",
    "why.gdr_not_loaded": "Nothing loads nvidia_peermem by itself. Without it NCCL copies everything between nodes "
    "through main memory, and one processor socket becomes the limit.",
    "against.gdr_not_loaded": "The log of NCCL says that DMA-BUF is available and GDRDMA is used.",
    "cause.gdr_missing": "NICs cannot reach GPU memory: neither nvidia_peermem nor DMA-BUF is there",
    "remedy.gdr_missing": "Drain the node, then install the NVIDIA driver again after the network stack and load "
    "nvidia_peermem, or use the open kernel modules on Linux 5.12 or later.",
    "why.gdr_missing": "GPUDirect RDMA needs nvidia_peermem, or DMA-BUF from the open kernel modules. Without either "
    "everything between nodes is copied through main memory.",
    "against.gdr_missing": "The log of NCCL shows GDRDMA on the channels between nodes.",
    "cause.acs_on": "ACS is on at {count} PCIe switch ports: what GPUs and NICs send each other goes through the CPU",
    "remedy.acs_on": "Drain the node, then switch ACS off in the firmware, or with setpci on these ports after every "
    "boot; leave it on in virtual machines.",
    "why.acs_on": "With access control services a switch sends each request of one device to another up to the root "
    "complex, where it may also be translated. Transfers between a GPU and its NIC lose much of their speed, and on "
    "some machines hang or carry wrong data.",
    "against.acs_on": "The node reaches the bandwidth of its peers in a job between nodes.",
    "cause.iommu_on": "the IOMMU translates addresses on bare metal: PCIe transfers between devices are slow",
    "remedy.iommu_on": "Drain the node, then boot it with iommu=pt (or with the IOMMU off in the firmware), and switch "
    "ACS off as well.",
    "why.iommu_on": "Translation sends transfers between devices through the root complex and through its tables. On "
    "AMD machines it has cut GPUDirect RDMA and peer access to a fraction.",
    "against.iommu_on": "The node reaches the bandwidth of its peers in a job between nodes.",
    "cause.rail_far": "{gpu} has no NIC below its own PCIe switch, while other GPUs have; nearest is {device} ({way})",
    "remedy.rail_far": "Compare nvidia-smi topo -m with a healthy node: a card may sit in another slot, or its switch "
    "may be missing.",
    "why.rail_far": "A NIC beyond the root complex takes the data of a GPU through the processor, or the data goes "
    "over another GPU first; that rail runs at about two thirds.",
    "against.rail_far": "All nodes of this type show the same, so it is built that way.",
    "cause.hca_slot_too_small": "the PCIe slot of {device} carries {carries} Gb/s, less than the {needed:g} of its "
    "port",
    "remedy.hca_slot_too_small": "Drain the node, then move the card of {device} to a slot with more lanes or a newer "
    "generation, or change what the firmware has set for this slot.",
    "why.hca_slot_too_small": "A NIC is as fast as the slower of its port and its slot: Gen3 x16 carries about 100 "
    "Gb/s of payload, Gen4 x16 about 200, Gen5 x16 about 400.",
    "against.hca_slot_too_small": "The card is joined by a second slot (socket direct), and both halves together "
    "carry it.",
    "cause.topology_late": "nvidia-smi topo -m does not answer in time",
    "remedy.topology_late": "Drain the node, then run it by hand. If it ends after a minute or two, reseat the NVLink "
    "bridges; if it never ends, look for Xid lines and reboot.",
    "why.topology_late": "The driver tries to bring up NVLinks that make only partial contact, and takes minutes for "
    "each question about them; or it hangs altogether.",
    "against.topology_late": "Other questions to the driver (nvidia-smi -L) are slow as well: then the driver or the "
    "node is at fault and not the links.",
}
