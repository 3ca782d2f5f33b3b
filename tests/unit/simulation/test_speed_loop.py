"""Speed loops against closed forms, and in the simulator."""

import numpy as np
import pytest

from slipfit.simulation import simulate
from slipfit.simulation.drives.rover import _about_lags
from slipfit.simulation.run import resolve
from slipfit.simulation.speed_loop import SpeedLoop
from slipfit.twin import FittedPowertrain, Twin
from unit.twin.twins import mapping

STEP_S = 0.003


def found(value):
    return {"value": value, "status": "converged", "source": "known"}


def test_first_order_lag_is_exact():
    """x = u (1 - exp(-t / tau)) for a step, whatever the step size."""
    t = np.arange(1, 400) * STEP_S
    got = SpeedLoop(lag_s=0.12).reached(np.full(len(t), 2.0), STEP_S)
    assert got == pytest.approx(2.0 * (1.0 - np.exp(-t / 0.12)), abs=1e-12)


@pytest.mark.parametrize(("one", "two"), [(0.12, 0.05), (0.05, 0.12), (0.1, 0.1)])
def test_second_order_lag_is_exact(one, two):
    """Step of two lags in a row: 1 - (a e^(-t/a) - b e^(-t/b)) / (a - b); 1 - (1 + t/a) e^(-t/a) for equal ones."""
    t = np.arange(1, 400) * STEP_S
    got = SpeedLoop(lag_s=one, second_lag_s=two).reached(np.ones(len(t)), STEP_S)
    if one == two:
        expected = 1.0 - (1.0 + t / one) * np.exp(-t / one)
    else:
        expected = 1.0 - (one * np.exp(-t / one) - two * np.exp(-t / two)) / (one - two)
    assert got == pytest.approx(expected, abs=1e-12)


def test_delay_of_parts_of_a_step_keeps_the_distance():
    """A wheel that starts 2.4 steps later rolls 2.4 steps less."""
    got = SpeedLoop(delay_s=2.4 * STEP_S).reached(np.ones(100), STEP_S)
    assert got[:4] == pytest.approx([0.0, 0.0, 0.6, 1.0])
    assert got.sum() == pytest.approx(100 - 2.4)


def test_dead_band_limits_and_saturation():
    loop = SpeedLoop(told_per_reached=2.0, dead_band=1.0, lowest=-8.0, highest=9.0, saturation_radps=4.2)
    told = np.array([0.0, 0.99, 1.0, -0.99, -2.0, 8.0, 30.0, -30.0])
    assert loop.asked(told) == pytest.approx([0.0, 0.0, 0.5, 0.0, -1.0, 4.0, 4.2, -4.0])


def test_a_loop_at_speed_starts_there():
    assert SpeedLoop(lag_s=0.3, second_lag_s=0.1, delay_s=0.05).reached(np.full(5, 3.0), STEP_S, before=3.0) == pytest.approx(3.0)


def test_controller_units_and_told_speeds():
    """A driver undoes the controller's gain, so that 1 rad/s is reached; a robot that is told rad/s has a gain of its own."""
    side = {"setpoint_per_radps": found(12.5), "dead_band_setpoint": found(2.5)}
    roboteq = FittedPowertrain.model_validate({"left": side})
    loop = SpeedLoop.of(roboteq, roboteq.left)
    assert loop.asked(np.array([1.0, 0.19, 20.0, -20.0])) == pytest.approx([1.0, 0.0, 127 / 12.5, -126 / 12.5])
    speeds = FittedPowertrain.model_validate({"setpoint_unit": "radps", "left": {"setpoint_per_radps": found(1.25)}})
    assert SpeedLoop.of(speeds, speeds.left).asked(np.array([1.0])) == pytest.approx([0.8])


def test_an_empty_record_changes_nothing():
    assert SpeedLoop.of(FittedPowertrain(), FittedPowertrain().left) == SpeedLoop()


def test_the_simulator_drives_through_the_twins_powertrain():
    """Both sides late by 0.2 s and slow by a lag of 0.1 s: the robot falls behind by v (delay + lag), and drives on as fast."""
    scenario = {
        "commands": [{"for_s": 0.5, "v_mps": 0.0}, {"for_s": 3.0, "v_mps": 0.3, "profile": "linear", "ramp_s": 1.0}],
        "step_s": 0.001,
    }
    late = {"powertrain": {side: {"delay_s": found(0.2), "lag_s": found(0.1)} for side in ("left", "right")}}
    ideal, with_delay = (Twin.from_mapping({**mapping(), **extra}, where="twin") for extra in ({}, late))
    plain, delayed = simulate(ideal, scenario), simulate(with_delay, scenario)
    assert plain.x_m[-1] - delayed.x_m[-1] == pytest.approx(
        0.3 * 0.3, rel=0.02
    )  # the torque limit takes 15 ms of the ideal start
    assert delayed.wheel_speed_radps[-1] == pytest.approx(plain.wheel_speed_radps[-1], rel=1e-3)


def test_on_routes_a_twins_loops_are_left_out_and_that_is_stated():
    """On a route the robot steers by itself: there is no table of commands that lags could act on (docs/howto/use_a_twin)."""
    side = {"setpoint_per_radps": found(1.0), "lag_s": found(0.1)}
    powertrain = {"left": side, "right": side, "setpoint_unit": "radps"}
    twin = Twin.from_mapping(mapping() | {"powertrain": powertrain}, where="twin")
    for scenario, count in (("serpentine_flat", 1), ("step_and_spin", 0)):
        notes = _about_lags(resolve(twin, scenario))
        assert len(notes) == count
        assert all("left out on routes" in note for note in notes)
