"""Texts of report.html and report.md that open a section: its answer in one sentence, and what stands around it."""

from __future__ import annotations

PAGE_TEXTS: dict[str, str] = {
    # --- the verdict block ---
    "report.as_found_and_without": "{stage}, as found on {who}: {busbw} GB/s, {of_peak}. On {others}: {busbw_without} "
    "GB/s, {of_peak_without}.",
    "report.also": "Also: {what}.",
    "report.also_more": "Also: {what}; and {n} more {n:thing|things} to do below.",
    # --- what to do now ---
    "report.todo.one": "One thing to do.",
    "report.todo.count": "{n} {n:thing|things} to do, the most urgent first.",
    "report.todo.suggested": "The commands are suggestions in the order to run them, none of them has been run; all "
    "of them are in suggested-actions.sh, commented out. Paths begin where the run was started; a copy of this page "
    "has no raw/ beside it.",
    # --- the cluster map ---
    "report.map.no_group_whole": "None of the groups is affected as a whole.",
    "report.map.groups_whole": "{n} {n:group has|groups have} no node that is PASS: {names}.",
    "report.map.label": "{title}: {count}",
    # --- bandwidth ---
    "report.bandwidth.told": "{stage}: {busbw} GB/s, {of_peak} ({who})",
    "report.bandwidth.told_unknown": "{stage}: {busbw} ({who})",
    "report.bandwidth.told_next": "{busbw} GB/s, {of_peak} ({who})",
    "report.bandwidth.below": "{n} {n:node|nodes} not PASS",
    "report.bandwidth.bars": "Bars run from 0 to peak. The shades change where DEGRADED and where PASS begins; the "
    "upright mark is what healthy machines of this kind read (known-good).",
    "report.bandwidth.of_known_good": "{percent} % of {value}",
    "report.bandwidth.no_known_good": "no value known",
    "report.bandwidth.other_rules": "The other rules",
    "report.col.known_good": "Of known-good",
    # --- who slowed the fabric ---
    "report.search.answer": "{who} {n:is|are} slow with different partners; {end}.",
    "report.search.answer_between": "What lies between is slow: {who}; {end}.",
    "report.search.answer_nobody": "Nobody is named: {end}.",
    "report.search.col.round": "Round",
    "report.search.col.jobs": "Jobs",
    "report.search.jobs": "{n} {n:job|jobs}",
    "report.search.as_a_whole": "as a whole",
    "report.search.col.of_expected": "Of expected",
    "report.search.col.speed": "Speed",
    "report.search.col.left": "Never in a fast job",
    "report.search.slow_word": "slow",
    "report.search.fast_word": "fast",
    "report.search.rest_fast": "{n} other {n:pair|pairs}",
    "report.search.rest_slow": "{n} more slow {n:pair|pairs}: {names}",
    "report.search.all_fast": "{n} {n:pair|pairs}",
    "report.search.range": "{low} to {high}",
    "report.search.at": "{value} at {size}",
    "report.search.tells_all": "somebody among them, or what lies between",
    "report.search.tells_pair": "one of the two, or what lies between",
    "report.search.tells_again": "{who} slow again, with another partner",
    "report.search.tells_cleared": "clears {who}",
    "report.search.tells_nothing_new": "fast again, nobody new is cleared",
    "report.search.tells_proven": "as expected: proven together",
    "report.search.tells_still": "still slow",
    "report.search.left_none": "none",
    "report.search.strip_nodes": "A column for each node. Tall: it was in a slow job. Low: in fast jobs only. Dot: in "
    "none.",
    "report.search.strip_groups": "A column for each group of the map. Tall: one of its nodes was in a slow job. Low: "
    "in fast jobs only. Dot: in none.",
    "report.search.rails_of": "Every rail of {host}",
    "report.search.rails_answer": "One HCA a node at a time, beside what healthy rails read.",
    "report.search.rail": "rail {rail}",
    "report.search.col.rail": "Rail",
    "report.search.col.hca": "HCA",
    "report.search.rail_slow": "slow",
    "report.search.rail_fine": "as expected",
    # --- since the last run ---
    "report.heading.since": "Since the last run",
    "report.since.not_kept": "What this run was held against is not in its folder (inputs/earlier.json): nothing can "
    "be said of an earlier run.",
    "report.since.not_measured": "This run measured no bandwidth: there is nothing to hold against an earlier run.",
    "report.since.none": "No earlier run of these nodes lies in the results folder: there is nothing to compare with.",
    "report.since.answer": "Compared with {date} ({run_id}): {worse} {worse:node|nodes} got worse, {better} got "
    "better, {unknown} {unknown:is|are} unknown; {compared} {compared:was|were} measured both times.",
    "report.since.answer_same": "Compared with {date} ({run_id}): none of the {compared} {compared:node|nodes} "
    "measured both times moved beyond noise.",
    "report.since.worse": "worse",
    "report.since.better": "better",
    "report.since.same": "unchanged",
    "report.since.unknown": "unknown",
    "report.since.noise": "size by size the median change is {change}; noise {noise:.1f} %, it counts "
    "from {bar:.1f} % on",
    "report.since.beyond": "size by size {change}, beyond the {bar:.1f} % from which a change counts",
    "report.since.small_sizes": "{kind}, its small sizes",
    "report.since.verdict": "verdict",
    "report.since.no_number": "no number",
    "report.since.other_count": "not compared: another number of nodes",
    "report.since.numbers_same": "numbers unchanged",
    "report.since.as_found": "{before} {before:node|nodes} as found then, {now} now",
    "report.since.judged": "{value}, {verdict}",
    "report.since.was_measured": "measured",
    "report.since.more": "{n} more {word}: {names}.",
    "report.since.changed": "What was changed on the machines or in the run",
    "report.since.changed_more": "{n} more {n:change|changes}",
    "report.since.not_changed": "No version and no setting was changed.",
    "report.since.unreadable": "An earlier run could not be used: {what}",
    "report.since.col.measured": "Measured",
    "report.since.col.now": "Now",
    "report.since.col.change": "Change",
    "report.since.col.read_as": "Read as",
    # --- versions ---
    "report.fleet.heading": "Versions",
    "report.fleet.answer": "Versions and settings came from {who}; {n} of {all} {n:differs|differ} between nodes: "
    "{names}.",
    "report.fleet.answer_same": "Versions and settings came from {who}; all of them agree.",
    "report.fleet.answer_one": "Versions and settings came from {who}: there is no other to compare them with.",
    "report.fleet.none": "No version was read on any node.",
    "report.fleet.on": "{value} on {n} {n:node|nodes}",
    "report.fleet.not_told": "(not told)",
    "report.fleet.no_most": "no value has most of the nodes",
    "report.fleet.differs": "{nodes}: {value}",
    "report.fleet.agree": "{n} {n:setting|settings} on which all nodes agree",
    "report.fleet.col.most": "Most",
    "report.fleet.col.different": "Different",
    # --- all nodes ---
    "report.nodes.told": "{passed} of {total} {total:node|nodes} PASS; the others stand here with their reasons.",
    "report.nodes.told_all": "All {total} {total:node|nodes} PASS.",
    # --- provenance ---
    "report.heading.provenance": "Provenance",
    "report.provenance.answer": "What was run, with what, and where every limit comes from.",
    "report.provenance.again": "Judge it again by other limits, from what is stored:",
    "report.provenance.tools": "Tools and inputs",
    "report.provenance.commands": "{n} command {n:line|lines}, exactly as run",
}
