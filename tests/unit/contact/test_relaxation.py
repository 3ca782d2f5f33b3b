"""Tyres that relax: a first-order lag over the way rolled, and a spring where the wheel stands."""

import numpy as np
import pytest

from robots import unlimited
from slipfit.contact.touch import Touch, remember, traction
from slipfit.contact.wheel_slip import INFO, RelaxingSlip, WheelSlip
from slipfit.ground.shape import Memory
from slipfit.library import Ground, find_robot
from slipfit.simulation import Scenario, simulate

C, SIGMA, RIM, LOAD = 0.005, 0.02, 0.5, 50.0


def relaxing(**changed):
    constants = {"c_long_per_n": C, "c_lat_per_n": 10 * C, "mu": 10.0, "relaxation_long_m": SIGMA, "relaxation_lat_m": 2 * SIGMA}
    return INFO.model(constants | changed)


def rolled(law, slip_x, slip_y, steps, dt):
    """Forces after so many steps of constant slip, from an unloaded tyre."""
    memory, touch = Memory(np.zeros(2), np.zeros(0)), Touch(slip_x, slip_y, RIM, LOAD)
    for _ in range(steps):
        answer = traction(law, touch, memory, 0, dt)
        remember(law, touch, memory, 0, dt)
    return answer.start_x + answer.xx * slip_x, answer.start_y + answer.yy * slip_y


@pytest.mark.parametrize("way_m", [0.005, 0.02, 0.1])
def test_the_force_follows_over_the_relaxation_length(way_m):
    """F = F_ss (1 - exp(-way / sigma)), F_ss = s / (c |w|), each axis with its own length [Pacejka2012] ch. 7."""
    steps = 20000
    fx, fy = rolled(relaxing(), 0.05, -0.05, steps, way_m / RIM / steps)
    assert fx == pytest.approx(0.05 / (C * RIM) * (1.0 - np.exp(-way_m / SIGMA)), rel=1e-3)
    assert fy == pytest.approx(-0.05 / (10 * C * RIM) * (1.0 - np.exp(-way_m / (2 * SIGMA))), rel=1e-3)


def test_damping_takes_part_of_the_change_at_once():
    """With tau the force jumps to s / (c (|w| + sigma / tau)) before it relaxes: the damper is in series with the contact."""
    tau = 0.01
    fx, _ = rolled(relaxing(relaxation_damping_long_s=tau), 0.05, 0.0, 1, 1e-9)
    assert fx == pytest.approx(0.05 / (C * (RIM + SIGMA / tau)), rel=1e-6)


def test_the_limit_is_the_limit():
    fx, fy = rolled(relaxing(mu=0.1), 0.5, -3.0, 500, 1e-3)
    assert (fx, fy) == pytest.approx((0.1 * LOAD, -0.1 * LOAD))


def test_without_lengths_there_is_no_memory():
    assert isinstance(INFO.model({"c_long_per_n": C, "c_lat_per_n": C}), WheelSlip)
    assert isinstance(relaxing(), RelaxingSlip)


def test_a_standing_robot_rings_on_its_tyres():
    """Released on a slope of .01 rad it swings by twice m g sin / (4 k) with omega = sqrt(4 k / m), k = 1 / (c sigma)."""
    constants = {"c_long_per_n": C, "c_lat_per_n": C, "relaxation_long_m": SIGMA, "relaxation_lat_m": SIGMA}
    data = {"schema": Ground.kind(), "name": "springy", "law": "wheel_slip", "gravity_mps2": 9.81, "parameters": constants}
    ground = Ground.from_mapping(data, where="springy")
    scenario = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}], ground={"slope_rad": 0.01, "uphill_rad": 0.0}, step_s=5e-5)
    drive = simulate(unlimited(find_robot("p3at")), scenario, ground=ground)
    omega, reach = np.sqrt(4.0 / (C * SIGMA * 20.0)), 20.0 * 9.81 * np.sin(0.01) * C * SIGMA / 4.0
    turn = np.argmin(drive.x_m[: round(2.0 * np.pi / omega / (drive.time_s[1] - drive.time_s[0]))])
    assert drive.time_s[turn] == pytest.approx(np.pi / omega, abs=drive.time_s[1] - drive.time_s[0])
    assert drive.x_m[turn] == pytest.approx(-2.0 * reach, rel=0.15)  # backward Euler damps: omega^2 h / 2 = .05 / s
