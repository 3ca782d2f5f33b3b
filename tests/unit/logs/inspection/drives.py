"""Simulated drives that inspection tests share, and what can go wrong with them."""

import itertools
from dataclasses import replace

import numpy as np

from slipfit.library import find_robot
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.scenario import standard_drive

COMMANDS = [
    {"for_s": 1.5, "v_mps": 0.0},
    {"for_s": 2.0, "v_mps": 0.2, "profile": "linear", "ramp_s": 0.5},
    {"for_s": 2.0, "v_mps": 1.0},
    {"for_s": 2.0, "v_mps": 0.0, "profile": "linear"},
    {"for_s": 4.0, "v_mps": 0.5, "yaw_rate_radps": 0.8, "profile": "quintic"},
    {"for_s": 4.0, "v_mps": 0.5, "yaw_rate_radps": -0.6, "profile": "quintic"},
    {"for_s": 1.5, "v_mps": 0.0, "profile": "linear"},
    {"for_s": 2.0, "v_mps": -0.6, "profile": "linear"},
    {"for_s": 1.5, "v_mps": 0.0, "profile": "linear"},
    {"for_s": 6.0, "yaw_rate_radps": 1.0, "profile": "quintic"},
    {"for_s": 2.0, "v_mps": 0.0},
]


def drive(robot="p3at", seed=0, commands=COMMANDS, **imu):
    """Speed steps, arcs to both sides, a reversal and a spin; sensors of the standard drive, some of the IMU's changed."""
    sensors = standard_drive().sensors.model_dump()
    sensors["imu"] |= imu
    data = {"schema": Scenario.kind(), "commands": commands, "sensors": sensors, "seed": seed}
    chosen = find_robot(robot) if isinstance(robot, str) else robot
    return simulate(chosen, Scenario.from_mapping(data, where="drive"))


def times(channel, factor, *columns):
    """A channel of a log with some columns (all, if none is named) multiplied."""

    def change(log, _):
        names = log[channel].columns
        factors = np.array([factor if not columns or name in columns else 1.0 for name in names])
        return log.having(replace(log[channel], values=log[channel].values * factors))

    return change


def late(channel):
    def change(log, draw):
        return log.having(replace(log[channel], stamps_ns=log[channel].stamps_ns + int(draw.uniform(-1.0, 1.0) * 1e9)))

    return change


def swap(log, _):
    wheels = log["encoders"]
    return log.having(replace(wheels, values=wheels.values[:, [1, 0, 3, 2]]))


def exchange(channel, first, second):
    """Two columns of a channel the other way round."""

    def change(log, _):
        names = list(log[channel].columns)
        a, b = names.index(first), names.index(second)
        names[a], names[b] = names[b], names[a]
        order = [log[channel].columns.index(name) for name in names]
        return log.having(replace(log[channel], values=log[channel].values[:, order]))

    return change


def halve_pose(log, _):
    pose = log["pose"]
    return log.having(replace(pose, stamps_ns=pose.stamps_ns[::2], values=pose.values[::2]))


def both_yaws(log, draw):
    return MUTILATIONS["yaw of pose"][0](MUTILATIONS["yaw of gyro"][0](log, draw), draw)


_ACCEL = ("accel_x_mps2", "accel_y_mps2", "accel_z_mps2")
_GYRO = ("gyro_x_radps", "gyro_y_radps", "gyro_z_radps")

#: What is done to a log, and (channel, kind) of the findings that must name it.
MUTILATIONS = {
    "yaw of gyro": (times("imu", -1.0, "gyro_z_radps"), [("imu", "yaw sign")]),
    "yaw of pose": (times("pose", -1.0, "yaw_rad"), [("pose", "yaw sign")]),
    "both yaws": (both_yaws, [("imu", "yaw sign"), ("pose", "yaw sign")]),
    "sides": (swap, [("encoders", "swapped sides")]),
    "clock of imu": (late("imu"), [("imu", "clock offset")]),
    "clock of pose": (late("pose"), [("pose", "clock offset")]),
    "gyro in deg/s": (times("imu", 180.0 / np.pi, *_GYRO), [("imu", "unit")]),
    "wheels in deg": (times("encoders", 180.0 / np.pi), [("encoders", "unit")]),
    "wheels in turns": (times("encoders", 0.5 / np.pi), [("encoders", "unit")]),
    "pose in mm": (times("pose", 1000.0, "x_m", "y_m"), [("pose", "unit")]),
    "pose in cm": (times("pose", 100.0, "x_m", "y_m"), [("pose", "unit")]),
    "yaw in deg": (times("pose", 180.0 / np.pi, "yaw_rad"), [("pose", "unit")]),
    "accel in g": (times("imu", 1.0 / 9.80665, *_ACCEL), [("imu", "unit")]),
    "accel in mm/s²": (times("imu", 1000.0, *_ACCEL), [("imu", "unit")]),
    "accel_x": (times("imu", -1.0, "accel_x_mps2"), [("imu", "flipped accel_x")]),
    "accel_y": (times("imu", -1.0, "accel_y_mps2"), [("imu", "flipped accel_y")]),
    "wheels backward": (times("encoders", -1.0), [("encoders", "reversed direction")]),
    "left backward": (times("encoders", -1.0, "wheel_angle_0_rad", "wheel_angle_2_rad"), [("encoders", "one side reversed")]),
    "axes of accel": (exchange("imu", "accel_x_mps2", "accel_y_mps2"), [("imu", "swapped axes")]),
    "axes of pose": (exchange("pose", "x_m", "y_m"), [("pose", "swapped axes")]),
    "half the poses": (halve_pose, [("pose", "rate")]),
}

#: Pairs that are one other mutilation: two units of one number; a path with x and y exchanged and a yaw that runs backward is
#: a mirrored one, turned by a quarter.
ONE_NUMBER = ({"pose in mm", "pose in cm"}, {"wheels in deg", "wheels in turns"}, {"accel in g", "accel in mm/s²"},
              {"yaw of gyro", "both yaws"}, {"yaw of pose", "both yaws"},
              {"yaw of pose", "axes of pose"}, {"both yaws", "axes of pose"})  # fmt: skip

#: Pairs that act on the same quantity, each in its own way.
SAME_QUANTITY = [
    ("yaw of gyro", "gyro in deg/s"), ("yaw of gyro", "clock of imu"), ("yaw of gyro", "sides"),
    ("sides", "wheels backward"), ("sides", "left backward"), ("wheels backward", "left backward"),
    ("wheels in deg", "sides"), ("wheels in turns", "left backward"), ("wheels in deg", "wheels backward"),
    ("accel in g", "accel_x"), ("accel in mm/s²", "accel_y"), ("accel_x", "accel_y"), ("accel_x", "wheels backward"),
    ("yaw of pose", "yaw in deg"), ("pose in mm", "yaw in deg"), ("yaw in deg", "half the poses"), ("yaw of pose", "sides"),
    ("accel_x", "axes of accel"), ("axes of accel", "accel in g"), ("axes of accel", "sides"), ("axes of pose", "pose in mm"),
    ("axes of accel", "axes of pose"),
]  # fmt: skip


def every_pair(without=()):
    """Pairs of mutilations that are not one other; none of those of a sensor that is not there."""
    there = [name for name, (_, found) in MUTILATIONS.items() if not any(channel in without for channel, _ in found)]
    return [pair for pair in itertools.combinations(there, 2) if not any(set(pair) <= same for same in ONE_NUMBER)]


def cases(without=(), count=40, seed=1):
    """Every mutilation alone, pairs on the same quantity, then random pairs up to a number of cases."""
    pairs = every_pair(without)
    there = dict.fromkeys(name for pair in pairs for name in pair)
    chosen = [(name,) for name in there] + [pair for pair in SAME_QUANTITY if set(pair) <= set(there)]
    others = [pair for pair in pairs if set(pair) not in map(set, chosen)]
    drawn = np.random.default_rng(seed).permutation(len(others))[: max(0, count - len(chosen))]
    return chosen + [others[k] for k in drawn]


def mirrored(log):
    """The drive of the robot's mirror image: left is right, yaw and everything to the left change their sign."""
    return _changed(swap(log, None), imu={"gyro_z_radps", "gyro_x_radps", "accel_y_mps2"}, pose={"y_m", "yaw_rad"})


def turned(log):
    """The same drive, with the robot's rear called its front."""
    log = _changed(times("encoders", -1.0)(swap(log, None), None), imu={"accel_x_mps2", "accel_y_mps2"})
    if "pose" not in log:
        return log
    values = log["pose"].values.copy()
    values[:, 2] += np.pi
    return log.having(replace(log["pose"], values=values))


def _changed(log, **negative):
    for channel, columns in negative.items():
        log = times(channel, -1.0, *columns)(log, None) if channel in log else log
    return log
