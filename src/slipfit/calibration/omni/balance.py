"""Steady motion of a robot whose wheels turn at given speeds: where the contact forces of the arctan law balance.

    s_n = v + r z x p_n - R_n w_n e_n,        F_n = -N_n (mu_W a(k s.g) g + mu_T a(k s.t) t),        a(x) = (2/pi) atan(x)
    sum F_n = 0,    sum p_n x F_n = 0

The forces are the gradient of a convex function of (u, v, r), so that there is one balance. It is found by secants: with
a(x) = q(x) x and q of the last motion, the balance is linear; as q falls with |x|, no iteration leads away from it. Only
mu_T / mu_W counts: forces balance at any scale.

Symbols    p, e, g, R position, direction of rolling, roller axis and radius of a wheel (`vehicles.omni_kinematics`) · t
           across the roller's axis, where it rolls · N load · w wheel speed · u, v, r velocity ahead, to the left, yaw rate
Reference  [Williams2002] eqs. (6)-(11), steady; derived in docs/theory/omni
Valid for  constant wheel speeds after a fraction of a second; arcs whose v r is small against mu g; rollers without gaps, or mean
           coefficients over them
"""

from typing import NamedTuple

import numpy as np

from slipfit.library import OmniRobot
from slipfit.vehicles.loads import spring_shares
from slipfit.vehicles.omni_kinematics import grip_axes

#: Iterations end when no speed at a contact changes by more than this (m/s), or after so many.
CLOSE_MPS, MOST_ITERATIONS = 1e-9, 200

#: Below this the secant of the arctan is its slope.
_SMALL = 1e-9


class Contact(NamedTuple):
    """Coefficients that shape a steady motion, and where the weight sits."""

    mu_ratio: float  # mu_T / mu_W
    steepness_s_per_m: float  # k of the arctan
    com_x_m: float = 0.0
    com_y_m: float = 0.0


class Layout(NamedTuple):
    """What the balance needs of a robot."""

    along: np.ndarray  # (n, 3) speed of each contact along its roller's axis per (u, v, r)
    across: np.ndarray  # (n, 3)
    rolls_along: np.ndarray  # (n,) speed that a wheel's turning takes from that, m/rad
    rolls_across: np.ndarray
    shares: np.ndarray  # (n, 3) share of the weight on each wheel per (1, x, y) of the centre of mass

    @classmethod
    def of(cls, robot: OmniRobot) -> "Layout":
        grip = grip_axes(robot.rolling_rad, robot.roller_rad)
        free = np.column_stack([-grip[:, 1], grip[:, 0]])
        rolling = np.column_stack([np.cos(robot.rolling_rad), np.sin(robot.rolling_rad)]) * robot.radii_m[:, None]
        at, n = robot.at_m, len(robot.at_m)
        shares = spring_shares(at) if robot.loads == "statics" else np.tile([1.0 / n, 0.0, 0.0], (n, 1))
        along, across = (np.column_stack([axis, at[:, 0] * axis[:, 1] - at[:, 1] * axis[:, 0]]) for axis in (grip, free))
        return cls(along, across, (rolling * grip).sum(axis=1), (rolling * free).sum(axis=1), shares)


class Steady(NamedTuple):
    """A balance for each row of wheel speeds."""

    motion: np.ndarray  # (R, 3) u, v, r
    grip_forces: np.ndarray  # (R, n) along the rollers' axes, on the robot, over mu_W and the weight
    wheel_torques_m: np.ndarray  # (R, n) of both forces about the axles, on the wheels' turning, over mu_W and the weight


def steady_motion(layout: Layout, wheels_radps: np.ndarray, contact: Contact) -> Steady:
    """Body velocity at which contact forces balance, for rows of wheel speeds (R, n)."""
    shares, k = layout.shares @ [1.0, contact.com_x_m, contact.com_y_m], contact.steepness_s_per_m
    driven = (wheels_radps * layout.rolls_along, wheels_radps * layout.rolls_across)
    motion = np.zeros((len(wheels_radps), 3))
    slip = (-driven[0], -driven[1])
    for _ in range(MOST_ITERATIONS):
        stiff = (shares * _secant(k * slip[0]), shares * contact.mu_ratio * _secant(k * slip[1]))
        matrix = sum(np.einsum("ri,ij,ik->rjk", each, rows, rows) for each, rows in zip(stiff, layout[:2], strict=True))
        pull = sum((each * d) @ rows for each, d, rows in zip(stiff, driven, layout[:2], strict=True))
        motion = np.linalg.solve(matrix, np.asarray(pull)[..., None])[..., 0]
        before, slip = slip, (motion @ layout.along.T - driven[0], motion @ layout.across.T - driven[1])
        if max(float(np.abs(new - old).max()) for new, old in zip(slip, before, strict=True)) < CLOSE_MPS:
            break
    grip, roll = (-shares * mu * _secant(k * s) * k * s for mu, s in zip((1.0, contact.mu_ratio), slip, strict=True))
    return Steady(motion, grip, layout.rolls_along * grip + layout.rolls_across * roll)


def _secant(x: np.ndarray) -> np.ndarray:
    """(2/pi) atan(x) / x."""
    safe = np.where(np.abs(x) > _SMALL, x, 1.0)
    return np.asarray(2.0 / np.pi * np.where(np.abs(x) > _SMALL, np.arctan(safe) / safe, 1.0))
