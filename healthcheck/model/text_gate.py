"""Texts of the gate: what did not fit into its budget, what was not measured again, which lists it wrote."""

from __future__ import annotations

GATE_TEXTS: dict[str, str] = {
    "gate.left_out.stage": "{stage}, would need about {time}",
    "gate.left_out.search": "search, would need about {time}",
    "gate.left_out.gpus": "search for the slow GPU of {hosts}",
    "gate.shorter.repeats": "{stage} once instead of {n} times",
    "gate.shorter.collectives": "{stage} without {names}",
    "gate.shorter.iterations": "{stage} with {n} instead of {asked} iterations",
    "gate.shorter.sizes": "{stage} up to {size} instead of {asked}",
    "gate.note.resumed": "taken up again: {used} of the budget of {budget} were used before it was interrupted, {left} "
    "were left",
    "gate.note.left_out": "left out for the budget of {budget}: {what}",
    "gate.note.shortened": "shortened for the budget of {budget}: {what}",
    "gate.no_time": "it would need about {needs}, and of the budget of {budget} {left} is left; give it more with "
    "--budget",
    "gate.no_time_to_begin": "the time of the gate was over before this could begin; give it more with --budget",
    "gate.no_time_to_look": "not looked at: the part of the budget that is for looks was over; give it more with "
    "--budget",
    "gate.job_cut": "cut off after {seconds:.0f} s, for the budget of the gate was used up: nothing is known of it",
    # --- earlier passes ---
    "gate.reused": "not measured again: it passed at {when} in run {run_id}, and boot, GPUs, driver, NCCL, firmware, "
    "playbook and machine type are the same",
    "gate.note.reused": "not measured alone, {n} {n:node|nodes}: {hosts} passed alone at {when} in run {run_id}, which "
    "is young enough; looked at and measured together anew",
    "gate.again.look": "measured again: the fresh look is not PASS: {what}",
    "gate.again.none": "measured again: no pass is as young as --fresh-for asks",
    "gate.again.future": "measured again: run {run_id} is of the future by the clock of this machine",
    "gate.again.not_pass": "measured again: run {run_id} found it {verdict}",
    "gate.again.asked": "measured again: {what} is not the same as then",
    "gate.again.unknown": "measured again: it is not known whether {what} is the same as then",
    "gate.again.changed": "measured again: {what} was {before} and is {after}",
    "gate.again.less": "measured again: run {run_id} measured less of it than there is time for now",
    "gate.again.alone": "measured again: of a single node nothing else would be measured",
    "gate.what.playbook": "the playbook",
    "gate.what.platform": "the machine type",
    "gate.what.thresholds": "the limit of --healthy or --broken",
    "gate.what.baseline": "the baseline",
    "gate.what.boot": "the boot",
    "gate.what.gpus": "the set of GPUs",
    "gate.what.driver": "the driver",
    "gate.what.nccl": "NCCL",
    "gate.what.firmware": "the firmware of the cards",
    # --- enough nodes ---
    "gate.note.met": "{ready} {ready:node was|nodes were} proven together and --min-nodes asks for {wanted}: the "
    "gate passes, and by all nodes that were named it would be {verdict}",
    "gate.note.unmet": "{ready} {ready:node was|nodes were} proven together and --min-nodes asks for {wanted}: the "
    "gate does not pass",
    # --- lists ---
    "gate.unwritten": "{file} not written: {problem}",
    "gate.meanwhile": "{file} came to be there meanwhile, of another gate; give each its own lists",
    "gate.note.unwritten": "the gate does not pass, whatever was measured, for a list to start with is missing: {what}",
    "gate.wrote": "wrote {file} ({n} {n:node|nodes}), {slurm} for Slurm and {plain} with plain names",
    "gate.not_written": "{file} was not written, for no set of nodes was proven together; there is no older one either",
    "gate.removed": "removed lists of an earlier gate, so that nobody takes them for those of this one: {files}",
}
