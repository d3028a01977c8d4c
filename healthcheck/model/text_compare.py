"""Texts of `healthcheck compare`: noise, what could not be compared, hints, the page on the terminal."""

from __future__ import annotations

COMPARE_TEXTS: dict[str, str] = {
    "compare.noise.peers": "estimated from how far the changes of {n} {n:node|nodes} lie apart (their pairwise "
    "differences, which even half of them moving does not inflate)",
    "compare.noise.few": "{n} {n:job is|jobs are} too few to show it: estimated from the scatter of the {cells} "
    "{cells:size and placement|sizes and placements} inside {n:it|each}, with {assumed:.1f} % "
    "assumed between two launches",
    "compare.noise.repeats": "{n} {n:job is|jobs are} too few to show it: estimated from {before} repeats "
    "before, {after} after, and the scatter of the {cells} {cells:size and placement|sizes and placements} "
    "inside {n:it|each}",
    "compare.other.simulated": "BEFORE is {before}, AFTER is {after}: no number of one says anything about the other",
    "compare.other.platform": "another machine type: {before} before, {after} now",
    "compare.other.state": "{side} ({run_id}) is {state}: what it did not reach is not compared",
    "compare.other.collective": "{stage}: {collective} was measured before and not now",
    "compare.other.nothing": "{run_id} measured no bandwidth: there is nothing to hold the other run against",
    "compare.other.stage_without_numbers": "{stage}: {jobs} {jobs:job|jobs} ran now and left no number ({why})",
    "compare.other.stage_not_asked": "{stage} was measured before; now only {only} was asked for",
    "compare.other.stage_not_in_playbook": "{stage} was measured before; the playbook {playbook} of now has no "
    "such stage",
    "compare.other.stage_not_run": "{stage} was measured before and did not run now",
    "compare.other.node_count": "{stage} {collective}: {before} {before:node|nodes} together before, {after} now; a "
    "job is only compared with one over as many nodes",
    "compare.other.ranks": "{stage} {collective} of {hosts}: {before} {before:rank|ranks} before, {after} now",
    "compare.other.sizes": "{stage} {collective}: {n} {n:size|sizes} measured before and not now ({sizes})",
    "compare.other.placement": "{stage} {collective}: {placement} measured before and not now",
    "compare.why.not_named": "not among the hosts of that run",
    "compare.why.not_recorded": "the record does not say why",
    "compare.why.cleared": "no longer: {reason}",
    "compare.why.recorded": "{text}",
    "compare.hint.all_changed": "every measured node has it: consistent with it, and with anything else that happened "
    "to all of them",
    "compare.hint.nobody_without": "says little: {n} of {of} with it {n:is|are} worse, and no measured node is "
    "without it",
    "compare.hint.others": "speaks against it: no node that has it is worse, {n} of {of} without it {n:is|are}",
    "compare.hint.not_told": "cannot be compared: one of the runs did not tell it",
    "compare.hint.repaired": "goes with what got better: {n} of {of} with it {n:is|are} better, and none worse",
    "compare.hint.consistent": "consistent with it: {worse} of {changed} with it {worse:is|are} worse, {others} of "
    "{unchanged} without it",
    "compare.hint.both": "says little: {worse} of {changed} with it {worse:is|are} worse, and {others} of {unchanged} "
    "without it",
    "compare.note.newest": "Comparing the two newest runs that can be compared: {before} and {after}.",
    "compare.note.passed_over": "{run_id} was passed over: {why}.",
    "compare.nothing.none": "nothing to compare: no run below {results}; a run is a folder with a record.json in it",
    "compare.nothing.unmeasured": "nothing to compare: of {n} {n:run|runs} below {results} none is complete and "
    "measured a bandwidth",
    "compare.nothing.alone": "nothing to compare: of {n} {n:run|runs} below {results} no other one is complete and "
    "fits {run_id}; name two runs",
    "compare.passed_over.state": "it is {state}",
    "compare.passed_over.nothing": "it measured no bandwidth",
    "compare.passed_over.other": "it is of another machine type, simulated, or of another stage or collective",
    "compare.note.simulated": "SIMULATED: no real machine was measured.",
    "compare.note.same_run": "Both are the same run, {run_id}.",
    "compare.note.turned": "BEFORE began at {before}, after AFTER ({after}): are they the other way round?",
    "compare.note.replaced": "{stage} ran over {nodes} {nodes:node|nodes} both times, but not the same: "
    "{gone} left, {come} came.",
    "compare.answer.worse": "Something got worse.",
    "compare.answer.better": "Nothing got worse; something got better.",
    "compare.answer.same": "Nothing moved beyond noise, and everything measured before was measured again.",
    "compare.answer.incomplete": "Nothing of what was compared got worse, but not everything could be compared.",
    "compare.answer.incomparable": "These two runs cannot be compared: nothing is known of what got better or worse.",
    "compare.heading.worse": "Worse",
    "compare.heading.better": "Better",
    "compare.heading.apart": "Did not move with the others",
    "compare.heading.verdicts": "Verdicts that cannot be compared, because one of the runs does not know",
    "compare.heading.missing": "Missing: measured before and not now",
    "compare.heading.not_compared": "Not compared",
    "compare.heading.new": "New: measured now and not before",
    "compare.heading.changes": "What changed",
    "compare.heading.changes_hinted": "What changed (a hint says what goes together, not what caused what)",
    "compare.column.stage": "stage",
    "compare.column.collective": "collective",
    "compare.column.sizes": "sizes",
    "compare.column.compared": "compared",
    "compare.column.before": "GB/s before",
    "compare.column.after": "now",
    "compare.column.change": "change",
    "compare.column.noise": "noise",
    "compare.column.counts_from": "counts from",
    "compare.group": "{stage} {collective} {sizes}, {compared}: {before} -> {after} GB/s, {change} (size by size "
    "{median}, noise {noise:.1f} %, counts from {bar:.1f} % on)",
    "compare.noise": "{stage} {collective}: size by size the median change is {change}, and that decides. Its noise is "
    "{how}.",
    "compare.nodes": "{n} {n:node|nodes}",
    "compare.one_job": "job of {n}",
    "compare.numbers": "{before} -> {after} GB/s, {change}",
    "compare.beside": "(size by size {change} beside the others)",
    "compare.at": "at {size} {placement}",
    "compare.line.nodes": "{nodes} {nodes:node|nodes}",
    "compare.line.moved": "{moved} of {nodes} {nodes:node|nodes}",
    "compare.line.compared": "{compared} of {nodes} {nodes:node|nodes} compared",
    "compare.line.fleet": "fleet {change} (noise {noise:.1f} %)",
    "compare.line.between": "between nodes {change} (noise {noise:.1f} %)",
    "compare.line.simulated": "simulated",
    "compare.line.missing": "{n} missing",
    "compare.line.not_compared": "{n} not compared",
    "compare.of_hosts": "{stage} {collective} of {hosts}",
    "compare.small_sizes": "at its small sizes",
    "compare.then": "{hosts}  {stages}; before: {reason}",
    "compare.rest": "and {n} more, {stage} {collective}, {low} to {high}: {nodes}",
    "compare.within_noise": "its numbers moved within noise",
    "compare.on": "on {nodes} ({n} of {of})",
    "compare.all_nodes": "all nodes",
}
