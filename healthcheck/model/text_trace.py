"""Texts of profiles of training steps: kineto traces, Nsight Systems exports, captures."""

from __future__ import annotations

TRACE_TEXTS: dict[str, str] = {
    "trace.line": "A step takes {step} on the slowest rank ({rank}): {compute} compute, {exposed} collective that "
    "nothing hides ({collective} in all), {memcpy} copies, {idle} idle.",
    "trace.line.whole": "No step is marked; in the {step} from the first event to the last on the slowest rank "
    "({rank}): {compute} compute, {exposed} collective that nothing hides ({collective} in all), {memcpy} copies, "
    "{idle} idle.",
    "trace.line.lower_bound": "Collective is a lower bound, see below.",
    "trace.line.step_only": "A step takes {step} under the profiler; where that time goes was not recorded, see below.",
    "trace.line.nothing": "No step with a kernel was recorded: nothing can be said of the GPUs.",
    "trace.rank": "rank {rank}",
    "trace.rank_device": "rank {rank}, GPU {device}",
    "trace.gpu": "GPU {device}",
    "trace.heading.ranks": "Shares of the step, by rank (unions, not sums; collective runs beside compute but for its "
    "exposed part)",
    "trace.heading.collectives": "Collectives (transfer: of the rank that came last; waiting: how much longer the "
    "first one had it)",
    "trace.heading.collectives_one": "Collectives (of one rank: waiting for the others is inside transfer, so BusBW is "
    "at least this)",
    "trace.column.rank": "rank",
    "trace.column.steps": "steps",
    "trace.column.step": "step",
    "trace.column.slowest": "slowest",
    "trace.column.compute": "compute",
    "trace.column.collective": "collective",
    "trace.column.exposed": "exposed",
    "trace.column.memcpy": "copies",
    "trace.column.idle": "idle",
    "trace.column.data_loading": "data loading",
    "trace.column.waiting": "waiting",
    "trace.column.name": "collective",
    "trace.column.size": "size",
    "trace.column.group": "ranks",
    "trace.column.calls": "calls",
    "trace.column.transfer": "transfer",
    "trace.column.busbw": "BusBW GB/s",
    "trace.column.total": "time in all",
    "trace.whole": "all",
    "trace.more_ranks": "{n} more {n:rank|ranks}, none slower: --json has them.",
    "trace.more_collectives": "{n} more {n:sort|sorts} of calls, all shorter together: --json has them.",
    "trace.sizes": "{size} (median of {n} {n:size|sizes})",
    "trace.note": "note: {what}",
    "trace.note_of": "note ({file}): {what}",
    "trace.missing": "missing: {what}",
    "trace.next": "next: keep this with --json, and `healthcheck diagnose --vitals FILE --record RUN` holds it against "
    "the links",
    "trace.note.clipped": "{n} {n:kernel was|kernels were} written as longer than until the next two began on the same "
    "stream; {n:it was|they were} taken to end where the next one begins",
    "trace.note.negative": "{n} {n:event has|events have} a negative duration and {n:was|were} left out",
    "trace.note.endless": "{n} {n:event is|events are} said to have run longer than ten minutes and {n:was|were} "
    "left out",
    "trace.note.cut": "the file breaks off after {size} bytes of text: what is told is of what comes before",
    "trace.note.lost": "{n} {n:event|events} could not be read and {n:was|were} left out, the first near byte {at}",
    "trace.note.timeless": "{n} GPU {n:event has|events have} no time, or one far from all others, and {n:was|were} "
    "left out",
    "trace.note.again": "{n} GPU {n:event stands|events stand} in the file a second time, the same in name, time, "
    "stream and correlation, and {n:was|were} counted once",
    "trace.note.no_steps": "no step is marked, so the time from the first GPU event to the last stands for one",
    "trace.note.no_step_with_kernels": "no marked step has a kernel in it, so the time from the first GPU event to the "
    "last stands for one",
    "trace.note.last_incomplete": "{n} {n:step|steps} from step {step} on {n:is|are} left out: kernels that were "
    "launched in {n:it|them} are not in the file",
    "trace.note.last_cut": "{n} {n:step|steps} from step {step} on {n:is|are} left out: the file breaks off there",
    "trace.note.empty_steps": "{n} of {of} steps (the first: {step}) have no kernel in the file and are left out: they "
    "were not recorded, which is not the same as idle",
    "trace.note.recompute": "activations are computed again in the backward pass: compute includes that, HFU counts "
    "it, MFU does not",
    "trace.note.foreign": "kernels that communicate without NCCL were seen ({names}; {n} in all, up to {percent:.3g} % "
    "of the steps of a rank): they count as compute, so collective and exposed are lower bounds",
    "trace.note.opaque": "CUDA graphs were recorded as one block each (up to {percent:.3g} % of the steps of a rank), "
    "which counts as compute: collective and exposed are lower bounds; profile with --cuda-graph-trace=node",
    "trace.note.worlds": "the files are of trainings of different size (ranks: {sizes}): what is told of ranks "
    "together, the slowest and the waiting, is of no training; name the files of one",
    "trace.note.same_rank": "{n} {n:file holds|files hold} steps of a rank that another file holds, too: shown, "
    "and not matched",
    "trace.note.unmatched": "{n} {n:call|calls} of collectives could not be matched, because the ranks made different "
    "numbers of calls in a step: their waiting is inside transfer",
    "trace.note.straggler": "the others wait for rank {rank}: it waits {own:.0f} ms a step in collectives, every other "
    "rank at least {others:.0f} ms",
    "trace.note.passed_over": "{n} {n:file|files} could not be read as a trace and {n:was|were} passed over: {names}; "
    "name one by itself to see why",
    "trace.missing.no_kernel": "{file} has no kernel in it",
    "trace.missing.broken": "{file} breaks off before the end of its first step: copy it again, or let the profiler "
    "end",
    "trace.missing.do_kineto": "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and let "
    "prof.step() run past the warm-up; if that was done, another profiler (nsys, DCGM) held the GPU",
    "trace.missing.do_nsys": "profile with `nsys profile -t cuda,nvtx`; with `-c cudaProfilerApi` the script itself "
    "has to call cudaProfilerStart (Megatron: --profile)",
    "trace.missing.graphs": "compute and collective: {percent:.0f} % of the step ran as CUDA graphs that were recorded "
    "as one block each, whatever is in them; record again with `nsys profile --cuda-graph-trace=node`",
    "trace.missing.steps": "steps: the profile does not mark them (prof.step() in the loop of the training, or a "
    "range of that name)",
    "trace.missing.ranks": "the other ranks: {n} of {world} {n:is|are} here, so waiting for others cannot be told from "
    "transfer",
    "trace.missing.some_ranks": "the other ranks: {n} of {world} {n:is|are} here. Where a group reaches beyond them, "
    "waiting for the absent is inside transfer, so BusBW is at least this; and the slowest rank may be another one",
    "trace.missing.groups": "who called what together: the file names no process groups, or one rank is here, so "
    "waiting for others cannot be told from transfer",
    "trace.missing.sizes": "how much the collectives carried: the file does not say (traces of PyTorch since 2024 do), "
    "so no bus bandwidth follows",
    "trace.missing.data_loading": "data loading: no DataLoader is marked in the file, so idle may be waiting for data",
}
