"""How much does a healthy machine change from one run to the next, and from where on is a change more than that?

All changes are logarithms of AFTER over BEFORE, so that better is the mirror of worse. Where five or more subjects were
measured in both runs, the noise is how far their changes lie apart: the Qn estimator of Rousseeuw and Croux (1993), the
first quartile of all pairwise differences, which half of the subjects cannot inflate by moving. Fewer subjects have
only the scatter of their own repeats, sizes and placements; without repeats nothing shows how one launch differs from
the next, and an assumed part stands for that.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PRACTICAL = 0.02
"""A change below 2 % is no news, however sure it is."""
FALSE_ALARM = 0.02
"""Chance that a comparison of two healthy runs names anything at all, over all its questions together."""
FEWEST_PEERS = 5
BETWEEN_LAUNCHES = 0.005
"""Assumed standard deviation of the change between two launches on the same healthy nodes, where little shows it."""
ASSUMED_FREEDOM = 5.0
MEDIAN_COSTS = 1.2533
"""The standard deviation of a median is this much larger than that of a mean (square root of pi/2)."""
PRINTED_STEP_GBYTE_S = 0.01
"""nccl-tests prints two decimals."""

_QN = 2.2219
_QN_SMALL = (0.0, 0.0, 0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872)
_QN_EFFICIENCY = 0.8
_MOST_PAIRED = 256
_GAUSS = NormalDist()


def least(change: float) -> float:
    """The logarithm of a loss given as a fraction: -2 % and its mirror, +2.04 %, are as far from 0."""
    return -math.log1p(-change)


def percent(log_ratio: float) -> float:
    """Per cent of a logarithm of AFTER over BEFORE."""
    return 100 * math.expm1(log_ratio)


def spread(values: Floats) -> float:
    """Standard deviation of the bulk of `values` (at least two), by Qn with its correction for small samples."""
    import numpy as np

    ordered = np.sort(values)
    if ordered.size > _MOST_PAIRED:
        # Evenly thinned order statistics have the same quartile of differences, and a square fewer pairs.
        ordered = ordered[np.linspace(0, ordered.size - 1, _MOST_PAIRED).round().astype(int)]
    n = int(ordered.size)
    differences = np.concatenate([ordered[gap:] - ordered[:-gap] for gap in range(1, n)])
    half = n // 2 + 1
    place = half * (half - 1) // 2 - 1
    found = float(np.partition(differences, place)[place])
    correction = _QN_SMALL[n] if n < len(_QN_SMALL) else n / (n + (1.4 if n % 2 else 3.8))
    return _QN * correction * found


class Noise(Struct, frozen=True):
    """Standard deviation of a change (of logarithms), and the degrees of freedom it was estimated with."""

    sigma: float
    freedom: float

    def of_median(self, n: int) -> Noise:
        """That of the median of `n` such changes."""
        return Noise(self.sigma * MEDIAN_COSTS / math.sqrt(n), self.freedom)

    def bar(self, questions: int) -> float:
        """From where on a change counts when `questions` are asked at once; never below `PRACTICAL`.

        Bonferroni, and Student's t by the transformation of Wallace (1959): sigma is itself only estimated.
        """
        z = _GAUSS.inv_cdf(1.0 - FALSE_ALARM / (2 * max(1, questions)))
        stretched = z * (8 * self.freedom + 3) / (8 * self.freedom + 1)
        exponent = min(stretched * stretched / self.freedom, 60.0)
        return max(least(PRACTICAL), self.sigma * math.sqrt(self.freedom * math.expm1(exponent)))


def measured(sigma: float, freedom: float, assumed: float) -> Noise:
    """What was measured, held together by what is assumed: of few subjects the sample alone would say anything."""
    total = freedom + ASSUMED_FREEDOM
    return Noise(math.sqrt((freedom * sigma * sigma + ASSUMED_FREEDOM * assumed * assumed) / total), total)


def rounding(value_gbyte_s: float) -> float:
    """Standard deviation that two decimals add to a change of small numbers."""
    return PRINTED_STEP_GBYTE_S / math.sqrt(6) / value_gbyte_s


def degrees(n: int) -> float:
    """Degrees of freedom that a spread over `n` subjects is worth."""
    return max(1.0, _QN_EFFICIENCY * (n - 1))
