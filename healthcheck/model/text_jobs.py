"""Texts about jobs and their judgement (launchers, evaluation, workflows)."""

JOB_TEXTS: dict[str, str] = {
    "job.timed_out": "stopped after its deadline of {seconds:.0f} s",
    "job.stalled": "no output for {seconds:.0f} s, stopped as hung",
    "job.teardown_hung": "the table was complete, but mpirun did not end within {seconds:.0f} s; it was stopped",
    "job.stopped": "stopped by the user",
}
