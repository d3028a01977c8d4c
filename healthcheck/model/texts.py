"""The message catalogue: code -> English template with named placeholders. One place for every text.

Templates are `str.format` with named fields only, and with one addition: `{n} {n:node|nodes}` writes the word that fits
the number, so that whoever says a message needs no plural and each language has its own. A later language is another
mapping with the same keys. Each room owns one file of entries; this module joins them and refuses a code that is
defined twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from string import Formatter

from healthcheck.model.language import Language
from healthcheck.model.message import PHRASE, Arg
from healthcheck.model.text_baseline import BASELINE_TEXTS
from healthcheck.model.text_capture import CAPTURE_TEXTS
from healthcheck.model.text_causes_fabric import FABRIC_CAUSE_TEXTS
from healthcheck.model.text_causes_fleet import FLEET_CAUSE_TEXTS
from healthcheck.model.text_causes_gpus import GPU_CAUSE_TEXTS
from healthcheck.model.text_causes_jobs import JOB_CAUSE_TEXTS
from healthcheck.model.text_causes_machine import MACHINE_CAUSE_TEXTS
from healthcheck.model.text_causes_nccl import NCCL_CAUSE_TEXTS
from healthcheck.model.text_causes_nccl_net import NCCL_NET_CAUSE_TEXTS
from healthcheck.model.text_causes_nccl_paths import NCCL_PATH_CAUSE_TEXTS
from healthcheck.model.text_causes_network import NETWORK_CAUSE_TEXTS
from healthcheck.model.text_causes_search import SEARCH_CAUSE_TEXTS
from healthcheck.model.text_causes_system import SYSTEM_CAUSE_TEXTS
from healthcheck.model.text_checks import CHECK_TEXTS
from healthcheck.model.text_cli import CLI_TEXTS
from healthcheck.model.text_compare import COMPARE_TEXTS
from healthcheck.model.text_evidence import EVIDENCE_TEXTS
from healthcheck.model.text_fabric import FABRIC_TEXTS
from healthcheck.model.text_fingerprints import FINGERPRINT_TEXTS
from healthcheck.model.text_fleet import FLEET_TEXTS
from healthcheck.model.text_gate import GATE_TEXTS
from healthcheck.model.text_goodput import GOODPUT_TEXTS
from healthcheck.model.text_gpus import GPU_TEXTS
from healthcheck.model.text_history import HISTORY_TEXTS
from healthcheck.model.text_hosts import HOST_TEXTS
from healthcheck.model.text_jobs import JOB_TEXTS
from healthcheck.model.text_joint import JOINT_TEXTS
from healthcheck.model.text_joint_rules import JOINT_RULE_TEXTS
from healthcheck.model.text_limits import LIMIT_TEXTS
from healthcheck.model.text_lock import LOCK_TEXTS
from healthcheck.model.text_mfu import MFU_TEXTS
from healthcheck.model.text_nccl import NCCL_TEXTS
from healthcheck.model.text_network import NETWORK_TEXTS
from healthcheck.model.text_notify import NOTIFY_TEXTS
from healthcheck.model.text_page import PAGE_TEXTS
from healthcheck.model.text_peaks import PEAK_TEXTS
from healthcheck.model.text_platform import PLATFORM_TEXTS
from healthcheck.model.text_plots import PLOT_TEXTS
from healthcheck.model.text_probes import PROBE_TEXTS
from healthcheck.model.text_progress import PROGRESS_TEXTS
from healthcheck.model.text_rejudge import REJUDGE_TEXTS
from healthcheck.model.text_report import REPORT_TEXTS
from healthcheck.model.text_rules import RULE_TEXTS
from healthcheck.model.text_schedule import SCHEDULE_TEXTS
from healthcheck.model.text_search import SEARCH_TEXTS
from healthcheck.model.text_slurm import SLURM_TEXTS
from healthcheck.model.text_system import SYSTEM_TEXTS
from healthcheck.model.text_ticket import TICKET_TEXTS
from healthcheck.model.text_trace import TRACE_TEXTS
from healthcheck.model.text_training import TRAINING_TEXTS
from healthcheck.model.text_training_page import TRAINING_PAGE_TEXTS
from healthcheck.model.text_vitals_compare import VITALS_COMPARE_TEXTS


def _joined(*parts: Mapping[str, str]) -> dict[str, str]:
    catalogue: dict[str, str] = {}
    for part in parts:
        twice = catalogue.keys() & part.keys()
        if twice:
            raise ValueError(f"message codes defined twice: {sorted(twice)}")
        catalogue.update(part)
    return catalogue


CATALOGUE_EN = _joined(
    HOST_TEXTS,
    JOB_TEXTS,
    PROBE_TEXTS,
    PROGRESS_TEXTS,
    GPU_TEXTS,
    GATE_TEXTS,
    NETWORK_TEXTS,
    FABRIC_TEXTS,
    SYSTEM_TEXTS,
    NCCL_TEXTS,
    FLEET_TEXTS,
    CHECK_TEXTS,
    EVIDENCE_TEXTS,
    LIMIT_TEXTS,
    LOCK_TEXTS,
    PEAK_TEXTS,
    RULE_TEXTS,
    PLATFORM_TEXTS,
    FABRIC_CAUSE_TEXTS,
    GPU_CAUSE_TEXTS,
    JOB_CAUSE_TEXTS,
    MACHINE_CAUSE_TEXTS,
    NCCL_CAUSE_TEXTS,
    NCCL_NET_CAUSE_TEXTS,
    NCCL_PATH_CAUSE_TEXTS,
    NETWORK_CAUSE_TEXTS,
    SEARCH_CAUSE_TEXTS,
    SYSTEM_CAUSE_TEXTS,
    FLEET_CAUSE_TEXTS,
    FINGERPRINT_TEXTS,
    REPORT_TEXTS,
    PLOT_TEXTS,
    PAGE_TEXTS,
    TICKET_TEXTS,
    SCHEDULE_TEXTS,
    SEARCH_TEXTS,
    BASELINE_TEXTS,
    HISTORY_TEXTS,
    COMPARE_TEXTS,
    REJUDGE_TEXTS,
    NOTIFY_TEXTS,
    CLI_TEXTS,
    SLURM_TEXTS,
    MFU_TEXTS,
    TRAINING_TEXTS,
    GOODPUT_TEXTS,
    TRACE_TEXTS,
    CAPTURE_TEXTS,
    JOINT_TEXTS,
    TRAINING_PAGE_TEXTS,
    JOINT_RULE_TEXTS,
    VITALS_COMPARE_TEXTS,
)


class _Counting(Formatter):
    """`{n:node|nodes}`: the first word for exactly one, the second for any other number."""

    def format_field(self, value: object, format_spec: str) -> str:
        """One field; anything but a pair of words is formatted as ever."""
        one, bar, many = format_spec.partition("|")
        if bar:
            return one if value == 1 else many
        return format(value, format_spec)


_COUNTING = _Counting()
_PLAIN = (str, int, float)


def template_of(code: str, language: Language) -> str | None:
    """The template of a code; English where a translation is missing: records of a later version may hold such codes.

    None for a code that this version does not know at all.
    """
    return language.templates.get(code) or CATALOGUE_EN.get(code)


def render(code: str, args: Mapping[str, Arg], language: Language) -> str:
    """The text of a message; a code, or arguments, unknown to this version are shown rather than nothing."""
    if code == PHRASE:
        text = str(args.get("text", ""))
        return language.phrases.get(text, text)
    told = {
        name: arg if isinstance(arg, _PLAIN) else render(arg.code, arg.args, language) for name, arg in args.items()
    }
    return _filled(template_of(code, language), code, tuple(told.items()), tuple(map(type, told.values())))


# A thousand nodes say the same few sentences, and a record is written several times in a run. The types are part of
# the key, because 1 and 1.0 are equal and read differently.
@lru_cache(maxsize=1 << 14)
def _filled(
    template: str | None, code: str, items: tuple[tuple[str, str | int | float], ...], _types: tuple[type, ...]
) -> str:
    args = dict(items)
    if template is not None:
        # The record of another version may lack an argument, or hold words where a number is wanted.
        with suppress(KeyError, ValueError, IndexError, AttributeError):
            return _COUNTING.vformat(template, (), args) if "|" in template else template.format(**args)
    return f"{code} {args}"
