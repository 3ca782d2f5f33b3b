"""Finders by formula and on runs made up by hand: no engine needed."""

import numpy as np
import pytest

from slipfit.calibration.spin_test import SpinGeometry
from slipfit.contact.wheel_slip import spin_yaw_rate
from slipfit.engines import EngineRun, Settings
from slipfit.library import find_robot
from slipfit.verification.artefacts import cone_reading
from slipfit.verification.measures import rate_by_heading, spin_reading

ROBOT = find_robot("p3at")
LOAD_N = 20.0 * 9.81 / 4.0


def spinning(rate_of_heading, asked_radps=1.0, for_s=8.0):
    """A run whose yaw rate is a function of the heading."""
    h = 0.001
    heading, headings, rates = 0.0, [], []
    for _ in range(round(for_s / h) + 1):
        rate = rate_of_heading(heading)
        headings.append(heading)
        rates.append(rate)
        heading += h * rate
    headings, count = np.array(headings), len(headings)
    wheels = np.array([-1.0, 1.0, -1.0, 1.0]) * asked_radps * 0.201 / 0.11
    each = np.ones((count, 4))
    zeros = np.zeros((count, 3))
    return EngineRun(
        engine="made up",
        model="p3at",
        settings=Settings(step_s=h, gravity_mps2=(0.0, 0.0, -9.81)),
        time_s=np.arange(count) * h,
        position_m=zeros,
        quat_wxyz=np.column_stack([np.cos(headings / 2), zeros[:, :2], np.sin(headings / 2)]),
        velocity_mps=zeros,
        angular_velocity_radps=np.column_stack([zeros[:, :2], rates]),
        wheel_angle_rad=each,
        wheel_speed_radps=each * wheels,
        contacts=each.astype(int),
        sinkage_m=0.0 * each,
        normal_n=LOAD_N * each,
        force_along_n=each,
        force_across_n=each,
        wheels_at_m=np.zeros((4, 3)),
        wheel_radius_m=np.full(4, 0.11),
        centre_of_mass_m=np.zeros(3),
    )


@pytest.mark.parametrize("ratio", [2.0, 10.0, 50.0])
def test_reading_is_the_inverse_of_the_closed_form(ratio):
    """[Trimble2022] eq. (3)."""
    rate = spin_yaw_rate(1.0, ratio, 0.201, 0.125)
    run = spinning(lambda _: rate)
    assert spin_reading(run, ROBOT, 0.005) == pytest.approx(ratio, rel=1e-6)
    assert rate_by_heading(run) < 1e-9


def test_wide_wheels_read_low_and_the_width_restores():
    """ENGINES: 75 mm reads 5.263, and 10 with d = half width."""
    run = spinning(lambda _: spin_yaw_rate(1.0, 10.0, 0.201, 0.125, 0.0375))
    assert spin_reading(run, ROBOT, 0.005) == pytest.approx(5.263, abs=0.001)
    assert spin_reading(run, ROBOT, 0.005, 0.0375) == pytest.approx(10.0, rel=1e-6)


def test_swing_with_the_heading_is_its_amplitude():
    run = spinning(lambda heading: 0.9 * (1.0 + 0.05 * np.cos(2.0 * heading + 0.3)))
    assert rate_by_heading(run) == pytest.approx(0.05, rel=0.03)


def test_cone_of_the_fork():
    """ENGINES: saturates below mu* = 2.45, mu = 1 gave eq3 4.22 in the fork (steady spin at 1 ms: 1 %)."""
    geometry = SpinGeometry.of(ROBOT)
    assert cone_reading(2.46, 0.005, 0.05, geometry, LOAD_N) == pytest.approx(10.0, rel=1e-6)
    assert cone_reading(2.40, 0.005, 0.05, geometry, LOAD_N) < 9.99
    assert cone_reading(1.0, 0.005, 0.05, geometry, LOAD_N) == pytest.approx(4.22, rel=0.015)
