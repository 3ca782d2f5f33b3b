"""Parts of calibrate: wheel speeds, weights, spread, observations, what is told and what is not, pooling."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from recovery.drives import CLEAN_IMU, GOOD, GOOD_IMU, drive, spins, steps
from robots import changed
from slipfit.calibration.observations import Inertial, Observations, PoseSteps, observe
from slipfit.calibration.one_drive import Solution
from slipfit.calibration.pool import pooled_fit
from slipfit.calibration.protocol import run_protocol
from slipfit.calibration.run import calibrate
from slipfit.calibration.spread import quantile, spread_of
from slipfit.calibration.unknowns import Unknown, imu_unknowns
from slipfit.calibration.weights import PoseNoise, pose_noise, weigh_inertial, weigh_pose
from slipfit.calibration.wheel_speeds import speeds_at
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import POSE_COLUMNS
from slipfit.logs.inspection import inspect_log
from slipfit.logs.wheel_motion import WheelAngles
from slipfit.twin import Status
from slipfit.vehicles.skid_steer import BODY_COLUMNS

INTERVAL_S = 0.01  # of encoders and IMU

# --- wheel speeds -----------------------------------------------------------------------------------------------------


def encoders(angle_at, duration_s, step_rad=0.0):
    """Four wheels that turn alike, sampled at 100 Hz, in counts of `step_rad`."""
    time_s = INTERVAL_S * np.arange(round(duration_s / INTERVAL_S) + 1)
    angle = angle_at(time_s)
    if step_rad:
        angle = np.floor(angle / step_rad) * step_rad
    return WheelAngles(np.round(time_s * 1e9).astype(np.int64), np.tile(angle[:, None], (1, 4)), step_rad)


@pytest.mark.parametrize("corner_s", [0.5, 0.5034, 0.5071])
def test_speeds_keep_a_corner(corner_s):
    """2 rad/s, from the corner on 30 rad/s² more: both sides are quadratic in angle, so cubics that stay on one side are exact.

    Only the encoder interval that holds the corner may be off, by a quarter of what the acceleration makes of it.
    """
    rate, accel = 2.0, 30.0

    def angle(t):
        return rate * t + 0.5 * accel * np.maximum(t - corner_s, 0.0) ** 2

    speeds = speeds_at(encoders(angle, 0.8), 0.001)[:, 0]
    time_s = 0.001 * np.arange(1, len(speeds) + 1)
    error = np.abs(speeds - (rate + accel * np.maximum(time_s - corner_s, 0.0)))
    inner = (time_s > 0.05) & (time_s < 0.75)
    same_interval = np.floor(time_s / INTERVAL_S - 1e-9) == np.floor(corner_s / INTERVAL_S - 1e-9)
    assert error[inner & ~same_interval].max() < 1e-6
    assert error[inner].max() < 0.25 * accel * INTERVAL_S


@pytest.mark.parametrize("jump_s", [0.5, 0.5034, 0.5071])
def test_a_jump_stays_a_jump(jump_s):
    """From 2 to 4 rad/s at once: the lines from both sides cross where it happened, inside an encoder interval."""
    speeds = speeds_at(encoders(lambda t: 2.0 * t + 2.0 * np.maximum(t - jump_s, 0.0), 0.8), 0.001)[:, 0]
    time_s = 0.001 * np.arange(1, len(speeds) + 1)
    inner = (time_s > 0.05) & (time_s < 0.75) & (np.abs(time_s - jump_s) > 1e-9)
    assert speeds[inner] == pytest.approx(np.where(time_s < jump_s, 2.0, 4.0)[inner], abs=1e-9)


def test_counts_hardly_show_in_speeds():
    """Differences of angles in counts q err by q / (sqrt(6) T) rms, .063 rad/s here; smoothing leaves less than a fifth."""
    step = 2.0 * np.pi / 4096.0
    speeds = speeds_at(encoders(lambda t: 5.0 * t - 3.0 * np.cos(t), 12.0, step), 0.001)[:, 0]
    time_s = 0.001 * np.arange(1, len(speeds) + 1)
    error = (speeds - (5.0 + 3.0 * np.sin(time_s)))[500:-500]
    assert np.sqrt(np.mean(error**2)) < 0.2 * step / (np.sqrt(6.0) * INTERVAL_S)


# --- weights ----------------------------------------------------------------------------------------------------------


def neighbours(white):
    """Correlation of neighbours."""
    return float(np.corrcoef(white[1:], white[:-1])[0, 1])


@pytest.mark.parametrize(("order", "wheel_noise"), [(0, 0.0), (1, 2e-4), (2, 2e-5)])
def test_noise_of_an_imu_becomes_white(order, wheel_noise):
    """Readings err by white noise and by a derivative of the wheels' noise; tolerances are four standard deviations."""
    draw, count, noise = np.random.default_rng(1), 60_000, 0.05
    wheels = wheel_noise * draw.standard_normal(count + 2)
    derivative = {0: np.zeros(count), 1: (wheels[2:] - wheels[:-2]) / 0.02, 2: np.diff(wheels, n=2) / 1e-4}[order]
    readings = noise * draw.standard_normal(count) + derivative
    imu = Inertial(INTERVAL_S * np.arange(count), np.zeros((count, 3)))
    weighing = weigh_inertial(imu, noise, np.zeros(count), wheel_noise, order, np.zeros(count, dtype=bool))
    white = weighing.whiten(readings)
    assert np.var(white) == pytest.approx(1.0, abs=4.0 * np.sqrt(2.0 / len(white)))
    assert abs(neighbours(white)) < 4.0 / np.sqrt(len(white))


def test_doubtful_readings_count_less():
    """Readings whose doubt equals the noise have half the weight; those with ten times as much, and excluded ones, have none."""
    count = 1000
    doubt, excluded = np.zeros(count), np.zeros(count, dtype=bool)
    doubt[300:310], doubt[400:410], excluded[600:700] = 0.05, 0.5, True
    weighing = weigh_inertial(Inertial(INTERVAL_S * np.arange(count), np.zeros((count, 3))), 0.05, doubt, 0.0, 0, excluded)
    assert weighing.weight[305] == pytest.approx(0.5)
    assert not weighing.weight[400:410].any()
    assert not weighing.weight[600:700].any()
    assert not ((weighing.time_s > 6.05) & (weighing.time_s < 6.95)).any()


def pose_residuals(count=20_000, pose=1e-3, step=5e-4):
    """Steps between poses with an error each, and an error of the step itself: an MA(1) process."""
    draw = np.random.default_rng(2)
    return np.diff(pose * draw.standard_normal(count + 1)) + step * draw.standard_normal(count)


def test_steps_of_a_pose_become_white():
    """Neighbours share a pose; before whitening they are correlated by -p² / (2 p² + s²) = -.44."""
    residuals = pose_residuals()
    assert neighbours(residuals) == pytest.approx(-4.0 / 9.0, abs=0.03)
    time_s, follows = 0.05 * np.arange(len(residuals) + 1), np.arange(len(residuals)) > 0
    white = weigh_pose(PoseSteps(time_s[:-1], time_s[1:], np.zeros((len(residuals), 3)), follows), PoseNoise(1e-3, 5e-4)).whiten(
        residuals
    )
    assert np.var(white) == pytest.approx(1.0, abs=4.0 * np.sqrt(2.0 / len(white)))
    assert abs(neighbours(white)) < 4.0 / np.sqrt(len(white))


def test_both_errors_of_a_pose_are_told_apart():
    found = pose_noise(pose_residuals(), np.arange(20_000) > 0, 1e-6)
    assert found.pose == pytest.approx(1e-3, rel=0.05)
    assert found.step == pytest.approx(5e-4, rel=0.15)


# --- spread -----------------------------------------------------------------------------------------------------------


def straight_line(errors, time_s):
    """A linear fit of offset and slope to errors alone: the truth is zero."""
    jacobian = np.column_stack([np.ones_like(time_s), (time_s - time_s.mean()) / np.ptp(time_s)])
    values, *_ = np.linalg.lstsq(jacobian, errors, rcond=None)
    unknowns = tuple(Unknown(name, 0.0, 1.0, None, "", "sensors") for name in ("offset", "slope"))
    white = errors - jacobian @ values
    signal = np.zeros(len(time_s), dtype=int)
    return Solution(unknowns, values, white, -jacobian, time_s, signal, (None,), (1.0,), float(white @ white), True)


def covered(memory_s, draws=300):
    """Share of 90 % intervals that hold the truth, and the median inflation; errors are remembered so long."""
    time_s = 0.05 * np.arange(1800)
    draw, keep = np.random.default_rng(3), np.exp(-0.05 / memory_s) if memory_s else 0.0
    held, inflations = [], []
    for _ in range(draws):
        noise = lfilter([np.sqrt(1.0 - keep**2)], [1.0, -keep], draw.standard_normal(len(time_s) + 200))[200:]
        solution = straight_line(noise, time_s)
        spread = spread_of(solution)
        inflations.append(spread.inflation.max())
        widths = quantile(spread.blocks) * spread.std
        held += list(np.abs(solution.values) < widths)
    return float(np.mean(held)), float(np.median(inflations))


def test_white_residuals_do_not_widen_intervals():
    """30 blocks tell a spread to sqrt(1 / 60) = 13 %: the larger of two inflations is within that of 1 in half of all draws."""
    share, inflation = covered(0.0)
    assert 0.85 <= share <= 0.95
    assert inflation == pytest.approx(1.0, abs=0.13)


def test_intervals_hold_under_autocorrelated_residuals():
    """AR(1) with a memory of .25 s: sums spread sqrt(2 tau / dt) = 3.2 times more than white noise of the same size."""
    share, inflation = covered(0.25)
    assert 0.85 <= share <= 0.95
    assert 2.5 < inflation < 4.0


# --- observations -----------------------------------------------------------------------------------------------------


def turning(rate_radps, yaw_accel_radps2, duration_s=2.0, step_s=0.001):
    """Records of a body that turns about its centre of mass, which stays where it is."""
    time_s = step_s * np.arange(round(duration_s / step_s) + 1)
    body = np.zeros((len(time_s), len(BODY_COLUMNS)))
    body[:, BODY_COLUMNS.index("yaw_rate_radps")] = rate_radps + yaw_accel_radps2 * time_s
    body[:, BODY_COLUMNS.index("heading_rad")] = rate_radps * time_s + 0.5 * yaw_accel_radps2 * time_s**2
    body[:, BODY_COLUMNS.index("yaw_accel_radps2")] = yaw_accel_radps2
    return body


def test_an_imu_on_a_lever_arm_feels_the_turn():
    """Rigid body: a = alpha x r + omega x (omega x r), that is (-alpha y - omega² x, alpha x - omega² y)."""
    x, y, rate, accel = 0.2, -0.1, 1.5, 0.7
    time_s = np.array([0.5, 1.0, 1.5])
    values = {u.name: u.start for u in imu_unknowns(has_pose=False, moves_at_start=False)} | {"imu_x_m": x, "imu_y_m": y}
    observations = Observations(Inertial(time_s, np.zeros((3, 3))), None)
    (felt,) = observations.predict(turning(rate, accel), 0.001, find_robot("p3at"), 9.81, values)
    omega = rate + accel * time_s
    expected = np.column_stack([-accel * y - omega**2 * x, accel * x - omega**2 * y, omega])
    assert felt == pytest.approx(expected, abs=1e-9)


def pose_log(poses):
    stamps = np.round(np.arange(len(poses)) * 5e7).astype(np.int64)
    return DriveLog({"pose": Channel("pose", stamps, poses, POSE_COLUMNS)})


def test_pose_steps_do_not_know_the_world_frame():
    """Turned and moved as a whole, and with a yaw that starts again at pi, a path has the same steps."""
    time_s = 0.05 * np.arange(200)
    poses = np.column_stack([np.sin(time_s), 0.3 * time_s**2, 1.1 * time_s])
    turn = 2.3
    c, s = np.cos(turn), np.sin(turn)
    moved = np.column_stack(
        [c * poses[:, 0] - s * poses[:, 1] + 40.0, s * poses[:, 0] + c * poses[:, 1] - 7.0, poses[:, 2] + turn]
    )
    moved[:, 2] = (moved[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
    before, after = (observe(pose_log(p), 0, int(10e9)).pose for p in (poses, moved))
    assert after.moved == pytest.approx(before.moved, abs=1e-12)


# --- what is told, and what is not ------------------------------------------------------------------------------------


def test_slip_below_what_sensors_resolve_is_a_bound():
    """c_long = 1e-5 1/N under an IMU of .2 m/s²: no value, but at most so much, which is above the truth."""
    noisy = GOOD_IMU | {"imu": GOOD_IMU["imu"] | {"accel_noise_mps2": 0.2, "accel_bias_mps2": 0.05}}
    fit = calibrate(drive(c_long=1e-5, ratio=5000.0, sensors=noisy).readings, robot="p3at")
    c_long = fit["c_long"]
    assert c_long.status is Status.BOUND_ONLY
    assert c_long.value is None
    assert 1e-5 < c_long.at_most < 5e-3
    assert any("at least this grippy" in sentence for sentence in fit.identifiability)


def hard_steps_and_spins():
    """Steps to 1.2 m/s that wheels with mu = .2 cannot follow, and spins."""
    commands = [{"for_s": 1.5, "v_mps": 0.0}]
    for sign in (1.0, -1.0, 1.0, -1.0):
        commands += [
            {"for_s": 1.0, "v_mps": 0.2 * sign},
            {"for_s": 2.0, "v_mps": 1.2 * sign},
            {"for_s": 1.6, "v_mps": 0.2 * sign},
            {"for_s": 0.6, "v_mps": 0.0},
        ]
    return [*commands, *spins()]


def test_mu_comes_from_a_drive_that_slides():
    """Steps ask for 3.6 m/s² of a floor that gives .2 g = 2 m/s²."""
    run = drive(mu=0.2, sensors=GOOD_IMU, commands=hard_steps_and_spins())
    fit = calibrate(run.readings, robot="p3at")
    assert fit["mu"].status is Status.CONVERGED
    assert fit["mu"].value == pytest.approx(0.2, rel=0.03)


# --- pooling, payload -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_drives():
    """The same commands with two seeds, of a robot whose mass is known exactly: its share would not shrink."""
    robot = changed("p3at", mass_kg=20.0)
    alone = [calibrate(drive(robot, mu=0.8, sensors=GOOD, seed=seed).readings, robot=robot) for seed in (1, 2)]
    return alone, pooled_fit([fit.drives[0] for fit in alone], robot, "calibrated", "wheel_slip", 9.81)


def test_two_drives_tell_more_than_one(two_drives):
    alone, together = two_drives
    for name, truth in (("c_long", 0.005), ("c_lat", 0.05)):
        assert together[name].std < min(fit[name].std for fit in alone)
        assert min(fit[name].value for fit in alone) < together[name].value < max(fit[name].value for fit in alone)
        assert together[name].value == pytest.approx(truth, abs=4.0 * together[name].std)


def test_repeatability_is_the_spread_between_drives(two_drives):
    """Standard deviation of two numbers is their difference over sqrt(2)."""
    alone, together = two_drives
    for name in ("c_long_per_n", "c_lat_per_n"):
        first, second = (fit[name].value for fit in alone)
        assert together.repeatability[name] == pytest.approx(abs(first - second) / np.sqrt(2.0) / together[name].value)
    assert "from drive to drive" in together.summary()
    known = next(p for p in together.parameters.values() if p.interval_90 is not None)
    long = replace(together, combinations={"a combination with a long name": known})
    assert f"a combination with a long name  {known.value:.5g} ±" in long.summary()


def test_grip_that_was_used_bounds_mu_from_below(two_drives):
    """The drive's floor has mu = .8 and no wheel slid; the steps alone use 3.2 / 9.81 of the load."""
    (fit, _), _ = two_drives
    assert fit["mu"].status is Status.NOT_EXCITED
    assert fit["mu"].value is None
    assert 0.2 < fit["mu"].at_least <= 0.8


def test_a_payload_changes_slip_constants_as_it_should(two_drives):
    """c = compliance / N: half the robot's mass more makes both constants 1.5 times smaller, and their ratio stays."""
    (fit, _), _ = two_drives
    empty = fit.to_twin().grounds["calibrated"].parameters
    loaded = fit.to_twin().with_payload(10.0).grounds["calibrated"].parameters
    for name in ("c_long_per_n", "c_lat_per_n"):
        assert loaded[name].value == pytest.approx(empty[name].value / 1.5, rel=1e-9)
        assert loaded[name].std / loaded[name].value == pytest.approx(empty[name].std / empty[name].value, rel=1e-6)


def test_without_a_spin_c_lat_is_not_told():
    fit = calibrate(drive(sensors=GOOD_IMU, commands=[{"for_s": 1.5, "v_mps": 0.0}, *steps(pairs=2)]).readings, robot="p3at")
    assert fit["c_lat"].status is Status.NOT_EXCITED
    assert (fit["c_lat"].value, fit["c_lat"].at_most) == (None, None)  # a bound would be a statement about what nobody saw
    assert any("c_lat" in sentence for sentence in fit.identifiability)
    assert fit["c_long"].status is Status.CONVERGED


def test_document_000s_method_bears_an_imu_that_is_silent_after_a_step():
    """Exact readings at a steady speed repeat each other and are left out as frozen: the bias cannot be seen there."""
    robot = find_robot("p3at")
    corrected = inspect_log(drive(c_long=0.001, sensors=CLEAN_IMU).readings, robot).corrected
    found = run_protocol(corrected, robot, method="imu")
    assert found.c_long_per_n is None or np.isfinite(found.c_long_per_n.mean)
