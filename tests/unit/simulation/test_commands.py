"""From commands to what each wheel is told at each step."""

import numpy as np
import pytest

from robots import six_wheeled
from slipfit.errors import SimulationError
from slipfit.library import find_robot
from slipfit.simulation import Scenario
from slipfit.simulation.commands import command_table, no_load_voltage, quintic, wheel_speeds

P3AT = find_robot("p3at")
ROVER = find_robot("lynxmotion_4wd3")


def table(*commands, robot=P3AT, **scenario):
    return command_table(robot, Scenario(commands=list(commands), **scenario))


def test_wheel_speeds_are_those_of_a_differential_drive():
    """P3AT: half track 0.201 m, wheel radius 0.11 m; (0.5 ∓ 1 · 0.201) / 0.11 rad/s."""
    assert wheel_speeds(P3AT, 0.5, 1.0).tolist() == pytest.approx([2.7181818, 6.3727273, 2.7181818, 6.3727273])


def test_no_load_voltage_of_the_rover():
    """SPEC 4(b): r_w K_t / (R (b + zeta) + K_t K_e) = 0.13677 m/s for each volt."""
    voltage = no_load_voltage(ROVER.powertrain, np.array([1.0 / 0.0635]))
    assert 1.0 / voltage[0] == pytest.approx(0.13677, abs=1e-5)


def test_a_motor_gets_the_voltage_of_the_speed_that_is_asked():
    """SPEC 4(b) again: 0.2735 m/s need 2 V."""
    assert table({"for_s": 0.01, "v_mps": 0.2735}, robot=ROVER)[-1] == pytest.approx(np.full(4, 2.0), rel=1e-3)


def test_two_entries_are_left_and_right():
    assert table({"for_s": 0.01, "wheels_radps": [1.0, 2.0]})[-1].tolist() == [1.0, 2.0, 1.0, 2.0]
    assert table({"for_s": 0.01, "wheels_radps": [1.0, 2.0]}, robot=six_wheeled())[-1].tolist() == [1.0, 2.0] * 3
    assert table({"for_s": 0.01, "wheels_v": [-6.0, 6.0]}, robot=ROVER)[-1].tolist() == [-6.0, 6.0, -6.0, 6.0]


def test_four_entries_are_the_four_wheels():
    assert table({"for_s": 0.01, "wheels_radps": [1.0, 2.0, 3.0, 4.0]})[-1].tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("wheels", [[], [1.0], [1.0] * 3, [1.0] * 6])
def test_another_number_of_wheels_is_refused(wheels):
    with pytest.raises(SimulationError, match=rf"commands\[1\].wheels_radps has {len(wheels)} entries; p3at takes 4"):
        table({"for_s": 0.01, "v_mps": 0.0}, {"for_s": 0.01, "wheels_radps": wheels})


def test_a_speed_loop_takes_no_voltages():
    with pytest.raises(SimulationError, match=r"commands\[0\].wheels_v: p3at has a speed loop; command speeds"):
        table({"for_s": 0.01, "wheels_v": [6.0, 6.0]})
    with pytest.raises(
        SimulationError, match=r"commands\[0\].wheels_v: -100 V is more than the 12 V of lynxmotion_4wd3's motors"
    ):
        table({"for_s": 0.01, "wheels_v": [-100.0, 6.0]}, robot=ROVER)


@pytest.mark.parametrize(
    ("durations", "step_s", "steps"),
    [([1.0], 0.001, 1000), ([0.1, 0.2], 0.001, 300), ([0.3] * 3, 0.1, 9), ([0.7], 0.0001, 7000), ([1.0], 0.003, 333)],
)
def test_the_table_is_as_long_as_the_drive(durations, step_s, steps):
    assert len(table(*({"for_s": d, "v_mps": 1.0} for d in durations), step_s=step_s, record_s=step_s)) == steps


def test_every_row_is_told_something_whatever_the_durations(monkeypatch):
    """Durations that end in the middle of a step: 0.0115 s are 11.5 steps."""
    drives = np.random.default_rng(7).integers(2, 100, (200, 5))
    monkeypatch.setattr(np, "empty", lambda shape: np.full(shape, np.nan))
    for halves in drives:
        rows = table(*({"for_s": 0.0005 * float(h), "v_mps": 0.11} for h in halves), start={"v_mps": 0.11})
        assert (rows == 1.0).all()
        assert len(rows) == pytest.approx(halves.sum() / 2, abs=0.5)


def test_a_row_holds_during_the_step_that_it_starts():
    """The change is commanded at 0.002 s: rows 0 and 1 before, row 2 after."""
    rows = table({"for_s": 0.002, "v_mps": 0.11}, {"for_s": 0.002, "v_mps": 0.22})
    assert rows[:, 0].tolist() == pytest.approx([1.0, 1.0, 2.0, 2.0])


# --- profiles --------------------------------------------------------------------------------------------------------


def test_quintic_is_ten_fifteen_six():
    """10 s³ - 15 s⁴ + 6 s⁵: 0.103515625 at a quarter, one half in the middle; held outside."""
    assert quintic(np.array([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0])).tolist() == [0.0, 0.0, 0.103515625, 0.5, 1.0, 1.0]


RAMP = {"for_s": 2.0, "v_mps": 0.11, "ramp_s": 0.5}  # 1 rad/s


@pytest.mark.parametrize("profile", ["step", "linear", "quintic"])
def test_every_profile_ends_at_its_value_and_holds_it(profile):
    rows = table(RAMP | {"profile": profile})[:, 0]
    assert rows[499:] == pytest.approx(np.ones(1501), abs=1e-14)


@pytest.mark.parametrize(("profile", "steepest"), [("step", 1.0), ("linear", 0.001 / 0.5), ("quintic", 1.875 * 0.001 / 0.5)])
def test_no_step_is_larger_than_the_profile_is_steep(profile, steepest):
    """Steepest slope over a unit ramp: 1 for linear, 30/16 for the quintic."""
    rows = np.concatenate([[0.0], table(RAMP | {"profile": profile})[:, 0]])
    assert np.abs(np.diff(rows)).max() == pytest.approx(steepest, rel=1e-4)


def test_a_quintic_starts_and_ends_gently():
    """Close to its ends it is 10 s³: after one step of 500 it has 10 / 500³ of the way."""
    rows = table(RAMP | {"profile": "quintic"})[:, 0]
    assert rows[0] == pytest.approx(10 / 500**3, rel=0.01)
    assert 1.0 - rows[498] == pytest.approx(10 / 500**3, rel=0.01)


def test_a_ramp_starts_where_the_command_before_ended():
    rows = table({"for_s": 1.0, "v_mps": 0.11}, {"for_s": 1.0, "v_mps": 0.33, "profile": "linear"})[:, 0]
    assert rows[[999, 1000, 1499, 1999]] == pytest.approx([1.0, 1.002, 2.0, 3.0])


def test_the_first_ramp_starts_at_the_start_velocity():
    rows = table(RAMP | {"profile": "linear", "v_mps": 0.22}, start={"v_mps": 0.11})[:, 0]
    assert rows[[0, 249]] == pytest.approx([1.002, 1.5])


def test_a_ramp_is_no_longer_than_its_command():
    """A second by default, cut to the duration."""
    rows = table({"for_s": 0.2, "v_mps": 0.11, "profile": "linear"})[:, 0]
    assert rows[[99, 199]] == pytest.approx([0.5, 1.0])


def test_a_ramp_of_no_time_is_a_step():
    assert table({"for_s": 0.01, "v_mps": 0.11, "profile": "linear", "ramp_s": 0.0})[0, 0] == pytest.approx(1.0)
