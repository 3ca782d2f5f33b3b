"""What slows a robot down besides slip: air, rolling resistance, and the battery's own resistance; and the tyre's caster offset.

    air        F = -c_a u |u|                      along the body's x axis
    rolling    M = -c_r N R omega / max(|omega|, omega_s)    on each wheel: constant against its turning, smooth through rest
    caster     M_z = -n_T F_y u / max(|u|, v_eps)  of each wheel: its side force acts n_T behind its contact, as it travels
    battery    V_bus = V_0 - R_b sum D_n i_n       every motor gets its share D of the bus: V_n = D_n V_bus, D = command / V_0,
               or, at its current limit, what that current takes

Air and rolling resistance act with the velocities at the end of the step, by secants, so that they never push. The bus has the
voltage to which the currents at the end of the step draw it down, at the rotors' present speeds; casters feel the expected force.

Symbols    u speed ahead · N load · R wheel radius · omega wheel speed · V_0 open-circuit voltage · I, R_b of the battery
Reference  [Shilliday2023] sections II-A and III-E; c_a = C_d A rho / 2
"""

from math import sqrt
from typing import NamedTuple

from slipfit.contact.slip import SPEED_FLOOR_MPS
from slipfit.kernels import alike, chosen_by_type
from slipfit.vehicles.books import BUS
from slipfit.vehicles.powertrain import current_of, spin_of

#: Below this (rad/s) rolling resistance fades: a wheel rests where the ground is level, and creeps where it is not.
_FADING_RADPS = 1e-3

#: The bus never falls below this share of the open-circuit voltage: controllers shut down long before.
_LOWEST_BUS = 0.05


class NoLosses(NamedTuple):
    """A robot whose resistances are not known, or do not matter."""

    unused: float


class AirDrag(NamedTuple):
    """A robot of which only the air drag is known."""

    air_drag: float  # N s^2 / m^2


class Losses(NamedTuple):
    air_drag: float  # N s^2 / m^2
    rolling: float  # rolling resistance coefficient
    caster: float  # m


class NoBattery(NamedTuple):
    """A supply that holds its voltage."""

    unused: float


class Battery(NamedTuple):
    voltage: float  # V, without load
    resistance: float  # ohm


@chosen_by_type
def has_rolling(losses):
    """Whether wheels may have rolling resistance. Where none has, the vehicle saves the arithmetic."""
    return False


@chosen_by_type
def air_drag(losses, u):
    """Drag for each m/s of speed at the end of the step, N s/m."""
    return 0.0 * u


@chosen_by_type
def rolling_drag(losses, load, radius, speed):
    """Torque against a wheel for each rad/s at the end of the step, N m s."""
    return 0.0 * load


@chosen_by_type
def caster_moment(losses, lateral_force, u):
    """Yaw moment (N m) of lateral forces (N, to the left) that act behind their contacts, for a robot that goes ahead at u."""
    return 0.0 * lateral_force


@has_rolling.of(Losses)
def _(losses):
    return True


@air_drag.of(AirDrag)
def _(losses, u):
    return losses.air_drag * abs(u)


@air_drag.of(Losses)
def _(losses, u):
    return losses.air_drag * abs(u)


@rolling_drag.of(Losses)
def _(losses, load, radius, speed):
    return losses.rolling * load * radius / max(abs(speed), _FADING_RADPS)


@caster_moment.of(Losses)
def _(losses, lateral_force, u):
    return -losses.caster * lateral_force * (u / max(abs(u), SPEED_FLOOR_MPS))


@chosen_by_type
def told_in(battery, work):
    """Where a driver writes its commands: with a battery the motors get their share of them."""
    return work.command


@chosen_by_type
def share_bus(battery, wheel, notebook, work):
    """Set the motors' voltages to their shares of the bus; `wheel` is the powertrain, made ready for the step."""


@told_in.of(Battery)
def _(battery, work):
    return work.told


@share_bus.of(Battery)
def _(battery, wheel, notebook, work):
    # Currents are affine in the bus voltage, i = i_0 + D g V_bus, or draw a power P at their limit:
    # a V_bus^2 - b V_bus + R_b sum P = 0 with a = 1 + R_b sum D^2 g, b = V_0 - R_b sum D i_0; the larger root.
    drawn = grown = power = alike(0.0, battery.voltage)
    for n in range(len(work.command)):
        duty = max(-1.0, min(1.0, work.told[n] / battery.voltage))
        held, per_volt, taken = current_of(wheel, spin_of(work, n), duty * battery.voltage)
        drawn, grown, power = drawn + duty * held, grown + duty * duty * per_volt, power + taken
    a, b = 1.0 + battery.resistance * grown, battery.voltage - battery.resistance * drawn
    root = sqrt(max(0.0, b * b - 4.0 * a * battery.resistance * power))
    bus = max(_LOWEST_BUS, (b + root) / (2.0 * a * battery.voltage))
    notebook.supply[BUS] = bus
    for n in range(len(work.command)):
        work.command[n] = max(-battery.voltage, min(battery.voltage, work.told[n])) * bus
