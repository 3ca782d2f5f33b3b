"""How hard a robot on omni wheels can push, and how fast it may speed up, before a wheel slips: linear programmes.

Each wheel n holds with |f_g| <= mu_w N_n along its roller's axis g and |f_c| <= mu_t N_n across it, so that what the ground can
do to the robot is a polytope: a sum of 2 n segments (a zonotope) in force ahead, force to the left and moment.

    push       max F      sum f = F d,          sum p x f = M                    loads at rest
    speed up   max a      sum f = m a d,        sum p x f = I a w                f_c = -mu_t N sign(velocity across), N(a)
    brake      the same with -a d, -a w; rollers help then

d is the direction, w the turn that goes with it (for rotations), p wheel positions from the centre of mass. Loads shift with the
acceleration as in the simulator: N(a) = shares · (1, centre of mass - h a d / g) m g, linear in a.

Reference  [Williams2002] section 6, eq. (16) as a linear programme; loads: docs/theory/omni, eq. (loads)
Valid for  robots that translate or rotate, not both at once; slow wheels (their own inertia is left out)
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
from slipfit.library.robot import SpeedLoop
from slipfit.vehicles.loads import spring_shares
from slipfit.vehicles.omni_kinematics import grip_axes

#: A velocity across a roller below this share of the robot's own is none (positions have so many digits): it holds either way.
_STANDS = 1e-3

#: Corners of a polytope are listed one by one up to this many wheels.
MOST_WHEELS = 8

#: The coefficients that a ground has for rollers and for the rigid parts between them.
SECTORS = {"roller": ("mu_w", "mu_t"), "rigid": ("mu_w_rigid", "mu_t_rigid")}


@dataclass(frozen=True, eq=False, slots=True)
class Footing:
    """A robot on a ground, as the programmes see it."""

    mass_kg: float
    yaw_inertia_kgm2: float
    gravity_mps2: float
    at_m: np.ndarray  # (n, 2) from the centre of mass
    along: np.ndarray  # (n, 2) unit vectors of the rollers' axes
    across: np.ndarray  # (n, 2)
    rest_n: np.ndarray  # (n,) loads at rest
    shift_kg: np.ndarray  # (n, 2) load that an acceleration ahead and to the left takes away, N per m/s^2
    mu_along: float
    mu_across: float
    most_n: np.ndarray  # (n,) what the motors can push along the rollers' axes

    @classmethod
    def of(cls, robot: OmniRobot, ground: Ground, sector: str = "roller") -> "Footing":
        mu_along, mu_across = coefficients(ground, sector)
        centre, height = np.array(robot.centre_of_mass_m.value[:2]), robot.centre_of_mass_m.value[2]
        mass, gravity, count = robot.mass_kg.value, ground.gravity_mps2.value, len(robot.at_m)
        shares = spring_shares(robot.at_m)
        is_equal = robot.loads == "equal"
        rest = np.full(count, 1.0 / count) if is_equal else shares @ [1.0, *centre]
        along = grip_axes(robot.rolling_rad, robot.roller_rad)
        limit = robot.powertrain.torque_limit_nm.value if isinstance(robot.powertrain, SpeedLoop) else np.inf
        return cls(
            mass, robot.yaw_inertia_kgm2.value, gravity, robot.at_m - centre, along,
            np.column_stack([-along[:, 1], along[:, 0]]), mass * gravity * rest,
            np.zeros((count, 2)) if is_equal else mass * height * shares[:, 1:], mu_along, mu_across,
            limit / (robot.radii_m * np.abs(np.sin(robot.roller_rad))),
        )  # fmt: skip

    @property
    def arms(self) -> np.ndarray:
        """What unit forces along and then across every wheel's roller do to the body: ahead, left, moment, (3, 2 n)."""
        forces = np.concatenate([self.along, self.across])
        at = np.concatenate([self.at_m, self.at_m])
        return np.vstack([forces.T, at[:, 0] * forces[:, 1] - at[:, 1] * forces[:, 0]])

    @property
    def bounds_n(self) -> np.ndarray:
        """Largest forces along and then across, at rest, (2 n,)."""
        return np.concatenate([np.minimum(self.mu_along * self.rest_n, self.most_n), self.mu_across * self.rest_n])


def coefficients(ground: Ground, sector: str = "roller") -> tuple[float, float]:
    """Friction along and across a roller's axis, of the rollers or of the rigid parts between them."""
    if sector not in SECTORS:
        raise ParameterError(f"sector = '{sector}'; expected roller or rigid")
    values = ground.values()
    missing = [name for name in SECTORS[sector] if name not in values]
    if missing:
        raise ParameterError(
            f"ground {ground.name} has the law {ground.law}, which has no {missing[0]}; expected a ground with the friction of "
            f"rollers"
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
    found = linprog([*np.zeros(count), -1.0], A_eq=matrix, b_eq=[0.0, 0.0, moment_nm], bounds=bounds, method="highs")
    return float(found.x[-1]) if found.status == 0 else float("nan")


def largest_acceleration(footing: Footing, motion: Sequence[float], *, is_braking: bool = False) -> float:
    """How fast a motion may grow, or end, without a wheel slipping along its roller's axis.

    Parameters
    ----------
    motion : (ahead, to the left, turn) per unit of what grows: (cos, sin, 0) gives m/s², (0, 0, 1) gives rad/s²
    is_braking : the motion ends instead

    NaN where the wheels cannot overcome the rollers' own friction.
    """
    d, way = np.asarray(motion, dtype=float), -1.0 if is_braking else 1.0
    count = len(footing.at_m)
    arms, unlifted = footing.arms, -way * footing.shift_kg @ d[:2]  # load that each unit of acceleration adds
    at_wheel = d[:2] + d[2] * np.column_stack([-footing.at_m[:, 1], footing.at_m[:, 0]])
    across = np.einsum("ij,ij->i", at_wheel, footing.across)
    rolls = np.where(np.abs(across) > _STANDS * max(float(np.abs(at_wheel).max()), 1e-300), -np.sign(across), 0.0)
    # Variables: forces along, forces across, acceleration. Rollers that turn resist by what their load gives.
    mass = np.array([footing.mass_kg, footing.mass_kg, footing.yaw_inertia_kgm2])
    equal = [np.column_stack([arms, -way * mass * d])]
    right = [np.zeros(3)]
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
    lifts = np.zeros((count, 2 * count + 1))
    lifts[:, -1] = -unlifted
    bounds = [*((-f, f) for f in footing.most_n), *[(None, None)] * count, (0.0, None)]
    found = linprog(
        [*np.zeros(2 * count), -1.0], A_ub=np.vstack([*less, lifts]), b_ub=np.concatenate([most, footing.rest_n]),
        A_eq=np.vstack(equal), b_eq=np.concatenate(right), bounds=bounds, method="highs",
    )  # fmt: skip
    return float(found.x[-1]) if found.status == 0 else float("nan")


def polytope(footing: Footing) -> ConvexHull:
    """All that the ground can do to the robot: convex hull of forces ahead and left (N) and moments (N m)."""
    if len(footing.at_m) > MOST_WHEELS:
        raise ParameterError(f"the robot has {len(footing.at_m)} wheels; the polytope is drawn of up to {MOST_WHEELS}")
    corners = np.zeros((1, 3))
    for arm in (footing.arms * footing.bounds_n).T:
        corners = np.vstack([corners + arm, corners - arm])
    return ConvexHull(corners)


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
        up, brake = (_shown(value, ".3f") for value in self.turn_radps2)
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
        (largest_acceleration(footing, turn), largest_acceleration(footing, turn, is_braking=True)), footing,
    )  # fmt: skip
