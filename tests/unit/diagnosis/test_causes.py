"""The catalogue as data: whole, without contradiction, and every row fit to be read by an operator."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from urllib.parse import urlsplit

import pytest

import healthcheck
from healthcheck.diagnosis.cause import Cause
from healthcheck.diagnosis.causes import BY_RULE, CAUSES, UNEXPLAINED, cause_of, explains
from healthcheck.model.texts import CATALOGUE_EN

ROOT = Path(healthcheck.__file__).parent.parent
TEXTS = ("cause", "remedy", "why", "against")
ENDS_JOBS = re.compile(
    r"\b(?:reset|reboot|power-cycle|reload the driver|restart (?:it|the (?:fabric manager|node)))\b"
    r"|\b[Bb]oot (?:it )?with|[Ss]tart (?:the fabric manager|nvidia-fabricmanager)|reseat the (?:card|GPU|NVLink)"
)
"""What ends every CUDA job of a node, or needs it powered off."""


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_every_cause_has_its_four_texts_and_no_text_is_without_cause() -> None:
    wanted = {f"{what}.{cause.code}" for what in TEXTS for cause in CAUSES}
    assert wanted == {code for code in CATALOGUE_EN if code.startswith(tuple(f"{what}." for what in TEXTS))}


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_a_row_reads_well(cause: Cause) -> None:
    title, remedy, why, against = (CATALOGUE_EN[f"{what}.{cause.code}"] for what in TEXTS)
    assert not title.endswith(".")
    assert all(text.endswith(".") for text in (remedy, why, against)), "whole sentences"
    assert not placeholders(why) | placeholders(against), "these two are read without a finding"
    assert not re.search(r"\b(we|our|bad node|critical)\b|!", f"{why} {against}")


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_what_ends_every_job_of_a_node_begins_with_draining_it(cause: Cause) -> None:
    remedy = CATALOGUE_EN[f"remedy.{cause.code}"]
    assert remedy.startswith("Drain the node") or not ENDS_JOBS.search(remedy)


def test_draining_is_asked_for_where_jobs_would_end() -> None:
    drained = {cause.code for cause in CAUSES if ENDS_JOBS.search(CATALOGUE_EN[f"remedy.{cause.code}"])}
    assert {"nvls_stale", "fabric_manager_version", "ecc_off", "mig_on", "xid_nvlink_training", "iommu_on"} <= drained
    assert len(drained) > 50


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_every_cause_refers_to_a_page_that_describes_it(cause: Cause) -> None:
    """The root of a repository or of a site describes nothing; a page of ours is there."""
    address = urlsplit(cause.reference)
    if cause.reference.startswith("docs/"):
        assert (ROOT / cause.reference).is_file()
    else:
        steps = [step for step in address.path.split("/") if step]
        assert address.scheme == "https" and address.netloc
        assert len(steps) >= (4 if address.netloc == "github.com" else 1)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_what_needs_sudo_over_there_has_a_terminal_that_can_ask(cause: Cause) -> None:
    for argv in cause.commands:
        assert argv[:3] == ("ssh", "-t", "{host}") or not re.search(r"\bsudo\b", argv[-1]), argv


def test_the_lines_of_acs_name_their_devices() -> None:
    told = [argv[-1] for cause in CAUSES for argv in cause.commands if "ACSCtl" in argv[-1]]
    assert len(told) == 2
    assert all("^[0-9a-f]" in words for words in told)


def test_every_signature_is_a_pattern_that_does_not_match_everything() -> None:
    for cause in CAUSES:
        if cause.signature:
            assert not re.search(cause.signature, "gpu01:1:1 [0] NCCL INFO Connected all rings"), cause.code


def test_a_rule_is_found_whole_then_by_its_first_word() -> None:
    assert cause_of("hca.down").code == "hca_down"
    assert cause_of("connect.something_new").code == "connection_lost"
    assert cause_of("warn.hca_down").code == "hca_down"
    assert cause_of("later.rule") is UNEXPLAINED


def test_what_a_cause_explains_is_what_some_rule_is_called() -> None:
    words = {rule.partition(".")[0] for rule in BY_RULE}
    for cause in CAUSES:
        for rule in cause.explains:
            assert rule in BY_RULE or rule in words, f"{cause.code} explains {rule}"
        assert not any(explains(cause, rule) for rule in cause.rules), f"{cause.code} explains itself"


def test_what_speaks_against_a_cause_is_a_check_or_a_rule_of_the_code() -> None:
    sources = "\n".join(path.read_text() for path in Path(healthcheck.__file__).parent.glob("[!d]*/*.py"))
    for cause in CAUSES:
        assert all(f'"{name}"' in sources for name in cause.contradicted), cause.code
