"""What the kernel logged: title, remedy, mechanism and counter-evidence of each cause."""

from __future__ import annotations

KERNEL_CAUSE_TEXTS: dict[str, str] = {
    "cause.xid_off_bus": "the GPU has fallen off the bus (Xid 79)",
    "remedy.xid_off_bus": "Drain the node, then power-cycle it; reseat the GPU, check its power supply and look for "
    "PCIe errors beside it. Replace it if it happens again.",
    "why.xid_off_bus": "The GPU stopped answering on PCIe: it lost power, its link, or its firmware. Nothing reaches "
    "it until the machine is power-cycled, and every job that uses it hangs or dies.",
    "against.xid_off_bus": "The GPU still answers nvidia-smi, or the slot was reset on purpose.",
    "cause.xid_memory_double": "GPU memory has an error that ECC cannot correct (Xid 48)",
    "remedy.xid_memory_double": "Drain the node, then reset the GPU; see whether the row was remapped (Xid 63) or "
    "could not be (Xid 64), and replace the GPU in the second case.",
    "why.xid_memory_double": "Two bits of one word were wrong, which ECC sees and cannot repair. The process that "
    "read it was ended, because its data can no longer be trusted.",
    "against.xid_memory_double": "The counts of uncorrected errors in nvidia-smi did not grow.",
    "cause.xid_row_failed": "a bad row of GPU memory could not be replaced (Xid 64)",
    "remedy.xid_row_failed": "Drain the node, then reset the GPU; replace it if Xid 64 comes back.",
    "why.xid_row_failed": "The GPU keeps spare rows to replace bad ones. None was left for this one, or the table of "
    "rows could not be written, so the bad row stays in use.",
    "against.xid_row_failed": "nvidia-smi shows no failed remapping after a reset of the GPU.",
    "cause.xid_memory_uncontained": "a memory error reached the whole GPU (Xid 95)",
    "remedy.xid_memory_uncontained": "Drain the node, then reset the GPU; run dcgmi diag before it is used again.",
    "why.xid_memory_uncontained": "An uncorrectable error could not be held within the process that met it, so "
    "whatever ran on the GPU is suspect and the driver stops all of it.",
    "against.xid_memory_uncontained": "Only Xid 94 was logged, which is the contained kind.",
    "cause.xid_memory_unrecovered": "the GPU did not recover from a memory error (Xid 140)",
    "remedy.xid_memory_unrecovered": "Drain the node, then reset the GPU; replace it if the error comes back.",
    "why.xid_memory_unrecovered": "The driver met an uncorrectable error outside of any program and could not repair "
    "what it had damaged.",
    "against.xid_memory_unrecovered": "The counts of uncorrected errors in nvidia-smi did not grow.",
    "cause.xid_nvlink": "an NVLink of this GPU failed (Xid 74)",
    "remedy.xid_nvlink": "Drain the node, then find the link with nvidia-smi nvlink -s and -e, and reset the GPU; if "
    "the same link fails again, replace the GPU, bridge or baseboard.",
    "why.xid_nvlink": "The link hardware reported an error that replays could not repair. Traffic to the peer stops "
    "or goes on over fewer links, and the GPU at the other end often logs it too.",
    "against.xid_nvlink": "All links are up with error counters that did not grow, and only a peer logged it.",
    "cause.xid_nvlink_event": "an NVLink of this GPU went down (Xid {code})",
    "remedy.xid_nvlink_event": "Drain the node, then find the link with nvidia-smi nvlink -s and -e, and reset the "
    "GPU; in an NVLink domain of several trays check the other tray and the switch as well.",
    "why.xid_nvlink_event": "Fifth-generation NVLinks report each of their units with a number of its own; this one "
    "called the event fatal, which takes the link out of use.",
    "against.xid_nvlink_event": "All links are up with error counters that did not grow.",
    "cause.xid_nvlink_training": "NVLinks of this GPU did not come up (Xid 136)",
    "remedy.xid_nvlink_training": "Drain the node, then reset all its GPUs and restart the fabric manager; if the "
    "links stay down, check the links of this GPU and replace what they share.",
    "why.xid_nvlink_training": "A link negotiates its speed when it starts. When that fails, the GPU has fewer links "
    "or none, and NCCL falls back to PCIe.",
    "against.xid_nvlink_training": "nvidia-smi nvlink -s shows all links active at full speed.",
    "cause.xid_firmware": "the firmware of the GPU no longer answers (Xid {code})",
    "remedy.xid_firmware": "Drain the node, then reset the GPU, or reboot if that is not enough; update the driver if "
    "it happens on several nodes.",
    "why.xid_firmware": "Since driver 510 much of the driver runs on a processor of the GPU (GSP). When it hangs, "
    "nvidia-smi and every CUDA call that needs it hang too.",
    "against.xid_firmware": "nvidia-smi answers at once, and the same line appears on all GPUs of an overloaded host.",
    "cause.xid_fatal": "the GPU reported a fatal error, Xid {code}: {meaning}",
    "remedy.xid_fatal": "Drain the node, then reset the GPU, or reboot if that is not enough; replace the GPU if it "
    "happens again.",
    "why.xid_fatal": "The driver or the firmware of the GPU met an error from which it does not recover without a "
    "reset.",
    "against.xid_fatal": "The GPU works after the program was started again without a reset.",
    "cause.xid_recovery": "the GPU asks to be reset or drained (Xid 154)",
    "remedy.xid_recovery": "Drain the node, then do what the quoted line asks for: reset the GPU or reboot the node.",
    "why.xid_recovery": "The driver sums up what is needed after other errors. Until that is done the GPU may be "
    "refused to new programs.",
    "against.xid_recovery": "A later line changes the action back to None.",
    "cause.switch_fatal": "an NVSwitch reported a fatal error (SXid {code})",
    "remedy.switch_fatal": "Drain the node, then reset all its GPUs and restart the fabric manager; replace the switch "
    "or baseboard if it happens again.",
    "why.switch_fatal": "All NVLinks of a baseboard meet in its switches. A fatal error of one port takes at least "
    "one link of one GPU out of use, often the whole fabric.",
    "against.switch_fatal": "All links of all GPUs are active, and the fabric state of every GPU is Completed.",
    "cause.link_lost": "the link of {device} went down while it was in use",
    "remedy.link_lost": "Drain the node, then reseat or change the cable or transceiver of {device}; check its switch "
    "port, and watch whether the link goes down again.",
    "why.link_lost": "A link that goes down breaks every connection over it, and comes back seconds later as if "
    "nothing had been. Most often the cable, the transceiver or the switch port is bad.",
    "against.link_lost": "The switch was restarted or its port configured at that time.",
    "cause.pcie_fatal": "PCIe device {device} had a fatal error",
    "remedy.pcie_fatal": "Drain the node, then power-cycle it; reseat the card or its riser, and replace it if it "
    "happens again.",
    "why.pcie_fatal": "The link to the device is no longer reliable, so the kernel resets it and whatever used it "
    "is lost.",
    "against.pcie_fatal": "The device was removed or reset on purpose at that time.",
    "cause.driver_stuck": "the GPU driver hangs in the kernel",
    "remedy.driver_stuck": "Drain the node, then reboot it; look for Xid lines before the first of these.",
    "why.driver_stuck": "A process of the driver has waited for minutes for something in the kernel, most often for a "
    "GPU that no longer answers. It cannot be ended.",
    "against.driver_stuck": "The same process went on afterwards, and nvidia-smi answers at once.",
    "cause.xid_memory_contained": "GPU memory has an error that ended one program (Xid 94)",
    "remedy.xid_memory_contained": "Drain the node, then reset the GPU; the program that was ended can be started "
    "again.",
    "why.xid_memory_contained": "The error was held within the process that met it. The row is replaced at the next "
    "reset; until then it is only avoided.",
    "against.xid_memory_contained": "The counts of uncorrected errors in nvidia-smi did not grow.",
    "cause.xid_row_pending": "a bad row of GPU memory waits to be replaced (Xid 63)",
    "remedy.xid_row_pending": "Drain the node at the next opportunity, then reset the GPU: only that replaces the row.",
    "why.xid_row_pending": "The GPU found a row that gave errors and noted it down. The spare row takes its place "
    "when the GPU is reset.",
    "against.xid_row_pending": "nvidia-smi shows no pending remapping: the GPU was reset since.",
    "cause.xid_memory_single": "GPU memory has very many corrected errors (Xid 92)",
    "remedy.xid_memory_single": "Watch the counts; replace the GPU if uncorrected errors follow.",
    "why.xid_memory_single": "Each of these errors was corrected and cost nothing, but so many of them foretell one "
    "that cannot be.",
    "against.xid_memory_single": "The counts did not grow any more since.",
    "cause.xid_peer_memory": "an access over NVLink failed (Xid 137)",
    "remedy.xid_peer_memory": "Drain the node if no rank had died before this line, then reset the GPU and check its "
    "links; else look at the rank that died first.",
    "why.xid_peer_memory": "A GPU reached for memory of another one that was no longer there. Mostly the program "
    "that owned it had died; sometimes the fabric is wrong.",
    "against.xid_peer_memory": "No rank of the job had died before this line.",
    "cause.xid_warning": "the GPU reported Xid {code}: {meaning}",
    "remedy.xid_warning": "Drain the node if it happens again, then reset the GPU; NVIDIA's catalogue says what the "
    "number means.",
    "why.xid_warning": "The driver met an error that it could handle, or one this version of healthcheck does not "
    "know.",
    "against.xid_warning": "The job on this GPU was whole and fast, and the line does not come back.",
    "cause.pcie_uncorrected": "PCIe device {device} had an error that could not be corrected",
    "remedy.pcie_uncorrected": "Drain the node if it happens again, then reseat the card or its riser; check its slot "
    "and its power.",
    "why.pcie_uncorrected": "One transfer was lost and the link lived on. The driver of the device may have repeated "
    "it, or given up.",
    "against.pcie_uncorrected": "The line belongs to a device that takes no part in the benchmarks.",
    "cause.pcie_corrected": "PCIe device {device} has very many corrected errors",
    "remedy.pcie_corrected": "Drain the node, then reseat the card, its riser or cable; check whether its link trained "
    "at full speed.",
    "why.pcie_corrected": "Every corrected error is a transfer that was sent again. Many of them mean a bad contact, "
    "and cost bandwidth long before anything fails.",
    "against.pcie_corrected": "The link has full speed and width, and the bandwidth of this node is that of the "
    "others.",
    "cause.slot_too_narrow": "the PCIe slot of {device} lets only {found:g} of {expected:g} Gb/s through",
    "remedy.slot_too_narrow": "Drain the node, then move the card to a wider slot or correct the bifurcation in the "
    "BIOS; if the slot should be wide, reseat the card.",
    "why.slot_too_narrow": "A network card is only as fast as its slot. The driver says at start when the slot, or "
    "the way to it, is narrower than the card.",
    "against.slot_too_narrow": "The line is from an earlier start, and the slot now has full width and speed.",
    "cause.host_memory_out": "the host ran out of memory and ended a process",
    "remedy.host_memory_out": "See which process was ended and what else used the memory; raise the limit of the "
    "container or job if there is one.",
    "why.host_memory_out": "Without free memory the kernel ends the process that uses most of it. When it was a rank, "
    "the whole job dies, and the others only see a closed connection.",
    "against.host_memory_out": "The process that was ended has nothing to do with the benchmark.",
    "cause.process_stuck": "a process hangs in the kernel",
    "remedy.process_stuck": "Find out what it waits for: a file system that does not answer, a disk, or a device.",
    "why.process_stuck": "The kernel reports tasks that wait for minutes without being able to be ended. A shared "
    "file system that hangs stops the programs of all ranks that read from it.",
    "against.process_stuck": "The task has nothing to do with the benchmark and went on afterwards.",
    "cause.peermem_errors": "the module through which network cards reach GPU memory logged errors",
    "remedy.peermem_errors": "Check that nvidia_peermem fits the driver and the OFED; use DMA-BUF where driver and "
    "kernel offer it.",
    "why.peermem_errors": "nvidia_peermem hands GPU memory to the network cards. It complains when memory is gone "
    "before the card let go of it, which also happens whenever a rank dies.",
    "against.peermem_errors": "A rank had died right before: then this is only what follows.",
    "cause.switch_errors": "NVSwitches reported many errors that are not fatal",
    "remedy.switch_errors": "See which port they name and compare with the error counters of that link; watch "
    "whether the number grows.",
    "why.switch_errors": "Each of them was repaired, by sending again or by dropping what a dead program had left. "
    "Many of them on one port mean a link that is about to fail.",
    "against.switch_errors": "A program that used the fabric was ended at that time.",
    "cause.xid_earlier": "the GPU had a fatal error within the day before this run (Xid {code})",
    "remedy.xid_earlier": "Drain the node unless the GPU was reset since, then reset it; watch whether the error comes "
    "back.",
    "why.xid_earlier": "A fatal error does not go away by itself, and a GPU that had one often has it again.",
    "against.xid_earlier": "The GPU was reset or replaced since, and this run was whole and fast on it.",
    "cause.switch_earlier": "an NVSwitch had a fatal error within the day before this run (SXid {code})",
    "remedy.switch_earlier": "Drain the node unless its GPUs were reset since, then reset them and restart the fabric "
    "manager.",
    "why.switch_earlier": "A port that failed once often fails again, and the fabric may still run without it.",
    "against.switch_earlier": "The GPUs were reset since, all links are active, and this run was fast.",
    "cause.xid_application": "a program failed on the GPU (Xid {code})",
    "remedy.xid_application": "Read the output of the job first; suspect the GPU only if this happens on this one "
    "alone, again and again.",
    "why.xid_application": "The driver logs programs that access memory they do not own, or that are ended while "
    "they compute. nccl-tests does neither while all is well.",
    "against.xid_application": "The line names another program than the benchmark.",
}
