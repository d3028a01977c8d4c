"""GPUs and NVLinks: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

GPU_CAUSE_TEXTS: dict[str, str] = {
    "cause.gpu_lost": "a GPU is lost to the driver: {line}",
    "remedy.gpu_lost": "Drain the node, then power-cycle it; look for Xid 79 in the kernel log, and reseat or replace "
    "the GPU if it is lost again.",
    "why.gpu_lost": "The GPU no longer answers on PCIe, so every call of the driver to it fails. Most often its "
    "power, its seat or its slot gave way (Xid 79); rarely the driver stopped.",
    "against.gpu_lost": "The same GPU answers nvidia-smi again without a power-cycle, and the kernel log has no Xid "
    "79.",
    "cause.gpu_none": "the driver finds no GPU at all",
    "remedy.gpu_none": "Drain the node, then reload the driver or power-cycle the node; NVRM lines in the kernel log "
    "say why no GPU was bound.",
    "why.gpu_none": "The driver is loaded but has bound no GPU: all are off the bus, held by another driver (vfio), "
    "or hidden from this login.",
    "against.gpu_none": "lspci shows the GPUs and nvidia-smi lists them for another user or outside the container.",
    "cause.gpu_fewer": "only {found} of {expected} {expected:GPU is|GPUs are} there: the others fell off the bus or "
    "are hidden",
    "remedy.gpu_fewer": "Drain the node, then power-cycle it; look for Xid lines in the kernel log, and check the seat "
    "and power of the missing GPU.",
    "why.gpu_fewer": "A GPU that fell off the bus is not listed any more. A container, a VM or CUDA_VISIBLE_DEVICES "
    "can hide one too, but nvidia-smi lists all that the driver has.",
    "against.gpu_fewer": "lspci shows as many NVIDIA GPUs as expected, and MIG or a container limits what is listed.",
    "cause.gpu_no_driver": "nvidia-smi does not reach the NVIDIA driver",
    "remedy.gpu_no_driver": "Drain the node, then load the driver that fits nvidia-smi, or reboot.",
    "why.gpu_no_driver": "nvidia-smi is there but its driver is not loaded, failed to start, or is of another "
    "version than the library.",
    "against.gpu_no_driver": "/proc/driver/nvidia/version exists and names the version nvidia-smi was built for.",
    "cause.gpu_tool_missing": "there is no nvidia-smi: no NVIDIA driver, or not an NVIDIA machine",
    "remedy.gpu_tool_missing": "Install the driver, or take the host out of the hostfile if it has no NVIDIA GPUs.",
    "why.gpu_tool_missing": "nvidia-smi comes with the driver. Without it the driver is not installed, or not in the "
    "PATH of a non-interactive login.",
    "against.gpu_tool_missing": "nvidia-smi stands in a folder that only interactive logins have in their PATH.",
    "cause.gpu_unreadable": "the GPUs could not be read",
    "remedy.gpu_unreadable": "Drain the node, then run nvidia-smi by hand; if it hangs, look for Xid 119 in the kernel "
    "log and reboot.",
    "why.gpu_unreadable": "nvidia-smi hung or answered with something else than a list. A hang means that the driver "
    "waits for a GPU whose firmware stopped (Xid 119) or that falls off the bus.",
    "against.gpu_unreadable": "nvidia-smi answers at once when asked again, and the kernel log has no Xid.",
    "cause.gpu_other_model": "the machine is not of the platform it is held against",
    "remedy.gpu_other_model": "Choose the platform that fits (--platform), or check this host apart from the others.",
    "why.gpu_other_model": "Count or model of the GPUs is not what the machine type promises, so its peaks would "
    "judge this node wrongly.",
    "against.gpu_other_model": "The model is right and only the spelling of its name is new: then the platform file "
    "needs a pattern more.",
    "cause.gpu_ecc_uncorrected": "the memory of a GPU has errors that ECC could not correct",
    "remedy.gpu_ecc_uncorrected": "Drain the node, then reset the GPU and look at its remapped rows; replace it if the "
    "errors come back.",
    "why.gpu_ecc_uncorrected": "ECC corrects one wrong bit of a word and only notices two. The program that read them "
    "is ended, and until the row is replaced at a reset the next one may meet them again.",
    "against.gpu_ecc_uncorrected": "The count stays at zero after a reset and under dcgmi diag -r 3.",
    "cause.gpu_sram_errors": "the caches of a GPU had errors that ECC could not correct",
    "remedy.gpu_sram_errors": "Drain the node, then run dcgmi diag -r 3, and ask for a replacement of the GPU.",
    "why.gpu_sram_errors": "Errors in SRAM cannot be remapped as those of the memory can, and the count is of the "
    "whole life of the GPU. Azure takes a node with such a GPU out of service.",
    "against.gpu_sram_errors": "nvidia-smi -q says that the SRAM threshold is not exceeded, and the count has not "
    "grown for months.",
    "cause.gpu_rows_used_up": "the memory of a GPU has no spare rows or pages left for its bad ones",
    "remedy.gpu_rows_used_up": "Drain the node, then have the GPU replaced.",
    "why.gpu_rows_used_up": "A bad row of memory is replaced by a spare one, a bad page of an older GPU is no longer "
    "used. Both have a limit; beyond it errors stay where they are.",
    "against.gpu_rows_used_up": "nvidia-smi -q -d ROW_REMAPPER says No under remapping failure, and the histogram "
    "shows banks with spare rows.",
    "cause.gpu_row_waits": "a bad memory row of a GPU waits for a reset to be replaced",
    "remedy.gpu_row_waits": "Drain the node, then reset the GPU (nvidia-smi -r) or reboot, before the next job.",
    "why.gpu_row_waits": "An error that could not be corrected was found in a row; the spare row takes its place "
    "with the next reset. Until then a job may meet the same error.",
    "against.gpu_row_waits": "The GPU was reset since the answer was read.",
    "cause.gpu_reset_asked": "the driver asks for a GPU to be reset: {action}",
    "remedy.gpu_reset_asked": "Drain the node, then do what the driver asks for ({action}), and check the node again.",
    "why.gpu_reset_asked": "The driver met an error that it cannot get over while the GPU is in use, and says which "
    "step would.",
    "against.gpu_reset_asked": "After that step nvidia-smi says None and the kernel log stays without Xid.",
    "cause.mig_on": "MIG is on",
    "remedy.mig_on": "Drain the node, then switch MIG off (nvidia-smi -mig 0) and reset the GPU; or take the node out "
    "of the hostfile.",
    "why.mig_on": "MIG cuts a GPU into instances. NCCL uses neither peer-to-peer nor NVLink between them.",
    "against.mig_on": "The node is meant to serve MIG instances; then its bandwidth is no measure.",
    "cause.gpu_prohibited": "the compute mode forbids any job on the GPU",
    "remedy.gpu_prohibited": "Set it back with nvidia-smi -c 0, and find out who set it (a drained GPU, a scheduler "
    "prolog).",
    "why.gpu_prohibited": "In compute mode Prohibited the driver refuses every CUDA context.",
    "against.gpu_prohibited": "A CUDA program runs on this GPU.",
    "cause.fabric_manager_starting": "the fabric manager is not up yet",
    "remedy.fabric_manager_starting": "Wait a minute and check the node again; if systemd still says the same, read "
    "the log of nvidia-fabricmanager.",
    "why.fabric_manager_starting": "Just after a boot systemd is still starting it, and until it has set up the routes "
    "through the NVSwitches no CUDA program starts. One that never ends to start fails again and again.",
    "against.fabric_manager_starting": "systemctl status says active by now.",
    "cause.fabric_manager_down": "the fabric manager does not run on a board with NVSwitches",
    "remedy.fabric_manager_down": "Drain the node, then start nvidia-fabricmanager, enable it at boot and reset the "
    "GPUs; its log says why it did not run.",
    "why.fabric_manager_down": "The fabric manager sets up the routes through the NVSwitches. Without it CUDA "
    "answers error 802, or GPUs have no NVLink to each other.",
    "against.fabric_manager_down": "CUDA programs start and nvidia-smi topo -m shows NVLink between all GPUs: then "
    "another service, or the host of this machine, runs the switches.",
    "cause.fabric_manager_version": "the fabric manager is {version}, the driver {driver}",
    "remedy.fabric_manager_version": "Drain the node, then install the fabric manager of version {driver}, restart it "
    "and reset the GPUs.",
    "why.fabric_manager_version": "The fabric manager accepts only the driver of its own version and ends otherwise. "
    "One that still runs was started before the update and will not come up again.",
    "against.fabric_manager_version": "The package that is installed has the version of the driver, and only an old "
    "program was found first in the PATH.",
    "cause.nvswitch_missing": "{found} of {expected} NVSwitches are on the PCIe bus",
    "remedy.nvswitch_missing": "Drain the node, then power-cycle it; look for SXid lines in the kernel log, and have "
    "the baseboard checked if the switch stays away.",
    "why.nvswitch_missing": "A switch that fell off the bus cannot be set up, so the fabric manager leaves out the "
    "links that go through it, or does not start at all.",
    "against.nvswitch_missing": "The machine is a virtual one that is given a part of the board.",
    "cause.gpu_outside_fabric": "a GPU has not joined the NVSwitch fabric",
    "remedy.gpu_outside_fabric": "Drain the node, then restart the fabric manager and reset the GPU; the log of the "
    "fabric manager says why the GPU did not join.",
    "why.gpu_outside_fabric": "From Hopper on a GPU registers with the fabric. Until that is done CUDA does not start "
    "on it, or it works without NVLink.",
    "against.gpu_outside_fabric": "The state becomes Completed within a minute after boot, without any help.",
    "cause.nvlinks_all_inactive": "all NVLinks of a GPU, or of all GPUs, are inactive",
    "remedy.nvlinks_all_inactive": "Drain the node, then check that the fabric manager runs, and reset the GPUs; if a "
    "single GPU stays without links, have it and its seat checked.",
    "why.nvlinks_all_inactive": "On a board with NVSwitches this most often means that the fabric manager did not set "
    "up the links, or has dropped the GPU from them after an error.",
    "against.nvlinks_all_inactive": "nvidia-smi topo -m shows NV cells for this GPU.",
    "cause.nvlink_inactive": "NVLinks of a GPU are inactive or missing",
    "remedy.nvlink_inactive": "Drain the node, then reset the GPUs and look at the links again; have the GPU, bridge "
    "or baseboard replaced if the same links stay inactive.",
    "why.nvlink_inactive": "A link that does not train carries nothing, and a ring runs at the speed of its slowest "
    "GPU. A contact, a retimer or a switch port gave way, or an error made the driver disable the link.",
    "against.nvlink_inactive": "All GPUs of this model show the same links inactive: then the board is wired so.",
    "cause.nvlink_dropped": "an NVLink went down while the benchmarks ran",
    "remedy.nvlink_dropped": "Drain the node, then reset the GPU; look for Xid 74 and 145 to 150 in the kernel log, "
    "and replace the GPU or the baseboard if it happens again.",
    "why.nvlink_dropped": "The link trained at boot and failed under load: a weak contact or a port that gives way "
    "with heat.",
    "against.nvlink_dropped": "The GPUs were reset between the two looks.",
    "cause.gpu_lanes_missing": "a GPU uses {width} of {most} PCIe lanes",
    "remedy.gpu_lanes_missing": "Drain the node, then reseat the GPU, its riser or its retimer; look for AER errors in "
    "the kernel log.",
    "why.gpu_lanes_missing": "A PCIe link trains with as many lanes as work. Half the lanes halve every way from the "
    "GPU to its NIC and to the host. Unlike the speed, the width does not change when a GPU idles.",
    "against.gpu_lanes_missing": "All GPUs of this machine type have a slot with so few lanes.",
    "cause.power_brake": "the power supply of the node holds the clocks of a GPU down",
    "remedy.power_brake": "Check the power supplies, their cables and the power cap of the rack (BMC log).",
    "why.power_brake": "The board pulls the power brake line when a supply fails or a limit of the node is reached; "
    "the GPU then halves its clocks at once.",
    "against.power_brake": "The reason is gone under load, and the clocks are near their maximum.",
    "cause.gpu_too_hot": "a GPU is too hot",
    "remedy.gpu_too_hot": "Check fans, filters, coolant and the temperature of the inlet air; compare with the other "
    "GPUs.",
    "why.gpu_too_hot": "Above its limit a GPU lowers its clocks until it is cool again, so it is slower than the "
    "others and the whole job waits for it.",
    "against.gpu_too_hot": "Temperatures under load are below 80 degrees and like those of the other GPUs.",
    "cause.gpu_slowed_down": "the hardware holds the clocks of a GPU down",
    "remedy.gpu_slowed_down": "Check the temperature, the power supply and the power brake cable of this GPU.",
    "why.gpu_slowed_down": "The HW slowdown signal says that heat or power is beyond a limit which the driver cannot "
    "set; clocks drop to a half or less.",
    "against.gpu_slowed_down": "The reason is gone under load, and the clocks are near their maximum.",
    "cause.gpu_clock_low": "a GPU runs at {mhz} of {most} MHz",
    "remedy.gpu_clock_low": "Look for locked clocks and power limits (nvidia-smi -q -d CLOCK,POWER); nvidia-smi -rgc "
    "unlocks the clocks.",
    "why.gpu_clock_low": "Collectives compute on the GPU; far below its clock it can no longer fill its links.",
    "against.gpu_clock_low": "The GPU was between two phases of the benchmark when it was looked at.",
    "cause.gpu_pcie_slow": "the PCIe link of a GPU is a generation slower than it could be",
    "remedy.gpu_pcie_slow": "Drain the node, then reseat the GPU or its riser; check the link speed of the slot in the "
    "BIOS, and the kernel log for AER errors.",
    "why.gpu_pcie_slow": "A link that makes errors trains at a lower speed, and a BIOS can limit a slot. Each "
    "generation less halves the way from the GPU to its NIC.",
    "against.gpu_pcie_slow": "The GPU idled when it was looked at: it lowers the generation to save power.",
    "cause.nvlink_errors": "an NVLink has errors under load",
    "remedy.nvlink_errors": "Drain the node if the counters grow again in the next run, then reset the GPU; have the "
    "GPU, bridge or baseboard checked if they still grow.",
    "why.nvlink_errors": "A link repeats what arrived damaged, and trains again when that is not enough. Both take "
    "time, and a link that recovers often is about to fail.",
    "against.nvlink_errors": "The counters stand still in the next run, and the bandwidth is as that of other nodes.",
    "cause.nvlink_slow": "an NVLink runs at a lower speed than the others",
    "remedy.nvlink_slow": "Drain the node, then reset its GPUs and look again; have the GPU or the bridge checked if "
    "the link stays slow.",
    "why.nvlink_slow": "All links of a board train at one speed; one that does not had errors while it trained.",
    "against.nvlink_slow": "The links belong to GPUs of different models.",
    "cause.gpu_corrects_many": "a GPU corrects many memory errors",
    "remedy.gpu_corrects_many": "Watch the count and the remapped rows of the GPU, and run dcgmi diag -r 3 when the "
    "node is free.",
    "why.gpu_corrects_many": "ECC corrects single bits without loss. Hundreds in an hour come from a cell that is "
    "about to fail, and the next error may be one that cannot be corrected.",
    "against.gpu_corrects_many": "The count does not grow in the next run.",
    "cause.ecc_off": "ECC is off, or about to change, on a GPU that should have it on",
    "remedy.ecc_off": "Drain the node, then switch ECC on (nvidia-smi -e 1) and reset the GPU; set all nodes alike.",
    "why.ecc_off": "Without ECC a wrong bit in memory goes unnoticed into the results; with it on one GPU and off "
    "on another their memory differs in size and speed.",
    "against.ecc_off": "It was switched off on purpose, on all nodes.",
    "cause.gpu_page_waits": "a memory page of a GPU waits for a reboot to be retired",
    "remedy.gpu_page_waits": "Drain the node, then reboot it or reset the GPU.",
    "why.gpu_page_waits": "A page with errors is left out only after the driver was loaded again; until then it is "
    "in use.",
    "against.gpu_page_waits": "The driver was loaded again since.",
    "cause.gpu_exclusive": "the compute mode lets only one process use a GPU",
    "remedy.gpu_exclusive": "Set it back with nvidia-smi -c 0 if jobs start helpers on the same GPU.",
    "why.gpu_exclusive": "A second process on the GPU, a monitor or a second rank, gets an error instead of a context.",
    "against.gpu_exclusive": "The scheduler sets this mode on purpose, and one rank a GPU is all that runs.",
    "cause.gpu_field_error": "the driver does not answer a question about a GPU",
    "remedy.gpu_field_error": "Drain the node if Xid lines in the kernel log name the GPU, then reset the GPU or "
    "reboot.",
    "why.gpu_field_error": "nvidia-smi prints an error, or N/A for what this GPU has, where the GPU or its firmware "
    "did not answer the driver. A healthy GPU says a number or a word, or that it has no such thing.",
    "against.gpu_field_error": "The same question is answered when asked again, and the kernel log has no Xid.",
}
