"""Commands, settings, records and readings, without any engine: rigid-body motions with closed forms."""

import math

import numpy as np
import pytest

from slipfit.engines import Finding, Settings, WheelCommands, read_run
from slipfit.engines.engine_run import EngineRun, row_width
from slipfit.engines.stepping import drive
from slipfit.errors import SimulationError
from slipfit.library import Robot, find_robot
from slipfit.simulation.scenario import Encoders, Imu, PoseSensor, Sensors

STEP_S = 0.001

#: Its origin is amid its wheels.
ROBOT = find_robot("p3at")


def spinning_run(rate_radps=2.0, steps=1000, tilt_rad=0.0):
    """A base that turns on the spot about the vertical, with loads of 50 N; gravity tilted to the side if wanted."""
    time = np.arange(steps + 1) * STEP_S
    rows = np.zeros((steps + 1, row_width(4)))
    rows[:, 3], rows[:, 6] = np.cos(rate_radps * time / 2.0), np.sin(rate_radps * time / 2.0)
    rows[:, 12] = rate_radps
    for wheel in range(4):
        first = 13 + 7 * wheel
        rows[:, first], rows[:, first + 1] = 3.0 * time, 3.0
        rows[:, first + 2], rows[:, first + 3], rows[:, first + 4] = 1.0, 0.0005, 50.0
    return EngineRun.from_rows(
        rows,
        step_s=STEP_S,
        engine="none",
        model="p3at",
        settings=Settings(step_s=STEP_S, gravity_mps2=(0.0, -9.81 * math.sin(tilt_rad), -9.81 * math.cos(tilt_rad))),
        wheels_at_m=np.array([[0.4, 0.2, 0], [0.4, -0.2, 0], [0.2, 0.2, 0], [0.2, -0.2, 0]]),
        wheel_radius_m=np.full(4, 0.1),
        centre_of_mass_m=np.array([0.3, 0.0, 0.1]),
    )


def test_a_point_on_a_spinning_body_feels_the_centripetal_force():
    """f = -omega² r inwards, and gravity upwards."""
    felt = spinning_run(2.0).specific_force(np.array([0.3, 0.0, 0.5]))
    np.testing.assert_allclose(felt[500], [-4.0 * 0.3, 0.0, 9.81], atol=2e-3 * 4.0 * 0.3)  # half a step of turning: omega h / 2


def robot_from(rear_axle_x_m):
    """A robot whose axles are 0.2 m apart, as in the runs here, told from an origin that far ahead of the rear axle."""
    data = find_robot("p3at").to_mapping()
    at = [[x - rear_axle_x_m, y] for x in (0.2, 0.0) for y in (0.2, -0.2)]
    data["wheels"] = data["wheels"] | {"at_m": at}
    return Robot.from_mapping(data | {"centre_of_mass_m": [0.1 - rear_axle_x_m, 0.0, 0.1]}, where="robot")


@pytest.mark.parametrize(("origin_m", "radius_m"), [(0.1, 0.3), (0.0, 0.2), (-0.2, 0.0)])
def test_the_trajectory_is_that_of_the_robots_origin(origin_m, radius_m):
    """docs/conventions: wheels' places count from it. The run's rear axle is 0.2 m ahead of its base link, which turns on the
    spot: the origin goes round in a circle, sideways to the left; the IMU there feels omega² r."""
    run, robot = spinning_run(2.0), robot_from(origin_m)
    motion = run.trajectory(robot)
    assert motion.heading_rad[-1] == pytest.approx(2.0)
    assert motion.slope_rad == 0.0
    np.testing.assert_allclose(np.hypot(motion.x_m, motion.y_m), radius_m, atol=1e-12)
    np.testing.assert_allclose(motion.vx_mps, 0.0, atol=1e-12)
    np.testing.assert_allclose(motion.vy_mps, 2.0 * radius_m, atol=1e-12)
    log = read_run(run, robot=robot)
    np.testing.assert_allclose(np.hypot(*log["pose"].values[:, :2].T), radius_m, atol=1e-12)
    np.testing.assert_allclose(log["imu"].column("accel_x_mps2"), -4.0 * radius_m, atol=1e-3 * 4.0 * radius_m + 1e-9)


def test_an_origin_that_nobody_knows_is_refused():
    """The base link is not amid its wheels, and no robot says what its places count from."""
    with pytest.raises(SimulationError, match=r"wheels' centre is at x = 0.3, y = 0 m of its base link.*give the robot"):
        read_run(spinning_run())
    six = find_robot("p3at").to_mapping()
    six["wheels"] = six["wheels"] | {"at_m": [[x, y] for x in (0.2, 0.0, -0.2) for y in (0.2, -0.2)]}
    with pytest.raises(SimulationError, match=r"has 4 wheels, the robot p3at 6"):
        spinning_run().trajectory(Robot.from_mapping(six, where="six"))


def test_headings_do_not_jump():
    assert spinning_run(9.0).heading_rad[-1] == pytest.approx(9.0)


def test_readings_of_a_clean_run():
    log = read_run(spinning_run(2.0), robot=ROBOT)
    assert set(log.channels) == {"imu", "encoders", "pose"}
    np.testing.assert_allclose(log["imu"].column("gyro_z_radps"), 2.0, rtol=1e-12)
    np.testing.assert_allclose(log["imu"].column("accel_z_mps2"), 9.81, rtol=1e-12)
    np.testing.assert_allclose(log["encoders"].values[-1], 3.0, atol=1e-7)
    assert log["pose"].column("yaw_rad")[-1] == pytest.approx(2.0)


def test_a_robot_on_tilted_ground_feels_it():
    felt = read_run(spinning_run(0.0, tilt_rad=0.1), robot=ROBOT)["imu"].values
    np.testing.assert_allclose(felt[:, :3], [[0.0, 9.81 * math.sin(0.1), 9.81 * math.cos(0.1)]] * len(felt), atol=1e-12)


def test_noise_and_lever_arm_are_the_scenarios():
    """Standard deviation and bias as told; 0.2 m further ahead adds omega² 0.2."""
    sensors = Sensors(
        imu=Imu(rate_hz=1000.0, accel_noise_mps2=0.05, accel_bias_mps2=0.02, lever_arm_m=(0.2, 0.0)),
        encoders=Encoders(counts_per_turn=100),
        pose=PoseSensor(position_noise_m=0.01),
    )
    run = spinning_run(2.0, steps=4000)
    log = read_run(run, sensors, robot=ROBOT, seed=3)
    accel = log["imu"].column("accel_x_mps2")
    assert accel.mean() == pytest.approx(-4.0 * 0.5 + 0.02, abs=4 * 0.05 / math.sqrt(4000) + 0.002)
    assert accel.std() == pytest.approx(0.05, rel=0.06)
    np.testing.assert_array_equal(read_run(run, sensors, robot=ROBOT, seed=3)["imu"].values, log["imu"].values)
    steps = np.diff(log["encoders"].values[:, 0]) / (2.0 * math.pi / 100.0)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


def test_findings():
    run = spinning_run()
    assert run.findings == ()
    lifted = run.contacts.copy()
    lifted[10:15, 2] = 0
    object.__setattr__(run, "contacts", lifted.copy())
    assert run.findings == ()  # 5 ms are a bounce
    lifted[100:110, 2] = 0
    object.__setattr__(run, "contacts", lifted)
    assert run.findings == (Finding.LIFTED,)
    np.testing.assert_allclose(run.airborne_s, [0.0, 0.0, 0.015, 0.0])
    run.position_m[500:] = np.nan
    assert run.findings == (Finding.DIVERGED,)
    with pytest.raises(SimulationError, match="stopped being finite"):
        read_run(run)


@pytest.mark.parametrize(("step_s", "steps"), [(1e-4, 30), (1e-3, 3), (1e-2, 1)])
def test_commands_are_held_over_their_rows(step_s, steps):
    """Rows of 1 ms: ten steps of 0.1 ms each; a step of 10 ms takes the row at its beginning."""
    rows = np.arange(12.0).reshape(3, 4)
    table = WheelCommands(rows).at_steps(step_s)
    assert len(table) == steps
    expected = np.repeat(rows, 10, axis=0) if step_s == 1e-4 else rows[:steps]
    np.testing.assert_array_equal(table, expected)


def test_long_tables_keep_their_rows_in_step():
    """60 s of rows of 1 ms at steps of 1 ms: row k at step k, whatever the sums of decimals."""
    rows = np.arange(60_000.0)[:, None] * np.ones(4)
    np.testing.assert_array_equal(WheelCommands(rows).at_steps(0.001), rows)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Settings(step_s=1.0), "step_s = 1; expected 1e-06 to 0.1"),
        (lambda: Settings(iterations=0), "iterations = 0"),
        (lambda: Settings(kp_n_per_m=float("nan")), "kp_n_per_m = nan"),
        (lambda: Settings(gravity_mps2=(0.0, 0.0, float("inf"))), "gravity_mps2"),
        (lambda: WheelCommands(np.zeros(4)), "expected (rows, wheels)"),
        (lambda: WheelCommands(np.array([[0.0, 1.0], [np.nan, 1.0]])), "row 1 is not finite"),
    ],
)
def test_settings_and_commands_that_cannot_be(build, sentence):
    with pytest.raises(SimulationError) as caught:
        build()
    assert sentence in str(caught.value)


class Runaway:
    """A stepper whose robot leaves the numbers in the third step."""

    step_s = 0.001

    def __init__(self):
        self.steps = 0
        self.told = []

    def command(self, speeds_radps):
        self.told.append(list(speeds_radps))

    def step(self):
        self.steps += 1

    def record(self, row):
        row[:] = 0.0 if self.steps < 7 else np.nan


def test_the_loop_settles_first_and_stops_when_numbers_end():
    stepper = Runaway()
    rows = drive(stepper, WheelCommands.held([1.0, 2.0], 0.01), settle_s=0.005)
    assert stepper.told == [[0.0, 0.0], [1.0, 2.0]]
    assert stepper.steps == 7  # five to settle, two more
    assert np.isfinite(rows[:2]).all()
    assert np.isnan(rows[2:]).all()
