"""Logs of simulated speed loops, whose constants are known."""

import numpy as np
from scipy.signal import lfilter

from slipfit.logs import Channel, DriveLog
from slipfit.simulation.speed_loop import SpeedLoop

#: Each is held for 1.5 s: small steps about the dead band, steps both ways, and more than a motor can do.
LEVELS = (0, 0.1, 0, 0.25, 0, 0.45, 0, 1, 2, 4, 0, -2, -0.3, -4, 0, 3, 6, 9, 3, 0, 5, -5, 0, 2, 1, 0)
HELD_S, STEP_S = 1.5, 0.001

LEFT = SpeedLoop(1.02, dead_band=0.35, saturation_radps=7.0, delay_s=0.06, lag_s=0.12)
RIGHT = SpeedLoop(0.97, dead_band=0.2, saturation_radps=7.5, delay_s=0.03, lag_s=0.15, second_lag_s=0.04)


def loop_log(seed, loops=(LEFT, RIGHT), *, levels=LEVELS, counts_per_turn=2000, rate_hz=100.0, unevenness=0.02, extra=()):
    """Commands every 50 ms, encoders that count, at other times; wheels run unevenly by so many rad/s, slowly changing."""
    draw = np.random.default_rng(seed)
    time_s = np.arange(0.0, len(levels) * HELD_S, STEP_S)
    told_s = np.arange(0.0, time_s[-1], 0.05)
    told = np.array(levels, dtype=float)[np.minimum((told_s / HELD_S).astype(int), len(levels) - 1)]
    fine = told[np.minimum((time_s / 0.05 + 1e-9).astype(int), len(told) - 1)]
    read_s = np.arange(0.0, time_s[-1], 1.0 / rate_hz) + 0.0037
    count = 2.0 * np.pi / counts_per_turn
    angles = []
    for loop in loops:
        speed = loop.reached(fine, STEP_S)
        rough = lfilter([np.sqrt(1.0 - 0.99**2)], [1.0, -0.99], draw.standard_normal(len(speed))) * (np.abs(speed) > 0.01)
        whole = np.concatenate([[0.0], speed + unevenness * rough])
        angle = np.concatenate([[0.0], np.cumsum(0.5 * (whole[1:] + whole[:-1])) * STEP_S])
        read = np.interp(read_s, np.arange(len(angle)) * STEP_S, angle)
        angles.append(np.floor(read / count + draw.uniform()) * count)
    channels = [
        Channel(
            "commands",
            np.round(told_s * 1e9).astype(np.int64),
            np.column_stack([told, told]),
            ("left_speed_radps", "right_speed_radps"),
        ),
        Channel(
            "encoders", np.round(read_s * 1e9).astype(np.int64), np.column_stack(angles), ("left_angle_rad", "right_angle_rad")
        ),
        *extra,
    ]
    return DriveLog({c.name: c for c in channels}, source="loops")
