"""Magic formula with combined slip: the force rises, peaks at the critical slip and falls off.

    mu(S) = mu_max sin(C atan(B S - E (B S - atan(B S)))),    E = (B S_c - tan(pi / 2C)) / (B S_c - atan(B S_c))
    F_x = mu(S) N s_x / S,    F_y = k_y mu(S) N s_y / S,    s = slip velocity / V,    S = |s|

Symbols    B stiffness · C shape · S_c critical slip, where mu peaks · k_y lateral ratio · V `slip.transport_speed` · N load
Reference  [Pacejka2012] ch. 4; curvature from the critical slip: [Shilliday2023] eqs. (12), (13)
Valid for  tyres on hard ground; C > 1 (the curve peaks) and E <= 1, that is tan(pi / 2C) >= atan(B S_c)
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Pyramid, within
from slipfit.contact.slip import transport_speed
from slipfit.contact.touch import along_and_across, coupled, strongest, traction
from slipfit.kernels import atan_of_positive, sin_within

#: Below this slip the curve is its tangent: 0/0 at zero slip becomes its limit B C mu_max, to 1e-12.
_SMALLEST_SLIP = 1e-9


class MagicFormula(NamedTuple):
    mu: float
    B: float
    C: float
    E: float
    lateral_ratio: float


@traction.of(MagicFormula)
def _(law, touch, memory, contact, dt):
    sx, sy = touch.slip_x, touch.slip_y
    speed = transport_speed(touch.rim - sx, sy, touch.rim)
    sliding = sqrt(sx * sx + sy * sy) + _SMALLEST_SLIP * speed
    per_both = 1.0 / (speed * sliding)  # one division for slip = sliding / speed and for the secant, force / sliding
    bs = law.B * (sliding * sliding * per_both)
    friction = law.mu * sin_within(law.C * atan_of_positive(bs - law.E * (bs - atan_of_positive(bs))))
    secant = friction * touch.load * (speed * per_both)
    return along_and_across(secant, law.lateral_ratio * secant)


@coupled.of(MagicFormula)
def _(law):
    return False


@strongest.of(MagicFormula)
def _(law, force_x, force_y, load):
    return within(Pyramid(law.mu, law.lateral_ratio * law.mu), force_x, force_y, load)  # a guess: no root is worth it


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
    e = curvature(*(np.asarray(values[name], dtype=float) for name in ("stiffness_b", "shape_c", "critical_slip")))
    if np.any(e > 1.0):
        return (
            f"stiffness_b, shape_c and critical_slip give a curvature E of {np.max(e):.3g}; beyond 1 friction turns negative. "
            f"Take a smaller critical_slip or shape_c, so that atan(B S_c) <= tan(pi / 2C)"
        )
    return ""


def _build(values):
    b, c = np.asarray(values["stiffness_b"], dtype=float), np.asarray(values["shape_c"], dtype=float)
    e = curvature(b, c, np.asarray(values["critical_slip"], dtype=float))
    return MagicFormula(values["mu"], b, c, e, values["lateral_ratio"])


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
        LawParameter("lateral_ratio", "lateral force against longitudinal", lower=0.0, upper=2.0, default=1.0),
    ),
    build=_build,
    problem=_problem,
    example={"mu": 0.8, "stiffness_b": 10.0, "shape_c": 1.5, "critical_slip": 0.2, "lateral_ratio": 0.9},
)
