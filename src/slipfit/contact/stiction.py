"""Friction that falls from a static to a dynamic coefficient as a contact begins to slide, smoothly.

    F = mu(|s|) N s / |s|,    mu(v) = mu_d + (mu_s - mu_d) / (1 + (v / v_d)^2);    within the stick speed F grows to mu_s N

Symbols    s slip velocity · N load · mu_s static, mu_d dynamic coefficient · v_d speed at which half of the difference is gone
Reference  the curve is a choice ([Hackett2011] asks for a smooth one and gives none); [Trimble2022] section 1 for the limit
Valid for  dry, hard contacts; isotropic
"""

from math import sqrt
from typing import NamedTuple

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Cone, within
from slipfit.contact.slip import STICK_SPEED_MPS
from slipfit.contact.touch import along_and_across, coupled, strongest, traction


class Stiction(NamedTuple):
    mu_static: float
    mu_dynamic: float
    speed: float  # m/s, v_d


@traction.of(Stiction)
def _(law, touch, memory, contact, dt):
    slip = sqrt(touch.slip_x * touch.slip_x + touch.slip_y * touch.slip_y)
    over = slip / law.speed
    mu = law.mu_dynamic + (law.mu_static - law.mu_dynamic) / (1.0 + over * over)
    secant = mu * touch.load / max(slip, STICK_SPEED_MPS)
    return along_and_across(secant, secant)


@strongest.of(Stiction)
def _(law, force_x, force_y, load):
    return within(Cone(law.mu_static, law.mu_static), force_x, force_y, load)


@coupled.of(Stiction)
def _(law):
    return False


#: No contact of tracks grips better; one that does not grip at all moves nothing.
LEAST_MU, MOST_MU = 1e-6, 5.0

INFO = LawInfo(
    name="stiction",
    about="friction of tracks that falls from a static to a dynamic coefficient as sliding begins",
    formula="mu(v) = mu_d + (mu_s - mu_d) / (1 + (v / v_d)^2)",
    valid_for="tracks on hard ground; isotropic",
    references=("Hackett2011", "Trimble2022"),
    parameters=(
        LawParameter("mu_static", "friction coefficient of what holds", LEAST_MU, MOST_MU, alias="mu"),
        LawParameter("mu_dynamic", "friction coefficient of what slides", LEAST_MU, MOST_MU, same_as="mu_static"),
        LawParameter("fading_speed_mps", "speed at which half of the difference is gone", 1e-6, 10.0, default=0.05),
    ),
    build=lambda values: Stiction(values["mu_static"], values["mu_dynamic"], values["fading_speed_mps"]),
    example={"mu_static": 0.9, "mu_dynamic": 0.8},
)
