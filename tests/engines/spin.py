"""The spin test in an engine."""

import numpy as np
from p3at_files import HALF_TRACK_M, HALF_WHEELBASE_M, RADIUS_M

from slipfit.contact.wheel_slip import spin_ratio
from slipfit.engines import WheelCommands, find_engine

SIDES = np.array([-1.0, 1.0, -1.0, 1.0])
RIM_RADPS = HALF_TRACK_M / RADIUS_M  # wheel speed that asks for 1 rad/s


def spin(engine, path, settings=None, for_s=3.0):
    """A run whose wheels ask for 1 rad/s."""
    return find_engine(engine).run(path, WheelCommands.held(list(SIDES * RIM_RADPS), for_s), settings)


def eq3(run, half_width_m=0.0, *, last_s=1.0, measured=False):
    """c_lat / c_long by [Trimble2022] eq. (3) from the run's end; with the measured wheel speed where servos are soft."""
    last = run.steady(last_s)
    asked = float(np.mean(run.wheel_speed_radps[last] * SIDES)) / RIM_RADPS if measured else 1.0
    turned = float(run.heading_rad[last][-1] - run.heading_rad[last][0]) / (run.time_s[last][-1] - run.time_s[last][0])
    return spin_ratio(asked, turned, HALF_TRACK_M, HALF_WHEELBASE_M, half_width_m)


def whole_turn_eq3(run):
    """The same from the time that the second whole turn took."""
    turned = run.heading_rad - run.heading_rad[0]
    starts, ends = np.interp([2.0 * np.pi, 4.0 * np.pi], turned, run.time_s)
    return spin_ratio(1.0, 2.0 * np.pi / (ends - starts), HALF_TRACK_M, HALF_WHEELBASE_M)
