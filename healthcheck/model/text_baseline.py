"""Texts about what is usual: the command `baseline`, and what a run says of the baseline it was given."""

from __future__ import annotations

BASELINE_TEXTS: dict[str, str] = {
    "baseline.wrote": "wrote {file}: {medians} medians of {nodes} {nodes:node|nodes} from {runs} runs on {platform}",
    "baseline.wrote_simulated": "wrote {file}, SIMULATED: {medians} medians of {nodes} {nodes:node|nodes} from {runs} "
    "runs on {platform}",
    "baseline.widest": "widest spread: {hosts} in {stage}, {collective} of {size}, {placement}: {percent} % of "
    "{median_gbyte_s} GB/s over {n} runs",
    "baseline.left_out": "left out: {hosts} in {stage}: measured in {n} of {runs} runs, and a median needs {least}",
    "baseline.not_always": "note: {hosts} in {stage}: measured in {n} of {runs} runs",
}
