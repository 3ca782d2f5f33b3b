"""Powertrains against their own differential equations."""

import math

import numpy as np
import pytest

from slipfit.vehicles.powertrain import DcMotor, SpeedLoop, Spin, after_step, free_wheel, prepared

MOTOR = DcMotor(0.0053, 4.0, 0.1, 0.35, 0.35, 0.01, 12.0)  # Lynxmotion 4WD3, SPEC 6


def spin(powertrain, command, torque, dt, steps):
    wheel = prepared(powertrain, dt)
    state = Spin(0.0, 0.0, 0.0, 0.0)
    for _ in range(steps):
        free, mobility = free_wheel(wheel, command, state, torque)
        state = after_step(wheel, command, state, free - mobility * torque, torque)
    return state.speed, state.effort


def test_motor_reaches_its_no_load_speed():
    """SPEC 4(b): .13677 m/s per volt at the rim of r_w = .0635 m."""
    speed, _ = spin(MOTOR, 10.0, 0.0, 1e-3, 5000)
    assert speed * 0.0635 / 10.0 == pytest.approx(0.13677, abs=1e-5)


def test_motor_follows_its_equations():
    """Exact solution of the linear system by eigenvectors, at 0.1 s; backward Euler errs in proportion to the step."""
    a = np.array([[-4.0 / 0.1, -0.35 / 0.1], [0.35 / 0.0053, -0.01 / 0.0053]])
    b = np.array([10.0 / 0.1, -0.05 / 0.0053])
    values, vectors = np.linalg.eig(a)
    steady = -np.linalg.solve(a, b)
    exact = steady + (vectors * np.exp(values * 0.1)) @ np.linalg.solve(vectors, -steady)
    errors = []
    for steps in (1000, 2000):
        speed, current = spin(MOTOR, 10.0, 0.05, 0.1 / steps, steps)
        errors.append(abs(speed - exact[1].real) + abs(current - exact[0].real))
    assert errors[0] < 0.02
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.05)  # first order


def test_motor_without_inductance_is_stable_at_any_step():
    """L = 0 makes the current algebraic: i = (V - K_e omega) / R; the speed is the steady one after a long step."""
    speed, current = spin(MOTOR._replace(inductance=0.0), 6.0, 0.0, 10.0, 3)
    steady = 6.0 * 0.35 / (4.0 * 0.01 + 0.35**2)
    assert speed == pytest.approx(steady, rel=3e-6)  # (1 + 10 s / .13 s)^-3 of the transient is left
    assert current == pytest.approx((6.0 - 0.35 * speed) / 4.0)


def test_voltage_is_limited():
    assert spin(MOTOR, 100.0, 0.0, 1e-3, 3000) == pytest.approx(spin(MOTOR, 12.0, 0.0, 1e-3, 3000))


def test_speed_loop_holds_its_speed_within_its_torque():
    speed, torque = spin(SpeedLoop(0.01, 2.0), 3.0, 1.5, 1e-3, 100)
    assert (speed, torque) == pytest.approx((3.0, 1.5))


def test_speed_loop_gives_its_limit_and_no_more():
    """J omega. = limit - torque: (2 - 1.5) / .01 · .04 s = 2 rad/s, short of the commanded 3."""
    speed, torque = spin(SpeedLoop(0.01, 2.0), 3.0, 1.5, 1e-3, 40)
    assert (speed, torque) == pytest.approx((2.0, 2.0))


def test_speed_loop_without_a_limit_is_there_at_once():
    assert spin(SpeedLoop(0.01, math.inf), -3.0, 1.5, 1e-3, 1)[0] == -3.0
