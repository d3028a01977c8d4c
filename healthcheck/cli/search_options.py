"""What a search is asked for on the command line: time and sensitivity as people write them, and its stages."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from healthcheck.cli.durations import duration_or_zero_s
from healthcheck.errors import InputError
from healthcheck.model.playbook import Playbook, Stage

LOCALISE: Final = "localise"
LEAST_SENSITIVITY, MOST_SENSITIVITY = 0.04, 0.3


def search_time_s(budget: str | None) -> float | None:
    """How long a search may take, None for what its stage says; InputError for what is no duration."""
    return None if budget is None else duration_or_zero_s("--budget", budget)


def fraction(text: str | None) -> float | None:
    """`5%` or `0.05` as a fraction; InputError unless it lies between 4 % and 30 %."""
    if text is None:
        return None
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if rest or not LEAST_SENSITIVITY <= value <= MOST_SENSITIVITY:
        raise InputError("--sensitivity", f"must lie between 4% and 30%, such as 5%, got {text!a}")
    return value


def with_search(playbook: Playbook) -> Playbook:
    """The playbook with the stages that a search needs: all nodes together, and the search where that is slow."""
    stages = [stage for stage in playbook.stages if stage.name != LOCALISE]
    if playbook.stage("multi_node") is None:
        stages.append(Stage("multi_node"))
    return replace(playbook, stages=(*stages, playbook.stage(LOCALISE) or Stage(LOCALISE, when="not_pass")))
