"""Laws that are one friction curve over the resultant slip: a law gives mu(S), this module makes its answer of it.

    F_x = mu(S) N s_x / |s|,    F_y = k_y mu(S) N s_y / |s|,    S = |s| / V

Only the resultant slip counts, so that sliding one way takes grip from the other; k_y scales what acts across the wheel.

Symbols    s slip velocity (m/s) · V `slip.transport_speed` · N load · mu(S) friction curve · k_y lateral ratio
Reference  [Shilliday2023] eqs. (10) to (14), with the signs of our conventions; derived in docs/theory/laws, Friction curves
Valid for  hard ground, tyres whose slip stiffness and grip are proportional to the load
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from slipfit.contact.law import LawParameter
from slipfit.contact.limits import Pyramid, within
from slipfit.contact.slip import transport_speed
from slipfit.contact.touch import along_and_across, coupled, strongest, traction
from slipfit.kernels import chosen_by_type, compiled, part

#: Below this slip the curve is its tangent: 0/0 at zero slip becomes its limit, the initial slope, to 1e-12.
SMALLEST_SLIP = 1e-9

#: The last parameter of every law with a friction curve.
LATERAL_RATIO = LawParameter("lateral_ratio", "lateral force against longitudinal", lower=0.0, upper=2.0, default=1.0)

#: Classes of the laws that have a friction curve.
_WITH_CURVE: set[type] = set()


@chosen_by_type
def friction(law, slip):
    """Friction coefficient mu at the resultant slip S > 0."""
    raise NotImplementedError("a law with a friction curve registers it with `friction_curve`")


def friction_curve(law_class):
    """Make a law of a friction curve: decorates mu(law, S), for S > 0. The law has `mu`, its largest friction, and
    `lateral_ratio` among its constants."""

    def keep(curve_of_law):
        mu = part(curve_of_law)

        @traction.of(law_class)
        def _(law, touch, memory, contact, dt):
            sx, sy = touch.slip_x, touch.slip_y
            speed = transport_speed(touch.rim - sx, sy, touch.rim)
            sliding = sqrt(sx * sx + sy * sy) + SMALLEST_SLIP * speed
            per_both = 1.0 / (speed * sliding)  # one division for slip = sliding / speed and for the secant, force / sliding
            secant = mu(law, sliding * sliding * per_both) * touch.load * (speed * per_both)
            return along_and_across(secant, law.lateral_ratio * secant)

        @coupled.of(law_class)
        def _(law):
            return False

        @strongest.of(law_class)
        def _(law, force_x, force_y, load):
            return within(Pyramid(law.mu, law.lateral_ratio * law.mu), force_x, force_y, load)  # a guess: no root is worth it

        friction.of(law_class)(curve_of_law)
        _WITH_CURVE.add(law_class)
        return curve_of_law

    return keep


@compiled
def _fill(law, slips, out):
    for i in range(len(slips)):
        out[i] = friction(law, slips[i])


def has_curve(law: Any) -> bool:
    """Whether a law (the compiled model's constants) is a friction curve over the resultant slip."""
    return type(law) in _WITH_CURVE


def curve_of(law: Any, slip: Any) -> np.ndarray:
    """mu at resultant slips of any shape, for plots and fits; the sign of a slip does not count."""
    slips = np.abs(np.asarray(slip, dtype=float))
    out = np.empty(slips.size)
    _fill(type(law)(*map(float, law)), np.maximum(slips.ravel(), SMALLEST_SLIP), out)
    return out.reshape(slips.shape)


def values_by_name(values: Mapping[str, Any], *names: str) -> tuple[np.ndarray, ...]:
    """Constants as arrays, for `build` and `problem`: there is one entry per run where runs differ."""
    return tuple(np.asarray(values[name], dtype=float) for name in names)
