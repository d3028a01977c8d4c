"""`--healthy` and `--broken`, checked by the rules that hold for them in a playbook."""

from __future__ import annotations

from healthcheck.errors import InputError
from healthcheck.evaluation.limits import DEFAULT_THRESHOLDS, thresholds
from healthcheck.model.platform import Platform, Thresholds
from healthcheck.model.playbook import BENCHMARK_STAGES, Playbook
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.parsing.playbook import wrong_thresholds


def asked_thresholds(
    healthy: float | None, broken: float | None, playbook: Playbook, platform: Platform | None
) -> AskedThresholds | None:
    """What was asked for; None where nothing was. InputError where a value, or one beside that of a stage, is wrong.

    A platform that is still to be found says its own fractions too late for that: there the one that was given wins.
    """
    asked = AskedThresholds(healthy, broken)
    if healthy is None and broken is None:
        return None
    alone = asked.over(Thresholds(healthy=1.0, broken=min(healthy or 1.0, DEFAULT_THRESHOLDS.broken)))
    wrong = wrong_thresholds(alone)
    if wrong is not None:
        raise InputError(f"--{wrong[0]}", wrong[1])
    given, other = ("healthy", "broken") if broken is None else ("broken", "healthy")
    for stage in playbook.stages:
        others, who = thresholds(stage, playbook, platform, None)
        both = asked.over(others)
        named = _name(who.english)
        if stage.name in BENCHMARK_STAGES and both.broken > both.healthy:
            raise InputError(
                f"--{given}",
                f"{getattr(both, given):g} does not go with {other} {getattr(both, other):g} of {named}, because "
                f"broken must not be above healthy; give --{other}, too",
            )
    return asked


def _name(who: str) -> str:
    return "the default" if who == "default" else who
