"""Texts of `vitals log`: whose word a number is, goodput and its losses, what is odd and what a log cannot show."""

from __future__ import annotations

from typing import Final

GOODPUT_TEXTS: Final[dict[str, str]] = {
    # Whose word it is.
    "log.time.printed": "printed step times",
    "log.time.rate": "the batch over the printed rate",
    "log.time.clock": "the time stamps of the lines",
    "log.time.coarse_clock": "the time stamps of the lines, which are of whole seconds: over {n} reports each",
    "log.time.clock_beside_rate": "{basis}: the batch over the printed rate would be longer than they are apart, so "
    "the batch or the number of GPUs is another one",
    "log.work.log": "the batch that the log tells",
    "log.work.given": "the batch that was given",
    "log.work.rates": "the batch that the printed rate and step time make",
    "log.work.none": "no batch is known",
    "log.rate.batch": "{basis}, over steady step time",
    "log.rate.printed": "as printed: no batch is known to hold it against",
    "log.rate.samples": "samples only: how many tokens one has is not known",
    "log.basis.model": "model FLOPs (MFU)",
    "log.basis.hardware": "FLOPs with what is recomputed: HFU where activations are recomputed, else MFU",
    "log.basis.version": "model FLOPs (MFU) by the count of its version; before 2022 with what is recomputed (HFU)",
    "log.mfu_basis": "formula {formula}, {gpu} at {peak:g} TFLOP/s dense {dtype}",
    "log.window.clock": "from the first line with a time to the last",
    "log.window.steps": "the sum of the step times; no line has a time",
    # What is odd, and what was done about it.
    "log.copies": "{n} {n:report|reports} left out: another rank had printed the same step; the slowest rank is the "
    "step",
    "log.rank_files": "{n} files are copies of one run by its ranks ({copies} reports): the slowest rank is the step",
    "log.stacked": "the file holds the logs of {n} {n:rank|ranks} one below the other ({copies} reports): the slowest "
    "rank is the step",
    "log.pieces": "the files are {n} successive pieces of one training",
    "log.repeated": "{n} {n:report|reports} at the beginning of {file} stand at the end of the file before, too: "
    "counted once",
    "log.first_twice": "the first step after a start is counted twice, in its own report and in the mean of the next: "
    "taken out of the latter",
    "log.batch_given": "the log says {log:,.0f} tokens a step, given were {given:,.0f}: the log is taken",
    "log.gpus_given": "the log says {log} {log:GPU|GPUs}, given were {given}: what was given is taken",
    "log.mfu_refused": "MFU: its inputs contradict each other",
    "log.samples_clash": "the printed {printed:,.1f} samples/s are {factor:g} times the batch over the step time "
    "({trusted:,.1f}): the latter is taken",
    "log.rate_clash": "the printed {printed:,.0f} tokens/s is {factor:g} times the batch over the step time "
    "({trusted:,.0f}): the latter is taken",
    "log.time_clash": "the step times sum to {steps:.0f} s where the clock shows {clock:.0f} s: the clock is taken for "
    "goodput",
    "log.clock_back": "the clock goes back by {seconds} s between two steps: it is taken to go on",
    "log.clock_back_down": "the clock goes back by {seconds} s or more while the training was down: that stop counts "
    "as no time",
    "log.clock_forward": "the clock is set forward by an hour (summer time): that hour was none",
    "log.mfu_impossible": "the printed MFU of {percent:.0f} % is impossible: it is over the wrong peak, and is not "
    "told",
    "log.mfu_impossible_peak": "the printed MFU of {percent:.0f} % is impossible: it is over a peak of {peak:.0f} "
    "TFLOP/s, and is not told",
    "log.tflops_impossible": "the printed {tflops:.0f} TFLOP/s is above the dense peak of {gpu} ({peak:g}): its FLOPs "
    "or times are wrong",
    "log.peak_clash": "the printed MFU is over a peak of {implied:.0f} TFLOP/s, and {gpu} has {peak:g} dense: by "
    "the right one it is {factor:.2f} times what is printed",
    "log.count_clash": "the framework prints {printed:.0f} TFLOP/s per GPU, the formula here gives {ours:.0f}: the "
    "parameters that were given, or what its version counts, differ",
    "log.jumped": "the steps jump ahead by {n} that no line shows, and there is no time for them: they are not counted",
    "log.gpus_changed": "the training went on with {now} {now:GPU|GPUs} after {before}: the steady rate is one of "
    "both; --window takes one of them",
    "log.rank_alone": "{n} {n:report|reports} of copies stand in no line of {file}, the longest: left out",
    "log.faster": "a tenth of the steps took at most {fast:.3g} s and the median is {median:.3g} s: the training was "
    "faster at times, and by that pace goodput is {percent:.1f} %",
    "log.went_back": "the steps go back to {first} from {reached} and no line tells of a start: a restart from an "
    "older checkpoint",
    "log.from_zero": "the training begins again at its first step after step {steps}, at {place}: all before counts as "
    "done again; if it is another training, cut the log there",
    "log.from_zero_saved": "the training begins again at its first step after step {steps}, at {place}, though it had "
    "saved checkpoints: all before counts as done again; if it is another training, cut the log there",
    # What a log cannot show.
    "log.missing.few": "only {n} {n:report|reports} after warm-up: too few to call anything steady; give more of "
    "the log",
    "log.missing.means": "a report is the mean of several steps, single slow steps hide in it: log every step to see "
    "them",
    "log.missing.step_times": "no step times are printed: what happens between two lines is in the step before it",
    "log.missing.edges": "before the first line with a time and after the last nothing is seen: waiting for nodes, "
    "loading, hanging (sacct -j JOB -o Start,End shows it)",
    "log.missing.clock": "no line has a time: stops, restarts, evaluation and saves between steps are not seen, so "
    "goodput is an upper bound; print a time stamp before each line",
    "log.missing.down": "how long {n} {n:restart|restarts} took: the clock went back meanwhile",
    "log.missing.saves": "no checkpoint is told of: every step up to the last line counts as surviving",
    "log.missing.stall": "no save held the steps up to be seen: it is asynchronous, or part of a printed step time",
    "log.missing.unkept": "{n} {n:step|steps} after the last checkpoint count as surviving; the next save will show it",
    "log.missing.hidden": "{n} {n:step|steps} in no line: a later start took up after them, so they count as surviving",
    "log.missing.unknown": "what the unknown time was: between two steps the log says nothing",
    "log.missing.tokens": "tokens of a step: give --tokens-per-step, or --global-batch and --seq-len",
    "log.missing.seq_len": "tokens of a sample: give --seq-len",
    "log.missing.gpus": "the number of GPUs: give --gpus for rates of one GPU",
    "log.missing.attention": "attention, in MFU: give --layers and --hidden",
    "log.missing.mfu": "MFU: give {options}",
    # The page on the terminal.
    "log.line.goodput": "goodput {share} of the steady rate over {window}",
    "log.line.upper": "goodput at most {share} of the steady rate over {window} of step times",
    "log.line.rate": "{rate} tokens/s survive",
    "log.line.lost": "most is lost to: {what} ({share})",
    "log.line.step": "Step Time {step}",
    "log.line.few": "too few steps to say: {n} {n:report|reports} after warm-up",
    "log.run": "{framework}, steps {first} to {last}",
    "log.run.files": "{n} {n:file|files}",
    "log.run.starts": "{n} {n:start|starts}",
    "log.run.in_vain": "{n} more {n:start|starts} without a step",
    "log.run.rollbacks": "{n} {n:rollback|rollbacks}",
    "log.run.skipped": "{n} {n:step|steps} skipped",
    "log.run.nan": "{n} {n:step|steps} with a loss that is no number",
    "log.row.step": "Step Time",
    "log.row.step_value": "median {median}, p95 {p95} ({spread} above), longest {worst}",
    "log.row.step_note": "{basis}; {reports} {reports:report|reports}, {warm} of warm-up left out, {slow} slow",
    "log.row.rate": "Tokens/s",
    "log.row.rate_value": "{rate}, {per_gpu} per GPU",
    "log.row.rate_one": "{per_gpu} per GPU",
    "log.row.printed": "Printed",
    "log.row.printed_tflops": "{tflops:.1f} TFLOP/s per GPU",
    "log.row.printed_mfu": "MFU {mfu}",
    "log.row.printed_peak": "that is over a peak of {peak:.0f} TFLOP/s",
    "log.row.printed_share": "{share} of the dense peak of the GPU ({peak:g})",
    "log.row.mfu": "MFU",
    "log.row.mfu_value": "{mfu}, HFU {hfu}",
    "log.row.mfu_alone": "{mfu}",
    "log.row.saves": "Checkpoints",
    "log.row.saves_value": "{n} {n:save|saves}",
    "log.row.saves_interval": "every {steps} steps: a crash before a save costs up to {risk}",
    "log.row.saves_stall": "each holds the steps up for {stall}",
    "log.row.timers": "Collectives",
    "log.row.timers_value": "{name} {time} ({share})",
    "log.row.timers_note": "of a step, by its timers; without what overlaps with computing or lies in layers",
    "log.table.what": "Time went to",
    "log.table.time": "Time",
    "log.table.share": "Share",
    "log.table.times": "Times",
    "log.table.steps": "Steps",
    "log.table.where": "Longest",
    "log.table.useful": "steps that survive",
    "log.table.window": "all",
    "log.window": "All is {window}.",
    "log.window.between": "All is {window}: {begins} to {ends}.",
    "log.table.longest": "{time}, ends at {place}",
    "log.head.remarks": "Noticed:",
    "log.head.failures": "Failures in it:",
    "log.more_failures": "{n} more; --json lists them",
    "log.head.missing": "Not in this log:",
    "log.remark": "{what} ({place})",
    "log.remark_line": "line {line}",
    "log.remark_often": "{n} times, first in line {line}",
}
