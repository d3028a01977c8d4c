"""Texts of the commands around a run: what they wrote, what they found to clean, what explain and doctor print."""

CLI_TEXTS: dict[str, str] = {
    "cli.note": "note: {what}",
    "cli.wrote": "wrote {file}",
    "cli.wrote_pages": "wrote {page} and the files beside it",
    "cli.wrote_rejudged": "wrote {page} and the files beside it; the run itself stays as it is",
    "cli.passed_over": "passed over: {problem}",
    # --- demo ---
    "demo.head": "{nodes} SIMULATED {nodes:node|nodes} behind real SSH on this machine; GPUs, network and mpirun are "
    "simulated.",
    "demo.planted": "planted: {faults}",
    "demo.planted_nothing": "planted: nothing",
    "demo.not_as_planted": "not as planted: {line}",
    "demo.as_planted": "exactly what was planted was found.",
    # --- clean ---
    "clean.nothing": "no run below {results} was cut off: nothing to clean",
    "clean.clean": "run {run_id}: nothing is left on {hosts}",
    "clean.left": "run {run_id}: processes could not be ended on {hosts}",
    "clean.unknown": "run {run_id}: could not be looked at, may still run there: {hosts}",
    "clean.wants_a_job": "that run looked at its nodes by steps of Slurm: clean it inside a job that has them, such as "
    "{job} healthcheck clean {run_id}",
    "clean.other_job": "from this Slurm job no step can be started there: clean it inside one that has them, such as "
    "{job} healthcheck clean {run_id}",
    "clean.logs": "run {run_id}: NCCL logs could not be deleted on {hosts}: {folders}",
    # --- plan ---
    "plan.total": "in all about {minutes:.1f} minutes after the probes",
    "plan.time": "{most_s:.0f} s (expected {expected_s:.0f} s)",
    # --- doctor ---
    "doctor.word.ok": "ok",
    "doctor.word.note": "note",
    "doctor.word.fix": "FIX",
    # --- the head of a list of hosts ---
    "hosts.head": "{what}, healthcheck {run_id}",
    "hosts.simulated": "SIMULATED, no real machine was measured: {what}",
    "hosts.state.incomplete": "incomplete run: {what}",
    "hosts.state.interrupted": "interrupted run: {what}",
    "hosts.none_proven": "no set of nodes is proven",
    "hosts.proven": "{n} proven, in rank order",
    "hosts.proven_of": "{n} of {together} that proved together, in rank order; {left} and left out",
    "hosts.excluded": "{n} excluded",
    "hosts.no_name": "no host name: {name}",
    # --- a verdict where it is named first, with its gloss in other languages, and how sure a finding is ---
    "report.verdict.pass": "{verdict}",
    "report.verdict.degraded": "{verdict}",
    "report.verdict.inconclusive": "{verdict}",
    "report.verdict.fail": "{verdict}",
    "report.verdict.skipped": "{verdict}",
    "report.confidence.confirmed": "confirmed",
    "report.confidence.likely": "likely",
    "report.confidence.suspected": "suspected",
    # --- explain ---
    "explain.causes": "Causes, most urgent first:",
    "explain.checks": "Checks:",
    "explain.check": "check {check}",
    "explain.label.asks": "asks",
    "explain.label.limit": "limit",
    "explain.label.ends_in": "ends in",
    "explain.label.severity": "severity",
    "explain.label.why": "why",
    "explain.label.do": "do",
    "explain.label.against": "against",
    "explain.label.rules": "rules",
    "explain.label.line": "line",
    "explain.label.try": "try",
    "explain.label.read": "read",
    "explain.title": "{code}: {title}",
    "explain.ends_in": "{code}: {title} ({rules})",
    "explain.severity": "{severity}, {confidence} when found",
    "explain.severity_secondary": "{severity}, {confidence} when found, only follows from something else",
    "explain.severity.fatal": "fatal",
    "explain.severity.warning": "warning",
    "explain.severity.info": "info",
}
