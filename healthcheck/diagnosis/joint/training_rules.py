"""The other questions about the training: what a GPU waits for, whether steps and ranks are even, what of the wall
clock was worth it, and whether its collectives get what the links can do."""

from __future__ import annotations

from healthcheck.diagnosis.joint.rule import (
    ALONE,
    ARTICLE,
    BROKEN_PART,
    CAPTURE,
    CHECK_UP,
    FAILED,
    GATE,
    HEALTHY,
    LOG,
    PAST,
    REPAIRS,
    SAVE_LOG,
    SAVE_MFU,
    SAVE_TRACE,
    SLOW,
    UNMEASURED,
    Rule,
    at,
    each,
)
from healthcheck.model.joint import Kind, Question, Sign

_FINDING, _GAP, _NOTE, _FINE = Kind.FINDING, Kind.GAP, Kind.NOTE, Kind.FINE
_WAITING, _EVENNESS, _WALL, _EFFECTIVE = Question.WAITING, Question.EVENNESS, Question.WALL, Question.EFFECTIVE
_MFU_OK = (at(goodput="L", mfu="MH"),)

WAITING_RULES: tuple[Rule, ...] = (
    Rule("data_loading", _WAITING, _FINDING, (at(data="H"),), steps=("data",), shows=(Sign.IDLE,)),
    Rule("idle_not_data", _WAITING, _FINDING, (at(idle="H", data="LM"),), steps=("bubble", "idle", "launches")),
    Rule(
        "idle_host_unseen",
        _WAITING,
        _FINDING,
        (at(idle="H", data="U"),),
        steps=("data", "bubble", "idle", "launches"),
        wants=(Sign.DATA_LOADING,),
    ),
    Rule(
        "some_waiting",
        _WAITING,
        _NOTE,
        (at(idle="M", data="LMU"), at(idle="LU", data="M")),
        wants=(Sign.IDLE, Sign.DATA_LOADING),
    ),
    Rule(
        "little_waiting",
        _WAITING,
        _FINE,
        (at(idle="L", data="LU"), at(idle="U", data="L")),
        wants=(Sign.IDLE, Sign.DATA_LOADING),
    ),
    Rule(
        "waiting_unknown",
        _WAITING,
        _NOTE,
        (at(idle="U", data="U"),),
        commands=(CAPTURE, SAVE_TRACE),
        wants=(Sign.IDLE,),
    ),
)

EVENNESS_RULES: tuple[Rule, ...] = (
    Rule(
        "straggler",
        _EVENNESS,
        _FINDING,
        (at(ranks="H"),),
        steps=("straggler", "swap"),
        commands=(ALONE, PAST),
        shows=(Sign.STEP_SPREAD,),
    ),
    Rule(
        "steps_uneven_ranks_alike",
        _EVENNESS,
        _FINDING,
        (at(steps="H", ranks="LM"),),
        steps=("when_slow", "others"),
        commands=(LOG,),
    ),
    Rule(
        "steps_uneven_who_unknown",
        _EVENNESS,
        _FINDING,
        (at(steps="H", ranks="U"),),
        steps=("when_slow", "all_ranks"),
        commands=(CAPTURE, SAVE_TRACE, LOG),
        wants=(Sign.RANK_SPREAD,),
    ),
    Rule(
        "somewhat_uneven",
        _EVENNESS,
        _NOTE,
        (at(ranks="M", steps="LMU"), at(ranks="LU", steps="M")),
        wants=(Sign.RANK_SPREAD,),
    ),
    Rule(
        "even",
        _EVENNESS,
        _FINE,
        (at(steps="L", ranks="LU"), at(steps="U", ranks="L")),
        wants=(Sign.STEP_SPREAD, Sign.RANK_SPREAD),
    ),
    Rule(
        "evenness_unknown",
        _EVENNESS,
        _NOTE,
        (at(steps="U", ranks="U"),),
        commands=(SAVE_LOG,),
        wants=(Sign.STEP_SPREAD, Sign.RANK_SPREAD),
    ),
)

WALL_RULES: tuple[Rule, ...] = (
    # Beats the rule about fault tolerance only where the check-up measured a FAIL.
    Rule(
        "goodput_lost_to_links",
        _WALL,
        _FINDING,
        each(FAILED, _MFU_OK),
        steps=("repair", "why_restarted", "gate"),
        commands=(REPAIRS, GATE),
    ),
    Rule(
        "goodput_low_with_a_broken_part",
        _WALL,
        _FINDING,
        each(BROKEN_PART, _MFU_OK),
        steps=("why_restarted", "repair", "checkpoint", "gate"),
        commands=(REPAIRS, LOG, GATE),
    ),
    Rule(
        "fault_tolerance",
        _WALL,
        _FINDING,
        each((*SLOW, *HEALTHY, *UNMEASURED), _MFU_OK),
        steps=("why_restarted", "checkpoint", "gate"),
        commands=(LOG, GATE),
        wants=(Sign.BUSBW,),
        source=ARTICLE,
    ),
    Rule(
        "goodput_and_mfu_low",
        _WALL,
        _FINDING,
        (at(goodput="L", mfu="L"),),
        steps=("both", "why_restarted", "checkpoint"),
        commands=(LOG,),
        shows=(Sign.LINK_VERDICT,),
    ),
    Rule(
        "goodput_low_mfu_unknown",
        _WALL,
        _FINDING,
        (at(goodput="L", mfu="U"),),
        steps=("why_restarted", "checkpoint", "mfu"),
        commands=(LOG, SAVE_MFU),
        wants=(Sign.MFU,),
    ),
    Rule("goodput_in_between", _WALL, _FINDING, (at(goodput="M"),), steps=("checkpoint",), commands=(LOG,)),
    Rule("goodput_well", _WALL, _FINE, (at(goodput="H"),)),
    Rule("goodput_unknown", _WALL, _GAP, (at(goodput="U"),), commands=(SAVE_LOG,), wants=(Sign.GOODPUT,)),
)

EFFECTIVE_RULES: tuple[Rule, ...] = (
    Rule(
        "collectives_below_the_links",
        _EFFECTIVE,
        _FINDING,
        (at(effective="L"),),
        steps=("settings", "contention", "straggler"),
        shows=(Sign.BUSBW,),
    ),
    Rule("collectives_somewhat_below", _EFFECTIVE, _NOTE, (at(effective="M"),)),
    Rule("collectives_as_measured", _EFFECTIVE, _FINE, (at(effective="H"),)),
    Rule(
        "effective_unknown",
        _EFFECTIVE,
        _NOTE,
        (at(effective="U"),),
        commands=(CAPTURE, SAVE_TRACE, CHECK_UP),
        wants=(Sign.EFFECTIVE,),
    ),
)

DOCUMENT_RULES: tuple[Rule, ...] = (
    Rule(
        "documents_contradict",
        Question.DOCUMENTS,
        _GAP,
        (at(documents="L"),),
        steps=("same_training", "check_mfu"),
        commands=(SAVE_LOG, SAVE_TRACE, SAVE_MFU),
    ),
    Rule("documents_agree", Question.DOCUMENTS, _FINE, (at(documents="H"),)),
    Rule("documents_share_nothing", Question.DOCUMENTS, _NOTE, (at(documents="MU"),)),
)
