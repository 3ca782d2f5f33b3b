"""TMeasy: a friction curve by its initial slope, its peak and where full sliding begins.

    mu(S) = k S / (1 + (k / mu_max - 2 / S_c) S + (S / S_c)^2),    S <= S_c
    mu(S) = mu_max - (mu_max - mu_s) x^2 (3 - 2 x),    x = (S - S_c) / (S_s - S_c) within [0, 1],    S > S_c

The rise is Kiencke and Daiss' curve, the fall a cubic without slope at either end.

Symbols    S resultant slip · k initial slope · S_c critical slip, where mu peaks · S_s slip of full sliding, mu_s friction there
Reference  [Hirschberg2007]; without its influence of the load and with one curve for both axes
Valid for  tyres on roads from small slip to full sliding; k S_c >= 2 mu_max, S_s > S_c, mu_s <= mu_max
"""

from typing import NamedTuple

import numpy as np

from slipfit.contact.combined_slip import LATERAL_RATIO, friction_curve, values_by_name
from slipfit.contact.kiencke_daiss import rise
from slipfit.contact.law import LawInfo, LawParameter
from slipfit.kernels import where


class TMeasy(NamedTuple):
    mu: float
    slope: float
    c1: float
    c2: float
    critical_slip: float
    per_fall: float  # one over the slip from the peak to full sliding
    drop: float  # mu_max - mu_s
    lateral_ratio: float


@friction_curve(TMeasy)
def _(law, slip):
    rising = law.slope * slip / (1.0 + slip * (law.c1 + law.c2 * slip))
    x = max(min((slip - law.critical_slip) * law.per_fall, 1.0), 0.0)
    falling = law.mu - law.drop * (x * x * (3.0 - 2.0 * x))
    return where(slip < law.critical_slip, rising, falling)


def _problem(values):
    """The authors' own conditions: the rise bends down from the start, and full sliding lies behind the peak and below it."""
    mu, slope, critical = values_by_name(values, "mu", "initial_slope", "critical_slip")
    sliding, sliding_slip = values_by_name(values, "sliding_mu", "sliding_slip")
    if np.any(slope * critical < 2.0 * mu):
        least = np.max(2.0 * mu / critical)
        return f"initial_slope is below 2 mu / critical_slip = {least:.4g}; the curve would rise ever more steeply at first"
    if np.any(sliding_slip <= critical):
        return "sliding_slip does not lie behind critical_slip; full sliding begins beyond the peak"
    if np.any(sliding > mu):
        return "sliding_mu is larger than mu; friction does not grow beyond its peak"
    return ""


def _build(values):
    mu, slope, critical = values_by_name(values, "mu", "initial_slope", "critical_slip")
    sliding, sliding_slip = values_by_name(values, "sliding_mu", "sliding_slip")
    per_fall = 1.0 / (sliding_slip - critical)
    return TMeasy(values["mu"], slope, *rise(mu, slope, critical), critical, per_fall, mu - sliding, values["lateral_ratio"])


INFO = LawInfo(
    name="tmeasy",
    about="TMeasy with combined slip: initial slope, peak, and full sliding, each a constant of its own",
    formula="mu = k S / (1 + c1 S + c2 S^2) to the peak, then mu_max - (mu_max - mu_s) x^2 (3 - 2x) to full sliding",
    valid_for="tyres on roads from small slip to full sliding",
    references=("Hirschberg2007",),
    parameters=(
        LawParameter("mu", "peak friction coefficient", alias="mu_max"),
        LawParameter("initial_slope", "slope of friction over slip at zero slip", lower=0.01, upper=10_000.0, alias="slope"),
        LawParameter("critical_slip", "slip at which friction peaks", lower=1e-3, upper=2.0),
        LawParameter("sliding_mu", "friction of full sliding"),
        LawParameter("sliding_slip", "slip at which full sliding begins", lower=2e-3, upper=10.0),
        LATERAL_RATIO,
    ),
    build=_build,
    problem=_problem,
    example={
        "mu": 0.8,
        "initial_slope": 12.0,
        "critical_slip": 0.2,
        "sliding_mu": 0.667,
        "sliding_slip": 0.8,
        "lateral_ratio": 0.9,
    },
)
