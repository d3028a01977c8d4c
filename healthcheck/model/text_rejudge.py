"""Texts about judging a stored run again (workflows, cli)."""

REJUDGE_TEXTS: dict[str, str] = {
    "job.raw_gone": "its raw output is not what it was: {detail}",
    "rejudge.look_gone": "what the node answered is no longer there, or not all of it: {path}",
    "rejudge.under_load_gone": "what the node answered while it measured is no longer there, or not all of it: {path}",
    "rejudge.more": "and {n} {n:node|nodes} more",
    "rejudge.run": "the run: {before} -> {after}",
    "rejudge.because": "because {why}",
    "rejudge.nothing_against": "because nothing is held against it any more",
    "rejudge.nobody": "a stored run is judged without asking anybody",
    "rejudge.same": "nothing has changed: the same record came out",
    "rejudge.note": "judged again from stored raw output; {standing}",
    "rejudge.note_with": "judged again from stored raw output with {what}; {standing}",
    "rejudge.how.platform": "the platform {name}",
    "rejudge.how.healthy": "healthy from {percent:g} % of peak",
    "rejudge.how.broken": "broken below {percent:g} % of peak",
    "rejudge.how.baseline": "the baseline {file}",
    "rejudge.all_judged": "every result was made anew",
    "rejudge.standing": "{n} of {total} results stand as they were, because no raw output holds them: {kinds}",
    "rejudge.kind.reached": "{n} of hosts that gave no answer",
    "rejudge.kind.allocation": "{n} of Slurm",
    "rejudge.kind.busy": "{n} of hosts that were busy when a job was to start",
    "rejudge.kind.not_run": "{n} about what was not run",
    "rejudge.kind.search": "{n} of the search",
    "rejudge.search_over": "the search is left out: by these limits the job it began with is fast enough",
    "rejudge.search_missing": "by these limits the nodes are slow together, and nobody has searched: "
    "healthcheck localise measures who slows them",
}
