"""wheel_slip: Gazebo's linearised brush tyre, whose compliance grows with the wheel's speed.

    s_x = c_long |w| F_long,    s_y = c_lat |w| F_lat,    limited by mu N

Written as a compliance it is regular at rest: a wheel that does not turn does not slip, however long it is pushed. The
plugin's constants carry over as c = slip_compliance / wheel_normal_force.

Symbols    s slip velocity (m/s) · w rim speed (m/s) · c slip constants (1/N) · mu, N Coulomb's limit
Reference  [Trimble2022] section 1; brush model [Pacejka2012] ch. 3
Valid for  tyres on hard ground at small slip; no load dependence
"""

from typing import Any, NamedTuple

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Cone, Pyramid, compliant, within
from slipfit.contact.touch import along_and_across, coupled, strongest, traction

#: Compliance of a wheel at rest (m/s/N). Zero would be legal, but a secant is its inverse: with this one a robot of 8.5 N
#: side force per wheel creeps at 8.5e-9 m/s, and the equations stay well conditioned.
COMPLIANCE_AT_REST = 1e-9


class WheelSlip(NamedTuple):
    c_long: float
    c_lat: float
    limit: Any


@traction.of(WheelSlip)
def _(law, touch, memory, contact, dt):
    speed = abs(touch.rim)
    along, across = max(law.c_long * speed, COMPLIANCE_AT_REST), max(law.c_lat * speed, COMPLIANCE_AT_REST)
    return along_and_across(*compliant(law.limit, along, across, touch.slip_x, touch.slip_y, touch.load))


@coupled.of(WheelSlip)
def _(law):
    return False


@strongest.of(WheelSlip)
def _(law, force_x, force_y, load):
    return within(law.limit, force_x, force_y, load)


def spin_yaw_rate(commanded_radps, c_lat_over_c_long, half_track_m, half_wheelbase_m, half_width_m=0.0):
    """Steady yaw rate of a four-wheel robot that spins on the spot, below Coulomb's limit, in rad/s.

        omega = omega_t / (1 + (d^2 + l^2 c_long / c_lat) / b^2)

    Symbols    omega_t commanded_radps, rim speed / b · b half_track_m · l half_wheelbase_m · d half_width_m of wheels that
               stand on their two edges, zero for one contact point per wheel
    Reference  [Trimble2022] eq. (3), solved for omega; d derived in docs/theory/wheel_slip_protocol, eq. (wide)
    Valid for  centre of mass at the wheels' centre; for another see calibrate/spin_test
    """
    return commanded_radps / (1.0 + (half_width_m**2 + half_wheelbase_m**2 / c_lat_over_c_long) / half_track_m**2)


def spin_ratio(commanded_radps, yaw_rate_radps, half_track_m, half_wheelbase_m, half_width_m=0.0):
    """c_lat / c_long from a steady spin: the inverse of `spin_yaw_rate`.

        c_lat / c_long = l^2 omega / (b^2 (omega_t - omega) - d^2 omega)

    Reference  [Trimble2022] eq. (3); d derived in docs/theory/wheel_slip_protocol, eq. (wide)
    """
    along = half_track_m**2 * (commanded_radps - yaw_rate_radps) - half_width_m**2 * yaw_rate_radps
    return half_wheelbase_m**2 * yaw_rate_radps / along


def spin_forces(commanded_radps, yaw_rate_radps, c_long, c_lat, half_track_m, half_wheelbase_m):
    """Longitudinal and lateral force on each wheel in a steady spin (N).

        F_long = (omega_t - omega) / (omega_t c_long),    F_lat = l omega / (b omega_t c_lat)

    Their ratio to the load does not depend on omega_t: a slower spin does not leave Coulomb's region.
    Reference  [Trimble2022] eq. (3), first half
    """
    ratio = yaw_rate_radps / commanded_radps
    return (1.0 - ratio) / c_long, half_wheelbase_m / half_track_m * ratio / c_lat


def _build(limit_class):
    return lambda values: WheelSlip(values["c_long_per_n"], values["c_lat_per_n"], limit_class(values["mu"], values["mu"]))


_PARAMETERS = (
    LawParameter("c_long_per_n", "slip along the wheel for each newton of force", 0.0, 1.0, alias="c_long"),
    LawParameter("c_lat_per_n", "slip across the wheel for each newton of force", 0.0, 10.0, alias="c_lat"),
    LawParameter("mu", "friction coefficient that limits the force", default=10.0),
)

INFO = LawInfo(
    name="wheel_slip",
    about="Gazebo's WheelSlip: slip grows with force and wheel speed, a standing wheel holds; each axis limited",
    formula="s = c |w| F, |Fi| <= mu N",
    valid_for="tyres on hard ground at small slip",
    references=("Trimble2022", "Pacejka2012"),
    parameters=_PARAMETERS,
    build=_build(Pyramid),
    example={"c_long_per_n": 0.005, "c_lat_per_n": 0.05, "mu": 0.8},
)

CONE = LawInfo(
    name="wheel_slip_cone",
    about="wheel_slip whose resultant force is limited by a true Coulomb cone",
    formula="s = c |w| F, |F| <= mu N",
    valid_for="tyres on hard ground up to sliding",
    references=("Trimble2022", "Pacejka2012"),
    parameters=_PARAMETERS,
    build=_build(Cone),
    example={"c_long_per_n": 0.005, "c_lat_per_n": 0.05, "mu": 0.8},
)
