"""Slip ratios of a filter's velocities, with spreads, and whether they mean anything.

    i = (w - u) / max(|w|, |u|),    tan alpha = -v / u

A side that stands still has no ratio, a robot that turns on the spot no slip angle: 0/0.

Symbols    w what the rims say · u what the ground says, of a side or of an omni robot's way · v velocity to the left
Reference  slip: docs/conventions; derived in docs/theory/estimation
"""

from math import atan, cos, hypot

from slipfit.contact.slip import SPEED_FLOOR_MPS, slip_ratio
from slipfit.kernels import compiled, part

#: A ratio means something where rim or ground is faster than this (m/s), and its spread below this.
TOLD_MPS, TOLD_STD = 0.05, 0.3


@part
def _one(w, u, std):
    """Ratio, its spread by that of u, and whether it is told: di/du is 1 / |w| while driving, |w| / u^2 while braking."""
    slower, faster = abs(w), max(abs(w), abs(u))
    safe = max(faster, SPEED_FLOOR_MPS)
    slope = 1.0 / safe if slower >= abs(u) else min(slower / (safe * safe), 1.0 / safe)
    return slip_ratio(u, w), slope * std, (faster > TOLD_MPS) & (slope * std < TOLD_STD)


@compiled
def slip_ratios(is_omni, length_m, rims, velocity, stds, out):
    """Each row of out, (n, 9): three slips, their spreads, and 1 where they are told.

    Parameters
    ----------
    is_omni : slips ahead, aside and turning, by what the wheels say of the body; else left, right and the slip angle
    length_m : track of two sides; arm at which an omni robot's turns count
    rims : (n, 2) of sides, (n, 3) of an omni robot
    velocity : (n, 3), u, v, r
    stds : (n, 3), of the slip velocities
    """
    for k in range(len(rims)):
        u, v, r = velocity[k, 0], velocity[k, 1], velocity[k, 2]
        if is_omni:
            found = (
                _one(rims[k, 0], u, stds[k, 0]),
                _one(rims[k, 1], v, stds[k, 1]),
                _one(rims[k, 2] * length_m, r * length_m, stds[k, 2] * length_m),
            )
        else:
            half = 0.5 * length_m * r
            safe = u if abs(u) > TOLD_MPS else TOLD_MPS
            angle = atan(-v / safe)
            # d alpha = cos^2 alpha (dv - v du / u) / u; u is the mean of both sides, whose errors are taken to be independent.
            ahead = 0.5 * hypot(stds[k, 0], stds[k, 1])
            spread = hypot(stds[k, 2], v / safe * ahead) / abs(safe) * cos(angle) ** 2
            found = (
                _one(rims[k, 0], u - half, stds[k, 0]),
                _one(rims[k, 1], u + half, stds[k, 1]),
                (angle, spread, (abs(u) > TOLD_MPS) & (spread < TOLD_STD)),
            )
        for j in range(3):
            out[k, j], out[k, 3 + j] = found[j][0], found[j][1]
            out[k, 6 + j] = 1.0 if found[j][2] else 0.0
