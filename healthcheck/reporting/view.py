"""The page before it has a format: everything sorted, folded, grouped and written out. Templates only place it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec import Struct

from healthcheck.model.message import phrase, say
from healthcheck.model.record import RunRecord
from healthcheck.model.verdict import Verdict
from healthcheck.reporting.again import values_of
from healthcheck.reporting.bandwidth import Bandwidth, bandwidth
from healthcheck.reporting.bandwidth_bars import Bar, bandwidth_answer, bars
from healthcheck.reporting.cluster_map import ClusterMap, cluster_map
from healthcheck.reporting.decision import Decision, decide, excluded, excluded_though_pass, slots_of
from healthcheck.reporting.figures import elapsed, moment, one_line
from healthcheck.reporting.fleet_view import FleetView, fleet_view
from healthcheck.reporting.headline import headline
from healthcheck.reporting.joining import bracket, in_a_row, verdict_word
from healthcheck.reporting.looks import Looks, looks, looks_answer
from healthcheck.reporting.names import folded, slurm_nodes
from healthcheck.reporting.node_table import NodeLine, NodeRow, node_lines, node_rows
from healthcheck.reporting.provenance_view import provenance
from healthcheck.reporting.scope import Next, next_step, no_search, scope_told, title
from healthcheck.reporting.search_view import SearchView, search_view
from healthcheck.reporting.since import BeforeAfter, Since, since_view
from healthcheck.reporting.state import not_ended
from healthcheck.reporting.todo import FULL_ENTRIES, LONGEST_TITLE, Entry, todo
from healthcheck.reporting.training_page import TrainingShown
from healthcheck.reporting.training_told import TrainingTold, training_told

BANNER_NOTE = "run.simulated"
"""A note that the banner of a simulated report already says."""
BY_URGENCY = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.DEGRADED, Verdict.SKIPPED, Verdict.PASS)

_SECTIONS = (
    ("todo", "report.heading.todo"),
    ("map", "report.heading.map"),
    ("bw", "report.heading.bandwidth"),
    ("search", "report.heading.search"),
    ("since", "report.heading.since"),
    ("training", "training.report.heading"),
    ("fleet", "report.fleet.heading"),
    ("looks", "report.heading.looks"),
    ("nodes", "report.heading.nodes"),
    ("prov", "report.heading.provenance"),
    ("words", "report.heading.words"),
)


class Start(Struct, frozen=True):
    """The box that starts the job now. Absent without a proven set."""

    title: str
    lines: tuple[str, ...]


class Answers(Struct, frozen=True):
    """The sentence each section opens with; who reads only these has read the report."""

    todo: str
    bandwidth: str
    looks: str
    nodes: str
    provenance: str


class Page(Struct, frozen=True):
    """A report, ready to be placed. Every string is one line of finished text, not yet escaped for any format."""

    verdict: Verdict
    title: str
    simulated: bool
    state_note: str
    state_short: str
    decision: str
    facts: tuple[str, ...]
    warnings: tuple[str, ...]
    start: Start | None
    next: Next | None
    meta: tuple[str, ...]
    by_verdict: tuple[tuple[Verdict, int, str], ...]
    nodes_told: str
    entries: tuple[Entry, ...]
    more_entries: tuple[Entry, ...]
    nothing_to_do: str
    cluster: ClusterMap
    bandwidth: Bandwidth
    search: SearchView | None
    nodes: tuple[NodeLine, ...]
    not_pass: tuple[NodeLine, ...]
    not_pass_rows: tuple[NodeRow, ...]
    links: dict[int, str]
    commands: tuple[tuple[str, str], ...]
    looks: Looks
    limits: tuple[tuple[str, str, str, str, str], ...]
    versions: tuple[tuple[str, str], ...]
    answers: Answers
    contents: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    since: Since | None
    training: TrainingTold | None
    fleet: FleetView
    tools: tuple[tuple[str, str], ...]
    judge_again: str


def page(record: RunRecord, before: BeforeAfter | None = None, training: TrainingShown | None = None) -> Page:
    """The whole view of a record; `before` is what it is held against, None where nobody asked for that.

    `training` is what was given of the training on these nodes, None without.
    """
    decision = decide(record)
    entries = todo(record)
    table = bandwidth(record)
    nodes = node_lines(record)
    not_pass = tuple(sorted((n for n in nodes if n.verdict is not Verdict.PASS), key=lambda n: -n.verdict))
    rows = node_rows(not_pass)
    looked = looks(record)
    made = provenance(record)
    return Page(
        verdict=record.verdict,
        title=title(record),
        simulated=record.simulated,
        state_note=str(not_ended(record) or ""),
        state_short="" if record.state == "complete" else str(say(f"report.state.short.{record.state}")),
        decision=one_line(str(decision.sentence)),
        facts=(*headline(entries, table), *filter(None, (no_search(record),))),
        warnings=_warnings(record),
        start=_start(record, decision),
        next=next_step(record),
        meta=_meta(record),
        by_verdict=_by_verdict(record),
        nodes_told=_nodes_told(record),
        entries=entries[:FULL_ENTRIES],
        more_entries=entries[FULL_ENTRIES:],
        nothing_to_do=_nothing_to_do(record, entries),
        cluster=cluster_map(record),
        bandwidth=table,
        search=search_view(record),
        nodes=nodes,
        not_pass=not_pass,
        not_pass_rows=rows,
        links=_links(nodes, rows, entries),
        commands=made.commands,
        looks=looked,
        limits=made.limits,
        versions=made.versions,
        answers=Answers(
            todo=_todo_answer(entries),
            bandwidth=bandwidth_answer(table),
            looks=looks_answer(looked),
            nodes=_nodes_answer(record),
            provenance=str(say("report.provenance.answer" if record.jobs else "report.provenance.looks")),
        ),
        contents=_contents(record, before, training),
        bars=bars(record, table),
        since=since_view(before),
        training=training_told(training),
        fleet=fleet_view(record),
        tools=made.tools,
        judge_again=made.judge_again,
    )


def _warnings(record: RunRecord) -> tuple[str, ...]:
    warnings = [one_line(str(note)) for note in record.notes if note.code != BANNER_NOTE]
    unproven = excluded_though_pass(record)
    if unproven is not None:
        warnings.append(one_line(str(unproven)))
    left = folded(host.name for host in record.hosts if host.may_still_run)
    if left:
        command = shlex.join(("healthcheck", "clean", record.run_id))
        warnings.append(one_line(str(say("report.may_still_run", hosts=left, command=command))))
    return tuple(warnings)


def _start(record: RunRecord, decision: Decision) -> Start | None:
    if not decision.offers_list:
        return None
    slots = slots_of(record)
    ready = len(record.healthy_hosts)
    told = say("report.start.title_simulated" if record.simulated else "report.start.title_no_slots", ready=ready)
    if not record.simulated and all(name in slots for name in record.healthy_hosts):
        told = say("report.start.title", ready=ready, slots=sum(slots[name] for name in record.healthy_hosts))
    return Start(str(told), start_lines(record, "healthy.hosts"))


def start_lines(record: RunRecord, hostfile: str) -> tuple[str, ...]:
    """The lines that start a job on the proven set; `hostfile` is the path of `healthy.hosts`, as to be written."""
    launcher = [record.playbook.launcher, *values_of(record.provenance.arguments, None, "launcher")][-1]
    ready = record.healthy_hosts
    if launcher.startswith("srun") and [host.name for host in record.hosts if host.name in set(ready)] == list(ready):
        # Without --nodes srun takes all nodes of the job it is in. Ranks in another order need the hostfile.
        lines = [f"srun --nodes={len(ready)} --nodelist={shlex.quote(slurm_nodes(ready))} ..."]
    else:
        lines = [f"mpirun {'-f' if launcher == 'hydra' else '--hostfile'} {shlex.quote(hostfile)} ..."]
    left_out = slurm_nodes(excluded(record))
    if left_out:
        lines.append(f"sbatch --exclude={shlex.quote(left_out)} ...")
    return tuple(one_line(line) for line in lines)


def _meta(record: RunRecord) -> tuple[str, ...]:
    total = len(record.hosts)
    known = record.platform
    machine = str(phrase(known.title) if known is not None else say("report.meta.platform_unknown"))
    code = record.exit_code
    return (
        str(say("report.meta.nodes_platform", n=total, platform=one_line(machine))),
        moment(record.started_at),
        elapsed(record.started_at, record.finished_at),
        scope_told(record),
        f"{say('report.meta.run')} {one_line(record.run_id)}",
        str(say("report.meta.no_exit_code") if code is None else say("report.meta.exit_code", code=code)),
    )


def _by_verdict(record: RunRecord) -> tuple[tuple[Verdict, int, str], ...]:
    found = {verdict: [host.name for host in record.hosts if host.verdict is verdict] for verdict in BY_URGENCY}
    return tuple((verdict, len(names), folded(names)) for verdict, names in found.items() if names)


def _nodes_told(record: RunRecord) -> str:
    """`1 FAIL (node05), 7 PASS`: here a reader meets the verdicts first."""
    told = []
    for verdict, count, names in _by_verdict(record):
        text = f"{count} {verdict_word(verdict)}"
        # Longer names stand in the table below.
        told.append(text if verdict is Verdict.PASS or len(names) > LONGEST_TITLE else bracket(text, names))
    return in_a_row(told, "text.comma")


def _nothing_to_do(record: RunRecord, entries: Sequence[Entry]) -> str:
    if entries:
        return ""
    healthy = record.verdict is Verdict.PASS and record.state == "complete"
    return str(say("report.todo.nothing" if healthy else "report.todo.nothing_but"))


def _todo_answer(entries: Sequence[Entry]) -> str:
    count = say("report.todo.one") if len(entries) == 1 else say("report.todo.count", n=len(entries))
    suggested = say("report.todo.suggested") if any(entry.commands for entry in entries) else ""
    return in_a_row((count, suggested), "text.next")


def _contents(
    record: RunRecord, before: BeforeAfter | None, training: TrainingShown | None
) -> tuple[tuple[str, str], ...]:
    """(anchor, code of its title) of the sections this page has, in their order."""
    absent = {"search": record.search is None, "since": before is None, "training": training is None}
    return tuple((anchor, code) for anchor, code in _SECTIONS if not absent.get(anchor))


def _nodes_answer(record: RunRecord) -> str:
    total = len(record.hosts)
    passed = sum(host.verdict is Verdict.PASS for host in record.hosts)
    if not total:
        return str(say("report.nodes.none"))
    if passed == total:
        return str(say("report.map.answer_one") if total == 1 else say("report.nodes.told_all", total=total))
    return str(say("report.nodes.told", passed=passed, total=total))


def _links(nodes: Sequence[NodeLine], rows: Sequence[NodeRow], entries: Sequence[Entry]) -> dict[int, str]:
    """Where the cell of a node that is not PASS leads: its finding, else its line in the table."""
    finding = {host: entry.anchor for entry in reversed(entries[:FULL_ENTRIES]) for host in entry.hosts}
    return {index: finding.get(nodes[index].name, row.anchor) for row in rows for index in row.indices}
