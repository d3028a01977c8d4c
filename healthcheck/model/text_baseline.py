"""Texts about what is usual: the command `baseline`, and what a run says of the baseline it was given."""

from __future__ import annotations

BASELINE_TEXTS: dict[str, str] = {
    "baseline.wrote": "wrote {file}: {medians} medians of {nodes} {nodes:node|nodes} from {runs} runs on {platform}",
    "baseline.wrote_simulated": "wrote {file}, SIMULATED: {medians} medians of {nodes} {nodes:node|nodes} from {runs} "
    "runs on {platform}",
    "baseline.widest": "widest spread: {hosts} in {stage}, {collective} of {size}, {placement}: {percent} % of "
    "{median_gbyte_s} GB/s over {n} runs",
    "baseline.left_out": "left out: {hosts} in {stage}: measured in {n} of {runs} runs, and a median needs {least}",
    "baseline.scattered": "left out: {hosts} in {stage}, {collective} of {size}, {placement}: a spread of "
    "{spread_gbyte_s} around {median_gbyte_s} GB/s says nothing about what is usual",
    "baseline.past": "{source}, of {covered} of {hosts} {hosts:node|nodes}: none may be worse than it was",
    "baseline.other_platform": "{source} was made of {made_of} and these nodes are {judged_as}: nothing is held "
    "against it",
    "baseline.uncovered": "{source} says nothing of {hosts}: {n:this node is|these nodes are} not held against it",
    "baseline.of_real": "{source} is of real machines and these are simulated: nothing is held against it",
    "baseline.of_simulated": "{source} is of simulated machines and these are real: nothing is held against it",
    "baseline.past_unreadable": "{n} earlier {n:run|runs} cannot be read and {n:is|are} no part of the past of these "
    "nodes: {problem}",
    "baseline.past_note": "the past of these nodes: {what}",
    "baseline.past_failed": "the past of these nodes cannot be read, so nothing is held against it: {problem}",
    "baseline.plan": "{source}: {runs} runs on {platform}, made {made}; it covers {covered} of {hosts} "
    "{hosts:node|nodes}",
    "doctor.baseline": "{file}: {medians} medians of {nodes} {nodes:node|nodes} from {runs} runs on {platform}",
    "baseline.not_always": "note: {hosts} in {stage}: measured in {n} of {runs} runs",
}
