"""Runs of a made-up robot that steers by nominal odometry and really has other wheels."""

import numpy as np

from slipfit.calibration.odometry.travel import OdometryModel, Run

RADIUS_M, TRACK_M = 0.042, 0.2
STEP_S, STEP_M = 0.05, 0.005


def legs(*pieces):
    """Rolled distances of both sides, as believed: ("line", metres), ("spin", radians), ("arc", radius, radians)."""
    left, right = [0.0], [0.0]
    for kind, *numbers in pieces:
        if kind == "line":
            ends = (numbers[0], numbers[0])
        else:
            radius, angle = (0.0, numbers[0]) if kind == "spin" else numbers
            ends = (radius * abs(angle) - 0.5 * TRACK_M * angle, radius * abs(angle) + 0.5 * TRACK_M * angle)
        n = max(1, int(max(abs(e) for e in ends) / STEP_M))
        left += (left[-1] + np.linspace(0.0, ends[0], n + 1)[1:]).tolist()
        right += (right[-1] + np.linspace(0.0, ends[1], n + 1)[1:]).tolist()
    return np.array(left), np.array(right)


def square(side_m, turn):
    return legs(*[piece for _ in range(4) for piece in (("line", side_m), ("spin", turn))])


def run(rolled, truth, *, noise=None, name="run", kind=""):
    """What really happened when the wheels rolled like this, seen with noise at the end."""
    left, right = rolled
    time_s = np.arange(len(left)) * STEP_S
    blank = Run(name, time_s, left, right, np.zeros((len(left), 3)), kind)
    poses = truth.path(blank)
    if noise is not None:
        draw, position, heading = noise
        poses[-1] += draw.standard_normal(3) * np.array([position, position, heading])
    return Run(name, time_s, left, right, poses, kind)


def robot(e_d=1.0, e_b=1.0, scale=1.0, spin=1.0, offset=0.0):
    """Wheels of another ratio right over left, and another track; on the spot yet another."""
    track = e_b * TRACK_M
    return OdometryModel(scale * 2.0 / (e_d + 1.0), scale * 2.0 / (1.0 / e_d + 1.0), track, spin * track, offset)
