"""Simulated drives that get stuck, with what encoders, pose and gyro would have said: for `estimate_alarms.py` and its tests.

A wheeled robot drives onto ice that does not carry it up a slope, another into sand that is softer than where it came from, and a
tracked robot fails at a curb out of sand and at one on ice. Where the ground changes, a second drive goes on from where the first
ended, at its speed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from slipfit.contact.slip import slip_ratio
from slipfit.library import Ground, Robot, find_ground, find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.scenario import Encoders, PoseSensor, Stop, find_scenario
from slipfit.simulation.sensors import encoder_channel, pose_channel

#: Noise of the sensors: a lidar's pose, encoders of 4096 lines, a MEMS gyro.
POSE_M, POSE_RAD, GYRO_RADPS, GYRO_HZ = 0.01, 0.01, 0.01, 100.0

#: Slip that counts as stuck, and how long the true one has to stay above, by its mean (s).
STUCK, LASTS_S = 0.8, 1.0


@dataclass(frozen=True, eq=False)
class StuckDrive:
    """A drive, what its sensors said, and since when the true slip of the side that slips less is above `STUCK` (s)."""

    name: str
    robot: Robot
    log: DriveLog
    onset_s: float


def drives(seed: int) -> Iterator[StuckDrive]:
    """One of each kind; the seed draws the sensors' noise, and how steep or soft the ground is."""
    draw = np.random.default_rng(seed)
    yield onto_ice(seed, slope_rad=float(draw.uniform(0.13, 0.2)), speed_mps=float(draw.uniform(0.3, 0.7)))
    yield into_soft_sand(seed, friction_angle_rad=float(draw.uniform(0.12, 0.18)))
    for climb in ("curb_163mm", "curb_117mm_ice"):
        yield at_a_curb(seed, climb)


def onto_ice(seed: int, *, slope_rad: float = 0.15, speed_mps: float = 0.5) -> StuckDrive:
    """A Pioneer climbs a slope on earth (friction 0.6) and comes onto ice (0.1) that does not carry it."""
    robot, driven = find_robot("p3at"), [{"for_s": 6.0, "v_mps": speed_mps, "profile": "linear", "ramp_s": 1.0}]
    firm = _changed("ice", mu_long=0.6, mu_lat=0.6)
    return _two_grounds(
        "onto ice", robot, seed, driven, [{"for_s": 8.0, "v_mps": speed_mps}], firm, find_ground("ice"), slope_rad
    )


def into_soft_sand(seed: int, *, friction_angle_rad: float = 0.15) -> StuckDrive:
    """A rover climbs 8° of dry sand and comes where it is loose: a smaller angle of friction, no cohesion."""
    volts = {"wheels_v": [6.0, 6.0]}
    soft = _changed("dry_sand", friction_angle_rad=friction_angle_rad, cohesion_pa=0.0)
    rover, firm = find_robot("lynxmotion_4wd3"), find_ground("dry_sand")
    return _two_grounds(
        "into soft sand", rover, seed, [{"for_s": 5.0, **volts}], [{"for_s": 8.0, **volts}], firm, soft, np.radians(8.0)
    )


def at_a_curb(seed: int, climb: str) -> StuckDrive:
    """A tracked robot that pushes against a curb for 14 s."""
    tracked = find_robot("packbot")
    drive = simulate(tracked, find_scenario(climb).model_copy(update={"stop": Stop(after_s=14.0, patience_s=1000.0)}))
    belts = np.column_stack([drive["belt_left_mps"], drive["belt_right_mps"]])
    robot = stand_in(tracked.track_m, tracked.tracks.sprocket_radius_m.value)
    way = SimpleNamespace(time_s=drive["time_s"], x_m=drive["x_m"], y_m=drive["y_m"], heading_rad=drive.heading_rad)
    rolled = np.concatenate([np.zeros((1, 2)), np.cumsum(0.5 * (belts[1:] + belts[:-1]) * np.diff(way.time_s)[:, None], axis=0)])
    angles = rolled / robot.wheels.radius_m.value
    way.wheel_angle_rad = np.tile(angles, 2)
    return _seen(climb.replace("_", " "), robot, way, belts, drive["vx_mps"], drive["yaw_rate_radps"], seed)


def stand_in(track_m: float, radius_m: float, name: str = "lynxmotion_4wd3") -> Robot:
    """A robot with this track and radius: all that a slip filter needs to know of one."""
    data = find_robot(name).to_mapping()
    half = 0.5 * track_m
    data["wheels"]["at_m"]["value"] = [[half, half], [half, -half], [-half, half], [-half, -half]]
    data["wheels"]["radius_m"]["value"] = radius_m
    return Robot.from_mapping(data, where="stand-in")


def _changed(name: str, **values: float) -> Ground:
    data = find_ground(name).to_mapping()
    for key, value in values.items():
        data["parameters"][key] = value
    return Ground.from_mapping(data, where=name)


def _two_grounds(
    name: str, robot: Robot, seed: int, first: list[dict[str, Any]], then: list[dict[str, Any]], firm: Ground, soft: Ground,
    slope_rad: float,
) -> StuckDrive:  # fmt: skip
    place = {"slope_rad": slope_rad}
    one = simulate(robot, _scenario(first, place, {}), ground=firm)
    start = {
        "x_m": one.x_m[-1], "y_m": one.y_m[-1], "heading_rad": one.heading_rad[-1], "v_mps": one.vx_mps[-1],
        "vy_mps": one.vy_mps[-1], "yaw_rate_radps": one.yaw_rate_radps[-1],
    }  # fmt: skip
    two = simulate(robot, _scenario(then, place, {k: float(v) for k, v in start.items()}), ground=soft)
    fields = ("x_m", "y_m", "heading_rad", "vx_mps", "yaw_rate_radps", "wheel_speed_radps")
    way = SimpleNamespace(**{f: np.concatenate([getattr(one, f), getattr(two, f)[1:]]) for f in fields})
    way.time_s = np.concatenate([one.time_s, one.time_s[-1] + two.time_s[1:]])
    turned = one.wheel_angle_rad[-1] - two.wheel_angle_rad[0]
    way.wheel_angle_rad = np.concatenate([one.wheel_angle_rad, two.wheel_angle_rad[1:] + turned])
    rims = robot.wheels.radius_m.value * way.wheel_speed_radps
    sides = np.column_stack([rims[:, 0::2].mean(axis=1), rims[:, 1::2].mean(axis=1)])
    return _seen(name, robot, way, sides, way.vx_mps, way.yaw_rate_radps, seed)


def _scenario(commands: list[dict[str, Any]], place: dict[str, Any], start: dict[str, float]) -> Scenario:
    data = {"schema": Scenario.kind(), "ground": place, "start": start, "commands": commands, "record_s": 0.01}
    return Scenario.from_mapping(data, where="stuck drive")


def _seen(name: str, robot: Robot, way: Any, sides: np.ndarray, ahead: np.ndarray, turning: np.ndarray, seed: int) -> StuckDrive:
    """What sensors say of a way, and when its slip passes the limit for good."""
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3)]
    stamps = np.round(np.arange(int(way.time_s[-1] * GYRO_HZ)) / GYRO_HZ * NANOSECONDS).astype(np.int64)
    rate = np.interp(stamps / NANOSECONDS, way.time_s, turning) + GYRO_RADPS * streams[2].standard_normal(len(stamps))
    pose = PoseSensor(rate_hz=20.0, position_noise_m=POSE_M, yaw_noise_rad=POSE_RAD)
    channels = [
        encoder_channel(way, Encoders(rate_hz=50.0), streams[0]),
        pose_channel(way, pose, streams[1]),
        Channel("imu", stamps, rate[:, None], ("gyro_z_radps",)),
    ]
    half = 0.5 * robot.track_m * turning
    grounds = np.column_stack([ahead - half, ahead + half])
    less = np.vectorize(slip_ratio, otypes=[float])(grounds, sides).min(axis=1)
    return StuckDrive(name, robot, DriveLog({c.name: c for c in channels}, about=name), _onset(way.time_s, less))


def _onset(time_s: np.ndarray, slip: np.ndarray) -> float:
    """When slip passes the limit for good: it is above, and so is its mean over any `LASTS_S` to come."""
    per = max(1, round(LASTS_S / float(np.median(np.diff(time_s)))))
    mean = np.convolve(slip, np.ones(per) / per, mode="valid")
    lasts = np.append(mean[::-1] <= STUCK, True).argmax()  # how many of the last means are all above
    first = len(mean) - int(lasts)
    above = np.flatnonzero(slip[first:] > STUCK)
    if not lasts or not len(above):
        raise ValueError(f"the robot does not get stuck: its slip ends at {mean[-1]:.2f}")
    return float(time_s[first + int(above[0])])
