"""Rule 5: does a node, or a set of nodes, read what it used to read when it was healthy?"""

from __future__ import annotations

from statistics import median, median_low

from msgspec import Struct

from healthcheck.evaluation.reading import JudgedReading, size_gib, spelled
from healthcheck.evaluation.rules import HISTORY, Answer, not_asked
from healthcheck.model.baseline import Baseline, Usual
from healthcheck.model.command import CollectiveJob
from healthcheck.model.finding import RuleResult
from healthcheck.model.message import Message, say
from healthcheck.model.platform import Platform
from healthcheck.model.verdict import Verdict
from healthcheck.parsing.nodeset import fold

WORSE = "history.worse"
LEAST_HEALTHY = 3

_Key = tuple[str, str, str, int]


class _Held(Struct, frozen=True):
    """One size and placement held against its past. `margin` is how far above the bar it lies, as a fraction."""

    observed: float
    usual: Usual

    @property
    def margin(self) -> float:
        return (self.observed - self.usual.bar_gbyte_s) / self.usual.median_gbyte_s


class Past:
    """A baseline, ready to be asked for one job after the other."""

    def __init__(self, baseline: Baseline | None, platform: Platform | None) -> None:
        self._given = baseline is not None
        self._source = baseline.source if baseline is not None else ""
        self._other = _other_platform(baseline, platform)
        self._jobs: dict[_Key, dict[tuple[int, str], Usual]] = {}
        for usual in baseline.usual if baseline is not None else ():
            key = (usual.stage, usual.collective, usual.hosts, usual.n_ranks)
            self._jobs.setdefault(key, {})[usual.size_bytes, usual.placement] = usual

    def ask(self, reading: JudgedReading, job: CollectiveJob) -> Answer:
        """DEGRADED where the judged sizes of one placement lie below their past, as their middle one says."""
        if not self._given:
            return not_asked(HISTORY, say("rules.history.none_given"))
        if self._other is not None:
            return not_asked(HISTORY, self._other)
        known = self._jobs.get((job.stage, job.collective.value, fold(job.hosts), job.n_ranks))
        if known is None:
            return not_asked(HISTORY, say("rules.history.none", hosts=len(job.hosts)))
        values: dict[tuple[int, str], list[float]] = {}
        for row in reading.rows:
            for placement, half in row.placements:
                if half.busbw_gbyte_s is not None and (row.size_bytes, placement) in known:
                    values.setdefault((row.size_bytes, placement), []).append(half.busbw_gbyte_s)
        if not values:
            return not_asked(HISTORY, say("rules.history.other_sizes"))
        enough = {key: found for key, found in values.items() if known[key].n >= LEAST_HEALTHY}
        if not enough:
            most = max(known[key].n for key in values)
            return not_asked(HISTORY, say("rules.history.too_few", n=most, least=LEAST_HEALTHY))
        placements: dict[str, list[_Held]] = {}
        for key, found in sorted(enough.items()):
            placements.setdefault(key[1], []).append(_Held(median(found), known[key]))
        return _answer(min(map(_middle, placements.values()), key=lambda held: held.margin), self._source)


def _other_platform(baseline: Baseline | None, platform: Platform | None) -> Message | None:
    """Why the baseline says nothing here: numbers of another machine type are no past of this one."""
    if baseline is None or platform is None or baseline.platform == platform.name:
        return None
    return say(
        "rules.history.other_platform", source=baseline.source, made_of=baseline.platform, judged_as=platform.name
    )


def _middle(held: list[_Held]) -> _Held:
    """The size that stands for a placement: the middle one, so that a dip at one size is no loss."""
    middle = median_low([one.margin for one in held])
    return next(one for one in held if one.margin == middle)


def _answer(held: _Held, source: str) -> Answer:
    usual, fraction = held.usual, held.observed / held.usual.median_gbyte_s
    expected = round(usual.median_gbyte_s, 2)
    if held.margin >= 0:
        percent = round(100 * fraction)
        message = say("rules.history.passed", percent=percent, expected_gbyte_s=expected, n=usual.n, source=source)
        return Answer(RuleResult(HISTORY, Verdict.PASS, message, held.observed, usual.median_gbyte_s))
    message = say(
        "rules.history.worse",
        observed_gbyte_s=round(held.observed, 2),
        placement=spelled(usual.placement),
        size_gib=size_gib(usual.size_bytes),
        percent=round(100 * (1 - fraction), 1),
        expected_gbyte_s=expected,
        n=usual.n,
        spread_gbyte_s=round(usual.spread_gbyte_s, 2),
        source=source,
    )
    return Answer(RuleResult(HISTORY, Verdict.DEGRADED, message, held.observed, usual.median_gbyte_s), WORSE)
