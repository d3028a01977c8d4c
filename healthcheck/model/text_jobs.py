"""Texts about jobs and their judgement (launchers, evaluation, workflows)."""

JOB_TEXTS: dict[str, str] = {
    "job.timed_out": "stopped after its deadline of {seconds:.0f} s",
    "job.stalled": "no output for {seconds:.0f} s, stopped as hung",
    "job.teardown_hung": "the table was complete, but mpirun did not end within {seconds:.0f} s; it was stopped",
    "job.stopped": "stopped by the user",
    "job.ended": "ended: {how}",
    "job.failure": "{kind} failure {host}: {text}",
    "job.wrong_results": "wrong results: {count} values differ from what they must be",
    "job.not_mpi_build": "nccl-tests was built without MPI: every rank ran a test of its own; build it with MPI=1",
    "job.exit_code": "ended with exit code {code} and gave no reason",
    "job.incomplete": "the output is {state}: no whole table with its footer",
    "job.wrong_ranks": "{asked} ranks were asked for, {found} ran",
    "job.sizes_missing": "{count} of the sizes asked for were not measured: {sizes} bytes",
    "job.unverified": "the results were not checked (#wrong is N/A)",
    "job.inconsistent": "at {size} bytes busbw does not fit algbw: the numbers contradict each other",
    "job.whole": "complete: {rows} sizes, {ranks} ranks, 0 wrong",
    "bandwidth.not_saturated": "the largest size, {largest_bytes} bytes, is below 1 GiB: too small to judge",
    "bandwidth.of_peak": "{what} {observed_gbyte_s} GB/s ({placement}), {percent} % of peak {peak_gbyte_s}",
}
