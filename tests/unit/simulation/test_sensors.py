"""What sensors say, against closed forms on motions made by hand."""

import math

import numpy as np
import pytest

from slipfit.library import find_ground, find_robot
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.sensors import mounting, read_sensors

FLOOR = find_ground("lab_floor")
G = 9.81  # m/s², of every ground of the library
SECOND = np.arange(1001) * 0.001
LONG = np.arange(10_001) * 0.01


def read(trajectory, robot="p3at", seed=0, ground=None, **sensors):
    """Readings by a P3AT, whose centre of mass is above the wheels' centre."""
    scenario = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}], sensors=sensors, seed=seed, ground=ground or {})
    return read_sensors(trajectory, find_robot(robot), FLOOR, scenario)


def accel(log):
    return log["imu"].values[:, :3]


def gyro(log):
    return log["imu"].values[:, 3:]


# --- stamps ----------------------------------------------------------------------------------------------------------


def test_stamps_are_whole_nanoseconds_that_do_not_drift(motion):
    """A thirtieth of a second is 33 333 333.3 ns: every third stamp is a whole 0.1 s again."""
    stamps = read(motion(SECOND), pose={"rate_hz": 30})["pose"].stamps_ns
    assert stamps.dtype == np.int64
    assert stamps[:4].tolist() == [0, 33_333_333, 66_666_667, 100_000_000]
    assert stamps[-1] == 1_000_000_000
    assert len(stamps) == 31


@pytest.mark.parametrize("rate_hz", [0.5, 7.0, 99.9, 100.0, 3000.0])
def test_a_sensor_keeps_its_rate_until_the_end(motion, rate_hz):
    channel = read(motion(LONG), encoders={"rate_hz": rate_hz})["encoders"]
    assert channel.rate_hz == pytest.approx(rate_hz, rel=1e-6)
    assert len(channel.stamps_ns) == math.floor(100.0 * rate_hz + 1e-6) + 1


def test_what_is_not_named_is_not_there(motion):
    assert list(read(motion(SECOND), pose={}).channels) == ["pose"]


# --- noise, bias, resolution, delay ----------------------------------------------------------------------------------


def test_noise_has_the_spread_that_was_asked(motion):
    """n values estimate a standard deviation to 1 / sqrt(2 n); four of those are allowed."""
    log = read(
        motion(LONG),
        imu={"accel_noise_mps2": 0.05, "gyro_noise_radps": 0.002},
        encoders={"noise_rad": 0.01, "counts_per_turn": 100_000_000},
        pose={"rate_hz": 100, "position_noise_m": 0.003, "yaw_noise_rad": 0.02},
    )
    pose = log["pose"].values
    for noise, spread in [
        (accel(log) - [0.0, 0.0, G], 0.05),
        (gyro(log), 0.002),
        (log["encoders"].values, 0.01),
        (pose[:, :2], 0.003),
        (pose[:, 2], 0.02),
    ]:
        assert np.std(noise) == pytest.approx(spread, rel=4 / math.sqrt(2 * noise.size))
        assert abs(np.mean(noise)) < 4 * spread / math.sqrt(noise.size)


def test_noise_is_white_and_differs_between_axes(motion):
    """Correlations of n independent values are below 4 / sqrt(n)."""
    noise = accel(read(motion(LONG), imu={"accel_noise_mps2": 1.0})) - [0.0, 0.0, G]
    limit = 4 / math.sqrt(len(noise))
    assert abs(np.corrcoef(noise[1:, 0], noise[:-1, 0])[0, 1]) < limit
    assert abs(np.corrcoef(noise[:, 0], noise[:, 1])[0, 1]) < limit


@pytest.mark.parametrize(("bias", "expected"), [(0.02, [0.02, 0.02, G]), ([0.01, -0.03], [0.01, -0.03, G])])
def test_a_bias_is_added_to_both_axes_or_to_each(motion, bias, expected):
    assert accel(read(motion(SECOND), imu={"accel_bias_mps2": bias})) == pytest.approx(np.tile(expected, (101, 1)))


def test_a_gyro_bias_is_added(motion):
    assert gyro(read(motion(SECOND, yaw_rate_radps=0.5), imu={"gyro_bias_radps": 0.01}))[:, 2] == pytest.approx(
        np.full(101, 0.51)
    )


def test_resolution_rounds_to_the_nearest_step(motion):
    log = read(motion(SECOND, fx_mps2=0.26, yaw_rate_radps=0.014), imu={"accel_step_mps2": 0.1, "gyro_step_radps": 0.01})
    assert accel(log)[0, 0] == pytest.approx(0.3)
    assert gyro(log)[0, 2] == pytest.approx(0.01)


def test_a_late_reading_tells_what_was(motion):
    """x = t: a sensor that is 0.03 s late says t - 0.03, and the first value before that."""
    channel = read(motion(SECOND, x_m=SECOND), pose={"rate_hz": 100, "delay_s": 0.03})["pose"]
    assert channel.column("x_m") == pytest.approx(np.maximum(channel.time_s - 0.03, 0.0), abs=1e-12)


def test_every_sensor_can_be_late(motion):
    drive = motion(SECOND, yaw_rate_radps=SECOND, wheel_angle_rad=SECOND[:, None])
    log = read(drive, imu={"delay_s": 0.1}, encoders={"delay_s": 0.2, "counts_per_turn": 1_000_000})
    assert gyro(log)[50, 2] == pytest.approx(0.4)
    assert log["encoders"].values[50] == pytest.approx(np.full(4, 0.3), abs=1e-5)


# --- encoders --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0.0, 0.0999, 0.1, 0.19, 1.0, -0.01, -0.1])
def test_encoders_count_the_lines_that_have_passed(motion, turns):
    """Ten lines per turn, and a wheel starts anywhere between two: counts are whole and within one of the angle."""
    angle = 2 * math.pi * turns
    values = read(motion(SECOND, wheel_angle_rad=angle), encoders={"counts_per_turn": 10})["encoders"].values
    counts = values / (2 * math.pi / 10)
    assert counts == pytest.approx(np.round(counts))
    assert ((counts >= np.floor(10 * turns) - 1e-9) & (counts <= np.floor(10 * turns) + 1 + 1e-9)).all()


def test_wheels_start_between_lines_each_by_itself(motion):
    """Over many seeds a wheel turned by 0.3 of a line shows a count in 3 of 10."""
    turned = 2 * math.pi / 10 * 0.3
    shown = [
        read(motion(SECOND, wheel_angle_rad=turned), encoders={"counts_per_turn": 10}, seed=seed)["encoders"].values[0] > 0.0
        for seed in range(100)
    ]
    assert np.mean(shown) == pytest.approx(0.3, abs=0.1)  # 400 draws: four standard deviations


def test_every_wheel_has_its_own_encoder(motion):
    log = read(motion(SECOND, wheel_angle_rad=np.array([1.0, 2.0, 3.0, 4.0])), encoders={"counts_per_turn": 10_000_000})
    assert log["encoders"].columns == tuple(f"wheel_angle_{w}_rad" for w in range(4))
    assert log["encoders"].values[0] == pytest.approx([1.0, 2.0, 3.0, 4.0], abs=1e-6)


# --- where and how the IMU sits --------------------------------------------------------------------------------------


def test_an_imu_at_rest_feels_gravity_upwards(motion):
    assert accel(read(motion(SECOND), imu={}))[0].tolist() == [0.0, 0.0, G]


def test_on_a_slope_less_of_it_is_across_the_plane(motion):
    """g cos 20° into the plane."""
    log = read(motion(SECOND), imu={}, ground={"slope_rad": math.radians(20)})
    assert accel(log)[0, 2] == pytest.approx(G * math.cos(math.radians(20)))


@pytest.mark.parametrize(("tilt", "axis", "sign"), [([0.0, 1.0], 0, -1), ([1.0, 0.0], 1, +1)])
def test_a_tilt_of_one_degree_leaks_0_17(motion, tilt, axis, sign):
    """g sin 1° = 0.1712 m/s². Axes of REP 103: a nose that points down feels gravity backwards, a left side up to the left."""
    felt = accel(read(motion(SECOND), imu={"tilt_rad": list(np.radians(tilt))}))[0]
    assert felt[axis] == pytest.approx(sign * 0.1712, abs=1e-4)
    assert felt[1 - axis] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(felt) == pytest.approx(G)


def test_a_tilted_gyro_sees_a_part_of_the_yaw_rate(motion):
    log = read(motion(SECOND, yaw_rate_radps=2.0), imu={"tilt_rad": [0.0, math.radians(30)]})
    assert gyro(log)[0] == pytest.approx([-1.0, 0.0, math.sqrt(3.0)])


def test_a_mounting_is_a_rotation():
    seat = mounting(0.3, -0.7)
    assert seat @ seat.T == pytest.approx(np.eye(3))
    assert np.linalg.det(seat) == pytest.approx(1.0)


def test_a_steady_spin_pulls_an_arm_inwards(motion):
    """Centripetal: -ω² r, ω = 2 rad/s, r = (0.1, -0.05) m."""
    log = read(motion(SECOND, yaw_rate_radps=2.0), imu={"lever_arm_m": [0.1, -0.05]})
    assert accel(log)[0, :2] == pytest.approx([-0.4, 0.2])


def test_a_spin_that_starts_pushes_an_arm_sideways(motion):
    """Tangential: α × r = (-α r_y, α r_x), α = 3 rad/s²."""
    log = read(motion(SECOND, yaw_accel_radps2=3.0), imu={"lever_arm_m": [0.1, -0.05]})
    assert accel(log)[0, :2] == pytest.approx([0.15, 0.3])


def test_the_arm_counts_from_the_wheels_centre_not_from_the_centre_of_mass(motion):
    """Husky's centre of mass is 0.069 m behind. Spinning about the wheels' centre it feels +0.069 ω², an IMU there 0."""
    spin = motion(SECOND, yaw_rate_radps=2.0, fx_mps2=0.069 * 4.0)
    assert accel(read(spin, robot="husky", imu={}))[0, 0] == pytest.approx(0.0, abs=1e-12)


# --- chance ----------------------------------------------------------------------------------------------------------

NOISY = {
    "imu": {"rate_hz": 300, "accel_noise_mps2": 0.05, "gyro_noise_radps": 0.002},
    "encoders": {"rate_hz": 90, "noise_rad": 0.001},
    "pose": {"rate_hz": 30, "position_noise_m": 0.001, "yaw_noise_rad": 0.002},
}


def drive(*names, seed=1):
    sensors = {name: NOISY[name] for name in names}
    turn = {"for_s": 0.5, "v_mps": 0.4, "yaw_rate_radps": 1.0}
    return simulate("p3at", Scenario(commands=[turn], sensors=sensors, seed=seed))


def same(a, b):
    return np.array_equal(a.stamps_ns, b.stamps_ns) and a.values.tobytes() == b.values.tobytes()


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_noise():
    first, again, other = drive(*NOISY), drive(*NOISY), drive(*NOISY, seed=2)
    for name in NOISY:
        assert same(first.readings[name], again.readings[name])
        assert not same(first.readings[name], other.readings[name])
    assert np.array_equal(first.x_m, other.x_m)


@pytest.mark.parametrize("name", NOISY)
def test_adding_a_sensor_changes_nothing_that_another_says(name):
    """Not its noise, and not what it reads between the steps either: 30, 90 and 300 Hz share no record."""
    assert same(drive(name).readings[name], drive(*NOISY).readings[name])


def test_sensors_do_not_change_the_drive():
    with_sensors, without = drive(*NOISY), drive()
    for name, column in without.table().items():
        assert column.tobytes() == with_sensors.table()[name].tobytes(), name


def test_no_two_sensors_share_their_noise(motion):
    """Two streams of one seed: correlation of n values below 4 / sqrt(n)."""
    noise = {"accel_noise_mps2": 1.0}, {"noise_rad": 1.0, "counts_per_turn": 100_000}, {"rate_hz": 100, "position_noise_m": 1.0}
    log = read(motion(LONG), **dict(zip(NOISY, noise, strict=True)))
    correlation = np.corrcoef([log[name].values[:, 0] for name in NOISY])
    assert np.abs(correlation - np.eye(3)).max() < 4 / math.sqrt(len(LONG))


def test_an_imu_feels_the_gravity_of_the_scenario():
    """Mars, 3.71 m/s², in place of the surface's own."""
    scenario = Scenario(
        commands=[{"for_s": 0.1, "v_mps": 0.0}], ground={"gravity_mps2": 3.71}, sensors={"imu": {"rate_hz": 100.0}}
    )
    assert simulate("p3at", scenario).readings["imu"].column("accel_z_mps2") == pytest.approx(3.71)
