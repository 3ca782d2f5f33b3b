"""Wheels in the air are found when they are, and not otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from drives import COMMANDS, drive
from robots import changed
from slipfit.library import find_robot
from slipfit.logs import inspect_log

P3AT = find_robot("p3at")


def test_a_step_that_lifts_the_front_is_found_when_it_happens():
    """SPEC 1 (d): at 5 N m per wheel a step from 0.2 to 1.0 m/s lifts wheels; the simulator's loads say when."""
    robot = changed("p3at", powertrain__torque_limit_nm=5.0)
    run = drive(robot, commands=COMMANDS[:4])
    lifted_at = min(run.lifted_wheels.values())
    inspection = inspect_log(run.readings, robot)
    assert inspection.of_kind("wheel lift")
    ((begin, end),) = inspection.lifted_s
    assert begin == pytest.approx(lifted_at, abs=0.1)
    assert end - begin < 0.2


@pytest.mark.parametrize("torque_nm", [2.0, 4.5])
def test_a_step_that_lifts_nothing_is_no_alarm(torque_nm):
    """4.5 N m is nearly what lifts; the simulator's loads stay positive."""
    robot = changed("p3at", powertrain__torque_limit_nm=torque_nm)
    run = drive(robot, commands=COMMANDS[:4])
    assert not run.lifted_wheels
    assert inspect_log(run.readings, robot).lifted_s == ()


def test_the_rear_lifts_when_a_strong_brake_is_pulled():
    """Braking from 1.2 m/s with 8 N m per wheel; the simulator's loads say when."""
    robot = changed("p3at", powertrain__torque_limit_nm=8.0)
    commands = [
        {"for_s": 1.0, "v_mps": 0.0},
        {"for_s": 3.0, "v_mps": 1.2, "profile": "linear", "ramp_s": 2.0},
        {"for_s": 2.0, "v_mps": 0.0},
    ]
    run = drive(robot, commands=commands)
    assert set(run.lifted_wheels) == {2, 3}
    ((begin, _),) = inspect_log(run.readings, robot).lifted_s
    assert begin == pytest.approx(min(run.lifted_wheels.values()), abs=0.1)


def test_tyres_of_different_size_are_no_lift(good):
    """Front wheels that turn 8 % faster than rear ones all the time are smaller, not in the air."""
    wheels = good["encoders"]
    log = good.having(replace(wheels, values=wheels.values * np.array([1.08, 1.08, 1.0, 1.0])))
    assert inspect_log(log, P3AT).lifted_s == ()


@pytest.mark.parametrize(("force_mps2", "lifts"), [(7.0, False), (8.5, True)])
def test_load_transfer_that_lifts_a_wheel_is_found_when_it_happens(good, force_mps2, lifts):
    """Closed form: the front wheels carry nothing from f_x = g l_r / h = 9.81 · 0.125 / 0.16 = 7.66 m/s² on (P3AT)."""
    imu = good["imu"]
    values = imu.values.copy()
    pushed = (imu.time_s > 10.0) & (imu.time_s < 10.2)
    values[pushed, 0] = force_mps2
    inspection = inspect_log(good.having(replace(imu, values=values)), P3AT)
    assert bool(inspection.of_kind("wheel lift")) == lifts
    if lifts:
        ((begin, end),) = inspection.lifted_s
        assert (begin, end) == pytest.approx((10.0, 10.2), abs=0.05)


def test_a_shock_is_no_lift(good):
    """20 m/s² for 20 ms: in that time a wheel rises by g t² / 2 = 2 mm at most."""
    imu = good["imu"]
    values = imu.values.copy()
    values[1000:1002, 0] = 20.0
    assert inspect_log(good.having(replace(imu, values=values)), P3AT).lifted_s == ()
