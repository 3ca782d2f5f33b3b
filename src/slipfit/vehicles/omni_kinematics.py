"""Kinematics of robots on omni and mecanum wheels: which wheel speeds go with a body velocity when nothing slips.

A roller rolls freely across its own axis, so that only the velocity along that axis ties the wheel to the ground:

    g . (v + r z x p) = R theta. (g . e)        theta. = G (u, v, r),    row n of G: (g_x, g_y, X g_y - Y g_x) / (R g . e)

Symbols    p = (X, Y) wheel position (m, from the robot's origin) · e direction of rolling: where the robot goes when the wheel
           turns forward · g axis of the roller on the ground, at e turned left by a quarter turn less the roller's angle ·
           R wheel radius · u, v, r velocity ahead, to the left, yaw rate
Reference  omni wheels [Williams2002] eqs. (1)-(3), with theta. counted forward along e (e = -s there); any roller
           angle: derived in docs/theory/omni, eq. (wheel map)
Valid for  roller angles other than 0 (such a wheel has no grip along its own rolling direction)
"""

import numpy as np

#: Angle of a roller's axis from the wheel's axle: an omni wheel's rollers lie along its rim.
OMNI_ROLLER_RAD = 0.5 * np.pi

#: A layout is called deficient if its smallest singular value is this share of its largest: files round angles to two digits.
_SINGULAR = 1e-2


def grip_axes(rolling_rad: np.ndarray, roller_rad: np.ndarray) -> np.ndarray:
    """Unit vectors along the rollers' axes, shape (n, 2); roller_rad counts from the axle (to the left) towards the rolling
    direction: pi/2 omni wheels, +pi/4 or -pi/4 mecanum wheels."""
    angle = np.asarray(rolling_rad, dtype=float) + 0.5 * np.pi - np.asarray(roller_rad, dtype=float)
    return np.stack(np.broadcast_arrays(np.cos(angle), np.sin(angle)), axis=-1)


def wheel_map(at_m: np.ndarray, rolling_rad: np.ndarray, roller_rad: np.ndarray, radius_m: np.ndarray | float) -> np.ndarray:
    """The matrix G of shape (n, 3): wheel speeds (rad/s) = G @ (vx_mps, vy_mps, yaw_rate_radps).

    Parameters
    ----------
    at_m : (n, 2), positions from the robot's origin, x ahead, y to the left
    rolling_rad : (n,), direction in which the robot goes when the wheel turns forward, from the x axis
    roller_rad : (n,) or one for all, see `grip_axes`
    radius_m : (n,) or one for all
    """
    at = np.asarray(at_m, dtype=float)
    g = grip_axes(rolling_rad, roller_rad)
    along = np.asarray(radius_m, dtype=float) * np.sin(np.asarray(roller_rad, dtype=float)) * np.ones(len(at))
    rows = np.column_stack([g[:, 0], g[:, 1], at[:, 0] * g[:, 1] - at[:, 1] * g[:, 0]])
    return np.asarray(rows / along[:, None])


def body_map(at_m: np.ndarray, rolling_rad: np.ndarray, roller_rad: np.ndarray, radius_m: np.ndarray | float) -> np.ndarray:
    """The matrix of shape (3, n) that gives the body velocity of wheel speeds: least squares where there are more than three."""
    return np.asarray(np.linalg.pinv(wheel_map(at_m, rolling_rad, roller_rad, radius_m)))


def free_motions(at_m: np.ndarray, rolling_rad: np.ndarray, roller_rad: np.ndarray) -> np.ndarray:
    """Body motions that no wheel drives or holds, rows (vx, vy, yaw rate x mean distance of the wheels); none in a sound
    layout."""
    at = np.asarray(at_m, dtype=float)
    reach = max(float(np.hypot(at[:, 0], at[:, 1]).mean()), 1e-12)
    scaled = wheel_map(at / reach, rolling_rad, roller_rad, 1.0)
    _, singular, directions = np.linalg.svd(scaled)
    filled = np.concatenate([singular, np.zeros(3 - len(singular))]) if len(singular) < 3 else singular
    return np.asarray(directions[filled < _SINGULAR * max(float(filled.max()), 1e-300)])
