"""Magic formula with combined slip: the force rises, peaks at the critical slip and falls off.

    mu(S) = mu_max sin(C atan(B S - E (B S - atan(B S)))),    E = (B S_c - tan(pi / 2C)) / (B S_c - atan(B S_c))
    F_x = mu(S) N s_x / S,    F_y = k_y mu(S) N s_y / S,    s = slip velocity / V,    S = |s|

Symbols    B stiffness · C shape · S_c critical slip, where mu peaks · k_y lateral ratio · V `slip.transport_speed` · N load
Reference  [Pacejka2012] ch. 4; curvature from the critical slip: [Shilliday2023] eqs. (12), (13)
Valid for  tyres on hard ground; C > 1 (the curve peaks) and E <= 1, that is tan(pi / 2C) >= atan(B S_c)
"""

from typing import NamedTuple

import numpy as np

from slipfit.contact.combined_slip import LATERAL_RATIO, friction_curve, values_by_name
from slipfit.contact.law import LawInfo, LawParameter
from slipfit.kernels import atan_of_positive, sin_within


class MagicFormula(NamedTuple):
    mu: float
    B: float
    C: float
    E: float
    lateral_ratio: float


@friction_curve(MagicFormula)
def _(law, slip):
    bs = law.B * slip
    return law.mu * sin_within(law.C * atan_of_positive(bs - law.E * (bs - atan_of_positive(bs))))


def curvature(stiffness_b, shape_c, critical_slip):
    """E for which the curve peaks at the critical slip. Takes arrays.

        E = (B S_c - tan(pi / 2C)) / (B S_c - atan(B S_c))

    Reference  [Shilliday2023] eq. (13); [Pacejka2012] ch. 4
    Valid for  C > 1, S_c > 0
    """
    bs = stiffness_b * critical_slip
    return (bs - np.tan(np.pi / (2.0 * shape_c))) / (bs - np.arctan(bs))


def _problem(values):
    """Beyond E = 1 the curve bends down through zero: friction would push."""
    e = curvature(*values_by_name(values, "stiffness_b", "shape_c", "critical_slip"))
    if np.any(e > 1.0):
        return (
            f"stiffness_b, shape_c and critical_slip give a curvature E of {np.max(e):.3g}; beyond 1 friction turns negative. "
            f"Take a smaller critical_slip or shape_c, so that atan(B S_c) <= tan(pi / 2C)"
        )
    return ""


def _build(values):
    b, c, critical = values_by_name(values, "stiffness_b", "shape_c", "critical_slip")
    return MagicFormula(values["mu"], b, c, curvature(b, c, critical), values["lateral_ratio"])


INFO = LawInfo(
    name="magic_formula",
    about="Magic formula with combined slip: rises to a peak at the critical slip, then falls",
    formula="mu = mu_max sin(C atan(BS - E(BS - atan BS))), E from the critical slip",
    valid_for="tyres on hard ground from small slip to full sliding",
    references=("Pacejka2012", "Shilliday2023"),
    parameters=(
        LawParameter("mu", "peak friction coefficient", alias="mu_max"),
        LawParameter("stiffness_b", "B: initial slope is B C mu", lower=0.01, upper=1000.0),
        LawParameter("shape_c", "C: how far the curve falls beyond its peak", lower=1.01, upper=2.0),
        LawParameter("critical_slip", "slip at which friction peaks", lower=1e-3, upper=2.0),
        LATERAL_RATIO,
    ),
    build=_build,
    problem=_problem,
    example={"mu": 0.8, "stiffness_b": 10.0, "shape_c": 1.5, "critical_slip": 0.2, "lateral_ratio": 0.9},
)
