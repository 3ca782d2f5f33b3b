"""Static limit of omni robots: the published robot's table, closed forms, symmetries, and statics of other layouts."""

import numpy as np
import pytest

from slipfit.control.static_limit import Footing, largest_acceleration, largest_push_n, polytope, static_limit
from slipfit.errors import ParameterError
from slipfit.library import Parameter, find_ground, find_robot
from slipfit.library.robot import SpeedLoop
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.omni_slip import roller_slip
from slipfit.vehicles.omni_kinematics import grip_axes

PAPER_GROUND = find_ground("ohio_paper")
OHIO, DELTA = find_robot("ohio_omni"), np.radians(15.0)
DEGREES = (0, 15, 30, 45, 60, 75, 90)

#: SPEC 3(b): F_e,max / (m g), solved independently, tolerance 1e-6.
PAPER = (0.167053, 0.172946, 0.192896, 0.193567, 0.193567, 0.205700, 0.212956)
CARPET = (0.201494, 0.208602, 0.232665, 0.228141, 0.228141, 0.228798, 0.236870)


def footing(ground="ohio_paper", robot=OHIO, **sector):
    return Footing.of(robot, find_ground(ground), **sector)


def push(on, degrees, moment_nm=0.0):
    return largest_push_n(on, np.radians(degrees), moment_nm) / (on.mass_kg * on.gravity_mps2)


@pytest.mark.parametrize(("ground", "expected"), [("ohio_paper", PAPER), ("ohio_carpet", CARPET)])
def test_the_published_robots_table(ground, expected):
    on = footing(ground)
    assert [push(on, d) for d in DEGREES] == pytest.approx(list(expected), abs=1e-6)


@pytest.mark.parametrize("ground", ["ohio_paper", "ohio_carpet"])
def test_closed_form_along_x(ground):
    """(mu_w / 3)(1 + sin delta) + (2 mu_t / 3) cos delta: wheels 1 and 2 push with all they have, wheel 3 turns against them."""
    values = find_ground(ground).values()
    expected = values["mu_w"] / 3.0 * (1.0 + np.sin(DELTA)) + 2.0 * values["mu_t"] / 3.0 * np.cos(DELTA)
    assert push(footing(ground), 0.0) == pytest.approx(expected, abs=1e-9)


def test_symmetries_of_the_published_robot():
    on = footing()
    for degrees in (20.0, 50.0, 80.0):
        assert push(on, degrees) == pytest.approx(push(on, -degrees), abs=1e-9)
        assert push(on, degrees) == pytest.approx(push(on, 180.0 - degrees), abs=1e-9)


def test_the_limit_in_force_does_not_know_radius_mass_or_inertia():
    other = OHIO.model_copy(update={"mass_kg": Parameter("mass_kg", 11.0)})
    assert push(footing(robot=other), 30.0) == pytest.approx(PAPER[2], abs=1e-6)


def test_a_moment_is_held_until_all_wheels_are_spent():
    """Wheels on a circle of r: the largest moment is r mu_w m g, and with it no force is left."""
    on = footing()
    values = find_ground("ohio_paper").values()
    most = 0.1 * values["mu_w"] * on.mass_kg * on.gravity_mps2
    assert push(on, 0.0, 0.999 * most) < push(on, 0.0, 0.5 * most) < push(on, 0.0)
    assert np.isnan(push(on, 0.0, 1.001 * most))


def test_pushes_lie_on_the_polytope():
    """The boundary of the hull of all sums of +-f, cut by a ray: another way to the same number."""
    on = footing()
    hull = polytope(on)
    for degrees in DEGREES:
        d = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
        towards = hull.equations[:, :3] @ d
        reach = np.min((-hull.equations[:, 3] / np.where(towards > 1e-12, towards, np.nan))[towards > 1e-12])
        assert largest_push_n(on, np.radians(degrees)) == pytest.approx(reach, rel=1e-9)


def test_speeding_up_overcomes_the_rollers_and_braking_is_helped_by_them():
    """Along x the rollers of wheels 1 and 2 take 2 mu_t cos(delta) / 3 either way; equal loads, so nothing shifts."""
    on, values = footing(), find_ground("ohio_paper").values()
    pushed = values["mu_w"] / 3.0 * (1.0 + np.sin(DELTA)) * on.gravity_mps2
    rolled = 2.0 * values["mu_t"] / 3.0 * np.cos(DELTA) * on.gravity_mps2
    assert largest_acceleration(on, (1.0, 0.0, 0.0)) == pytest.approx(pushed - rolled, rel=1e-9)
    assert largest_acceleration(on, (1.0, 0.0, 0.0), is_braking=True) == pytest.approx(pushed + rolled, rel=1e-9)


def test_turning_on_the_spot_rolls_no_roller():
    """I a = r mu_w m g."""
    on, values = footing(), find_ground("ohio_paper").values()
    expected = 0.1 * values["mu_w"] * on.mass_kg * on.gravity_mps2 / on.yaw_inertia_kgm2
    assert largest_acceleration(on, (0.0, 0.0, 1.0)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("degrees", [10.0, 100.0, 200.0, 290.0])
@pytest.mark.parametrize("is_braking", [False, True])
def test_loads_shift_with_the_acceleration(degrees, is_braking):
    """Three wheels leave no choice: at the largest acceleration, with loads by statics and rollers resisting, the forces along
    the rollers that balance the robot use up one wheel's grip and no other's beyond it."""
    robot, ground = find_robot("robotino"), find_ground("ohio_paper")
    mu_w, mu_t = ground.values()["mu_w"], ground.values()["mu_t"]
    d = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    a = largest_acceleration(footing(robot=robot), (*d, 0.0), is_braking=is_braking) * (-1.0 if is_braking else 1.0)
    mass, gravity, (x, y, height) = robot.mass_kg.value, ground.gravity_mps2.value, robot.centre_of_mass_m.value
    px, py = np.array([x, y]) - height * a * d / gravity
    loads = mass * gravity * np.linalg.solve(np.vstack([np.ones(3), robot.at_m.T]), [1.0, px, py])
    g = grip_axes(robot.rolling_rad, robot.roller_rad)
    c = np.column_stack([-g[:, 1], g[:, 0]])
    rolled = -mu_t * loads * np.sign(c @ d)
    at = robot.at_m - (x, y)

    def on_body(axes):
        return np.vstack([axes.T, at[:, 0] * axes[:, 1] - at[:, 1] * axes[:, 0]])

    needed = np.linalg.solve(on_body(g), np.array([*(mass * a * d), 0.0]) - on_body(c) @ rolled)
    assert np.abs(needed / (mu_w * loads)).max() == pytest.approx(1.0, abs=1e-6)


def test_mecanum_wheels_push_along_their_rollers():
    """Ahead, each wheel holds along an axis at 45 degrees, mu_w N / sqrt 2 ahead, and across it mu_t N / sqrt 2."""
    robot = find_robot("optiodom_mecanum")
    on, values = footing("ohio_paper", robot), find_ground("ohio_paper").values()
    assert np.abs(grip_axes(robot.rolling_rad, robot.roller_rad)) == pytest.approx(np.sqrt(0.5), abs=1e-9)
    assert push(on, 0.0) == pytest.approx((values["mu_w"] + values["mu_t"]) * np.sqrt(0.5), rel=1e-6)


MECANUM = find_robot("optiodom_mecanum")


def prescribed(robot, **changes):
    return robot.model_copy(update={"powertrain": OHIO.powertrain, **changes})


def test_mecanum_rollers_stand_straight_ahead_and_roll_sideways():
    """Ahead the wheels roll and no roller turns: all of (mu_w + mu_t) / sqrt 2 is there. Sideways every roller turns and takes
    its mu_t from the wheels: (mu_w - mu_t) / sqrt 2."""
    on, values = footing("ohio_paper", prescribed(MECANUM)), find_ground("ohio_paper").values()
    ahead, aside = (largest_acceleration(on, motion) for motion in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    assert ahead == pytest.approx((values["mu_w"] + values["mu_t"]) * np.sqrt(0.5) * on.gravity_mps2, rel=1e-6)
    assert aside == pytest.approx((values["mu_w"] - values["mu_t"]) * np.sqrt(0.5) * on.gravity_mps2, rel=1e-6)


@pytest.mark.parametrize(("degrees", "is_braking"), [(0.0, False), (5.0, True), (30.0, False), (75.0, True)])
def test_the_simulator_slips_beyond_the_limit_and_not_below(degrees, is_braking):
    """Mecanum wheels on a stiff law: 0.95 of the limit creeps by less than 1 mm/s, 1.15 of it slides by more than 10 mm/s."""
    robot = prescribed(MECANUM, loads="equal")
    stiff = PAPER_GROUND.model_copy(
        update={"parameters": {**PAPER_GROUND.parameters, "steepness_s_per_m": Parameter("steepness_s_per_m", 1e5)}}
    )
    d = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    limit = largest_acceleration(Footing.of(robot, stiff), (*d, 0.0), is_braking=is_braking)
    worst = {}
    for share in (0.95, 1.15):
        change = share * limit * 0.4
        start, end = (0.05 + change, 0.05) if is_braking else (0.05, 0.05 + change)
        scenario = Scenario(
            start={"v_mps": start * d[0], "vy_mps": start * d[1]},
            commands=[
                {"for_s": 0.2, "v_mps": start * d[0], "vy_mps": start * d[1]},
                {"for_s": 0.4, "v_mps": end * d[0], "vy_mps": end * d[1], "profile": "linear", "ramp_s": 0.4},
            ],
            step_s=0.00025,
            record_s=0.005,
        )
        run = simulate(robot, scenario, ground=stiff)
        worst[share] = np.abs(roller_slip(run, robot)[run.time_s > 0.25, :, 0]).max()
    assert worst[0.95] < 0.001
    assert worst[1.15] > 0.01


def test_motors_limit_what_wheels_push():
    """Mecanum straight ahead at rest, all wheels at torque T: forces along and across add up to T / R ahead whatever friction."""
    weak = SpeedLoop(kind="speed_loop", torque_limit_nm=Parameter("torque_limit_nm", 0.02))
    robot = MECANUM.model_copy(update={"powertrain": weak})
    on = footing("ohio_paper", robot)
    expected = (0.02 / robot.radii_m).sum()
    assert largest_push_n(on, 0.0) == pytest.approx(expected, rel=1e-9)
    assert largest_acceleration(on, (1.0, 0.0, 0.0)) == pytest.approx(expected / on.mass_kg, rel=1e-9)
    hull = polytope(on)
    towards = hull.equations[:, 0]
    assert np.min(-hull.equations[towards > 1e-9, 3] / towards[towards > 1e-9]) == pytest.approx(expected, rel=1e-6)


def test_it_prints_saves_and_refuses(tmp_path):
    limit = static_limit(OHIO, find_ground("ohio_paper"), directions_rad=np.radians(DEGREES))
    assert "0.167053" in limit.summary()
    limit.save(tmp_path / "limit.json")
    assert (tmp_path / "limit.json").exists()
    with pytest.raises(ParameterError, match="ground lab_floor has the law wheel_slip, which has no mu_w"):
        static_limit(OHIO, find_ground("lab_floor"))
    with pytest.raises(ParameterError, match="expected roller or rigid"):
        static_limit(OHIO, find_ground("ohio_paper"), sector="wood")
