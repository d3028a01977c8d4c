"""GPUs and NVLinks: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

GPU_CAUSE_TEXTS: dict[str, str] = {
    "cause.gpu_lost": "a GPU is lost to the driver: {line}",
    "remedy.gpu_lost": "Drain the node, look for Xid 79 in the kernel log, power-cycle it; reseat or replace the GPU "
    "if it comes back.",
    "why.gpu_lost": "The GPU no longer answers on PCIe, so every call of the driver to it fails. Most often its "
    "power, its seat or its slot gave way (Xid 79); rarely the driver stopped.",
    "against.gpu_lost": "The same GPU answers nvidia-smi again without a power-cycle, and the kernel log has no Xid "
    "79.",
    "cause.gpu_none": "the driver finds no GPU at all",
    "remedy.gpu_none": "Look at the kernel log for NVRM lines; reload the driver or power-cycle the node.",
    "why.gpu_none": "The driver is loaded but has bound no GPU: all are off the bus, held by another driver (vfio), "
    "or hidden from this login.",
    "against.gpu_none": "lspci shows the GPUs and nvidia-smi lists them for another user or outside the container.",
    "cause.gpu_fewer": "only {found} of {expected} {expected:GPU is|GPUs are} there: the others fell off the bus or "
    "are hidden",
    "remedy.gpu_fewer": "Drain the node, look for Xid lines, power-cycle it; check the GPU's seat and power.",
    "why.gpu_fewer": "A GPU that fell off the bus is not listed any more. A container, a VM or CUDA_VISIBLE_DEVICES "
    "can hide one too, but nvidia-smi lists all that the driver has.",
    "against.gpu_fewer": "lspci shows as many NVIDIA GPUs as expected, and MIG or a container limits what is listed.",
    "cause.gpu_no_driver": "nvidia-smi does not reach the NVIDIA driver",
    "remedy.gpu_no_driver": "Load the driver that fits the tools, or reboot the node.",
    "why.gpu_no_driver": "nvidia-smi is there but its driver is not loaded, failed to start, or is of another "
    "version than the library.",
    "against.gpu_no_driver": "/proc/driver/nvidia/version exists and names the version nvidia-smi was built for.",
    "cause.gpu_tool_missing": "there is no nvidia-smi: no NVIDIA driver, or not an NVIDIA machine",
    "remedy.gpu_tool_missing": "Install the driver, or take the host out of the hostfile if it has no NVIDIA GPUs.",
    "why.gpu_tool_missing": "nvidia-smi comes with the driver. Without it the driver is not installed, or not in the "
    "PATH of a non-interactive login.",
    "against.gpu_tool_missing": "nvidia-smi stands in a folder that only interactive logins have in their PATH.",
    "cause.gpu_unreadable": "the GPUs could not be read",
    "remedy.gpu_unreadable": "Run nvidia-smi by hand; when it hangs, look for Xid 119 and reboot the node.",
    "why.gpu_unreadable": "nvidia-smi hung or answered with something else than a list. A hang means that the driver "
    "waits for a GPU whose firmware stopped (Xid 119) or that falls off the bus.",
    "against.gpu_unreadable": "nvidia-smi answers at once when asked again, and the kernel log has no Xid.",
    "cause.gpu_other_model": "the machine is not of the platform it is held against",
    "remedy.gpu_other_model": "Choose the platform that fits (--platform), or check this host apart from the others.",
    "why.gpu_other_model": "Count or model of the GPUs is not what the machine type promises, so its peaks would "
    "judge this node wrongly.",
    "against.gpu_other_model": "The model is right and only the spelling of its name is new: then the platform file "
    "needs a pattern more.",
}
