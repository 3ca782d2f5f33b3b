"""Where poses come from: dead reckoning of any making follows wheels or gyro, measured poses do not.

Every pose here is made from a known motion: dead reckoning integrates the very wheel angles of the log, a measured pose is the
true motion of a body that slips, with noise. So what each of them is, is known by construction.
"""

import numpy as np
import pytest

from slipfit.errors import LogError
from slipfit.logs import Channel, DriveLog, inspect_log
from slipfit.logs.provenance import Origin, PoseSource, with_truth

STEP_S, RADIUS_M, TRACK_M = 0.01, 0.1, 0.4


def stamps(time_s):
    return np.round(np.asarray(time_s) * 1e9).astype(np.int64)


def driven(duration_s=40.0, seed=0, slip=0.05):
    """Rim speeds of both sides, smooth and with rests, and the body's velocity: less than the rims', and sideways in turns."""
    rng = np.random.default_rng(seed)
    time_s = np.arange(0.0, duration_s, STEP_S)
    knots = np.arange(0.0, duration_s + 2.0, 2.0)
    v, w = (
        np.interp(time_s, knots, scale * rng.uniform(-1.0, 1.0, len(knots)) * (rng.random(len(knots)) > 0.2))
        for scale in (0.8, 1.2)
    )
    kernel = np.hanning(41) / np.hanning(41).sum()
    v, w = np.convolve(v, kernel, "same"), np.convolve(w, kernel, "same")
    return time_s, v, w, (1.0 - slip) * v, slip * v * w, (1.0 - 10.0 * slip * np.abs(v)) * w


def path(vx, vy, w, heading=None):
    """x, y, yaw by integration along the heading (its own, or another)."""
    yaw = np.concatenate([[0.0], np.cumsum(w[:-1]) * STEP_S])
    along = yaw if heading is None else heading
    middle = along + 0.5 * STEP_S * w
    x, y = (np.concatenate([[0.0], np.cumsum(part[:-1]) * STEP_S]) for part in (
        vx * np.cos(middle) - vy * np.sin(middle), vx * np.sin(middle) + vy * np.cos(middle)))  # fmt: skip
    return np.column_stack([x, y, yaw])


def log_of(pose, name="pose", *, gyro=True, every=1, rate=5, late_s=0.0, seed=0, slip=0.05):
    """A log of encoders (100 Hz), gyro, and one pose at every `rate`-th step."""
    time_s, v, w, *_, body_w = driven(seed=seed, slip=slip)
    sides = np.column_stack([v - 0.5 * TRACK_M * w, v + 0.5 * TRACK_M * w]) / RADIUS_M
    angles = np.vstack([np.zeros(2), np.cumsum(sides[:-1], axis=0) * STEP_S])
    angles = np.round(angles / (2 * np.pi / 4096)) * (2 * np.pi / 4096)
    channels = {"encoders": Channel("encoders", stamps(time_s[::every]), angles[::every], ("left_angle_rad", "right_angle_rad"))}
    if gyro:
        noise = 0.002 * np.random.default_rng(seed + 1).standard_normal(len(time_s))
        channels["imu"] = Channel("imu", stamps(time_s), (body_w + noise)[:, None], ("gyro_z_radps",))
    seen = Channel(name, stamps(time_s[::rate] + late_s), pose[::rate], ("x_m", "y_m", "yaw_rad"))
    return DriveLog({**channels, name: seen})


def wheel_odometry(radius=1.0, track=1.0, seed=0, slip=0.05):
    """From the rims, with factors on radius and track."""
    _, v, w, *_ = driven(seed=seed, slip=slip)
    return path(radius * v, 0.0 * v, radius * w / track)


def measured(noise_m=0.001, seed=0, slip=0.05):
    _, _, _, vx, vy, w = driven(seed=seed, slip=slip)
    pose = path(vx, vy, w)
    return pose + noise_m * np.random.default_rng(seed + 2).standard_normal(pose.shape)


def origin_of(log):
    (found,) = with_truth(log).truth.poses
    return found.origin


@pytest.mark.parametrize(("radius", "track"), [(1.0, 1.0), (1.05, 1.0), (1.0, 1.5), (0.9, 1.875)])
@pytest.mark.parametrize("rate", [1, 2, 10], ids=["100 Hz", "50 Hz", "10 Hz"])
def test_wheel_odometry_with_any_radius_track_and_rate_is_wheel_odometry(radius, track, rate):
    log = with_truth(log_of(wheel_odometry(radius, track), rate=rate))
    assert log.truth.poses[0].origin is Origin.WHEELS
    assert "pose" not in log
    assert log.truth.poses[0].evidence.radius_m == pytest.approx(radius * RADIUS_M, rel=0.01)


def test_delayed_and_smoothed_wheel_odometry_is_wheel_odometry():
    """A delay is a shift of stamps, a low pass a convolution of x, y and yaw: both leave what the wheels made."""
    odometry = wheel_odometry(track=1.5)
    late = with_truth(log_of(odometry, late_s=0.2)).truth.poses[0]
    assert late.origin is Origin.WHEELS
    assert late.evidence.late_s == pytest.approx(0.2, abs=0.02)
    kept = np.exp(-STEP_S / 0.1)
    smooth = odometry.copy()
    for k in range(1, len(smooth)):
        smooth[k] = kept * smooth[k - 1] + (1.0 - kept) * odometry[k]
    assert origin_of(log_of(smooth)) is Origin.WHEELS


def test_odometry_in_whole_millimeters_is_wheel_odometry():
    """ARCOS reports integer millimeters and 4096ths of a turn: steps of numbers are no measurement noise."""
    pose = wheel_odometry()
    pose[:, :2] = np.round(pose[:, :2], 3)
    pose[:, 2] = np.round(pose[:, 2] * 4096 / (2 * np.pi)) * (2 * np.pi) / 4096
    assert origin_of(log_of(pose, rate=10)) is Origin.WHEELS


def test_distance_of_wheels_with_the_gyros_heading_is_fused():
    _, v, _, _, _, body_w = driven()
    noise = 0.002 * np.random.default_rng(1).standard_normal(len(v))  # the very noise of the log's gyro
    log = with_truth(log_of(path(v, 0.0 * v, body_w + noise)))
    assert log.truth.poses[0].origin is Origin.FUSED
    assert "pose" not in log
    assert log["imu"].columns == ("gyro_z_radps",)


def test_without_a_gyro_the_heading_of_a_fused_pose_is_used_and_its_position_is_not():
    """It comes from a gyro that was not recorded: it is independent of the wheels."""
    time_s, v, _, _, _, body_w = driven()
    log = with_truth(log_of(path(v, 0.0 * v, body_w), gyro=False))
    assert "pose" not in log
    assert log.truth.part == "heading"
    assert np.interp(log["imu"].stamps_ns / 1e9, time_s, body_w) == pytest.approx(log["imu"].column("gyro_z_radps"), abs=0.03)


@pytest.mark.parametrize("noise_m", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("slip", [0.0, 0.002, 0.05], ids=["no slip", "little slip", "much slip"])
def test_measured_poses_are_independent_also_of_robots_that_hardly_slip(noise_m, slip):
    """Measurement noise is none of the wheels'."""
    log = with_truth(log_of(measured(noise_m, slip=slip), slip=slip))
    assert log.truth.poses[0].origin is Origin.INDEPENDENT
    assert "pose" in log
    if slip == 0.0 and noise_m == 0.001:
        assert "hardly slips" in log.truth.sentence()


def test_a_pose_without_noise_of_a_robot_without_slip_looks_like_wheel_odometry_and_the_user_decides():
    log = log_of(measured(0.0, slip=0.0), slip=0.0)
    assert origin_of(log) in (Origin.WHEELS, Origin.FUSED)  # gyro and wheels say the same here
    assert "pose" not in with_truth(log)
    given = with_truth(log, "pose")
    assert "pose" in given
    assert given.truth.is_given
    assert "as specified (--truth), although it is" in given.truth.sentence()


def test_of_a_true_pose_and_odometry_the_true_one_serves_whatever_they_are_called():
    log = log_of(wheel_odometry(), name="odometry")
    swapped = log_of(wheel_odometry())  # odometry in the channel pose
    truth = log_of(measured())["pose"]
    assert with_truth(log.having(truth)).truth.name == "pose"
    other = swapped.having(Channel("odometry", truth.stamps_ns, truth.values, truth.columns))
    assert with_truth(other).truth.name == "odometry"
    assert with_truth(other)["pose"].values.tobytes() == truth.values.tobytes()


def test_a_position_whose_heading_never_changes_is_no_pose():
    pose = measured(0.02)
    pose[:, 2] = 0.0
    log = with_truth(log_of(pose))
    assert "pose" not in log
    assert "its heading never changes" in log.truth.poses[0].reason


def test_truth_none_works_and_an_unknown_name_is_an_error():
    log = log_of(measured())
    assert "pose" not in with_truth(log, "none")
    with pytest.raises(LogError, match=r"--truth vicon: there is no such pose"):
        with_truth(log, "vicon")


@pytest.mark.parametrize(("noise_m", "origin"), [(0.0, Origin.WHEELS), (0.002, Origin.INDEPENDENT)])
def test_sideways_motion_of_mecanum_wheels_is_no_evidence_of_its_own(noise_m, origin):
    """Rollers move a robot sideways without slip: x = r/4 sum of angles, y = r/4 (-a + b + c - d), yaw likewise."""
    rng = np.random.default_rng(3)
    time_s = np.arange(0.0, 40.0, STEP_S)
    knots = np.arange(0.0, 42.0, 2.0)
    vx, vy, w = (np.interp(time_s, knots, scale * rng.uniform(-1.0, 1.0, len(knots))) for scale in (0.6, 0.6, 0.8))
    arm = 0.35
    sides = np.column_stack([vx - vy - arm * w, vx + vy + arm * w, vx + vy - arm * w, vx - vy + arm * w]) / RADIUS_M
    angles = np.vstack([np.zeros(4), np.cumsum(sides[:-1], axis=0) * STEP_S])
    pose = path(vx, vy, w)
    pose += noise_m * rng.standard_normal(pose.shape)
    log = DriveLog(
        {
            "encoders": Channel("encoders", stamps(time_s), angles, tuple(f"wheel_angle_{k}_rad" for k in range(4))),
            "pose": Channel("pose", stamps(time_s[::5]), pose[::5], ("x_m", "y_m", "yaw_rad")),
        }
    )
    assert origin_of(log) is origin


@pytest.mark.parametrize(
    ("name", "frame", "hint"),
    [
        ("/ground_truth/odom", "", Origin.INDEPENDENT),
        ("/vrpn/robot/pose", "world", Origin.INDEPENDENT),
        ("/robot/pose", "map", Origin.INDEPENDENT),
        ("/odometry/filtered", "odom", Origin.FUSED),
        ("/diff_drive_controller/odom", "odom", Origin.WHEELS),
        ("/robot/state", "odom", Origin.WHEELS),
        ("/robot/state", "", Origin.UNKNOWN),
    ],
)
def test_names_and_frames_are_hints_where_the_data_do_not_decide(name, frame, hint):
    """REP 105: odom drifts, map does not."""
    channel = Channel("pose", np.array([0, 1]), np.zeros((2, 3)), ("x_m", "y_m", "yaw_rad"))
    assert PoseSource(name, channel, frame=frame).hint is hint


def test_a_clock_that_was_set_back_is_fatal_and_rows_out_of_order_are_not():
    log = log_of(measured())
    wheels = log["encoders"]
    back = wheels.stamps_ns.copy()
    back[2000:] -= 15_000_000_000
    found = inspect_log(log.having(Channel("encoders", back, wheels.values, wheels.columns)), "p3at")
    assert found.fatal.kind == "clock reset"
    assert "by 14.99 s at row 2001" in found.fatal.found
    mixed = wheels.stamps_ns.copy()
    mixed[100:103] = mixed[100:103][::-1]
    assert inspect_log(log.having(Channel("encoders", mixed, wheels.values, wheels.columns)), "p3at").fatal is None


# --- what an expert of filters tried ----------------------------------------------------------------------------------


def test_yaw_that_counts_many_turns_is_not_taken_for_degrees():
    """Unwrapped yaw of a robot that turns to one side: 60 rad, and no degrees."""
    time_s, v, w, *_ = driven()
    w = 1.5 + 0.3 * w
    sides = np.column_stack([v - 0.5 * TRACK_M * w, v + 0.5 * TRACK_M * w]) / RADIUS_M
    angles = np.vstack([np.zeros(2), np.cumsum(sides[:-1], axis=0) * STEP_S])
    log = DriveLog(
        {
            "encoders": Channel("encoders", stamps(time_s), angles, ("left_angle_rad", "right_angle_rad")),
            "pose": Channel("pose", stamps(time_s[::5]), path(v, 0.0 * v, w)[::5], ("x_m", "y_m", "yaw_rad")),
        }
    )
    assert origin_of(log) is Origin.WHEELS
    degrees = log["pose"].values * [1.0, 1.0, 180.0 / np.pi]
    assert origin_of(log.having(Channel("pose", log["pose"].stamps_ns, degrees, log["pose"].columns))) is Origin.WHEELS


@pytest.mark.parametrize("noise_deg", [1.0, 3.0, 5.0])
@pytest.mark.parametrize("rate", [1, 2, 5], ids=["100 Hz", "50 Hz", "20 Hz"])
def test_distance_of_wheels_along_a_noisy_compass_is_not_independent(noise_deg, rate):
    """Noise of a heading moves positions sideways only; that of a measured position is the same in all directions."""
    _, v, _, _, _, body_w = driven()
    heading = np.cumsum(body_w) * STEP_S + np.radians(noise_deg) * np.repeat(
        np.random.default_rng(5).standard_normal(len(v) // 2), 2
    )
    pose = path(v, 0.0 * v, body_w, heading=heading)
    pose[:, 2] = heading
    log = with_truth(log_of(pose, rate=rate))
    assert log.truth.poses[0].origin is not Origin.INDEPENDENT
    assert "pose" not in log


@pytest.mark.parametrize("noise_m", [0.001, 0.005])
def test_noise_added_to_wheel_odometry_does_not_make_it_independent_where_a_gyro_turned_otherwise(noise_m):
    """A simulator's plugin adds noise to odometry; its heading is the wheels' all the same."""
    pose = wheel_odometry()
    pose += noise_m * np.random.default_rng(6).standard_normal(pose.shape)
    assert "pose" not in with_truth(log_of(pose))


def test_odometry_with_swapped_axes_or_a_mirrored_heading_is_not_independent():
    odometry = wheel_odometry()
    for wrong in (odometry[:, [1, 0, 2]], odometry * [1.0, 1.0, -1.0]):
        assert "pose" not in with_truth(log_of(wrong))


@pytest.mark.parametrize("resets", [1, 3, 10])
def test_odometry_that_was_reset_is_wheel_odometry(resets):
    pose = wheel_odometry() + np.array([10.0, -4.0, 0.0])
    for k in range(1, resets + 1):
        pose[k * len(pose) // (resets + 1) :] -= pose[k * len(pose) // (resets + 1)]
    assert "pose" not in with_truth(log_of(pose))


@pytest.mark.parametrize("rate", [50, 100], ids=["2 Hz", "1 Hz"])
@pytest.mark.parametrize("late_s", [-1.0, 0.0, 1.0])
def test_slow_odometry_by_another_computers_clock_is_not_independent(rate, late_s):
    assert "pose" not in with_truth(log_of(wheel_odometry(), rate=rate, late_s=late_s))


@pytest.mark.parametrize("noise_m", [2e-4, 5e-4])
def test_motion_capture_of_a_fraction_of_a_millimeter_is_independent(noise_m):
    assert origin_of(log_of(measured(noise_m))) is Origin.INDEPENDENT


@pytest.mark.parametrize("noise_m", [3e-4, 0.003, 0.01])
@pytest.mark.parametrize("gyro", [True, False], ids=["gyro", "no gyro"])
@pytest.mark.parametrize("heading", ["wheels", "gyro"])
def test_noise_added_to_odometry_is_no_reason_to_use_it(heading, gyro, noise_m):
    """Wheels and gyro agree where a robot does not slip: then noise is all that a pose has of its own. Called odometry, it is not
    used, and the reason says what it may be."""
    _, v, _, _, _, body_w = driven(slip=0.0)
    drift = 0.001 * np.random.default_rng(7).standard_normal(len(v))
    pose = wheel_odometry(slip=0.0) if heading == "wheels" else path(v, 0.0 * v, body_w + drift)
    pose = pose + noise_m * np.random.default_rng(8).standard_normal(pose.shape)
    log = with_truth(log_of(pose, name="odometry", gyro=gyro, slip=0.0))
    assert "pose" not in log
    (found,) = log.truth.poses
    assert found.origin is Origin.UNKNOWN
    assert "odometry with added noise, or a measured pose of a robot that hardly slips" in found.reason
    assert "pose" in with_truth(log, "odometry")


def test_lidar_odometry_that_is_called_odometry_is_used_because_its_drift_adds_up():
    """In the frame odom, as REP 105 has it: positions drift by 5 mm in a second, and by more in more of them."""
    pose = measured(0.003)
    drift = 0.005 * np.sqrt(STEP_S) * np.random.default_rng(10).standard_normal((len(pose), 2))
    pose[:, :2] += np.cumsum(drift, axis=0)
    assert "pose" in with_truth(log_of(pose, name="odometry"))


@pytest.mark.parametrize("track", [0.8, 1.1, 1.5])
def test_a_noisy_heading_that_turned_otherwise_than_the_gyro_is_the_wheels(track):
    """Both explain it where the gyro's scale is free. It is not: a measured heading turns as far as the gyro."""
    pose = wheel_odometry(track=track, slip=0.0)
    pose = pose + 0.003 * np.random.default_rng(9).standard_normal(pose.shape)
    log = with_truth(log_of(pose, slip=0.0))
    assert log.truth.poses[0].origin is Origin.WHEELS
    assert log.truth.poses[0].evidence.gyro_scale == pytest.approx(1.0 / track, rel=0.02)
    assert "times as far as the gyro" in log.truth.poses[0].reason


@pytest.mark.parametrize("noise_m", [0.001, 0.005])
def test_a_filter_between_the_headings_of_wheels_and_gyro_is_not_independent_with_noise_either(noise_m):
    """It is given the yaw rates of both: neither explains its heading, which turns farther than the gyro."""
    _, v, w, _, _, body_w = driven()
    pose = path(v, 0.0 * v, 0.5 * (w + body_w))
    pose = pose + noise_m * np.random.default_rng(11).standard_normal(pose.shape)
    log = with_truth(log_of(pose, name="odometry"))
    assert "pose" not in log
    assert log.truth.poses[0].origin is not Origin.INDEPENDENT


def test_the_frame_odom_alone_makes_no_odometry_of_a_pose_message():
    """Motion capture and localizers are relayed into it; names of odometry count all the same."""
    channel = Channel("pose", np.array([0, 1]), np.zeros((2, 3)), ("x_m", "y_m", "yaw_rad"))
    kind = "geometry_msgs/msg/PoseWithCovarianceStamped"
    assert not PoseSource("/pose", channel, kind, "odom").is_called_odometry
    assert PoseSource("/robot_pose_ekf/odom_combined", channel, kind, "odom").is_called_odometry
    assert PoseSource("/pose", channel, "nav_msgs/msg/Odometry", "odom").is_called_odometry


@pytest.mark.parametrize("unit", [180.0 / np.pi, -1.0], ids=["degrees", "mirrored"])
def test_a_gyro_with_wrong_units_or_sign_is_no_evidence_against_a_measured_pose(unit):
    log = log_of(measured(0.003, slip=0.0), slip=0.0)
    rates = Channel("imu", log["imu"].stamps_ns, unit * log["imu"].values, log["imu"].columns)
    assert origin_of(log.having(rates)) is Origin.INDEPENDENT


def smoothed(pose, columns, time_constant_s):
    """A low pass of first order on some columns."""
    kept, out = np.exp(-STEP_S / time_constant_s), pose.copy()
    for k in range(1, len(out)):
        out[k, columns] = kept * out[k - 1, columns] + (1.0 - kept) * pose[k, columns]
    return out


def extrapolated(pose, every):
    """What a node publishes between slower poses: each continued with the velocity since the one before."""
    at = np.arange(len(pose))
    known = np.maximum(at // every, 1) * every
    change = pose[known] - pose[known - every]
    return pose[known] + change * ((at - known) / every)[:, None]


@pytest.mark.parametrize("gyro", [True, False], ids=["gyro", "no gyro"])
@pytest.mark.parametrize("columns", [[0, 1], [0, 1, 2]], ids=["positions", "poses"])
@pytest.mark.parametrize("time_constant_s", [0.5, 1.0, 2.0])
def test_odometry_that_creeps_on_behind_a_slow_filter_is_not_independent(time_constant_s, columns, gyro):
    """The filter moves while the wheels stand, and sideways after a turn: no noise of a measurement."""
    for seed in range(3):
        pose = smoothed(wheel_odometry(seed=seed), columns, time_constant_s)
        assert "pose" not in with_truth(log_of(pose, "odometry", gyro=gyro, rate=2, seed=seed))
        assert origin_of(log_of(pose, gyro=gyro, rate=2, seed=seed)) is not Origin.INDEPENDENT


@pytest.mark.parametrize("gyro", [True, False], ids=["gyro", "no gyro"])
@pytest.mark.parametrize("every", [10, 20], ids=["10 Hz", "5 Hz"])
def test_odometry_that_is_extrapolated_between_its_poses_is_not_independent(every, gyro):
    """It jumps back at each new pose; of two intervals of 0.1 s between slow poses one has the jump."""
    for seed in range(3):
        pose = extrapolated(wheel_odometry(seed=seed), every)
        assert origin_of(log_of(pose, gyro=gyro, rate=2, seed=seed)) is not Origin.INDEPENDENT
