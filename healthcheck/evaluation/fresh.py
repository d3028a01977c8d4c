"""May a pass of an earlier run stand for a node today? Only where nothing that decides it has changed since."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.model.baseline import Baseline
from healthcheck.model.finding import CheckResult
from healthcheck.model.gate import EarlierPass, Measured, Passport
from healthcheck.model.message import Message, say
from healthcheck.model.node import NodeFacts
from healthcheck.model.platform import Platform
from healthcheck.model.playbook import Playbook, Stage
from healthcheck.model.reading import ReadingState
from healthcheck.model.thresholds import AskedThresholds
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.baseline import encode_baseline
from healthcheck.parsing.record_codec import encode_platform

CHECK = "gate.single_node"
REUSED = "gate.reused"
BOOT = "gate.what.boot"


class Change(Struct, frozen=True):
    """Something of a node that is not known to be as it was: then and now, None where the node did not tell."""

    what: Message
    before: str | None
    after: str | None


class Today(Struct, frozen=True):
    """What an earlier pass is held against: the time (seconds since 1970), how old it may be, and what is asked now.

    `measured` is how much would be measured of a node today.
    """

    now_s: float
    fresh_for_s: float
    playbook_sha256: str
    platform_sha256: str
    measured: Measured
    thresholds: AskedThresholds | None = None
    baseline_sha256: str = ""


def platform_digest(platform: Platform | None) -> str:
    """SHA-256 of a platform as it is used; empty where none is known."""
    return "" if platform is None else hashlib.sha256(encode_platform(platform).encode()).hexdigest()


def baseline_digest(baseline: Baseline | None) -> str:
    """SHA-256 of the numbers of a baseline, whatever its file is called; empty where none was given."""
    if baseline is None:
        return ""
    return hashlib.sha256(encode_baseline(replace(baseline, source="")).encode()).hexdigest()


def measured(stage: Stage) -> Measured:
    """How much a stage of single nodes measures."""
    names = tuple(each.value for each in stage.collectives)
    return Measured(names, int(stage.sizes.min), int(stage.sizes.max), stage.iterations, stage.repeats)


def measured_alone(playbook: Playbook) -> Measured | None:
    """The same of a playbook as it was run; None where it has no such stage."""
    stage = playbook.stage("single_node")
    return None if stage is None else measured(stage)


def passport(facts: NodeFacts) -> Passport:
    """What the look at a node says of what its measurements depend on."""
    identity = facts.identity.value if facts.identity is not None else None
    drivers = sorted({gpu.driver for gpu in facts.gpus.value or () if gpu.driver})
    software = facts.software.value
    return Passport(
        boot_id=None if identity is None else identity.boot_id,
        driver="+".join(drivers) or None,
        nccl=None if software is None else software.nccl,
        firmware=_firmware(facts),
        gpus=_gpus(facts),
    )


def _gpus(facts: NodeFacts) -> str | None:
    if not facts.gpus.observed or not facts.gpus.value:
        return None
    identities = " ".join(sorted(gpu.uuid for gpu in facts.gpus.value))
    return f"{len(facts.gpus.value)} ({hashlib.sha256(identities.encode()).hexdigest()[:12]})"


def _firmware(facts: NodeFacts) -> str | None:
    """Of every card by its device; None where one of them does not tell."""
    if facts.hcas.state is not ReadingState.OBSERVED or facts.hcas.value is None:
        return None
    told = {hca.device: hca.firmware for hca in facts.hcas.value}
    if any(firmware is None for firmware in told.values()):
        return None
    return " ".join(f"{device}={firmware}" for device, firmware in sorted(told.items())) or "none"


def why_again(
    earlier: EarlierPass | None, today: Today, now: Passport, looked: Iterable[CheckResult]
) -> Message | None:
    """Why a node has to be measured again; None where its earlier pass holds.

    `looked` is what the fresh look found about the node: whoever is not PASS there is always measured.
    """
    wrong = next((check for check in looked if check.verdict > Verdict.PASS or check.sets_aside), None)
    if wrong is not None:
        return say("gate.again.look", what=wrong.message)
    if earlier is None or today.now_s - earlier.measured_s > today.fresh_for_s:
        return say("gate.again.none")
    if earlier.measured_s > today.now_s:
        return say("gate.again.future", run_id=earlier.run_id)
    if earlier.found != Verdict.PASS.name:
        return say("gate.again.not_pass", run_id=earlier.run_id, verdict=earlier.found)
    if earlier.playbook_sha256 != today.playbook_sha256:
        return say("gate.again.asked", what=say("gate.what.playbook"))
    if not today.platform_sha256 or earlier.platform_sha256 != today.platform_sha256:
        return say("gate.again.asked", what=say("gate.what.platform"))
    if earlier.thresholds != today.thresholds:
        return say("gate.again.asked", what=say("gate.what.thresholds"))
    if earlier.baseline_sha256 != today.baseline_sha256:
        return say("gate.again.asked", what=say("gate.what.baseline"))
    if earlier.measured is None or not earlier.measured.covers(today.measured):
        return say("gate.again.less", run_id=earlier.run_id)
    moved = next(changes(earlier.passport, now), None)
    return None if moved is None else _again(moved)


def _again(moved: Change) -> Message:
    if moved.before is None or moved.after is None:
        return say("gate.again.unknown", what=moved.what)
    return say("gate.again.changed", what=moved.what, before=moved.before, after=moved.after)


def changes(then: Passport, now: Passport) -> Iterator[Change]:
    """All that is not known to be the same, the boot first."""
    for what, before, after in (
        (say(BOOT), then.boot_id, now.boot_id),
        (say("gate.what.gpus"), then.gpus, now.gpus),
        (say("gate.what.driver"), then.driver, now.driver),
        (say("gate.what.nccl"), then.nccl, now.nccl),
        (say("gate.what.firmware"), then.firmware, now.firmware),
    ):
        if before is None or before != after:
            yield Change(what, before, after)


def overtaken_by(then: Passport, now: Passport) -> Change | None:
    """What makes a measurement of this very run worth nothing on the node as it is now; None where it stands.

    What a node tells neither time (an NCCL that ldconfig does not know) is taken for the same within one run, but not
    the boot: everything else may change with it.
    """
    for found in changes(then, now):
        if found.what.code == BOOT or (found.before, found.after) != (None, None):
            return found
    return None
