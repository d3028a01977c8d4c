"""What the check-up says by itself, and how far its record can speak for this training."""

from __future__ import annotations

from healthcheck.diagnosis.joint.rule import (
    BROKEN_PART,
    CHECK,
    CHECK_UP,
    FAILED,
    LOOK,
    REPAIRS,
    REPORT,
    SEARCH,
    SLOW,
    Rule,
    at,
)
from healthcheck.model.joint import Kind, Question, Sign

_FINDING, _GAP, _NOTE, _FINE = Kind.FINDING, Kind.GAP, Kind.NOTE, Kind.FINE
_LINKS = Question.LINKS
_KIND, _GPU = Question.RECORD_KIND, Question.RECORD_GPU
_AGE, _COVER = Question.RECORD_AGE, Question.RECORD_COVER
_MEASURED_AGAIN = (CHECK_UP,)

LINK_RULES: tuple[Rule, ...] = (
    Rule(
        "links_failed",
        _LINKS,
        _FINDING,
        FAILED,
        steps=("repair", "search"),
        commands=(REPAIRS, REPORT, SEARCH),
        source=CHECK,
    ),
    Rule("part_failed", _LINKS, _FINDING, BROKEN_PART, steps=("repair",), commands=(REPAIRS, REPORT), source=CHECK),
    Rule(
        "links_slow",
        _LINKS,
        _FINDING,
        SLOW,
        steps=("search", "repair"),
        commands=(REPORT, SEARCH, REPAIRS),
        source=CHECK,
    ),
    Rule("links_well", _LINKS, _FINE, (at(link="H", busbw="H"),), source=CHECK),
    Rule(
        "links_open",
        _LINKS,
        _GAP,
        (at(link="U", busbw="H"),),
        steps=("measure_links",),
        commands=_MEASURED_AGAIN,
        wants=(Sign.LINK_VERDICT,),
        source=CHECK,
    ),
    Rule(
        "links_looked_at",
        _LINKS,
        _GAP,
        (at(link="H", busbw="U"),),
        steps=("measure_links",),
        commands=_MEASURED_AGAIN,
        wants=(Sign.BUSBW,),
        source=CHECK,
    ),
    Rule(
        "links_unmeasured",
        _LINKS,
        _GAP,
        (at(link="U", busbw="U"),),
        steps=("measure_links",),
        commands=(LOOK, CHECK_UP),
        wants=(Sign.LINK_VERDICT,),
        source=CHECK,
    ),
)

RECORD_RULES: tuple[Rule, ...] = (
    Rule("record_simulated", _KIND, _GAP, (at(kind="L"),), commands=_MEASURED_AGAIN, source=CHECK),
    Rule("record_incomplete", _KIND, _GAP, (at(kind="M"),), commands=_MEASURED_AGAIN, source=CHECK),
    Rule("record_complete", _KIND, _FINE, (at(kind="H"),), source=CHECK),
    Rule("record_absent", _KIND, _NOTE, (at(kind="U"),), source=CHECK),
    Rule("record_other_gpu", _GPU, _GAP, (at(gpu="L"),), commands=_MEASURED_AGAIN),
    Rule("record_same_gpu", _GPU, _FINE, (at(gpu="H"),)),
    Rule("record_gpu_unknown", _GPU, _NOTE, (at(gpu="MU"),), wants=(Sign.RECORD_GPU,)),
    Rule("record_recent", _AGE, _FINE, (at(age="L"),)),
    Rule("record_weeks_apart", _AGE, _NOTE, (at(age="M"),), commands=_MEASURED_AGAIN),
    Rule("record_old", _AGE, _GAP, (at(age="H"),), commands=_MEASURED_AGAIN),
    Rule("record_age_unknown", _AGE, _NOTE, (at(age="U"),), wants=(Sign.RECORD_AGE,)),
    Rule("record_covers", _COVER, _FINE, (at(cover="H"),)),
    Rule("record_covers_a_part", _COVER, _GAP, (at(cover="M"),), commands=_MEASURED_AGAIN),
    Rule("record_of_others", _COVER, _GAP, (at(cover="L"),), commands=_MEASURED_AGAIN),
    Rule("record_cover_unknown", _COVER, _NOTE, (at(cover="U"),), wants=(Sign.RECORD_COVER,)),
)
