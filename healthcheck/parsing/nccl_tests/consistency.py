"""Do the printed numbers of a table fit each other? busbw = algbw x a factor that depends on collective and ranks."""

from __future__ import annotations

from healthcheck.model.collective import Collective
from healthcheck.model.measurement import CollectiveTable, ParseWarning

CONTRADICTS = "busbw_contradicts"

# Until June 2020 these counted only the bytes of the others in algbw, and so printed the same number twice.
_ONCE_WITHOUT_FACTOR = frozenset({Collective.ALL_GATHER, Collective.REDUCE_SCATTER})
_COARSE = 99_999.0  # from here on printed as 1e+05: one digit
_HALF_OF_LAST_DECIMAL = 0.006
_RELATIVE = 0.01


def find_contradictions(table: CollectiveTable, line: int | None = None) -> ParseWarning | None:
    """A warning where busbw does not follow from algbw; None where it does, or where nobody can tell."""
    if table.collective not in set(Collective) or table.n_ranks is None or not table.rows:
        return None
    collective = Collective(table.collective)
    factor = collective.factor(table.n_ranks)
    pairs = _pairs(table)
    odd = [(size, algbw, busbw) for size, algbw, busbw in pairs if not _fits(algbw, busbw, factor)]
    if not odd:
        return None
    if collective in _ONCE_WITHOUT_FACTOR and all(_fits(algbw, busbw, 1.0) for _, algbw, busbw in pairs):
        text = (
            f"busbw equals algbw: nccl-tests before June 2020 printed {collective.value} so; busbw compares with "
            f"today's, algbw is today's times {factor:.3g}"
        )
        return ParseWarning("old_busbw_factor", text, line)
    size, algbw, busbw = odd[0]
    text = (
        f"busbw contradicts algbw in {len(odd)} of {len(pairs)} values: at size {size} busbw is {busbw:g}, "
        f"{collective.value} over {table.n_ranks} ranks would make it {algbw * factor:.6g}"
    )
    return ParseWarning(CONTRADICTS, text, line)


def only_fit(table: CollectiveTable) -> Collective | None:
    """The one collective that adds up (its redop is printed) and whose factor the numbers show; None where two do."""
    pairs = _pairs(table)
    if table.n_ranks is None or not pairs or any(row.redop in (None, "", "none") for row in table.rows):
        return None
    found = [
        collective
        for collective in (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.REDUCE)
        if any(
            all(_fits(algbw, busbw, factor) for _, algbw, busbw in pairs)
            for factor in _factors(collective, table.n_ranks)
        )
    ]
    return found[0] if len(found) == 1 else None


def _factors(collective: Collective, n_ranks: int) -> set[float]:
    """Of today, and of before."""
    return {collective.factor(n_ranks), *((1.0,) if collective in _ONCE_WITHOUT_FACTOR else ())}


def _pairs(table: CollectiveTable) -> list[tuple[int, float, float]]:
    """(size in bytes, algbw, busbw) of each half that has both."""
    return [
        (row.size_bytes, half.algbw_gbyte_s, half.busbw_gbyte_s)
        for row in table.rows
        for _, half in row.placements
        if half.algbw_gbyte_s is not None and half.busbw_gbyte_s is not None
    ]


def _fits(algbw: float, busbw: float, factor: float) -> bool:
    if max(algbw, busbw) >= _COARSE:
        return True
    slack = _HALF_OF_LAST_DECIMAL * (1 + factor) + _RELATIVE * algbw * factor
    return abs(busbw - algbw * factor) <= slack
