"""The page of a training as one self-contained file: charts, every number of them in a table, no network, no script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.joint import Joint, Kind
from healthcheck.model.message import Message, say
from healthcheck.model.vitals_log import LogVitals
from healthcheck.model.vitals_trace import TraceVitals
from healthcheck.reporting.chart import Picture, Table
from healthcheck.reporting.chart_goodput import goodput_picture
from healthcheck.reporting.chart_split import split_picture
from healthcheck.reporting.chart_steps import steps_picture
from healthcheck.reporting.charts import drawn_charts
from healthcheck.reporting.figures import held, one_line
from healthcheck.reporting.templating import environment
from healthcheck.reporting.training_figures import rate_text, share_text, step_text
from healthcheck.reporting.training_tables import collectives_table, log_facts, signs_table

_MOST_FILES = 3


class TrainingShown(Struct, frozen=True):
    """What a page is made of: any number of documents, and the joint diagnosis where one was made."""

    logs: tuple[LogVitals, ...] = ()
    traces: tuple[TraceVitals, ...] = ()
    joint: Joint | None = None


class Section(Struct, frozen=True):
    """One document on the page: `answer` in one sentence, the charts of its `place`, then tables and lists."""

    place: str
    heading: str
    answer: str
    facts: tuple[tuple[str, str], ...]
    table: Table | None
    remarks: tuple[Message, ...]
    missing: tuple[Message, ...]


def render_training(training: TrainingShown) -> str:
    """The page. What stands in the documents is data and is escaped; a chart that fails is said, the rest stands."""
    made = environment(autoescape=True)
    made.filters |= {"held": held, "line": one_line}
    sections = (
        *(_log_section(log, f"log{number}") for number, log in enumerate(training.logs)),
        *(_trace_section(trace, f"trace{number}") for number, trace in enumerate(training.traces)),
    )
    page = made.get_template("training.html.j2").render(
        title=str(say("training.page.title", what=_files_of(training))),
        answers=[*found(training.joint), *(section.answer for section in sections)],
        joint=training.joint,
        signs=None if training.joint is None else signs_table(training.joint),
        sections=sections,
        charts=drawn_charts(list(_makers(training))),
        simulated=training.joint is not None and training.joint.simulated,
    )
    return page.lstrip()


def found(joint: Joint | None) -> tuple[str, ...]:
    """The rules that matched, by their titles."""
    matches = () if joint is None else joint.matches
    return tuple(one_line(str(match.title)) for match in matches if match.kind is Kind.FINDING)


def _files_of(training: TrainingShown) -> str:
    files = [file for log in training.logs for file in log.files]
    files += [file for trace in training.traces for file in trace.files]
    return files_text(tuple(files) or (() if training.joint is None else training.joint.vitals))


def files_text(files: tuple[str, ...]) -> str:
    """Names without folders, the first few of them."""
    names = [one_line(file.rsplit("/", 1)[-1]) for file in files]
    first, more = ", ".join(names[:_MOST_FILES]), len(names) - _MOST_FILES
    return str(say("training.page.of_files", first=first, more=more)) if more > 0 else first


def log_answer(log: LogVitals) -> Message:
    """What a log says, in one sentence."""
    if log.step_time is None:
        return say("training.answer.no_step")
    per_s = None if log.rate is None else log.rate.tokens_per_s
    rate = say("training.rate_unknown") if per_s is None else say("training.rate", rate=rate_text(per_s))
    step = step_text(log.step_time.median_s)
    if log.goodput is None or log.goodput.share is None:
        return say("training.answer.log_without", step=step, rate=rate)
    return say("training.answer.log", step=step, rate=rate, goodput=share_text(log.goodput.share))


def trace_answer(trace: TraceVitals) -> Message:
    """What a profile says, in one sentence."""
    shares = trace.shares
    if shares is None:
        return say("training.answer.graphs" if trace.hidden_in_graphs else "training.answer.no_trace")
    return say(
        "training.answer.trace",
        compute=share_text(shares.compute),
        exposed=share_text(shares.exposed),
        idle=share_text(shares.idle),
    )


def _log_section(log: LogVitals, place: str) -> Section:
    return Section(
        place=place,
        heading=str(say("training.page.log", what=files_text(log.files))),
        answer=str(log_answer(log)),
        facts=log_facts(log),
        table=None,
        remarks=tuple(remark.what for remark in log.remarks),
        missing=log.missing,
    )


def _trace_section(trace: TraceVitals, place: str) -> Section:
    return Section(
        place=place,
        heading=str(say("training.page.trace", what=files_text(trace.files))),
        answer=str(trace_answer(trace)),
        facts=(),
        table=collectives_table(trace.collectives),
        remarks=(*trace.notes, *(note for rank in trace.ranks for note in rank.notes)),
        missing=trace.missing,
    )


def _makers(training: TrainingShown) -> Iterator[Callable[[], Picture]]:
    """One for each chart, so that one that fails takes no other with it."""
    for number, log in enumerate(training.logs):
        if log.step_time is not None and log.points:
            yield partial(_placed, f"log{number}", partial(steps_picture, log))
        if log.goodput is not None and log.goodput.window_s > 0:
            yield partial(_placed, f"log{number}", partial(goodput_picture, log.goodput))
    for number, trace in enumerate(training.traces):
        if trace.slowest_rank is not None:
            yield partial(_placed, f"trace{number}", partial(split_picture, trace))


def _placed(place: str, make: Callable[[], Picture]) -> Picture:
    return replace(make(), place=place)
