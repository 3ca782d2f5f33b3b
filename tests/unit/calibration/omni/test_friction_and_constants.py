"""Balance of contact forces against closed forms; friction, radii and distances that made-up runs were driven with come back."""

import numpy as np
import pytest

from slipfit.calibration.omni import Contact, Layout, OmniCalibration, calibrate_omni, fit_constants, fit_friction, steady_motion
from slipfit.errors import LogError, ParameterError
from slipfit.library import Ground, find_robot
from slipfit.simulation import simulate
from slipfit.twin import Status
from slipfit.vehicles.omni_kinematics import wheel_map
from unit.calibration.omni.made_up_runs import ROBOT, line, run

TRUTH = Contact(mu_ratio=0.9, steepness_s_per_m=40.0, com_x_m=-0.01, com_y_m=0.004)
MU_W, IDLE_A = 0.5, 0.15
GRAVITY = 9.80665


def steady_runs(contact=TRUTH, speeds=(0.1, 0.3), step_deg=10):
    """Lines that end where the balance leads them, with currents that carry its forces."""
    made = []
    for v in speeds:
        for a in np.radians(np.arange(0.0, 360.0, step_deg)):
            wanted = v * np.array([np.cos(a), np.sin(a), 0.0])
            steady = steady_motion(Layout.of(ROBOT), (ROBOT.wheel_map() @ wanted)[None], contact)
            torque = MU_W * ROBOT.mass_kg.value * GRAVITY * ROBOT.wheels.radius_m.value * np.abs(steady.grip_forces[0])
            currents = IDLE_A + torque / ROBOT.powertrain.torque_constant_nm_per_a.value
            made.append(run(wanted, steady.motion[0], currents_a=currents))
    return made


@pytest.fixture(scope="module")
def runs():
    return steady_runs()


@pytest.mark.parametrize("name", ["robotino", "optiodom_omni3", "optiodom_mecanum", "ohio_omni"])
def test_rollers_without_friction_let_wheels_roll(name):
    """With mu_T = 0 the balance is at zero slip along the rollers' axes: the wheel map's motion."""
    robot = find_robot(name)
    wanted = np.array([[0.2, -0.1, 0.5], [0.0, 0.3, 0.0]])
    found = steady_motion(Layout.of(robot), wanted @ robot.wheel_map().T, Contact(1e-12, 100.0))
    assert found.motion == pytest.approx(wanted, abs=1e-9)


def test_a_straight_line_along_a_wheel_in_closed_form():
    """Robotino along its x axis with k so small that forces are linear: wheels at +-60 degrees have s.x = cos 30, r.x = cos 60,
    the third rolls on its rollers; c_W (2 cos^2 30) (v0 - v) = c_T (2 cos^2 60 + 1) v, so v / v0 = 1 / (1 + q) with
    q = mu_T / mu_W."""
    v0, ratio = 0.2, 0.25
    wheels = (ROBOT.wheel_map() @ [v0, 0.0, 0.0])[None]
    found = steady_motion(Layout.of(ROBOT), wheels, Contact(ratio, 1e-4))
    assert found.motion[0] == pytest.approx([v0 / (1.0 + ratio), 0.0, 0.0], rel=1e-6, abs=1e-9)


def test_forces_balance_where_the_law_says():
    """Sums of the arctan law written out wheel by wheel vanish: [Williams2002] eqs. (8)-(11), loads from statics."""
    wanted = np.array([0.25, 0.1, 0.3])
    w = ROBOT.wheel_map() @ wanted
    (u, v, r), force = (steady_motion(Layout.of(ROBOT), w[None], TRUTH)[k][0] for k in (0, 1))
    at = ROBOT.at_m
    shares = np.linalg.solve(np.vstack([np.ones(3), at.T]), [1.0, TRUTH.com_x_m, TRUTH.com_y_m])
    total = np.zeros(3)
    for n in range(3):
        s = np.array([-at[n, 1], at[n, 0]]) / np.hypot(*at[n])
        radial = at[n] / np.hypot(*at[n])
        velocity = np.array([u - r * at[n, 1], v + r * at[n, 0]])
        along = velocity @ s - 0.04 * w[n]
        grip = -shares[n] * 2.0 / np.pi * np.arctan(TRUTH.steepness_s_per_m * along)
        roll = -TRUTH.mu_ratio * shares[n] * 2.0 / np.pi * np.arctan(TRUTH.steepness_s_per_m * (velocity @ radial))
        push = grip * s + roll * radial
        total += [*push, at[n, 0] * push[1] - at[n, 1] * push[0]]
        assert abs(force[n]) == pytest.approx(abs(grip), abs=1e-5)  # places of the file have six digits
    assert total == pytest.approx(0.0, abs=1e-5)


def test_friction_comes_back_with_its_scale(runs):
    found = fit_friction(runs, ROBOT, surface="felt")
    told = found.parameters
    for name, value in TRUTH._asdict().items():
        assert told[name].value == pytest.approx(value, rel=0.02, abs=2e-4), name
        assert told[name].status is Status.CONVERGED
    assert told["mu_w"].value == pytest.approx(MU_W, rel=0.02)
    assert told["mu_t"].value == pytest.approx(MU_W * TRUTH.mu_ratio, rel=0.04)
    assert told["mu_w"].std >= 0.99 * MU_W * ROBOT.mass_kg.std / ROBOT.mass_kg.value  # the mass is not known better
    assert told["rigid_fraction"].status is told["phase_sectors"].status is Status.NOT_EXCITED


def test_a_fitted_surface_is_a_ground_of_the_simulator(runs):
    """The simulator, which integrates the same law from rest with another code, ends at the balance's velocity."""
    ground = fit_friction(runs, ROBOT, surface="Grey felt").ground()
    assert ground.name == "grey_felt"
    robot = find_robot("ohio_omni")
    wanted = {"v_mps": 0.15, "vy_mps": 0.1, "yaw_rate_radps": 0.0}
    told = ground.values()
    # Ten times the friction balances at the same motion, and makes little of the body's own inertia, v r over mu g.
    strong = {name: {"value": (10.0 if name.startswith("mu") else 1.0) * value} for name, value in told.items()}
    ground = Ground.from_mapping({**ground.to_mapping(), "parameters": strong}, where="strong felt")
    drive = simulate(robot, {"step_s": 0.001, "commands": [{"for_s": 3.0, **wanted}]}, ground=ground)
    contact = Contact(told["mu_t"] / told["mu_w"], told["steepness_s_per_m"])
    wheels = robot.wheel_map() @ list(wanted.values())
    steady = steady_motion(Layout.of(robot), wheels[None], contact).motion[0]
    heading = drive.heading_rad
    rate = np.gradient(heading, drive.time_s)
    vx, vy = np.gradient(drive.x_m, drive.time_s), np.gradient(drive.y_m, drive.time_s)
    k = len(heading) - 5
    body = np.cos(heading[k]) * vx[k] + np.sin(heading[k]) * vy[k], np.cos(heading[k]) * vy[k] - np.sin(heading[k]) * vx[k]
    assert (*body, rate[k]) == pytest.approx(tuple(steady), rel=2e-3)
    assert abs(steady[0] - wanted["v_mps"]) > 0.01  # it does slip


def test_wheels_that_never_slide_tell_a_bound_of_mu():
    """Forces that grow with slip all along have no limit in sight."""
    soft = Contact(mu_ratio=0.4, steepness_s_per_m=0.5)
    told = fit_friction(steady_runs(soft), ROBOT).parameters
    assert told["steepness_s_per_m"].value is None
    assert told["mu_w"].value is None
    assert 0.0 < told["mu_w"].at_least < MU_W


def test_without_currents_forces_have_no_scale(runs):
    plain = [line(a, 0.9, 0.0, 0.0) for a in np.radians(np.arange(0.0, 360.0, 30.0))]
    told = fit_friction(plain, ROBOT).parameters
    assert told["mu_w"].status is told["mu_t"].status is Status.NOT_EXCITED
    with pytest.raises(LogError, match="expected 6 or more"):
        fit_friction(runs[:3], ROBOT)


def test_radii_and_distance_come_back():
    """Runs of a robot with other radii and a wider stance: arcs tell the distance, lines alone would not."""
    z = np.array([0.02, -0.01, 0.03])
    true = wheel_map(1.05 * ROBOT.at_m, ROBOT.rolling_rad, ROBOT.roller_rad, ROBOT.radii_m * (1.0 + z))
    made = []
    for a in np.radians(np.arange(0.0, 360.0, 45.0)):
        for w in (0.0, 0.3, -0.3):
            wanted = np.array([0.2 * np.cos(a), 0.2 * np.sin(a), w])
            made.append(run(wanted, np.linalg.solve(true, ROBOT.wheel_map() @ wanted)))
    told = fit_constants(made, ROBOT).parameters
    for k in range(3):
        assert told[f"radius_{k + 1}_m"].value == pytest.approx(0.04 * (1.0 + z[k]), rel=1e-3)
    assert told["centre_distance_m"].value == pytest.approx(0.125 * 1.05, rel=1e-3)
    assert told["heading_offset_rad"].value == pytest.approx(0.0, abs=1e-3)


def test_lines_without_turning_do_not_tell_the_distance():
    made = [line(a, 1.0, 0.0, 0.0, noise=np.random.default_rng(2)) for a in np.radians(np.arange(0.0, 360.0, 45.0))]
    told = fit_constants(made, ROBOT).parameters
    assert told["centre_distance_m"].status is Status.NOT_EXCITED
    with pytest.raises(LogError, match="two or more"):
        fit_constants(made[:1], ROBOT)


def test_friction_is_judged_beside_the_others_and_survives_its_file(runs, tmp_path):
    """Runs that friction made are explained by it; a factor and radii leave more."""
    found = calibrate_omni(runs[::2], ROBOT, surface="felt", held_out=runs[1::2])
    assert found.score("friction").percent < 0.2 < found.score("one factor").percent
    assert found.score("slip map").percent < found.score("constants").percent < found.score("ideal").percent
    found.save(tmp_path / "felt.json")
    back = OmniCalibration.load(tmp_path / "felt.json")
    assert back.scores == found.scores
    assert back.summary() == found.summary()
    made = runs[5]
    assert back.friction.path(made, ROBOT) == pytest.approx(found.friction.path(made, ROBOT))
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(ParameterError, match="omni_calibration/1"):
        OmniCalibration.load(tmp_path / "no.json")
