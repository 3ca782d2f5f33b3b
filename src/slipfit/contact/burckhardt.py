"""Burckhardt's friction curve: an exponential rise and a straight fall.

    mu(S) = c1 (1 - exp(-c2 S)) - c3 S,    S <= 1; full sliding beyond: mu(S) = mu(1)
    S_c = ln(c1 c2 / c3) / c2,    mu_max = c1 (1 - (1 + c2 S_c) exp(-c2 S_c))

Files give the peak (mu_max, S_c) and c2; c1 and c3 follow. `of_published` turns published c1, c2, c3 into them.

Symbols    S resultant slip · c1, c2, c3 Burckhardt's constants · S_c critical slip, where mu peaks
Reference  [Burckhardt1993] without his factors of speed and load; peak and inverse: derived in docs/theory/laws, eq. (burckhardt)
Valid for  tyres on roads; mu(1) >= 0
"""

from math import exp
from typing import NamedTuple

import numpy as np

from slipfit.contact.combined_slip import LATERAL_RATIO, friction_curve, values_by_name
from slipfit.contact.law import LawInfo, LawParameter


class Burckhardt(NamedTuple):
    mu: float
    c1: float
    c2: float
    c3: float
    lateral_ratio: float


@friction_curve(Burckhardt)
def _(law, slip):
    held = min(slip, 1.0)
    return law.c1 * (1.0 - exp(-law.c2 * held)) - law.c3 * held


def of_published(c1, c2, c3):
    """mu, critical_slip and steepness_c2 of published constants. Takes arrays.

    Valid for  c1 c2 > c3 > 0; of a curve that falls beyond S = 1 only, the peak lies there
    """
    critical = np.log(c1 * c2 / c3) / c2
    return c1 * (1.0 - (1.0 + c2 * critical) * np.exp(-c2 * critical)), critical, c2


def _constants(values):
    """c1 and c3 from the peak."""
    mu, critical, c2 = values_by_name(values, "mu", "critical_slip", "steepness_c2")
    left = np.exp(-c2 * critical)
    c1 = mu / (1.0 - (1.0 + c2 * critical) * left)
    return c1, c2, c1 * c2 * left


def _problem(values):
    """A curve that falls through zero before full sliding would push."""
    c1, c2, c3 = _constants(values)
    sliding = c1 * (1.0 - np.exp(-c2)) - c3
    if np.any(sliding < 0.0):
        return (
            f"critical_slip and steepness_c2 give a sliding friction mu(1) of {np.min(sliding):.3g}; below 0 it would push. "
            f"Take a larger steepness_c2 or critical_slip"
        )
    return ""


def _build(values):
    return Burckhardt(values["mu"], *_constants(values), values["lateral_ratio"])


INFO = LawInfo(
    name="burckhardt",
    about="Burckhardt's curve with combined slip: exponential rise to a peak, straight fall to full sliding at slip 1",
    formula="mu = c1 (1 - exp(-c2 S)) - c3 S, c1 and c3 from the peak",
    valid_for="tyres on roads from small slip to full sliding",
    references=("Burckhardt1993",),
    parameters=(
        LawParameter("mu", "peak friction coefficient", alias="mu_max"),
        LawParameter("critical_slip", "slip at which friction peaks", lower=1e-3, upper=1.0),
        LawParameter(
            "steepness_c2", "c2: how steeply friction rises; about initial slope over mu", lower=0.1, upper=1000.0, alias="c2"
        ),
        LATERAL_RATIO,
    ),
    build=_build,
    problem=_problem,
    example={"mu": 0.8, "critical_slip": 0.2, "steepness_c2": 24.0, "lateral_ratio": 0.9},
)
