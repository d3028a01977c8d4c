"""Texts of profiles by Nsight Systems: what their exports lack, and what became of a capture."""

from __future__ import annotations

from typing import Final

CAPTURE_TEXTS: Final[dict[str, str]] = {
    "nsys.steps_by_optimiser": "no range is named a step, so a step lasts from the end of one optimizer call to the "
    "end of the next; name the ranges with --step-range PATTERN if there are better ones",
    # what is printed before anything runs
    "capture.printed": "Nothing was run. This records {n} {n:step|steps} on {host}; add --run to do it.",
    "capture.printed_range": "Nothing was run. This records what lies between cudaProfilerStart and cudaProfilerStop "
    "on {host}; add --run to do it.",
    "capture.on": "on {host}, under the profiler:",
    "capture.beside": "on {host}, as it is:",
    "capture.then": "then on {host}:",
    "capture.and_here": "and:",
    "capture.and_copied": "and here, once it has been copied:",
    "capture.who.megatron": "Megatron calls the profiler at step {first} and stops at step {end}: it has to train that "
    "far, and without --use-pytorch-profiler",
    "capture.who.script": "the training itself has to call cudaProfilerStart and, some steps later, cudaProfilerStop "
    "(PyTorch: torch.cuda.profiler.start() and stop()); nsys waits for that",
    "capture.ends": "the training is ended after the recorded steps (--kill): start it where it may end",
    "capture.cost": "a profiled step is slower: take times from the training log, only shares from the profile",
    # while it runs
    "capture.started": "training started under the profiler",
    "capture.started_beside": "training started",
    "capture.range_begun": "the recording has begun",
    "capture.range_ended": "the recording has ended, the report is being written",
    "capture.exporting": "exporting {name}",
    # the end
    "capture.recorded": "Recorded on {host}: {n} {n:file|files} in {folder}",
    "capture.nothing": "No profile: {why}.",
    "capture.output": "what the training said: {folder}",
    "capture.unstarted": "nothing was started, on any host",
    "capture.not_free": "{host} is {why}",
    "capture.busy": "{host} is not idle: {why}; --allow-busy starts it anyway",
    "capture.no_answer": "{host} gives no answer: {why}",
    "capture.no_nsys": "there is no {nsys} on {host}, neither in its PATH nor where its packages put it; install "
    "nsight-systems-cli there, or name it with --nsys",
    "capture.no_cwd": "there is no folder {folder} on {host}; name with --cwd where the training starts there",
    "capture.no_folder": "reports cannot be written to {folder} on {host}; name another place with --node-folder",
    "capture.failed": "the training on {host} ended with exit code {code} before the range was over; its last words: "
    "{last}",
    "capture.failed_silently": "the training on {host} ended with exit code {code} before the range was over and said "
    "nothing",
    "capture.ended_before_range": "the training on {host} ended after {seconds:.0f} s without calling the profiler: "
    "{why}",
    "capture.range_not_reached": "nothing was heard of a recording on {host} within {seconds:.0f} s: {why}; --timeout "
    "gives it more time",
    "capture.range_not_left": "the recording on {host} began and did not end within {seconds:.0f} s: the training hung "
    "or never called cudaProfilerStop; record fewer steps, or give it more time with --timeout",
    "capture.no_report_in_time": "the recording on {host} ended, but nsys had made no report of it when {seconds:.0f} "
    "s were over; --timeout gives it more time",
    "capture.no_report": "the recording on {host} began, but nsys left no report",
    "capture.hung": "nsys on {host} did not end within {seconds:.0f} s after the recording and was ended; --grace "
    "gives it more time",
    "capture.permission": "the driver lets no ordinary user profile on this node ({text}): its administrator sets "
    "NVreg_RestrictProfilingToAdminUsers=0, or the container needs CAP_SYS_ADMIN",
    "capture.subscribed": "another profiler holds the GPUs ({text}): stop DCGM's profiling metrics, or the training's "
    "own profiler",
    "capture.cupti": "CUDA refused to be traced ({text}): this nsys and the driver may not fit each other; try the "
    "newest nsys",
    "capture.option": "this nsys does not know an option ({text}): name one of 2022.2 or later with --nsys",
    "capture.no_room": "the disk of the node is full ({text}): name another place with --node-folder",
    "capture.unwritable": "nsys cannot write its report ({text}): name another place with --node-folder",
    "capture.no_rank": "no variable tells the processes at {{nsys}} their rank ({text}): put {{nsys}} behind the "
    "launcher that starts the ranks",
    "capture.only_stream": "nsys on {host} was ended before its report was made, only a raw stream is there; --grace "
    "gives it more time",
    "capture.no_list": "the reports in {folder} on {host} could not be looked at",
    "capture.no_export": "{name} on {host} could not be exported: {detail}",
    "capture.not_fetched": "{name} did not come whole from {host}",
    "capture.no_kernels": "the export holds no kernel: the range covered no work on a GPU, or CUDA was not traced",
    "capture.unreadable": "the export cannot be read: {problem}",
    "capture.stopped": "stopped before it was recorded",
    "capture.ranks_missing": "no report of rank {ranks}: a rank on another node writes it there; give a --node-folder "
    "that all nodes share",
    "capture.kept_there": "what could not be brought is kept on {host} in {folder}",
    "capture.left": "something of the training may still run on {host}",
    "capture.slowed": "the profiled step took {profiled:.3f} s, the logged one {logged:.3f} s ({percent:+.0f} %): the "
    "profiler slows this training; believe the log for times, and the shares with care",
    "capture.faster": "the profiled step took {profiled:.3f} s, the logged one {logged:.3f} s ({percent:+.0f} %): no "
    "profiler speeds a step up, so the log is of other steps, or loses time that the profile did not see",
    "capture.not_slowed": "the profiled step took {profiled:.3f} s, the logged one {logged:.3f} s",
    "capture.no_step_time": "no step is marked in the profile, so it cannot be told how much the profiler slows one",
    "capture.no_log_time": "the log given with --vitals holds no step time to compare with",
}
