"""wheel_slip: Gazebo's linearised brush tyre, whose compliance grows with the wheel's speed.

    s_x = c_long |w| F_long,    s_y = c_lat |w| F_lat,    limited by mu N

Written as a compliance it is regular at rest: a wheel that does not turn does not slip, however long it is pushed. The
plugin's constants carry over as c = slip_compliance / wheel_normal_force.

A tyre that relaxes answers a change of slip only after it has rolled a relaxation length sigma; again as a compliance,

    s = c (|w| F + sigma dF/dt),    that is dF/dt = (|w| / sigma) (s / (c |w|) - F)

and a standing wheel is a spring of 1 / (c sigma). A damper beside that spring, which catches up within tau, keeps a standing
robot from ringing: F = P + tau dP/dt with the spring's force P, s = c (|w| F + sigma dP/dt). Without lengths (sigma = 0) the
contact has no memory.

Symbols    s slip velocity (m/s) · w rim speed (m/s) · c slip constants (1/N) · mu, N Coulomb's limit · sigma relaxation
           lengths along and across (m) · tau time within which the standing tyre's damper gives way (s)
Reference  [Trimble2022] section 1; brush model [Pacejka2012] ch. 3; relaxation length [Pacejka2012] ch. 7
Valid for  tyres on hard ground at small slip; no load dependence
"""

from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.contact.limits import Cone, Pyramid, compliant, within
from slipfit.contact.touch import Traction, along_and_across, coupled, memory_size, remember, slot, strongest, traction
from slipfit.kernels import alike, part, where

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


class RelaxingSlip(NamedTuple):
    """The same with relaxation lengths; it remembers the forces of both springs of every contact."""

    c_long: float
    c_lat: float
    relaxation_long: float  # m
    relaxation_lat: float
    damping_long: float  # s
    damping_lat: float
    limit: Any


@part
def _lagging(c, speed, length, damping, spring, dt):
    """Start and secant of one axis: c |w| F' + c sigma (P' - P) / dt = s' with F' = P' + tau (P' - P) / dt, solved for F'."""
    lag = c * length / (dt + damping)
    secant = 1.0 / (max(c * speed, COMPLIANCE_AT_REST) + lag)
    return lag * spring * secant, secant


@memory_size.of(RelaxingSlip)
def _(law):
    return 2


@traction.of(RelaxingSlip)
def _(law, touch, memory, contact, dt):
    speed = abs(touch.rim)
    before_x, before_y = memory.contacts[slot(memory, law, contact, 0)], memory.contacts[slot(memory, law, contact, 1)]
    start_x, xx = _lagging(law.c_long, speed, law.relaxation_long, law.damping_long, before_x, dt)
    start_y, yy = _lagging(law.c_lat, speed, law.relaxation_lat, law.damping_lat, before_y, dt)
    fx, fy = start_x + xx * touch.slip_x, start_y + yy * touch.slip_y
    most_x, most_y = within(law.limit, fx, fy, touch.load)
    # A contact beyond its limit slides: the limit itself, however fast.
    none = alike(0.0, xx)
    start_x, xx = where(most_x == fx, start_x, most_x), where(most_x == fx, xx, none)
    start_y, yy = where(most_y == fy, start_y, most_y), where(most_y == fy, yy, none)
    return Traction(start_x, start_y, xx, none, yy)


@remember.of(RelaxingSlip)
def _(law, touch, memory, contact, dt):
    x, y, speed = slot(memory, law, contact, 0), slot(memory, law, contact, 1), abs(touch.rim)
    start_x, xx = _lagging(law.c_long, speed, law.relaxation_long, law.damping_long, memory.contacts[x], dt)
    start_y, yy = _lagging(law.c_lat, speed, law.relaxation_lat, law.damping_lat, memory.contacts[y], dt)
    fx, fy = within(law.limit, start_x + xx * touch.slip_x, start_y + yy * touch.slip_y, touch.load)
    memory.contacts[x] = memory.contacts[x] + dt / (dt + law.damping_long) * (fx - memory.contacts[x])
    memory.contacts[y] = memory.contacts[y] + dt / (dt + law.damping_lat) * (fy - memory.contacts[y])


@strongest.of(RelaxingSlip)
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
    def build(values):
        c_long, c_lat, limit = values["c_long_per_n"], values["c_lat_per_n"], limit_class(values["mu"], values["mu"])
        if any(np.any(np.asarray(values[name]) > 0.0) for name in RELAXATION[:2]):
            return RelaxingSlip(c_long, c_lat, *(values[name] for name in RELAXATION), limit)
        return WheelSlip(c_long, c_lat, limit)

    return build


RELAXATION = ("relaxation_long_m", "relaxation_lat_m", "relaxation_damping_long_s", "relaxation_damping_lat_s")


_PARAMETERS = (
    LawParameter("c_long_per_n", "slip along the wheel for each newton of force", 0.0, 1.0, alias="c_long"),
    LawParameter("c_lat_per_n", "slip across the wheel for each newton of force", 0.0, 10.0, alias="c_lat"),
    LawParameter("mu", "friction coefficient that limits the force", default=10.0),
    LawParameter("relaxation_long_m", "way after which the force along the wheel follows its slip", 0.0, 1.0, default=0.0),
    LawParameter("relaxation_lat_m", "way after which the force across the wheel follows its slip", 0.0, 1.0, default=0.0),
    LawParameter("relaxation_damping_long_s", "time within which a relaxing tyre's damper gives way", 0.0, 1.0, default=0.0),
    LawParameter("relaxation_damping_lat_s", "the same across the wheel", 0.0, 1.0, default=0.0),
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
