"""Where does the time of a step go, and are the links why? The article's rules, and the gaps between them.

The 30 % rule is applied to the exposed share: what is hidden behind compute costs nothing.
"""

from __future__ import annotations

from healthcheck.diagnosis.joint.rule import (
    ANY,
    ARTICLE,
    BAD,
    BROKEN_PART,
    BUDGET,
    CAPTURE,
    CHECK_UP,
    FAILED,
    HEALTHY,
    NOT_BAD,
    REPAIRS,
    SAVE_MFU,
    SAVE_TRACE,
    SEARCH,
    SLOW,
    UNMEASURED,
    Rule,
    at,
    each,
)
from healthcheck.model.joint import Kind, Question, Sign

_STEP = Question.STEP
_FINDING, _GAP, _FINE = Kind.FINDING, Kind.GAP, Kind.FINE
_EXPOSED, _MFU, _IDLE, _BUSBW = Sign.EXPOSED, Sign.MFU, Sign.IDLE, Sign.BUSBW
_RANKS = Sign.RANK_SPREAD
_SHOWS = (Sign.COLLECTIVE,)

_WAITS = (at(mfu="LMU", exposed="H"),)
"""More than 30 % of the step waits for communication, and MFU does not say that all is well."""
_SLOW_STEPS = (*_WAITS, at(mfu="L", exposed="MU"), at(mfu="M", exposed="M"))
_MIXED = (at(mfu="LMU", exposed="M"),)
_NOT_COMMUNICATION = (at(mfu="LM", exposed="L"),)

STEP_RULES: tuple[Rule, ...] = (
    # Communication, and links that are not well.
    Rule(
        "links_are_the_cause",
        _STEP,
        _FINDING,
        each(FAILED, _SLOW_STEPS),
        steps=("repair", "search", "measure_again"),
        commands=(REPAIRS, SEARCH),
        wants=(_EXPOSED, _MFU, _RANKS),
        source=ARTICLE,
        shows=_SHOWS,
    ),
    Rule(
        "broken_part_in_slow_steps",
        _STEP,
        _FINDING,
        each(BROKEN_PART, _SLOW_STEPS),
        steps=("was_it_used", "repair", "measure_again"),
        commands=(REPAIRS,),
        wants=(_EXPOSED, _MFU, _BUSBW),
        shows=_SHOWS,
    ),
    Rule(
        "slow_links_cost_time",
        _STEP,
        _FINDING,
        each(SLOW, _WAITS),
        steps=("search", "repair", "measure_again"),
        commands=(SEARCH, REPAIRS),
        wants=(_MFU, _RANKS),
        source=ARTICLE,
        shows=_SHOWS,
    ),
    # Communication, and links that are well: how the training uses them.
    Rule(
        "communication_bound_on_healthy_links",
        _STEP,
        _FINDING,
        each(HEALTHY, _WAITS),
        steps=("budget", "messages", "overlap", "layout", "settings"),
        commands=(BUDGET,),
        wants=(_MFU, Sign.EFFECTIVE, _RANKS),
        source=ARTICLE,
        shows=_SHOWS,
    ),
    Rule(
        "communication_bound_links_unmeasured",
        _STEP,
        _FINDING,
        each(UNMEASURED, _WAITS),
        steps=("measure_links", "messages"),
        commands=(CHECK_UP,),
        wants=(_BUSBW, _MFU, _RANKS),
        source=ARTICLE,
        shows=_SHOWS,
    ),
    # Between 15 and 30 %: mixed.
    Rule(
        "mixed_with_bad_links",
        _STEP,
        _FINDING,
        (*each(SLOW, _MIXED), *each((*FAILED, *BROKEN_PART), (at(mfu="U", exposed="M"),))),
        steps=("repair", "search", "batch"),
        commands=(REPAIRS, SEARCH),
        wants=(_MFU, _RANKS),
        shows=_SHOWS,
    ),
    Rule(
        "mixed",
        _STEP,
        _FINDING,
        each(HEALTHY, _MIXED),
        steps=("overlap", "batch", "idle"),
        wants=(_MFU, _IDLE, _RANKS),
        shows=_SHOWS,
    ),
    Rule(
        "mixed_links_unmeasured",
        _STEP,
        _FINDING,
        each(UNMEASURED, _MIXED),
        steps=("measure_links", "overlap", "batch"),
        commands=(CHECK_UP,),
        wants=(_BUSBW, _MFU, _IDLE, _RANKS),
        shows=_SHOWS,
    ),
    # MFU is low or in between, and communication is not why.
    Rule(
        "not_communication_though_links_are_bad",
        _STEP,
        _FINDING,
        each(BAD, _NOT_COMMUNICATION),
        steps=("batch", "idle", "same_nodes", "repair"),
        commands=(REPAIRS,),
        wants=(_IDLE,),
        shows=_SHOWS,
    ),
    Rule(
        "low_mfu_not_communication",
        _STEP,
        _FINDING,
        each(NOT_BAD, (at(mfu="L", exposed="L"),)),
        steps=("batch", "bubble", "idle", "precision"),
        wants=(_IDLE, Sign.DATA_LOADING),
        shows=_SHOWS,
    ),
    Rule(
        "middle_mfu_not_communication",
        _STEP,
        _FINDING,
        each(NOT_BAD, (at(mfu="M", exposed="L"),)),
        steps=("batch", "bubble", "idle"),
        wants=(_IDLE,),
        shows=_SHOWS,
    ),
    # Nobody measured how much waits for communication.
    Rule(
        "bad_links_share_unknown",
        _STEP,
        _FINDING,
        (*each(SLOW, (at(mfu="LM", exposed="U"),)), *each((*FAILED, *BROKEN_PART), (at(mfu="M", exposed="U"),))),
        steps=("repair", "trace", "search"),
        commands=(REPAIRS, SEARCH, CAPTURE, SAVE_TRACE),
        wants=(_EXPOSED,),
    ),
    Rule(
        "low_mfu_links_are_not_why",
        _STEP,
        _FINDING,
        each(HEALTHY, (at(mfu="L", exposed="U"),)),
        steps=("trace", "batch", "bubble"),
        commands=(CAPTURE, SAVE_TRACE),
        wants=(_EXPOSED, _IDLE),
    ),
    Rule(
        "low_mfu_alone",
        _STEP,
        _FINDING,
        each(UNMEASURED, (at(mfu="L", exposed="U"),)),
        steps=("trace", "measure_links"),
        commands=(CAPTURE, SAVE_TRACE, CHECK_UP),
        wants=(_EXPOSED, _BUSBW, _IDLE),
    ),
    Rule(
        "middle_mfu_share_unknown",
        _STEP,
        _FINDING,
        each(NOT_BAD, (at(mfu="M", exposed="U"),)),
        steps=("trace",),
        commands=(CAPTURE, SAVE_TRACE),
        wants=(_EXPOSED, _BUSBW),
    ),
    # MFU is high.
    Rule(
        "good_mfu_much_exposed",
        _STEP,
        _FINDING,
        each(ANY, (at(mfu="H", exposed="H"),)),
        steps=("check_mfu", "overlap", "same_training"),
        commands=(SAVE_MFU,),
        wants=(_BUSBW,),
        shows=(*_SHOWS, _BUSBW, Sign.LINK_VERDICT),
    ),
    Rule(
        "bad_links_training_well",
        _STEP,
        _FINDING,
        each(BAD, (at(mfu="H", exposed="LMU"),)),
        steps=("same_nodes", "repair", "larger_job"),
        commands=(REPAIRS,),
        wants=(_EXPOSED,),
        shows=_SHOWS,
    ),
    Rule(
        "well_with_room",
        _STEP,
        _FINE,
        each(NOT_BAD, (at(mfu="H", exposed="M"),)),
        steps=("overlap",),
        shows=_SHOWS,
    ),
    Rule("step_well", _STEP, _FINE, each(NOT_BAD, (at(mfu="H", exposed="LU"),)), wants=(_EXPOSED,), source=ARTICLE),
    # MFU is not known, and little waits for communication; or nothing is known.
    Rule(
        "bad_links_hardly_felt",
        _STEP,
        _FINDING,
        each(BAD, (at(mfu="U", exposed="L"),)),
        steps=("same_nodes", "repair", "mfu"),
        commands=(REPAIRS, SAVE_MFU),
        wants=(_MFU,),
        shows=_SHOWS,
    ),
    Rule(
        "little_communication_mfu_unknown",
        _STEP,
        _GAP,
        each(NOT_BAD, (at(mfu="U", exposed="L"),)),
        steps=("mfu",),
        commands=(SAVE_MFU,),
        wants=(_MFU,),
        shows=_SHOWS,
    ),
    Rule(
        "step_unknown",
        _STEP,
        _GAP,
        each(ANY, (at(mfu="U", exposed="U"),)),
        steps=("mfu", "trace"),
        commands=(SAVE_MFU, CAPTURE, SAVE_TRACE),
        wants=(_MFU, _EXPOSED),
    ),
)
