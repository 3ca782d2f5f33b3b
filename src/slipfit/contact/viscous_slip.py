"""Viscous slip: force proportional to slip velocity, ODE's force-dependent slip (FDS).

    F_long = s_x / k_long,    F_lat = s_y / k_lat,    limited by mu N

Symbols    s slip velocity (m/s) · k slip compliances (m/s/N), ODE's slip1 and slip2 · mu, N Coulomb's limit
Reference  [Trimble2022] section 1, slip friction
Valid for  lubricated or granular contacts; a robot creeps down every slope, however small, at k F
"""

from typing import Any, NamedTuple

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Pyramid, compliant, within
from slipfit.contact.touch import along_and_across, coupled, strongest, traction


class ViscousSlip(NamedTuple):
    k_long: float
    k_lat: float
    limit: Any


@traction.of(ViscousSlip)
def _(law, touch, memory, contact, dt):
    return along_and_across(*compliant(law.limit, law.k_long, law.k_lat, touch.slip_x, touch.slip_y, touch.load))


@coupled.of(ViscousSlip)
def _(law):
    return False


@strongest.of(ViscousSlip)
def _(law, force_x, force_y, load):
    return within(law.limit, force_x, force_y, load)


INFO = LawInfo(
    name="viscous_slip",
    about="Viscous slip (ODE's force-dependent slip): creeps down every slope",
    formula="F = s / k, |Fi| <= mu N",
    valid_for="lubricated or granular contacts",
    references=("Trimble2022",),
    parameters=(
        LawParameter("k_long_mps_per_n", "slip velocity along the wheel for each newton", lower=1e-9, alias="k_long"),
        LawParameter("k_lat_mps_per_n", "slip velocity across the wheel for each newton", lower=1e-9, alias="k_lat"),
        LawParameter("mu", "friction coefficient that limits the force", default=10.0),
    ),
    build=lambda values: ViscousSlip(values["k_long_mps_per_n"], values["k_lat_mps_per_n"], Pyramid(values["mu"], values["mu"])),
    example={"k_long_mps_per_n": 0.005, "k_lat_mps_per_n": 0.01, "mu": 0.8},
    holds_at_rest=False,
)
