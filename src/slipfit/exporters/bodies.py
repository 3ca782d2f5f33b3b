"""The robot as rigid bodies: a base and its wheels, which together weigh, turn and balance as the twin says.

The twin knows the whole robot and the spin inertia of a wheel, not the wheel's mass. A wheel is taken as a homogeneous cylinder,

    m_w = 2 J / R^2,    I_tilt = J / 2 + m_w w^2 / 12,

and the base is what is left of the whole, by parallel axes in all three directions:

    m_b = m - n m_w,    m_b c_b = m c - sum m_w c_w,    I_b = I - sum (I_w + m_w [d_w]) - m_b [d_b],    [d] = |d|^2 1 - d d^T

Symbols    J spin inertia · R, w radius and width · c, d places, and places from the common centre of mass · I about it
Valid for  wheels whose inertia is theirs. Where the base would be no real body (the inertia holds a geared rotor), the wheels'
           mass is lowered, then their inertia; the ledger says so.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.exporters.ledger import Entry, Ledger, ledger
from slipfit.library import Parameter, SkidSteerRobot
from slipfit.library.robot import DcMotor
from slipfit.vehicles import loads

_ROWS = {2: ("front", "rear"), 3: ("front", "middle", "rear")}

#: Wheels never take more than this share of the robot's mass.
_MOST_IN_WHEELS = 0.5

#: A principal moment may miss its triangle inequality by this much: rounding in files.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel: its name (front_left), place and load at rest on level ground."""

    name: str
    x_m: float
    y_m: float
    load_n: float

    @property
    def is_left(self) -> bool:
        return self.y_m > 0.0


@dataclass(frozen=True, slots=True)
class Bodies:
    """Base and wheels. Places are from the ground below the wheels' centre, x forward, y left, z up."""

    wheels: tuple[Wheel, ...]
    radius_m: float
    width_m: float
    wheel_mass_kg: float
    wheel_spin_inertia_kgm2: float
    wheel_tilt_inertia_kgm2: float
    base_mass_kg: float
    base_centre_m: tuple[float, float, float]
    base_inertia_kgm2: tuple[tuple[float, ...], ...]  # 3 x 3 about the base's centre
    torque_limit_nm: float
    ledger: Ledger


def wheel_names(robot: SkidSteerRobot) -> list[str]:
    """front_left, front_right, ...; with four axles or more axle1_left, axle1_right, ..."""
    axles = len(robot.wheels.at_m.value) // 2
    rows = _ROWS.get(axles, tuple(f"axle{k + 1}" for k in range(axles)))
    return [f"{row}_{side}" for row in rows for side in ("left", "right")]


def wheels_at_rest(robot: SkidSteerRobot, gravity_mps2: float) -> tuple[Wheel, ...]:
    """The wheels and what they carry on level ground; at least a hundredth of the mean, which is never zero."""
    at = robot.wheels.at_m.value
    carried = np.zeros(len(at))
    x, y, _ = robot.centre_of_mass_m.value
    loads.wheel_loads(loads.wheels(at, robot.wheels.radius_m.value), robot.mass_kg.value * gravity_mps2, x, y, carried)
    return tuple(
        Wheel(name, float(place[0]), float(place[1]), max(float(load), 0.01 * float(carried.mean())))
        for name, place, load in zip(wheel_names(robot), at, carried, strict=True)
    )


def torque_limit_nm(robot: SkidSteerRobot) -> float:
    """Of one wheel; of a DC motor the stall torque at its voltage limit."""
    p: Any = robot.powertrain
    if isinstance(p, DcMotor):
        return p.torque_constant_nm_per_a.value * p.voltage_limit_v.value / p.resistance_ohm.value
    return float(p.torque_limit_nm.value)


def bodies(robot: SkidSteerRobot, gravity_mps2: float) -> Bodies:
    """Base and wheels of a robot."""
    n, radius, width = len(robot.wheels.at_m.value), robot.wheels.radius_m.value, robot.wheels.width_m.value
    mass, spin = robot.mass_kg.value, robot.wheels.spin_inertia_kgm2.value
    whole, assumed = _whole_inertia(robot)
    cylinder = 2.0 * spin / radius**2
    most = min(cylinder, _MOST_IN_WHEELS * mass / n)
    centre = np.array(robot.centre_of_mass_m.value)
    at = np.array([[x, y, radius] for x, y in robot.wheels.at_m.value])
    for spin_share in 0.5 ** np.arange(40):
        for mass_share in 0.5 ** np.arange(8):
            wheel_mass, wheel_spin = most * mass_share, spin * spin_share
            tilt = 0.5 * wheel_spin + wheel_mass * width**2 / 12.0
            base_mass = mass - n * wheel_mass
            base_centre = (mass * centre - wheel_mass * at.sum(axis=0)) / base_mass
            own = np.diag([tilt, wheel_spin, tilt])
            inertia = whole - sum(own + wheel_mass * _steiner(place - centre) for place in at)
            inertia = inertia - base_mass * _steiner(base_centre - centre)
            if _is_real(inertia):
                book = ledger(
                    _sharing(wheel_mass, cylinder, base_mass, n),
                    assumed,
                    _lowered(spin, wheel_spin) if spin_share < 1.0 else None,
                )
                return Bodies(
                    wheels_at_rest(robot, gravity_mps2),
                    radius,
                    width,
                    float(wheel_mass),
                    float(wheel_spin),
                    float(tilt),
                    float(base_mass),
                    tuple(map(float, base_centre)),  # type: ignore[arg-type]
                    tuple(tuple(map(float, row)) for row in inertia),
                    torque_limit_nm(robot),
                    book,
                )
    raise AssertionError("wheels without mass and inertia leave the whole robot, which is a real body")


def _whole_inertia(robot: SkidSteerRobot) -> tuple[np.ndarray, Entry | None]:
    """Roll, pitch, yaw about the centre of mass. What the twin does not know is that of a box as large as the wheels' outline."""
    yaw = robot.yaw_inertia_kgm2.value
    length = robot.wheelbase_m + 2.0 * robot.wheels.radius_m.value
    width = robot.track_m + robot.wheels.width_m.value
    height = 2.0 * robot.centre_of_mass_m.value[2]
    unit = yaw / (length**2 + width**2)
    roll = _room(unit * (width**2 + height**2), robot.pitch_inertia_kgm2, yaw)
    pitch = _room(unit * (length**2 + height**2), robot.roll_inertia_kgm2, yaw)
    roll = roll if robot.roll_inertia_kgm2 is None else robot.roll_inertia_kgm2.value
    pitch = pitch if robot.pitch_inertia_kgm2 is None else robot.pitch_inertia_kgm2.value
    unknown = robot.roll_inertia_kgm2 is None or robot.pitch_inertia_kgm2 is None
    told = f"{roll:.4g} and {pitch:.4g} kg m2, of a homogeneous box with the robot's outline"
    entry = Entry("roll and pitch inertia", told, "give roll_inertia_kgm2 and pitch_inertia_kgm2 in the robot's file")
    return np.diag([roll, pitch, yaw]), entry if unknown else None


def _room(box: float, other: Parameter | None, yaw: float) -> float:
    """The box's moment, as far as the other known one leaves room for it (triangle inequality, with 5 % to spare)."""
    return box if other is None else min(max(box, 1.05 * abs(yaw - other.value)), 0.95 * (yaw + other.value))


def _steiner(d: np.ndarray) -> np.ndarray:
    """|d|^2 1 - d d^T."""
    return np.asarray(d @ d * np.eye(3) - np.outer(d, d))


def _is_real(inertia: np.ndarray) -> bool:
    """Whether a body can have these moments: above zero, none larger than the other two together."""
    small, middle, large = np.linalg.eigvalsh(inertia)
    return bool(small > 0.0 and large <= (small + middle) * (1.0 + _ROUNDING))


def _sharing(wheel_mass: float, cylinder: float, base_mass: float, n: int) -> Entry:
    how = "a homogeneous cylinder with the twin's spin inertia"
    if not math.isclose(wheel_mass, cylinder):
        how = f"less than the {cylinder:.4g} kg of {how}, so that the base stays a real body"
    return Entry(
        "masses",
        f"the twin knows the whole robot only; each of {n} wheels gets {wheel_mass:.4g} kg, {how}, the base the remaining "
        f"{base_mass:.4g} kg; mass, centre of mass and inertias of the whole are the twin's",
    )


def _lowered(spin: float, used: float) -> Entry:
    return Entry(
        "spin inertia of a wheel",
        f"{used:.4g} instead of {spin:.4g} kg m2, which is more than the whole robot's inertia has room for (a geared rotor?)",
        "the motors react faster than the twin's; steady motion is the same",
    )
