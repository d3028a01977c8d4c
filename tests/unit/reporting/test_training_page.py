"""The page of a training: what its charts say is what the documents say, and nothing in them is more than text."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest
from msgspec.structs import replace

from healthcheck.edge.languages import load_language
from healthcheck.model.joint import Level, Seen, Sign
from healthcheck.model.language import speaking
from healthcheck.model.message import say
from healthcheck.reporting import training_page
from healthcheck.reporting.chart import WIDTH
from healthcheck.reporting.chart_goodput import falls, goodput_picture
from healthcheck.reporting.chart_split import MOST_BARS, parts
from healthcheck.reporting.chart_steps import steps_picture
from healthcheck.reporting.svg import room_for
from healthcheck.reporting.training_figures import rate_text, share_text, step_text
from healthcheck.reporting.training_page import TrainingShown, render_training
from healthcheck.reporting.training_tables import signs_table
from tests.golden.training import joint, log, trace, training
from tests.property.hostile import STRINGS, WORDS, disguised


def _words(page: str) -> str:
    """What a person reads, without markup."""
    page = re.sub(r"<style.*?</style>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page)))


def test_the_page_answers_first_and_has_every_number_of_its_charts() -> None:
    page = render_training(training())
    words = _words(page)
    assert words.index("goodput 68 %") < words.index("Links and training together") < words.index("From the log")
    assert page.count("<svg") == 3
    for number in ("2.40 s", "p95 2.50 s", "restart (15 min)", "1.30 M tokens/s", "68 %", "rank 7", "204.2", "256 MiB"):
        assert number in words, number
    assert "RuntimeError: NCCL timeout" in words


def test_the_parts_of_a_bar_are_the_whole_step() -> None:
    found = parts(trace().ranks[0].shares)
    assert sum(part.share for part in found) == pytest.approx(1.0)
    assert {part.name: part.share for part in found}["idle"] == pytest.approx(0.15)  # without the wait for data


def test_a_waterfall_ends_where_its_last_loss_ends() -> None:
    goodput = log().goodput
    assert goodput is not None
    rows = falls(goodput)
    assert [row.kind for row in rows] == ["all", "restart", "redone", "checkpoint", "kept"]
    for above, below in pairwise(rows[1:-1]):
        assert below.right == pytest.approx(above.left)
    assert rows[-1].right == pytest.approx(rows[-2].left)
    assert sum(row.seconds for row in rows[1:]) == pytest.approx(goodput.window_s)


@pytest.mark.parametrize("window_s", (60.0, 8878.0, 3_212_880.0))
def test_what_stands_behind_a_bar_has_room_on_a_telephone(window_s: float) -> None:
    goodput = log().goodput
    assert goodput is not None
    picture = goodput_picture(replace(goodput, window_s=window_s))
    sheet = _Texts()
    assert picture.draw is not None
    picture.draw(sheet)  # type: ignore[arg-type]
    behind = [(x, text) for x, text in sheet.texts if " · " in text]
    assert len(behind) == len(falls(goodput))
    assert all(x + room_for(text) <= WIDTH for x, text in behind), behind


def test_a_sign_that_is_a_word_has_no_level_beside_it() -> None:
    verdict = Seen(Sign.LINK_VERDICT, None, Level.HIGH, None, None, say("joint.basis.run"), "PASS")
    mfu = Seen(Sign.MFU, 0.4, Level.HIGH, 0.25, 0.35, say("joint.basis.mfu_given"))
    rows = signs_table(replace(joint(), seen=(verdict, mfu))).rows
    assert [row[:3] for row in rows] == [("verdict of the links", "PASS", ""), ("MFU", "40 %", "high")]


def test_events_without_a_time_stand_where_their_step_does() -> None:
    """Most logs print no time on the lines of a checkpoint."""
    timed = steps_picture(log()).draw
    untimed = replace(log(), events=tuple(replace(event, at_s=None) for event in log().events if event.step))
    marks: list[list[tuple[float, float]]] = []
    for picture in (timed, steps_picture(untimed).draw):
        sheet = _Marks()
        assert picture is not None
        picture(sheet)  # type: ignore[arg-type]
        marks.append(sheet.below)
    with_time, without = marks
    assert len(with_time) == 9
    assert len(without) == 7  # five checkpoints, the failure, and the load that opens the second start
    assert all(any(abs(x - other) < 8 for other, _ in with_time) for x, _ in without)


class _Texts:
    """A sheet that keeps its texts."""

    def __init__(self) -> None:
        self.texts: list[tuple[float, str]] = []

    def text(self, x: float, _y: float, text: str, *_: object) -> None:
        self.texts.append((x, text))

    def area(self, *_: object) -> None: ...

    def line(self, *_: object) -> None: ...


class _Marks:
    """A sheet that keeps what is drawn below the axis."""

    def __init__(self) -> None:
        self.below: list[tuple[float, float]] = []

    def marks(self, points: list[tuple[float, float]], *_: object, **__: object) -> None:
        """Events are single marks at one height."""
        self.below += [point for point in points if point[1] > 185]

    def line(self, *_: object, **__: object) -> None:
        """Not looked at."""

    text = area = line


def test_a_stall_does_not_flatten_the_line_and_is_told() -> None:
    assert "1 report above 7.20 s is drawn at the upper edge" in _words(render_training(training()))


def test_of_many_ranks_the_slowest_have_a_bar_and_all_are_in_the_table() -> None:
    words = _words(render_training(TrainingShown(traces=(trace(40),))))
    assert f"{MOST_BARS} of 40 ranks" in words
    assert "rank 39" in words


def test_the_rank_that_is_called_the_slowest_is_the_one_that_all_wait_for() -> None:
    # Rank 1 ends its steps with rank 0, a hundredth of one apart, and sets the pace; the shares told are its own.
    late = trace().ranks[1]
    page = render_training(TrainingShown(traces=(replace(trace(), slowest=1, step_s=late.step_s, shares=late.shares),)))
    assert f"The slowest is rank 1 with {step_text(late.step_s)} a step" in _words(page)


def test_two_gpus_of_one_rank_are_told_apart() -> None:
    one = trace().ranks[0]
    both = (one, replace(one, device=1))
    words = _words(render_training(TrainingShown(traces=(replace(trace(), ranks=both),))))
    assert "rank 0, GPU 0" in words and "rank 0, GPU 1" in words


def test_a_document_without_a_number_says_so_and_draws_nothing() -> None:
    bare = replace(log(), step_time=None, goodput=None, rate=None, printed=None, points=(), mfu=None, hfu=None)
    page = render_training(
        TrainingShown((bare,), (replace(trace(), ranks=(), slowest=None, step_s=None, shares=None),))
    )
    assert "<svg" not in page
    assert "No steady step was found in the log" in _words(page)
    assert "No kernel was recorded" in _words(page)


def test_a_chart_that_fails_is_said_and_the_rest_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("no window")

    monkeypatch.setattr(training_page, "goodput_picture", broken)
    page = render_training(training())
    assert page.count("<svg") == 2
    assert "no window" in _words(page)


@pytest.mark.parametrize("name", sorted(set(STRINGS) - {"surrogate"}))
def test_whatever_stands_in_a_document_is_text(name: str) -> None:
    keep = WORDS | {"framework", "kind", "sign", "level", "args"}
    page = render_training(disguised(training(), lambda _: STRINGS[name], keep))
    tags = {tag.lower() for tag in re.findall(r"<\s*/?\s*([A-Za-z][A-Za-z0-9]*)", page)}
    assert not tags & {"script", "img", "b<", "iframe", "object", "textarea"}
    assert not re.search(r"<svg[^>]*onload", page)


def test_a_page_in_chinese_has_no_english_sentence() -> None:
    with speaking(load_language("zh")):
        words = _words(render_training(TrainingShown((log(),), (trace(),), joint())))
    for english in ("Where does", "of the steady rate", "What to do next", "drawn at the upper edge", "Ranks in the"):
        assert english not in words
    assert "步时间如何随时间变化" in words


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (share_text(0.4194), "42 %"),
        (share_text(0.0417), "4.2 %"),
        (share_text(0.0), "0 %"),
        (share_text(0.0001), "< 0.1 %"),
        (share_text(4.17), "417 %"),
        (share_text(None), "not measured"),
        (step_text(2.412), "2.41 s"),
        (step_text(0.9996), "1.00 s"),
        (step_text(0.0123), "12.3 ms"),
        (step_text(105.22), "105 s"),
        (rate_text(2e9 / 1800), "1.11 M"),
        (rate_text(5868), "5868"),
        (rate_text(85_144), "85.14 k"),
    ],
)
def test_numbers_are_written_with_three_digits(told: str, text: str) -> None:
    assert told == text
