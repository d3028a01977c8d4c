"""The table of rules: it has no hole, says what the article says where it says something, and leads somewhere."""

from __future__ import annotations

import shlex
from itertools import product

import pytest
import typer

from healthcheck.cli.app import app
from healthcheck.diagnosis.causes import BY_CODE
from healthcheck.diagnosis.joint.given import Given, lines
from healthcheck.diagnosis.joint.rule import Rule
from healthcheck.diagnosis.joint.table import QUESTIONS, RULES, answers
from healthcheck.diagnosis.joint.training_signs import TrainingDocuments
from healthcheck.diagnosis.lookup import known_checks
from healthcheck.model.joint import Kind, Level, Question, Sign
from healthcheck.model.texts import CATALOGUE_EN
from tests.golden.records import sick
from tests.vitals_documents import a_log, a_rank, a_trace

LOW, MIDDLE, HIGH, UNKNOWN = Level.LOW, Level.MIDDLE, Level.HIGH, Level.UNKNOWN


def of(question: Question) -> list[Rule]:
    return [rule for rule in RULES if rule.question is question]


@pytest.mark.parametrize("question", Question)
def test_every_combination_of_levels_has_exactly_one_answer_and_every_rule_answers_one(question: Question) -> None:
    rules = of(question)
    signs = list(dict.fromkeys(sign for rule in rules for sign in rule.signs))
    reached = set()
    for levels in product(Level, repeat=len(signs)):
        cell = dict(zip(signs, levels, strict=True))
        matched = [rule.code for rule in rules if rule.matches(cell)]
        assert len(matched) == 1, f"{cell}: {matched}"
        reached.update(matched)
    assert reached == {rule.code for rule in rules}


def test_questions_look_at_every_sign_but_the_share_that_is_hidden_in_part() -> None:
    assert set(QUESTIONS) == set(Question)
    assert set(Sign) - {sign for rule in RULES for sign in rule.signs} == {Sign.COLLECTIVE}


def test_where_nothing_is_known_nothing_is_called_well_and_nothing_is_suspected() -> None:
    assert {rule.kind for rule in answers({})} == {Kind.GAP, Kind.NOTE}


# (MFU, exposed, goodput, busbw, link verdict) -> a rule among the answers: the article's, and what it leaves open.
CASES = (
    ((LOW, HIGH, HIGH, LOW, LOW), "links_are_the_cause"),
    ((LOW, UNKNOWN, HIGH, LOW, LOW), "links_are_the_cause"),
    ((LOW, HIGH, HIGH, HIGH, HIGH), "communication_bound_on_healthy_links"),
    ((LOW, HIGH, HIGH, UNKNOWN, UNKNOWN), "communication_bound_links_unmeasured"),
    ((MIDDLE, HIGH, HIGH, MIDDLE, MIDDLE), "slow_links_cost_time"),
    ((MIDDLE, MIDDLE, HIGH, HIGH, HIGH), "mixed"),
    ((LOW, MIDDLE, HIGH, MIDDLE, MIDDLE), "mixed_with_bad_links"),
    ((MIDDLE, LOW, HIGH, HIGH, HIGH), "middle_mfu_not_communication"),
    ((MIDDLE, UNKNOWN, HIGH, HIGH, HIGH), "middle_mfu_share_unknown"),
    ((LOW, LOW, HIGH, HIGH, HIGH), "low_mfu_not_communication"),
    ((LOW, LOW, HIGH, LOW, LOW), "not_communication_though_links_are_bad"),
    ((HIGH, LOW, HIGH, LOW, LOW), "bad_links_training_well"),
    ((HIGH, LOW, HIGH, MIDDLE, MIDDLE), "bad_links_training_well"),
    ((HIGH, HIGH, HIGH, HIGH, HIGH), "good_mfu_much_exposed"),
    ((HIGH, LOW, LOW, HIGH, HIGH), "fault_tolerance"),
    ((HIGH, LOW, LOW, UNKNOWN, UNKNOWN), "fault_tolerance"),
    ((LOW, LOW, LOW, HIGH, HIGH), "goodput_and_mfu_low"),
    ((UNKNOWN, LOW, LOW, HIGH, HIGH), "goodput_low_mfu_unknown"),
    ((LOW, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN), "low_mfu_alone"),
    ((HIGH, LOW, MIDDLE, HIGH, HIGH), "goodput_in_between"),
    ((HIGH, LOW, HIGH, HIGH, HIGH), "step_well"),
    ((UNKNOWN, LOW, HIGH, HIGH, HIGH), "little_communication_mfu_unknown"),
)


@pytest.mark.parametrize(("levels", "code"), CASES, ids=[f"{code}-{n}" for n, (_, code) in enumerate(CASES)])
def test_what_the_signs_mean_together(levels: tuple[Level, ...], code: str) -> None:
    signs = (Sign.MFU, Sign.EXPOSED, Sign.GOODPUT, Sign.BUSBW, Sign.LINK_VERDICT)
    assert code in {rule.code for rule in answers(dict(zip(signs, levels, strict=True)))}


@pytest.mark.parametrize("verdict", Level)
@pytest.mark.parametrize("busbw", Level)
def test_links_beat_fault_tolerance_only_where_a_fail_was_measured(busbw: Level, verdict: Level) -> None:
    signs = {Sign.GOODPUT: LOW, Sign.MFU: HIGH, Sign.BUSBW: busbw, Sign.LINK_VERDICT: verdict}
    codes = {rule.code for rule in answers(signs)}
    assert ("goodput_lost_to_links" in codes) == (busbw is LOW and verdict is LOW)
    assert ("fault_tolerance" in codes) == (verdict is not LOW)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_its_texts_and_what_is_to_be_acted_on_says_what_to_do(rule: Rule) -> None:
    assert f"joint.title.{rule.code}" in CATALOGUE_EN
    assert (f"joint.meaning.{rule.code}" in CATALOGUE_EN) == (rule.kind in (Kind.FINDING, Kind.GAP))
    assert f"joint.source.{rule.source}" in CATALOGUE_EN
    for step in rule.steps:
        assert f"joint.next.{step}" in CATALOGUE_EN
    for sign in rule.wants:
        assert f"joint.missing.{sign.value}" in CATALOGUE_EN
    assert rule.kind not in (Kind.FINDING, Kind.GAP) or rule.steps or rule.commands


def test_no_rule_is_called_like_a_cause_or_a_check() -> None:
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))
    assert set(codes).isdisjoint({*BY_CODE, *known_checks()})


SAMPLES = {
    "PARAMS": "13000000000",
    "SEQ_LEN": "4096",
    "GPU": "A100",
    "GPUS": "32",
    "TOKENS_PER_S": "85000",
    "STEP_TIME": "2s",
}
GIVEN = (
    Given(TrainingDocuments()),
    Given(
        TrainingDocuments(log=a_log(gpu="NVIDIA A100-SXM4-80GB"), trace=a_trace(a_rank(0), a_rank(1))),
        record=sick(),
        record_named="reports/20260314T021503Z-mvkd",
        hosts=("gpu001", "gpu002"),
        hosts_named="gpu[001-002]",
    ),
)


@pytest.mark.parametrize("given", GIVEN, ids=("nothing known", "all known"))
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_command_of_ours_can_be_typed(rule: Rule, given: Given) -> None:
    for line in lines(rule.commands, given):
        command, _, into = line.partition(" > ")
        words = [SAMPLES.get(word, word) for word in shlex.split(command)]
        assert "{" not in line
        assert into in ("", "vitals-log.json", "vitals-trace.json", "vitals-mfu.json")
        if words[0] == "healthcheck":
            assert taken(words[1:])


def taken(words: list[str]) -> bool:
    """Whether the command line takes it; nothing is run."""
    command: object = typer.main.get_command(app)
    name, rest = "healthcheck", words
    while isinstance(command, typer.core.TyperGroup):
        found, command, rest = command.resolve_command(typer.Context(command), rest)
        name = found or name
    assert isinstance(command, typer.core.TyperCommand)
    command.make_context(name, list(rest), resilient_parsing=False)
    return True


def test_no_line_writes_over_what_it_reads() -> None:
    for rule in RULES:
        for given in GIVEN:
            for line in lines(rule.commands, given):
                command, _, into = line.partition(" > ")
                assert not into or into not in shlex.split(command)
