"""Which reader reads which framework."""

from __future__ import annotations

from healthcheck.model.training import Framework
from healthcheck.vitals.logs.automodel import Automodel
from healthcheck.vitals.logs.composer import Composer
from healthcheck.vitals.logs.deepspeed import DeepSpeed
from healthcheck.vitals.logs.dialect import Dialect
from healthcheck.vitals.logs.hf_trainer import HfTrainer
from healthcheck.vitals.logs.maxtext import MaxText
from healthcheck.vitals.logs.megatron import Megatron
from healthcheck.vitals.logs.nanogpt import NanoGpt
from healthcheck.vitals.logs.nanotron import Nanotron
from healthcheck.vitals.logs.nemo import Nemo
from healthcheck.vitals.logs.olmo import Olmo
from healthcheck.vitals.logs.progress import Progress
from healthcheck.vitals.logs.torchtitan import Torchtitan

_ALL: tuple[type[Dialect], ...] = (
    Megatron,
    Torchtitan,
    Nemo,
    Automodel,
    Nanotron,
    Composer,
    Olmo,
    MaxText,
    NanoGpt,
    Progress,
    DeepSpeed,
    HfTrainer,
)
_BY_NAME = {one.framework: one for one in _ALL}
_SAME_LINES = {Framework.MEGATRON_DEEPSPEED: Framework.MEGATRON, Framework.GPT_NEOX: Framework.MEGATRON}


def all_dialects() -> list[Dialect]:
    """A fresh reader of each kind."""
    return [one() for one in _ALL]


def dialect_of(framework: Framework) -> Dialect:
    """A fresh reader of the lines of that framework."""
    return _BY_NAME[_SAME_LINES.get(framework, framework)]()
