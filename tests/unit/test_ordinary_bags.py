"""The bags that other tests read: they contain what they say, and their physics is that of a robot that slips."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from ordinary_bags import (
    BAD_BAGS,
    FUSED,
    INDEPENDENT,
    WHEEL_ODOMETRY,
    Case,
    Controller,
    Drive,
    Fused,
    Imu,
    Joints,
    Nav2,
    PoseSource,
    Slip,
    WheelOdometry,
    calibration_cases,
    confusion_cases,
    motion,
    write,
    write_bad,
)
from ordinary_bags.catalogue import RECIPES
from ordinary_bags.drives import ticks
from ordinary_bags.wheels import reckon
from slipfit.library import find_robot

#: Soft enough that no wheel of a P3AT reaches the friction limit in a spin.
SOFT = Slip(0.02, 0.04, 0.9)
PLANNED = Drive("planned", 0.7, 0.9, 1.0, 2.0, 50.0)


def read(path):
    """Messages by topic, with their log times."""
    found = {}
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        for connection, log_ns, raw in reader.messages():
            found.setdefault(connection.topic, []).append((log_ns, reader.deserialize(raw, connection.msgtype)))
    return found


def stamps_s(messages, start=0):
    return np.array([m.header.stamp.sec - start + 1e-9 * m.header.stamp.nanosec for _, m in messages])


def yaw_of(q):
    return 2.0 * np.arctan2(q.z, q.w)


def poses(messages):
    """x, y, unwrapped yaw."""
    rows = []
    for _, m in messages:
        pose = m.pose.pose if hasattr(m.pose, "pose") else m.pose
        rows.append([pose.position.x, pose.position.y, yaw_of(pose.orientation)])
    rows = np.array(rows)
    rows[:, 2] = np.unwrap(rows[:, 2])
    return rows


def transforms(messages):
    """(parent, child): stamps, x, y, unwrapped yaw of every transform on the topic."""
    found = {}
    for _, m in messages:
        for t in m.transforms:
            move = t.transform.translation
            row = [t.header.stamp.sec + 1e-9 * t.header.stamp.nanosec, move.x, move.y, yaw_of(t.transform.rotation)]
            found.setdefault((t.header.frame_id, t.child_frame_id), []).append(row)
    rows = {pair: np.array(found[pair]) for pair in found}
    for row in rows.values():
        row[:, 3] = np.unwrap(row[:, 3])
    return rows


def test_there_are_enough_channels_of_every_kind():
    cases = confusion_cases()
    kinds = Counter(kind for case in cases for kind in case.truth.values())
    assert len(cases) == 164
    assert len({case.name for case in cases}) == 164
    assert kinds[WHEEL_ODOMETRY] >= 60
    assert kinds[FUSED] >= 30
    assert kinds[INDEPENDENT] >= 60
    topics = {kind: {t for case in cases for t, k in case.truth.items() if k == kind} for kind in kinds}
    assert "/odom" in topics[WHEEL_ODOMETRY] & topics[FUSED] & topics[INDEPENDENT], "names alone must not give the kind away"


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_channel_of_the_truth_is_in_the_bag(recipe, tmp_path):
    case = next(case for case in confusion_cases() if case.about.startswith(recipe))
    found = read(write(case, tmp_path))
    chains = transforms(found.get("/tf", []))
    for name in case.truth:
        if name.startswith("/tf["):
            root, base = name[4:-1].split("->")
            assert (root, base) in chains or {(root, "odom"), ("odom", base)} <= set(chains)
        else:
            assert len(found[name]) > 20
    assert len(found[case.imu.topic]) == pytest.approx(case.drive.duration_s * case.imu.rate_hz, abs=1)
    assert len(found["/joint_states"]) == pytest.approx(case.drive.duration_s * case.joints.rate_hz, abs=1)
    for messages in found.values():
        log_ns = [when for when, _ in messages]
        assert log_ns == sorted(log_ns)


@pytest.mark.parametrize("storage", ["mcap", "mcap_folder", "sqlite3_folder"])
def test_a_bag_is_stored_as_asked(storage, tmp_path):
    path = write(Case("stored", 1, drive=PLANNED, storage=storage), tmp_path)
    assert path.is_file() == (storage == "mcap")
    assert {"/joint_states", "/imu/data", "/cmd_vel", "/tf_static"} <= set(read(path))


def test_the_same_case_gives_the_same_bytes(tmp_path):
    case = confusion_cases()[40]
    one, two = (write(replace(case, storage="mcap"), tmp_path / name) for name in "ab")
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("method", ["rk2", "exact", "euler", "arcos"])
def test_odometry_turns_too_far_by_the_slip_of_a_spin(method, tmp_path):
    """Balance of yaw moments of the wheel_slip law: b² / (b² + a² c_long / c_lat) of what the wheels roll. Spins only."""
    case = Case(
        "spins", 5, ground=SOFT, drive=Drive("planned", 0.0, 0.9, 1.0, 2.0, 30.0), odometry=(WheelOdometry(method=method),)
    )
    (a, b), track_m = find_robot("p3at").wheels.at_m.value[0], find_robot("p3at").track_m
    assert b == pytest.approx(0.5 * track_m)
    turned = np.abs(np.diff(poses(read(write(case, tmp_path))["/odom"])[:, 2])).sum()
    truly = np.abs(np.diff(motion(case).heading_rad)).sum()
    assert truly / turned == pytest.approx(b**2 / (b**2 + a**2 * SOFT.c_long_per_n / SOFT.c_lat_per_n), rel=0.01)


def test_odometry_uses_the_controllers_radius_and_track():
    """Wheels roll as the controller commands, so odometry from commands and odometry from counts agree on any ground."""
    case = Case("wrong", 6, ground=SOFT, drive=PLANNED, controller=Controller(1.05, 1.875))
    counted, commanded = (reckon(case, motion(case), WheelOdometry(is_open_loop=flag)) for flag in (False, True))
    assert np.abs(counted.pose[-1] - commanded.pose[-1])[2] < 0.02
    exact = Case("right", 6, ground=SOFT, drive=PLANNED)
    assert np.abs(motion(case).heading_rad).max() > np.abs(motion(exact).heading_rad).max()


@pytest.mark.parametrize("is_read_at_stamp", [True, False])
def test_readings_of_a_jittering_loop_are_true_at_their_stamps(is_read_at_stamp, tmp_path):
    """Within a count if the loop jitters; if only the stamps are late, by up to 2 ms times the wheels' speed."""
    joints = Joints(jitter_s=0.002, is_read_at_stamp=is_read_at_stamp)
    case = Case("jitter", 13, ground=SOFT, drive=PLANNED, controller=Controller(counts_per_turn=65536), joints=joints)
    found, run = read(write(case, tmp_path)), motion(case)
    start = found["/imu/data"][0][1].header.stamp.sec
    zero_s = stamps_s(found["/imu/data"], start)[0] - ticks(case, "imu", 100.0)[0]
    true = run.wheels_at(stamps_s(found["/joint_states"], start) - zero_s)
    seen = np.array([m.position for _, m in found["/joint_states"]])
    error = np.abs(seen - seen[0] - true + true[0]).max()
    count_rad, late_rad = 2.0 * np.pi / 65536, 0.002 * 0.7 / run.radius_m
    assert (error < 1.01 * count_rad) if is_read_at_stamp else (0.5 * late_rad < error < late_rad + count_rad)


def test_pioneer_odometry_is_in_whole_millimeters(tmp_path):
    case = Case("arcos", 7, drive=PLANNED, odometry=(WheelOdometry("/RosAria/pose", "arcos", rate_hz=10.0),))
    rows = poses(read(write(case, tmp_path))["/RosAria/pose"])
    assert np.abs(rows[:, :2] * 1000 - np.round(rows[:, :2] * 1000)).max() < 1e-6
    assert np.abs(rows[:, 2] * 4096 / (2 * np.pi) % 1.0 - 0.5).min() > 0.499


@pytest.mark.parametrize("fuses", [(), ("orientation",)], ids=str)
def test_the_filter_takes_its_heading_from_the_gyro(fuses, tmp_path):
    """Bias 0.002 rad/s over 50 s is 0.1 rad at one sigma; the wheels turn the odometry 19 % further than the robot."""
    case = Case(
        "ekf", 8, ground=SOFT, drive=Drive("teleop", duration_s=50.0), odometry=(WheelOdometry(),), fused=(Fused(fuses=fuses),)
    )
    found = read(write(case, tmp_path))
    start = found["/imu/data"][0][1].header.stamp.sec
    imu_s = stamps_s(found["/imu/data"], start)
    rate = np.array([m.angular_velocity.z for _, m in found["/imu/data"]])
    integrated = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(imu_s))])
    fused_s, fused = stamps_s(found["/odometry/filtered"], start), poses(found["/odometry/filtered"])
    late = fused_s > 2.0  # after the filter has found its start
    difference = (fused[:, 2] - np.interp(fused_s, imu_s, integrated))[late]
    assert np.ptp(difference) < 0.03
    wheels_s, wheels = stamps_s(found["/odom"], start), poses(found["/odom"])
    assert np.ptp(wheels[:, 2] - np.interp(wheels_s, imu_s, integrated)) > 0.3
    chain = transforms(found["/tf"])["odom", "base_link"]
    assert np.abs(chain[:, 1:3] - fused[:, :2]).max() < 1e-12


def test_a_filter_that_fuses_the_wheels_position_follows_the_wheels(tmp_path):
    """Its position is that of the odometry, to the standard deviation of 0.03 m that the odometry's covariance states."""
    fused = Fused(fuses=("wheel_pose",))
    case = Case("ekf", 8, ground=SOFT, drive=Drive("teleop", duration_s=50.0), odometry=(WheelOdometry(),), fused=(fused,))
    found = read(write(case, tmp_path))
    start = found["/odom"][0][1].header.stamp.sec
    wheels_s, wheels = stamps_s(found["/odom"], start), poses(found["/odom"])
    filtered_s, filtered = stamps_s(found["/odometry/filtered"], start), poses(found["/odometry/filtered"])
    for k in range(2):
        assert np.abs(filtered[:, k] - np.interp(filtered_s, wheels_s, wheels[:, k])).max() < 0.03


def test_poses_are_the_truth_with_the_stated_noise_latency_and_offset(tmp_path):
    source = PoseSource(
        "/mocap", rate_hz=100.0, position_noise_m=0.004, yaw_noise_rad=0.006, latency_s=0.03, offset_m=(0.1, 0.05)
    )
    case = Case("mocap", 9, ground=SOFT, drive=PLANNED, poses=(source,))
    found = read(write(case, tmp_path))
    seen, true = poses(found["/mocap"]), motion(case).pose_at(ticks(case, "/mocap", 100.0))
    assert (seen[:, 2] - true[:, 2]).std() == pytest.approx(0.006, rel=0.05)
    marker = true[:, 0] + 1j * true[:, 1] + (0.1 + 0.05j) * np.exp(1j * true[:, 2])
    place = seen[:, 0] + 1j * seen[:, 1]
    marker, place = marker - marker.mean(), place - place.mean()
    turn = np.vdot(marker, place)
    residual = place - marker * turn / abs(turn)
    assert np.sqrt(0.5 * np.mean(np.abs(residual) ** 2)) == pytest.approx(0.004, rel=0.05)
    start = found["/imu/data"][0][1].header.stamp.sec
    late_s = (stamps_s(found["/mocap"], start)[0] - ticks(case, "/mocap", 100.0)[0]) - (
        stamps_s(found["/imu/data"], start)[0] - ticks(case, "imu", 100.0)[0]
    )
    assert late_s == pytest.approx(0.03, abs=1e-6)


def test_the_simulators_pose_is_the_truth(tmp_path):
    source = PoseSource("/ground_truth/odom", "simulator", "Odometry", rate_hz=50.0, position_noise_m=0.0, yaw_noise_rad=0.0)
    case = Case("truth", 10, ground=SOFT, drive=PLANNED, poses=(source,))
    rows = poses(read(write(case, tmp_path))["/ground_truth/odom"])
    run = motion(case)
    nearest = np.hypot(rows[:, None, 0] - run.x_m[::5], rows[:, None, 1] - run.y_m[::5]).min(axis=1)
    assert nearest.max() < 0.003
    assert np.hypot(*(rows[-1] - rows[0])[:2]) == pytest.approx(
        np.hypot(run.x_m[-1] - run.x_m[0], run.y_m[-1] - run.y_m[0]), abs=1e-6
    )


@pytest.mark.parametrize("rpy_rad", [(0.0, 0.0, np.pi / 2), (0.0, 0.0, np.pi), (np.pi, 0.0, 0.0)], ids=str)
def test_the_static_transform_turns_imu_readings_into_the_base(rpy_rad, tmp_path):
    imu = Imu(rpy_rad=rpy_rad, at_m=(0.1, -0.05, 0.1), accel_bias_mps2=0.0, gyro_bias_radps=0.0, has_orientation=True)
    case = Case("imu", 11, ground=SOFT, drive=PLANNED, imu=imu)
    found = read(write(case, tmp_path))
    (static,) = (t for t in found["/tf_static"][0][1].transforms if t.child_frame_id == "imu_link")
    q = static.transform.rotation
    mounted = Rotation.from_quat([q.x, q.y, q.z, q.w])
    accel = np.array([[m.linear_acceleration.x, m.linear_acceleration.y, m.linear_acceleration.z] for _, m in found["/imu/data"]])
    gyro = np.array([[m.angular_velocity.x, m.angular_velocity.y, m.angular_velocity.z] for _, m in found["/imu/data"]])
    assert mounted.apply(accel)[:150].mean(axis=0) == pytest.approx([0.0, 0.0, 9.81], abs=0.02)
    turned = mounted.apply(gyro)[:, 2].sum() / imu.rate_hz
    assert turned == pytest.approx(motion(case).heading_rad[-1] - motion(case).heading_rad[0], abs=0.01)
    first, last = (Rotation.from_quat([m.orientation.x, m.orientation.y, m.orientation.z, m.orientation.w])
                   for _, m in (found["/imu/data"][0], found["/imu/data"][-1]))  # fmt: skip
    in_base = (last * mounted.inv()) * (first * mounted.inv()).inv()
    assert np.angle(np.exp(1j * (in_base.as_euler("xyz")[2] - turned))) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("tolerance_s", [1.0, 0.1])
def test_nav2s_transforms_put_the_robot_where_amcl_sees_it(tolerance_s, tmp_path):
    """AMCL's correction is post-dated by transform_tolerance and takes effect at its update; with odometry it is the pose."""
    case = Case(
        "nav2", 12, ground=SOFT, drive=Drive("patrol", duration_s=50.0), odometry=(WheelOdometry(has_tf=True),),
        nav2=Nav2(tolerance_s), base_frame="base_footprint",
    )  # fmt: skip
    found = read(write(case, tmp_path))
    chains = transforms(found["/tf"])
    correction, odom = chains["map", "odom"], chains["odom", "base_footprint"]
    seen, when_s = poses(found["/amcl_pose"]), stamps_s(found["/amcl_pose"])
    assert len(np.unique(correction[:, 1])) == len(np.unique(seen[:, 0])) < len(correction)
    k = np.abs(correction[:, None, 0] - tolerance_s - when_s).argmin(axis=0)
    c, s = np.cos(correction[k, 3]), np.sin(correction[k, 3])
    x, y = (np.interp(when_s, odom[:, 0], odom[:, i]) for i in (1, 2))
    assert correction[k, 1] + c * x - s * y == pytest.approx(seen[:, 0], abs=1e-3)
    assert correction[k, 2] + s * x + c * y == pytest.approx(seen[:, 1], abs=1e-3)


def test_calibration_bags_have_no_independent_pose():
    cases = calibration_cases(60)
    assert {kind for case in cases for kind in case.truth.values()} == {WHEEL_ODOMETRY}
    assert all(case.joints and case.imu for case in cases)
    assert {case.drive.style for case in cases} == {"planned", "teleop"}
    c_long = np.array([case.ground.c_long_per_n for case in cases])
    assert c_long.min() < 0.004
    assert c_long.max() > 0.015
    p3at = find_robot("p3at")
    masses = np.array([case.body.mass_kg for case in cases if case.robot == "p3at"])
    assert masses.std() == pytest.approx(p3at.mass_kg.std, rel=0.35)
    assert calibration_cases(3) == cases[:3]


@pytest.mark.parametrize("case", calibration_cases(6), ids=lambda case: case.about)
def test_robots_of_calibration_bags_feel_no_shocks(case):
    """Friction allows mu g; the torque limit is above that, and no wheel is stopped harder by the ground."""
    run = motion(case)
    assert np.hypot(run.fx_mps2, run.fy_mps2).max() < case.ground.mu * 9.81
    assert np.hypot(run.x_m - run.x_m[0], run.y_m - run.y_m[0]).max() > 1.0


@pytest.mark.parametrize("name", BAD_BAGS)
def test_bad_bags_have_their_fault(name, tmp_path):
    found = read(write_bad(name, tmp_path))
    moving, static = transforms(found.get("/tf", [])), transforms(found["/tf_static"])
    parents = Counter(child for _, child in moving.keys() | static.keys())
    wheels = next((np.array([m.position for _, m in found[topic]]) for topic in found if topic.endswith("joint_states")), None)
    for case in BAD_BAGS[name]:
        assert {topic for topic in case.truth if topic[:4] != "/tf["} <= set(found)
    is_loop = ("base_link", "laser") in static and ("laser", "base_link") in static
    assert is_loop == (name == "tf_loop")
    assert (parents["base_link"] > 1) == (name in ("frame_with_two_parents", "tf_loop"))
    assert (("map", "odom") in moving and ("odom", "base_link") not in moving) == (name == "tf_gap")
    assert ({f for pair in static for f in pair}.isdisjoint({"imu_link", "robot1/imu_link"})) == (
        name in ("imu_frame_without_transform", "encoders_and_wheel_odometry_only")
    )
    assert ("/imu/data" not in found and "/robot1/imu/data" not in found) == (name == "encoders_and_wheel_odometry_only")
    assert ("/robot1/odom" in found and "/robot2/odom" in found) == (name == "two_robots")
    assert (np.ptp(wheels) < 1e-9 or not np.ptp(wheels, axis=0).any()) == (name == "wheels_never_move")
    backward = [np.diff(stamps_s(found[topic])).min() < 0.0 for topic in found if topic.endswith("joint_states")]
    assert any(backward) == (name == "clock_reset")
