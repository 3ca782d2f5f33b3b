"""Kiencke and Daiss' friction curve: a quotient of polynomials with three constants.

    mu(S) = k S / (1 + c1 S + c2 S^2),    c2 = 1 / S_c^2,    c1 = k / mu_max - 2 / S_c

Symbols    S resultant slip · k initial slope · c1, c2 the published constants · S_c critical slip, where mu peaks
Reference  [KienckeDaiss1994]; peak: derived in docs/theory/laws, eq. (kiencke)
Valid for  tyres on roads, best up to the peak: what is left of full sliding follows from the rise; k S_c >= mu_max
"""

from typing import NamedTuple

import numpy as np

from slipfit.contact.combined_slip import LATERAL_RATIO, friction_curve, values_by_name
from slipfit.contact.law import LawInfo, LawParameter

#: Keeps the quotient of slope and peak finite on ground without friction.
_NO_FRICTION = 1e-12


class KienckeDaiss(NamedTuple):
    mu: float
    slope: float
    c1: float
    c2: float
    lateral_ratio: float


@friction_curve(KienckeDaiss)
def _(law, slip):
    return law.slope * slip / (1.0 + slip * (law.c1 + law.c2 * slip))


def rise(mu, slope, critical_slip):
    """c1 and c2 for which the curve peaks with mu at the critical slip. Takes arrays."""
    return slope / np.maximum(mu, _NO_FRICTION) - 2.0 / critical_slip, 1.0 / critical_slip**2


def _problem(values):
    """Below the straight line to its peak the curve would rise ever more steeply, and its pole come near."""
    mu, slope, critical = values_by_name(values, "mu", "initial_slope", "critical_slip")
    if np.any(slope * critical < mu):
        least = np.max(mu / critical)
        return (
            f"initial_slope is below mu / critical_slip = {least:.4g}; a curve rises at first at least as steeply as to its peak"
        )
    return ""


def _build(values):
    mu, slope, critical = values_by_name(values, "mu", "initial_slope", "critical_slip")
    return KienckeDaiss(values["mu"], slope, *rise(mu, slope, critical), values["lateral_ratio"])


INFO = LawInfo(
    name="kiencke_daiss",
    about="Kiencke and Daiss' curve with combined slip: a quotient of polynomials, given by slope and peak",
    formula="mu = k S / (1 + c1 S + c2 S^2), c1 and c2 from the peak",
    valid_for="tyres on roads, best up to the peak",
    references=("KienckeDaiss1994",),
    parameters=(
        LawParameter("mu", "peak friction coefficient", alias="mu_max"),
        LawParameter("initial_slope", "slope of friction over slip at zero slip", lower=0.01, upper=10_000.0, alias="slope"),
        LawParameter("critical_slip", "slip at which friction peaks", lower=1e-3, upper=2.0),
        LATERAL_RATIO,
    ),
    build=_build,
    problem=_problem,
    example={"mu": 0.8, "initial_slope": 12.0, "critical_slip": 0.2, "lateral_ratio": 0.9},
)
