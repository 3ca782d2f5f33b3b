"""How hard a robot on omni wheels can push, and how fast it may speed up, before a wheel slips: linear programmes.

Each wheel n holds with |f_g| <= mu_w N_n along its roller's axis g and |f_c| <= mu_t N_n across it, so that what the ground can
do to the robot is a polytope: a sum of 2 n segments (a zonotope) in force ahead, force to the left and moment.

    push       max F      sum f = F d,          sum p x f = M                    loads at rest
    speed up   max a      sum f = m a d_c,      sum p x f = I a w                f_c = mu_t N sign(s_c), N(a)
    brake      the same with -a; rollers that roll help then

d is the direction of the robot's origin, w the turn that goes with it (for rotations), d_c what both are at the centre of mass, p
wheel positions from there. A roller slides across its axis at s_c = V (e.c) - v.c while its wheel rolls along it, V = v.g / e.g:
omni wheels have e.c = 0, mecanum wheels straight ahead do not turn their rollers at all. Motors add |R (e.g f_g + e.c f_c)| <=
torque, of DC motors the one at standstill. Loads shift with the acceleration as in the simulator: N(a) = shares · (1, centre of
mass - h a d_c / g) m g, linear in a.

Reference  [Williams2002] section 6, eq. (16) as a linear programme; loads: docs/theory/omni, eq. (loads)
Valid for  robots that translate or rotate, not both at once; light wheels (their own inertia is left out), and turns so slow that
           what holds an offset centre of mass on its circle may be left out
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from slipfit.errors import ParameterError
from slipfit.library import Ground, OmniRobot
from slipfit.library.files import write_json
from slipfit.library.robot import DcMotor, SpeedLoop
from slipfit.vehicles.loads import spring_shares
from slipfit.vehicles.omni_kinematics import grip_axes

#: A velocity across a roller below this share of the robot's own is none (positions have so many digits): it holds either way.
_STANDS = 1e-3

#: Corners of a polytope are listed one by one up to this many wheels.
MOST_WHEELS = 8

#: Note of coefficients that describe forces below the limit, and are no limit themselves.
NOT_A_LIMIT = "right within the forces of the runs, not a limit of grip; for that see the calibration, or a tilt test"

#: The coefficients that a ground has for rollers and for the rigid parts between them.
SECTORS = {"roller": ("mu_w", "mu_t"), "rigid": ("mu_w_rigid", "mu_t_rigid")}


@dataclass(frozen=True, eq=False, slots=True)
class Footing:
    """A robot on a ground, as the programmes see it."""

    mass_kg: float
    yaw_inertia_kgm2: float
    gravity_mps2: float
    at_m: np.ndarray  # (n, 2) from the centre of mass
    centre_of_mass_m: np.ndarray  # (2,) from the robot's origin
    along: np.ndarray  # (n, 2) unit vectors of the rollers' axes
    across: np.ndarray  # (n, 2)
    rim: np.ndarray  # (n, 2) what a wheel's speed has along and across its rollers' axis
    radius_m: np.ndarray  # (n,)
    rest_n: np.ndarray  # (n,) loads at rest
    shift_kg: np.ndarray  # (n, 2) load that an acceleration ahead and to the left takes away, N per m/s^2
    mu_along: float
    mu_across: float
    torque_nm: float  # what a motor can do; infinite where wheels turn as they are told

    @classmethod
    def of(cls, robot: OmniRobot, ground: Ground, sector: str = "roller") -> "Footing":
        mu_along, mu_across = coefficients(ground, sector)
        centre, height = np.array(robot.centre_of_mass_m.value[:2]), robot.centre_of_mass_m.value[2]
        mass, gravity, count = robot.mass_kg.value, ground.gravity_mps2.value, len(robot.at_m)
        shares = spring_shares(robot.at_m)
        is_equal = robot.loads == "equal"
        rest = np.full(count, 1.0 / count) if is_equal else shares @ [1.0, *centre]
        along = grip_axes(robot.rolling_rad, robot.roller_rad)
        return cls(
            mass, robot.yaw_inertia_kgm2.value, gravity, robot.at_m - centre, centre, along,
            np.column_stack([-along[:, 1], along[:, 0]]),
            np.column_stack([np.sin(robot.roller_rad), -np.cos(robot.roller_rad)]), robot.radii_m, mass * gravity * rest,
            np.zeros((count, 2)) if is_equal else mass * height * shares[:, 1:], mu_along, mu_across, _torque_nm(robot),
        )  # fmt: skip

    @property
    def arms(self) -> np.ndarray:
        """What unit forces along and then across every wheel's roller do to the body: ahead, left, moment, (3, 2 n)."""
        forces = np.concatenate([self.along, self.across])
        at = np.concatenate([self.at_m, self.at_m])
        return np.vstack([forces.T, at[:, 0] * forces[:, 1] - at[:, 1] * forces[:, 0]])

    @property
    def bounds_n(self) -> np.ndarray:
        """Largest forces along and then across that friction allows, at rest, (2 n,)."""
        return np.concatenate([self.mu_along * self.rest_n, self.mu_across * self.rest_n])

    @property
    def torques_m(self) -> np.ndarray:
        """Torques of the motors for unit forces along and then across, (n, 2 n); no rows where motors have no limit."""
        if not np.isfinite(self.torque_nm):
            return np.zeros((0, 2 * len(self.at_m)))
        return np.hstack([np.diag(self.radius_m * self.rim[:, 0]), np.diag(self.radius_m * self.rim[:, 1])])


def _torque_nm(robot: OmniRobot) -> float:
    """Of a speed loop its limit, of a DC motor what its voltage gives at standstill."""
    power = robot.powertrain
    if isinstance(power, SpeedLoop):
        return power.torque_limit_nm.value
    if isinstance(power, DcMotor):
        return power.torque_constant_nm_per_a.value * power.voltage_limit_v.value / power.resistance_ohm.value
    return float("inf")


def coefficients(ground: Ground, sector: str = "roller") -> tuple[float, float]:
    """Friction along and across a roller's axis, of the rollers or of the rigid parts between them."""
    if sector not in SECTORS:
        raise ParameterError(f"sector = '{sector}'; expected roller or rigid")
    values = ground.values()
    missing = [name for name in SECTORS[sector] if name not in values]
    if missing:
        raise ParameterError(
            f"ground {ground.name} has the law {ground.law}, which has no {missing[0]}; expected a ground with the friction of "
            f"rollers, such as ohio_paper"
        )
    along, across = (values[name] for name in SECTORS[sector])
    return along, across


def largest_push_n(footing: Footing, direction_rad: float, moment_nm: float = 0.0) -> float:
    """Largest force in a direction (rad from the body's x axis) that the wheels hold together with a moment; NaN where the moment
    alone is too much."""
    count = 2 * len(footing.at_m)
    d = np.array([np.cos(direction_rad), np.sin(direction_rad), 0.0])
    matrix = np.column_stack([footing.arms, -d])
    bounds = [*((-most, most) for most in footing.bounds_n), (0.0, None)]
    turning = np.column_stack([footing.torques_m, np.zeros(len(footing.torques_m))])
    found = linprog(
        [*np.zeros(count), -1.0], A_ub=np.vstack([turning, -turning]), b_ub=np.full(2 * len(turning), footing.torque_nm),
        A_eq=matrix, b_eq=[0.0, 0.0, moment_nm], bounds=bounds, method="highs",
    )  # fmt: skip
    return float(found.x[-1]) if found.status == 0 else float("nan")


def largest_acceleration(footing: Footing, motion: Sequence[float], *, is_braking: bool = False) -> float:
    """How fast a motion may grow, or end, without a wheel slipping along its roller's axis.

    Parameters
    ----------
    motion : (ahead, to the left, turn) of the robot's origin per unit of what grows: (cos, sin, 0) gives m/s², (0, 0, 1) rad/s²
    is_braking : the motion ends instead

    NaN where the wheels cannot overcome the rollers' own friction.
    """
    d, way = np.asarray(motion, dtype=float), -1.0 if is_braking else 1.0
    count, turned = len(footing.at_m), d[2] * np.array([[0.0, 1.0], [-1.0, 0.0]])  # rows times this: crossed with the turn
    at_centre = d[:2] + footing.centre_of_mass_m @ turned
    unlifted = -way * footing.shift_kg @ at_centre  # load that each unit of acceleration adds
    rolls = _rolling(footing, d[:2] + (footing.at_m + footing.centre_of_mass_m) @ turned)
    # Variables: forces along, forces across, acceleration. Rollers that turn resist by what their load gives.
    grows = np.array([*(footing.mass_kg * at_centre), footing.yaw_inertia_kgm2 * d[2]])
    equal, right = [np.column_stack([footing.arms, -way * grows])], [np.zeros(3)]
    for n in np.flatnonzero(rolls):
        row = np.zeros(2 * count + 1)
        row[count + n], row[-1] = 1.0, -rolls[n] * footing.mu_across * unlifted[n]
        equal.append(row[None])
        right.append(np.array([rolls[n] * footing.mu_across * footing.rest_n[n]]))
    less, most = [], []
    for variable, (mu, k) in enumerate(product((footing.mu_along, footing.mu_across), range(count))):
        for sign in (1.0, -1.0):
            row = np.zeros(2 * count + 1)
            row[variable], row[-1] = sign, -mu * unlifted[k]
            less.append(row)
            most.append(mu * footing.rest_n[k])
    lifts = np.column_stack([np.zeros((count, 2 * count)), -unlifted])
    turning = np.column_stack([footing.torques_m, np.zeros(len(footing.torques_m))])
    found = linprog(
        [*np.zeros(2 * count), -1.0], A_ub=np.vstack([*less, lifts, turning, -turning]),
        b_ub=np.concatenate([most, footing.rest_n, np.full(2 * len(turning), footing.torque_nm)]),
        A_eq=np.vstack(equal), b_eq=np.concatenate(right), bounds=[*[(None, None)] * (2 * count), (0.0, None)], method="highs",
    )  # fmt: skip
    return float(found.x[-1]) if found.status == 0 else float("nan")


def _rolling(footing: Footing, velocity: np.ndarray) -> np.ndarray:
    """Direction in which each roller slides across its axis while its wheel rolls along it, -1, 0 or 1, of velocities at the
    wheels (n, 2)."""
    along, across = (np.einsum("ij,ij->i", velocity, axes) for axes in (footing.along, footing.across))
    slides = along / footing.rim[:, 0] * footing.rim[:, 1] - across
    least = _STANDS * max(float(np.abs(velocity).max()), 1e-300)
    return np.asarray(np.where(np.abs(slides) > least, np.sign(slides), 0.0))


def polytope(footing: Footing) -> ConvexHull:
    """All that the ground can do to the robot: convex hull of forces ahead and left (N) and moments (N m)."""
    if len(footing.at_m) > MOST_WHEELS:
        raise ParameterError(f"the robot has {len(footing.at_m)} wheels; the polytope is drawn of up to {MOST_WHEELS}")
    arms, count = footing.arms.reshape(3, 2, -1), len(footing.at_m)
    corners = np.zeros((1, 3))
    for n in range(count):
        wheel = _corners_of_a_wheel(footing, n) @ arms[:, :, n].T
        corners = (corners[:, None] + wheel[None]).reshape(-1, 3)
        if n > 0:
            corners = corners[ConvexHull(corners, qhull_options="QJ").vertices]
    return ConvexHull(corners)


def _corners_of_a_wheel(footing: Footing, n: int) -> np.ndarray:
    """Corners of what one wheel holds, along and across: a box, cut by what its motor can do."""
    along, across = footing.mu_along * footing.rest_n[n], footing.mu_across * footing.rest_n[n]
    box = np.array([(along, across), (along, -across), (-along, -across), (-along, across)])
    if not np.isfinite(footing.torque_nm):
        return box
    lever = footing.radius_m[n] * footing.rim[n]
    for sign in (1.0, -1.0):
        spare = footing.torque_nm - sign * box @ lever
        kept = []
        for k in range(len(box)):  # Sutherland and Hodgman's clipping of a convex polygon by a line
            a, b = spare[k - 1], spare[k]
            if (a < 0.0) != (b < 0.0):
                kept.append(box[k - 1] + a / (a - b) * (box[k] - box[k - 1]))
            if b >= 0.0:
                kept.append(box[k])
        box = np.array(kept)
    return box


@dataclass(frozen=True, eq=False)
class StaticLimit:
    """Push, acceleration and braking of a robot on a ground, by direction."""

    robot: str
    ground: str
    sector: str
    moment_nm: float
    weight_n: float
    direction_rad: np.ndarray
    push_n: np.ndarray
    speed_up_mps2: np.ndarray
    brake_mps2: np.ndarray
    turn_radps2: tuple[float, float]  # speeding up and braking a rotation on the spot
    notes: tuple[str, ...]  # of the ground's coefficients
    footing: Footing = field(repr=False)

    def summary(self) -> str:
        """A table by direction."""
        head = f", with a moment of {self.moment_nm:g} N m" if self.moment_nm else ""
        rows = [
            f"{self.robot} on {self.ground}, {self.sector} sectors{head}: before a wheel slips",
            f"  {'direction':>9}{'push':>10}{'over weight':>13}{'speed up':>13}{'brake':>13}",
        ]
        for angle, push, up, brake in zip(
            np.degrees(self.direction_rad), self.push_n, self.speed_up_mps2, self.brake_mps2, strict=True
        ):
            rows.append(
                f"  {angle:>7.0f} °{_shown(push, '.2f'):>8} N{_shown(push / self.weight_n, '.6f'):>13}{_shown(up, '.3f'):>8} m/s²"
                f"{_shown(brake, '.3f'):>8} m/s²"
            )
        if not np.isfinite([*self.push_n, *self.speed_up_mps2, *self.brake_mps2]).all():
            rows.append("  -: the moment, or the rollers' own friction, is more than the wheels hold")
        up, brake = (_shown(value, ".3f") for value in self.turn_radps2)
        rows += [f"  note: {note}" for note in self.notes]
        rows.append(f"  turning on the spot: speed up {up} rad/s², brake {brake} rad/s²")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        def told(values: Sequence[float] | np.ndarray) -> list[float | None]:
            return [float(v) if np.isfinite(v) else None for v in values]

        return {
            "robot": self.robot,
            "ground": self.ground,
            "sector": self.sector,
            "moment_nm": self.moment_nm,
            "weight_n": self.weight_n,
            "direction_rad": told(self.direction_rad),
            "push_n": told(self.push_n),
            "speed_up_mps2": told(self.speed_up_mps2),
            "brake_mps2": told(self.brake_mps2),
            "turn_radps2": told(self.turn_radps2),
            "notes": list(self.notes),
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        write_json(Path(path), self.to_document(), force=force)


def _shown(value: float, form: str) -> str:
    return format(value, form) if np.isfinite(value) else "-"


def static_limit(
    robot: OmniRobot,
    ground: Ground,
    *,
    directions_rad: np.ndarray | None = None,
    moment_nm: float = 0.0,
    sector: str = "roller",
) -> StaticLimit:
    """The limits in many directions; every 15 degrees unless they are given."""
    footing = Footing.of(robot, ground, sector)
    directions = np.radians(np.arange(0.0, 360.0, 15.0)) if directions_rad is None else np.asarray(directions_rad, dtype=float)
    motions = np.column_stack([np.cos(directions), np.sin(directions), np.zeros(len(directions))])
    speed_up, brake = (
        np.array([largest_acceleration(footing, motion, is_braking=b) for motion in motions]) for b in (False, True)
    )
    turn = (0.0, 0.0, 1.0)
    return StaticLimit(
        robot.name, ground.name, sector, moment_nm, footing.mass_kg * footing.gravity_mps2, directions,
        np.array([largest_push_n(footing, angle, moment_nm) for angle in directions]), speed_up, brake,
        (largest_acceleration(footing, turn), largest_acceleration(footing, turn, is_braking=True)),
        tuple(f"{ground.name}, {name}: {NOT_A_LIMIT}" for name in SECTORS[sector] if ground.parameters[name].note == NOT_A_LIMIT),
        footing,
    )  # fmt: skip
