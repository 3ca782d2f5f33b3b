"""Slip of simulated drives with noisy sensors comes back: of tracked and omni robots, and with an IMU off the middle."""

import sys
from pathlib import Path

import numpy as np
import pytest

from slipfit.estimation import FilterSettings, estimate
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.simulation import Scenario, simulate
from slipfit.vehicles.omni_kinematics import body_map

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "estimation"))
from side_drives import drive, log_of, stamps_of

PACKBOT, ROBOTINO, HUSKY = find_robot("packbot"), find_robot("robotino"), find_robot("husky")
POSE_M = POSE_RAD = 0.005
SETTINGS = FilterSettings(pose_m=POSE_M, pose_rad=POSE_RAD, slip_floor_mps=0.01, slip_share=0.03)
NOT_LATE = {"pose": 0.0, "gyro": 0.0}


@pytest.fixture(scope="module")
def packbot_turn():
    """A PackBot that drives a curve on hard ground: its tracks have to slide sideways, and slip."""
    climb = {"schema": "slipfit/climb/1", "mu_static": 0.6, "speed_mps": 0.4, "yaw_rate_radps": 0.5, "duration_s": 9.0}
    return simulate(PACKBOT, climb)


def packbot_log(t, seed=0):
    """Belt speeds at the sprockets, poses with noise."""
    draw, radius = np.random.default_rng(seed), PACKBOT.tracks.sprocket_radius_m.value
    belts = np.column_stack([t["belt_left_mps"], t["belt_right_mps"]]) / radius
    pose = np.column_stack([t["x_m"], t["y_m"], t.heading_rad]) + draw.normal(size=(len(belts), 3)) * [POSE_M, POSE_M, POSE_RAD]
    stamps = stamps_of(t["time_s"])
    told = (("encoders", belts, ("left_speed_radps", "right_speed_radps")), ("pose", pose, ("x_m", "y_m", "yaw_rad")))
    return DriveLog({name: Channel(name, stamps, values, columns) for name, values, columns in told}, about="packbot's curve")


def sides_of_packbot(t):
    """Slip of both tracks by the simulation's own velocities: (w - u) / max(|w|, |u|)."""
    half = 0.5 * PACKBOT.track_m * t["yaw_rate_radps"]
    pairs = ((t["belt_left_mps"], t["vx_mps"] - half), (t["belt_right_mps"], t["vx_mps"] + half))
    return np.column_stack([(w - u) / np.maximum(np.maximum(np.abs(w), np.abs(u)), 1e-3) for w, u in pairs])


def test_slip_of_a_tracked_robot_comes_back(packbot_turn):
    """Both tracks', over the second half of the curve; errors within three of the filter's own spreads, and below 0.02 rms."""
    t = packbot_turn
    found = estimate(PACKBOT, packbot_log(t), settings=SETTINGS, late_s=NOT_LATE)
    true = np.column_stack([np.interp(found.time_s, t["time_s"], column) for column in sides_of_packbot(t).T])
    late = found.time_s > 4.0
    apart = (found.slip[:, :2] - true)[late]
    assert np.abs(true[late]).max() > 0.05  # there is something to find: more than twice what the error may be
    assert np.sqrt(np.mean(apart**2, axis=0)).max() < 0.02
    assert (np.abs(apart) < 3.0 * found.slip_std[late, :2]).mean() > 0.95
    assert (found.robot, found.formulation) == ("packbot", "slip")


def test_a_tracked_robots_slip_comes_out_online(packbot_turn):
    t, log = packbot_turn, packbot_log(packbot_turn, 1)
    online, radius = OnlineSlipFilter(PACKBOT, settings=SETTINGS, gyro=False), PACKBOT.tracks.sprocket_radius_m.value
    for time_s, speeds, pose in zip(t["time_s"], log["encoders"].values, log["pose"].values, strict=True):
        online.rims(time_s, *(radius * speeds))
        now = online.pose(time_s, *pose)
    true = sides_of_packbot(t)[-1]
    assert now.slip_left == pytest.approx(true[0], abs=3.0 * now.slip_left_std)
    assert now.slip_right == pytest.approx(true[1], abs=3.0 * now.slip_right_std)


@pytest.fixture(scope="module")
def robotino_drive():
    """Ahead and aside, and turning, on a floor of friction 0.05: wheels outrun the body while it gathers speed."""
    from robots import ground_with

    ways = ({"v_mps": 0.4, "vy_mps": 0.2}, {"v_mps": 0.2, "vy_mps": -0.2, "yaw_rate_radps": 0.8})
    commands = [{"for_s": 4.0, "profile": "linear", "ramp_s": 0.2, **way} for way in ways]
    pose = {"rate_hz": 20.0, "position_noise_m": POSE_M, "yaw_noise_rad": POSE_RAD}
    sensors = {"encoders": {"rate_hz": 100.0, "counts_per_turn": 4096}, "pose": pose}
    scenario = Scenario.from_mapping({"schema": Scenario.kind(), "commands": commands, "sensors": sensors}, where="drive")
    ground = ground_with("arctan", mu_w=0.05, mu_t=0.04, mu_w_rigid=0.06, mu_t_rigid=0.06, steepness_s_per_m=20.0)
    return simulate(ROBOTINO, scenario, ground=ground)


def slip_of_robotino(t):
    """What the wheels say of the body less what it does, (n, 3): m/s, m/s, rad/s."""
    into = body_map(ROBOTINO.at_m, ROBOTINO.rolling_rad, ROBOTINO.roller_rad, ROBOTINO.radii_m)
    return t.wheel_speed_radps @ into.T - np.column_stack([t.vx_mps, t.vy_mps, t.yaw_rate_radps])


def test_slip_of_an_omni_robot_comes_back(robotino_drive):
    """Slip velocities, away from the jolts of the commands: below 0.02 m/s and 0.03 rad/s rms."""
    t = robotino_drive
    found = estimate(ROBOTINO, t.readings, settings=SETTINGS, late_s=NOT_LATE)
    true = np.column_stack([np.interp(found.time_s, t.time_s, column) for column in slip_of_robotino(t).T])
    calm = ((found.time_s > 1.5) & (found.time_s < 3.8)) | (found.time_s > 5.5)
    apart = (found.slip_velocity - true)[calm]
    assert np.abs(true[calm]).max() > 0.02
    assert (np.sqrt(np.mean(apart**2, axis=0)) < [0.02, 0.02, 0.03]).all()
    assert found.slip_names == ("slip_ahead", "slip_aside", "slip_turning")


def test_an_omni_robots_slip_comes_out_online(robotino_drive):
    t = robotino_drive
    online = OnlineSlipFilter(ROBOTINO, settings=SETTINGS, gyro=False)
    poses = iter(zip(t.readings["pose"].stamps_ns / 1e9, t.readings["pose"].values, strict=True))
    ahead = next(poses)
    for time_s, speeds in zip(t.time_s[::2], t.wheel_speed_radps[::2], strict=True):
        now = online.wheels(time_s, *speeds)
        while ahead is not None and ahead[0] <= time_s:
            now = online.pose(ahead[0], *ahead[1])
            ahead = next(poses, None)
    true = slip_of_robotino(t)[-1]
    assert now.vx_mps == pytest.approx(t.vx_mps[-1], abs=0.03)
    assert now.slip_ahead * 0.2 == pytest.approx(true[0], abs=0.03)
    assert online.left_out == 0


def test_an_imu_off_the_middle_is_used_where_it_sits():
    """0.6 m ahead and 0.3 m to the left of a robot that swings at 1 rad/s an IMU feels up to 0.7 m/s^2 that its middle does not.
    Told where it sits, velocities between rare poses are as good as with an IMU in the middle; not told, they are worse."""
    place = (0.6, 0.3)

    def rims(t):
        turn = 0.35 * np.sin(1.2 * t)
        return 0.5 - turn, 0.5 + turn

    truth = drive(rims, lambda t: (0.1 + 0.0 * t, 0.1 + 0.0 * t, 0.0 * t), 30.0, track_m=HUSKY.track_m)
    settings = FilterSettings(pose_m=0.02, pose_rad=0.01, gyro_radps=0.005, accel_mps2=0.05, accel_bias_mps2=0.02, slip_share=0.2)
    late = {"pose": 0.0, "gyro": 0.0}
    errors = {}
    for name, at, given in (("middle", (0.0, 0.0), None), ("told", place, place), ("not told", place, None)):
        log = log_of(truth, 3, pose_hz=1.0, pose_m=0.02, pose_rad=0.01, gyro_radps=0.005, accel=0.05, imu_at_m=at)
        found = estimate(HUSKY, log, settings=settings, smooth=False, late_s=late, imu_at_m=given)
        true = np.column_stack([np.interp(found.time_s, truth.time_s, column) for column in truth.twist.T])
        errors[name] = float(np.sqrt(np.mean((found.velocity - true)[found.time_s > 5.0, :2] ** 2)))
    assert errors["told"] < 1.2 * errors["middle"]
    assert errors["told"] < 0.7 * errors["not told"]
