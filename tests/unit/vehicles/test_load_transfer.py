"""Loads and specific force of one step belong together, where friction at its limit makes each depend on the other."""

import numpy as np
import pytest

from robots import changed, ground_with, unlimited
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.scenario import find_scenario

G = 9.81


def statics_of(robot, drive):
    """Front and rear loads of one side, N: moments about either axle of a rigid body that feels f_x and drives straight ahead."""
    (front, *_, rear), height = robot.wheels.at_m.value, robot.centre_of_mass_m.value[2]
    length, mass = front[0] - rear[0], robot.mass_kg.value
    transfer = mass * drive["fx_mps2"] * height / length
    return np.column_stack([-mass * G * rear[0] / length - transfer, mass * G * front[0] / length + transfer]) / 2.0


def test_a_hard_start_keeps_all_wheels_down_and_does_not_alternate():
    """Issue: a P3AT with 5 N m on lab_floor, grip far above what statics needs: loads and accelerations solved at once leave
    3.6 N and more on each front wheel; from the acceleration of the step before, they are 0 and 25.4 N in turns."""
    robot = changed("p3at", powertrain__torque_limit_nm=5.0)
    drive = simulate(robot, Scenario(commands=[{"for_s": 0.1, "v_mps": 1.0}], record_s=0.001), ground="lab_floor")
    assert drive["load_n"].min() > 3.5
    assert not drive.lifted_wheels
    assert np.abs(np.diff(drive["fx_mps2"][1:])).max() < 0.5
    assert drive["load_n"][1:][:, [0, 2]] == pytest.approx(statics_of(robot, drive)[1:], abs=1e-3 * 20.0 * G)


@pytest.mark.parametrize("mu", [0.4, 0.8, 1.2])
@pytest.mark.parametrize("height_m", [0.1, 0.2, 0.3])
def test_locked_wheels_stop_as_statics_says(mu, height_m):
    """A P3AT that slides on locked wheels: f = -mu g while its wheels stay down, whatever its height, and loads by statics."""
    robot = unlimited(changed("p3at", centre_of_mass_m=[0.0, 0.0, height_m]))
    ground = ground_with("coulomb", mu_long=mu, mu_lat=mu)
    scenario = Scenario(commands=[{"for_s": 0.1, "v_mps": 0.0}], start={"v_mps": 2.0}, record_s=0.001)
    drive = simulate(robot, scenario, ground=ground)
    assert drive["fx_mps2"][1:] == pytest.approx(-mu * G, rel=1e-3)
    expected = np.clip(statics_of(robot, drive)[1:], 0.0, 20.0 * G / 2.0)
    assert drive["load_n"][1:][:, [0, 2]] == pytest.approx(expected, abs=1e-3 * 20.0 * G)


def test_a_tall_robot_that_slides_sideways_does_not_alternate():
    """2 mu h / L = 2.4 across the track and along the wheelbase, sliding askew: loads follow f of their own step."""
    robot = changed("p3at", centre_of_mass_m=[0.0, 0.0, 0.25])
    n = 16
    starts = {
        "start_v_mps": np.linspace(-1.5, 1.5, n),
        "start_vy_mps": np.linspace(1.5, -1.5, n),
        "start_yaw_rate_radps": np.linspace(0.0, 3.0, n),
    }
    scenario = Scenario(commands=[{"for_s": 0.1, "v_mps": 0.0}], record_s=0.001)
    batch = simulate_many(robot, scenario, starts, ground=ground_with("magic_formula"))
    for i in range(n):
        forward = batch.run(i)["fx_mps2"][2:-2]
        alternates = np.abs(forward[2:] - 2.0 * forward[1:-1] + forward[:-2]) > 1.0
        assert alternates.mean() < 0.05, f"run {i}"


@pytest.mark.parametrize("name", ["optiodom_mecanum", "optiodom_omni3"])
def test_omni_wheels_share_loads_of_their_own_step(name):
    """Moments about both axes of a tall robot that starts hard, record by record: sum N X = -m h f_x, sum N Y = -m h f_y."""
    robot = changed(name, centre_of_mass_m=[0.0, 0.0, 0.1])
    commands = [{"for_s": 0.05, "v_mps": 0.4, "vy_mps": 0.4}, {"for_s": 0.05, "v_mps": -0.4}]
    drive = simulate(robot, Scenario(commands=commands, record_s=0.001), ground="ohio_carpet")
    at, weight = np.array(robot.wheels.at_m.value), robot.mass_kg.value * G
    for axis, felt in enumerate(("fx_mps2", "fy_mps2")):
        moment = drive["load_n"][1:] @ at[:, axis]
        assert moment == pytest.approx(-robot.mass_kg.value * 0.1 * drive[felt][1:], abs=2e-3 * weight * 0.1)


def test_a_robot_that_comes_to_rest_keeps_its_loads():
    """A stop in which the search strays: loads of 0, 142, 0 and 54 N of a P3AT that does not accelerate."""
    commands = [{"for_s": 0.3, "v_mps": 0.0}, {"for_s": 0.3, "v_mps": 1.5}, {"for_s": 0.4, "v_mps": -1.0, "yaw_rate_radps": 2.0}]
    start = {"v_mps": -1.8, "vy_mps": 0.3, "yaw_rate_radps": -0.75}
    drive = simulate("p3at", Scenario(commands=commands, start=start, record_s=0.001), ground=ground_with("coulomb"))
    assert not drive.lifted_wheels
    assert drive["load_n"].min() > 10.0


def test_a_wheel_that_stops_on_a_slope_lifts_nothing():
    """Issue: a P3AT that ends a spin on 10 degrees was said to have three wheels in the air, with loads of 27 N and more in its
    records. As a rim reverses, wheel_slip with mu 10 takes 550 N sideways for one step, which moves nothing."""
    scenario = find_scenario("step_and_spin")
    place = scenario.ground.model_copy(update={"slope_rad": np.radians(10.0)})
    drive = simulate("p3at", scenario.model_copy(update={"ground": place}), ground="lab_floor")
    assert drive["load_n"].min() > 20.0
    assert not drive.lifted_wheels
