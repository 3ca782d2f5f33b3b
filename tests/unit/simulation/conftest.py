"""A trajectory made by hand: what tests of sensors and files start from."""

import numpy as np
import pytest

from slipfit.simulation import Trajectory

BODY = ("x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps", "fx_mps2", "fy_mps2", "yaw_accel_radps2")
WHEELS = ("wheel_speed_radps", "wheel_angle_rad", "load_n", "force_x_n", "force_y_n", "effort", "lowest_load_n")


@pytest.fixture
def motion():
    """`motion(time_s, yaw_rate_radps=1.0, ...)`: the given columns, zero otherwise; 50 N on each of four wheels."""

    def make(time_s, **columns):
        time_s = np.asarray(time_s, dtype=float)
        body = {name: np.broadcast_to(columns.pop(name, 0.0), time_s.shape).astype(float) for name in BODY}
        shape = (len(time_s), 4)
        columns.setdefault("load_n", 50.0)
        columns.setdefault("lowest_load_n", columns["load_n"])
        wheels = {name: np.array(np.broadcast_to(columns.pop(name, 0.0), shape), dtype=float) for name in WHEELS}
        return Trajectory({"time_s": time_s, **body, **wheels}, **columns)

    return make
