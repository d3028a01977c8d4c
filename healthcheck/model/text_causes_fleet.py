"""What should be the same on all nodes: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

FLEET_CAUSE_TEXTS: dict[str, str] = {
    "cause.drift_nccl": "NCCL is not the same version as on the other nodes",
    "remedy.drift_nccl": "Install one NCCL everywhere, and see which one the loader finds (LD_LIBRARY_PATH, ldconfig).",
    "why.drift_nccl": "Ranks of different NCCL versions speak different protocols: they refuse each other, cut "
    "messages short, or hang.",
    "against.drift_nccl": "All ranks print the same NCCL version in the log of the job that failed.",
    "cause.drift_driver": "the NVIDIA driver is not that of the other nodes",
    "remedy.drift_driver": "Drain the node, then bring it to the driver of the others, with the fabric manager of the "
    "same version.",
    "why.drift_driver": "Drivers differ in what they support (P2P, NVLS, DMA-BUF) and in their tuning, so the node "
    "may take another path than its peers; a fabric manager of another version does not start.",
    "against.drift_driver": "The fleet is being updated, and this node is simply the first one.",
    "cause.drift_firmware": "{what} is not that of the other nodes",
    "remedy.drift_firmware": "Bring the card to the firmware of the others, or find out why it differs (a spare part).",
    "why.drift_firmware": "Firmware decides about link training, congestion control and PCIe settings; a card that "
    "was replaced often comes with another one.",
    "against.drift_firmware": "The card is of another model, for which this version is the right one.",
    "cause.drift_library": "{what} is not that of the other nodes",
    "remedy.drift_library": "Install the same version on every node, then measure again.",
    "why.drift_library": "A job uses what the loader finds on each node; other versions take other paths, or do not "
    "start at all.",
    "against.drift_library": "The job brings its own copy (a container, LD_LIBRARY_PATH), so this one is not used.",
    "cause.drift_settings": "the NCCL settings on the node are not those of the other nodes",
    "remedy.drift_settings": "Compare /etc/nccl.conf, ~/.nccl.conf and the login files with those of another node.",
    "why.drift_settings": "NCCL reads a configuration file even where no environment is set; a setting left over "
    "from a test changes transport or algorithm for this node alone.",
    "against.drift_settings": "The variable is one that only names an interface or a debug level.",
    "cause.pin_differs": "{what} is {value}, not {wanted} as pinned",
    "remedy.pin_differs": "Install {wanted} on the node, or change the pin in {source}.",
    "why.pin_differs": "The playbook or the platform names a version that every node has to have.",
    "against.pin_differs": "The pin is older than the last update of the fleet.",
    "cause.pin_not_told": "{what} is pinned, and the node did not tell its version",
    "remedy.pin_not_told": "See why {what} cannot be read on the node, or take it out of the pins of {source}.",
    "why.pin_not_told": "A version that could not be read is no proof that it is the right one.",
    "against.pin_not_told": "The node has no such software at all.",
}
