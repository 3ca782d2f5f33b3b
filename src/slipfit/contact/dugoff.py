"""Dugoff's tyre: elastic up to half of its friction, then sliding spreads over the contact; friction falls with sliding.

    mu(S) = k S f(l),    f = l (2 - l) for l < 1, else 1,    l = m / (2 k S),    m = mu_0 (1 - A S),    S <= 1 in m

so that mu = k S up to m / 2 and m (1 - m / (4 k S)) beyond. With A = 0 friction grows towards mu_0 and has no peak; else it
peaks at S_c = sqrt(mu_0 / (A (4 k + mu_0 A))).

Symbols    S resultant slip · k initial slope, slip stiffness over load · mu_0 friction without sliding · A its fall over slip;
           the paper's fall over sliding speed is taken over slip here, as for one speed
Reference  [Dugoff1970], one stiffness for both axes; peak: derived in docs/theory/laws, eq. (dugoff)
Valid for  tyres on roads up to the peak and beyond
"""

from typing import NamedTuple

import numpy as np

from slipfit.contact.combined_slip import LATERAL_RATIO, friction_curve, values_by_name
from slipfit.contact.law import LawInfo, LawParameter

#: A smaller fall has its peak beyond full sliding.
_NO_FALL = 1e-12


class Dugoff(NamedTuple):
    mu: float
    mu_0: float
    slope: float
    fall: float
    lateral_ratio: float


@friction_curve(Dugoff)
def _(law, slip):
    grip = law.slope * slip
    limit = law.mu_0 * (1.0 - law.fall * min(slip, 1.0))
    share = min(0.5 * limit / grip, 1.0)
    return grip * share * (2.0 - share)


def peak(mu_0, slope, fall):
    """Critical slip and largest friction. Takes arrays; without a fall the critical slip is infinite."""
    critical = np.where(fall > _NO_FALL, np.sqrt(mu_0 / (np.maximum(fall, _NO_FALL) * (4.0 * slope + mu_0 * fall))), np.inf)
    held = np.clip(critical, _NO_FALL, 1.0)  # friction without load to carry has its peak at zero slip
    limit = mu_0 * (1.0 - fall * held)
    share = np.minimum(0.5 * limit / (slope * held), 1.0)
    inside = slope * held * share * (2.0 - share)
    return critical, np.where(critical < 1.0, inside, mu_0 * (1.0 - fall))


def _build(values):
    mu_0, slope, fall = values_by_name(values, "mu", "initial_slope", "friction_fall")
    return Dugoff(peak(mu_0, slope, fall)[1], mu_0, slope, fall, values["lateral_ratio"])


INFO = LawInfo(
    name="dugoff",
    about="Dugoff's tyre with combined slip: elastic, then sliding spreads over the contact; a peak where friction falls",
    formula="mu = k S up to m / 2, then m (1 - m / (4 k S)), m = mu_0 (1 - A S)",
    valid_for="tyres on roads from small slip to full sliding",
    references=("Dugoff1970",),
    parameters=(
        LawParameter("mu", "mu_0: friction without sliding, somewhat above the peak", alias="mu_0"),
        LawParameter("initial_slope", "slope of friction over slip at zero slip", lower=0.01, upper=10_000.0, alias="slope"),
        LawParameter("friction_fall", "A: share of friction lost by full sliding", lower=0.0, upper=0.99, default=0.0),
        LATERAL_RATIO,
    ),
    build=_build,
    example={"mu": 0.9798, "initial_slope": 12.0, "friction_fall": 0.5051, "lateral_ratio": 0.9},
)
