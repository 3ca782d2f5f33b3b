"""The simulated controller: answers, watchdog and motors by closed forms, without a port."""

import math

import numpy as np
import pytest

from controllers import EFFECTIVE_TRACK_M, K2, controlled_twin, simulated_controller
from slipfit.control import Scale
from slipfit.hardware import Motors, SideMotor
from slipfit.hardware.simulated_motors import poses_of
from slipfit.simulation import simulate
from slipfit.simulation.speed_loop import SpeedLoop


def test_echo_and_answers():
    """AX3500 manual, p. 142: every character comes back, then + or -."""
    controller = simulated_controller()
    assert controller.receive(b"!A08\r", 0.0) == b"!A08\r+\r"
    assert controller.receive(b"!a5\r", 0.0) == b"!a5\r-\r"
    assert controller.receive(b"?Q0\r", 0.0) == b"?Q0\r0\r"
    assert controller.receive(b"\r\r", 0.0) == b"\r\r"


def test_a_line_may_arrive_in_pieces():
    controller = simulated_controller()
    assert b"".join(controller.receive(bytes([c]), 0.0) for c in b"!b14\r") == b"!b14\r+\r"
    assert controller.channels == [0, -20]


def test_channels_are_mixed_with_limits():
    """Document 001, Table 2, row 4: (96, 50) is driven as (27, 127)."""
    controller = simulated_controller()
    controller.receive(b"!A60\r!B32\r", 0.0)
    controller.wait(0.5)
    speeds = controller.motors.speeds_radps[-1]
    assert speeds == pytest.approx((27 * 2.0 / K2, 127 * 2.0 / K2))


def test_watchdog_stops_after_a_second_of_silence():
    """AX3500 manual, p. 142: no character for more than a second stops the motors, and a W comes every second."""
    controller = simulated_controller()
    controller.receive(b"!A14\r", 0.25)
    assert controller.wait(1.2) == b""
    assert controller.motors.speeds_radps[-1] == pytest.approx([20 * 2.0 / K2] * 2)
    assert controller.wait(3.3) == b"W\rW\rW\r"
    speeds = controller.motors.speeds_radps[:, 0]
    assert speeds[:250] == pytest.approx(0.0)
    assert speeds[252:1249] == pytest.approx(20 * 2.0 / K2)
    assert speeds[1252:] == pytest.approx(0.0)
    assert controller.watchdog_times_s == [1.25]


def test_any_character_calms_the_watchdog():
    controller = simulated_controller()
    controller.receive(b"!A14\r", 0.0)
    for k in range(1, 5):
        controller.receive(b"\r", 0.9 * k)
    assert controller.watchdog_times_s == []
    assert controller.channels == [20, 0]


@pytest.mark.parametrize("delay_s", [0.0, 0.05])
def test_first_order_lag(delay_s):
    """omega(t) = target (1 - exp(-(t - delay) / lag)); angle = target (t - lag (1 - exp(-t / lag))), to a step of 1 ms."""
    lag_s, target = 0.2, 10.0
    motor = SideMotor(1.0, lag_s=lag_s, delay_s=delay_s)
    motors = Motors(motor, SideMotor(1.0))
    motors.tell(target, 0.0, 0.0)
    motors.advance(0.5 + delay_s)
    assert motor.history_radps[-1] == pytest.approx(target * (1.0 - math.exp(-0.5 / lag_s)), rel=1e-9)
    assert motor.angle_rad == pytest.approx(target * (0.5 - lag_s * (1.0 - math.exp(-0.5 / lag_s))), abs=0.5e-3 * target)


def test_two_lags():
    """Two first orders in a row, T1 and T2: 1 - (T1 e^(-t/T1) - T2 e^(-t/T2)) / (T1 - T2), to a step of 1 ms."""
    one, two = 0.2, 0.05
    motor = SideMotor(1.0, lag_s=one, second_lag_s=two)
    motors = Motors(motor, SideMotor(1.0))
    motors.tell(1.0, 0.0, 0.0)
    motors.advance(0.3)
    reached = 1.0 - (one * math.exp(-0.3 / one) - two * math.exp(-0.3 / two)) / (one - two)
    assert motor.history_radps[-1] == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize("lags", [(0.0, 0.0), (0.2, 0.0), (0.2, 0.05), (0.05, 0.2), (0.1, 0.1)])
def test_motors_are_those_of_the_simulator(lags):
    """One step at a time here, a whole table there: the same speeds."""
    options = {"saturation_radps": 8.0, "lag_s": lags[0], "second_lag_s": lags[1], "delay_s": 0.03}
    motor = SideMotor(1.0, dead_band_setpoint=2.0, **options)
    motors = Motors(motor, SideMotor(1.0))
    told = np.repeat([5.0, 1.0, 20.0, -5.0], 200)
    for k, setpoint in enumerate(told[::200]):
        motors.tell(setpoint, 0.0, 0.2 * k)
        motors.advance(0.2 * (k + 1))
    assert np.array(motor.history_radps) == pytest.approx(SpeedLoop(dead_band=2.0, **options).reached(told, 0.001), abs=1e-12)


def test_dead_band_and_saturation():
    motor = SideMotor(1.0, dead_band_setpoint=3.0, saturation_radps=5.0)
    motors = Motors(motor, SideMotor(1.0))
    for k, setpoint in enumerate((2, 4, 9, -9)):
        motors.tell(setpoint, 0.0, 0.1 * k)
        motors.advance(0.1 * (k + 1))
    assert [motor.history_radps[i] for i in (50, 150, 250, 350)] == [0.0, 4.0, 5.0, -5.0]


def test_counters_count_turns():
    """44000 counts a turn, document 001; a wheel at 2 rad/s turns once in pi seconds."""
    controller = simulated_controller()
    controller.motors.tell(K2, -K2, 0.0)
    controller.motors.advance(3.0)
    assert controller.motors.left.count == pytest.approx(44000 * 3.0 / math.pi, abs=1)
    assert controller.motors.right.count == pytest.approx(-44000 * 3.0 / math.pi, abs=1)


def driven(twin, v, rate, duration_s):
    scale = Scale.of(twin)
    motors = Motors.of(twin, scale)
    motors.tell(*scale.setpoints(v, rate), 0.0)
    motors.advance(duration_s)
    return motors, poses_of(motors, twin, scale, twin.ground())


def test_the_robot_spins_by_its_own_track():
    """SPEC 0: with c_lat = c_long a spin has the track (T^2 + B^2) / T of the robot's file, .7888 m, not the driver's."""
    _, poses = driven(controlled_twin(), 0.0, 0.5, 2.0)
    steady = poses[-1, 2] - poses[-1001, 2]  # the last second
    assert steady == pytest.approx(0.5 * EFFECTIVE_TRACK_M / 0.7888, rel=1e-3)
    assert poses[-1, :2] == pytest.approx((0.0, 0.0), abs=1e-6)


def test_the_robot_is_slipfits_own():
    """The same wheel speeds as a scenario, by `simulate`: the same place, but for its torque limit at the start."""
    twin = controlled_twin()
    motors, poses = driven(twin, 0.2, 0.2, 2.0)
    scenario = {"commands": [{"for_s": 2.0, "wheels_radps": list(motors.speeds_radps[-1])}]}
    trajectory = simulate(twin.model_copy(update={"powertrain": None}), scenario)
    end = (trajectory.x_m[-1], trajectory.y_m[-1], trajectory.heading_rad[-1])
    assert poses[-1] == pytest.approx(end, abs=2e-3)
