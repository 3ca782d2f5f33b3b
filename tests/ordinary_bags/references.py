"""Poses that do not depend on the wheels: motion capture, lidar, AMCL, the simulator's truth, GNSS."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from ordinary_bags.cases import Case, PoseSource
from ordinary_bags.drives import Motion, ticks

#: AMCL updates after this distance or rotation (update_min_d, update_min_a of nav2), and takes so long for it.
AMCL_DISTANCE_M, AMCL_ROTATION_RAD, AMCL_SCAN_HZ, AMCL_COMPUTING_S = 0.25, 0.2, 10.0, 0.04

#: Errors of AMCL in a good map: standard deviations, of which most persists from update to update.
AMCL_POSITION_M, AMCL_YAW_RAD, AMCL_MEMORY = 0.03, 0.012, 0.8

#: Correlation time of slowly varying errors of scan matching (s), and heading error per meter of position error.
DRIFT_S, DRIFT_RAD_PER_M = 6.0, 0.4


@dataclass(frozen=True, eq=False)
class Observed:
    """Poses x, y, yaw of the tracked frame in the sensor's world, with stamps and times of arrival."""

    stamp_s: np.ndarray
    arrival_s: np.ndarray
    pose: np.ndarray
    speed: np.ndarray  # vx, vy, yaw rate of the base


def composed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Planar poses a ∘ b, row by row."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    x = a[..., 0] + c * b[..., 0] - s * b[..., 1]
    y = a[..., 1] + s * b[..., 0] + c * b[..., 1]
    return np.stack([x, y, a[..., 2] + b[..., 2]], axis=-1)


def inverse(a: np.ndarray) -> np.ndarray:
    """Inverse of planar poses, row by row."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    return np.stack([-c * a[..., 0] - s * a[..., 1], s * a[..., 0] - c * a[..., 1], -a[..., 2]], axis=-1)


def observe(case: Case, motion: Motion, source: PoseSource) -> Observed:
    """What a pose source publishes."""
    if source.sensor == "amcl":
        return amcl(case, motion)
    draw = np.random.default_rng([case.seed, 5, crc32(source.topic.encode())])
    time_s = ticks(case, source.topic, source.rate_hz)
    true = motion.pose_at(time_s)
    world = draw.uniform([-6.0, -6.0, -3.1], [6.0, 6.0, 3.1]) * (source.sensor != "simulator")
    pose = composed(world, composed(true, np.array([*source.offset_m, source.yaw_offset_rad])))
    pose[:, :2] += source.position_noise_m * draw.standard_normal((len(time_s), 2))
    pose[:, 2] += source.yaw_noise_rad * draw.standard_normal(len(time_s))
    if source.drift_m > 0.0:
        pose += _slow(time_s, source.drift_m, draw)
    pose[:, :2] += _jumps(time_s, source.jumps, draw)
    if not source.has_heading:
        pose[:, 2] = 0.0
    lag_s = source.latency_s * draw.uniform(0.9, 1.1, len(time_s))
    stamp_s = time_s + source.latency_s if source.is_stamped_on_arrival else time_s
    speed = np.column_stack(motion.at(time_s, "vx_mps", "vy_mps", "yaw_rate_radps"))
    speed += source.position_noise_m * draw.standard_normal(speed.shape)
    return Observed(stamp_s, np.maximum(time_s + lag_s, stamp_s), pose, speed)


def amcl(case: Case, motion: Motion) -> Observed:
    """AMCL's poses: at a lidar scan, once the robot has moved or turned enough since the last one; the first at rest."""
    draw = np.random.default_rng([case.seed, 6])
    scans_s = ticks(case, "lidar", AMCL_SCAN_HZ)
    true = motion.pose_at(scans_s)
    chosen, last = [0], true[0]
    for k, pose in enumerate(true):
        if np.hypot(*(pose - last)[:2]) > AMCL_DISTANCE_M or abs(pose[2] - last[2]) > AMCL_ROTATION_RAD:
            chosen.append(k)
            last = pose
    time_s = scans_s[chosen]
    std = np.array([AMCL_POSITION_M, AMCL_POSITION_M, AMCL_YAW_RAD])
    fresh = draw.standard_normal((len(chosen), 3)) * std
    error = np.empty_like(fresh)
    error[0] = fresh[0]
    for k in range(1, len(chosen)):
        error[k] = AMCL_MEMORY * error[k - 1] + np.sqrt(1.0 - AMCL_MEMORY**2) * fresh[k]
    world = draw.uniform([-10.0, -10.0, -3.1], [10.0, 10.0, 3.1])
    pose = composed(world, true[chosen]) + error
    return Observed(time_s, time_s + AMCL_COMPUTING_S, pose, np.zeros((len(chosen), 3)))


def _slow(time_s: np.ndarray, std_m: float, draw: np.random.Generator) -> np.ndarray:
    """Errors of x, y, yaw that wander with a correlation time."""
    keep = np.exp(-(time_s[1] - time_s[0]) / DRIFT_S)
    fresh = draw.standard_normal((len(time_s), 3)) * np.array([1.0, 1.0, DRIFT_RAD_PER_M]) * std_m
    out = np.empty_like(fresh)
    out[0] = fresh[0]
    for k in range(1, len(out)):
        out[k] = keep * out[k - 1] + np.sqrt(1.0 - keep**2) * fresh[k]
    return out


def _jumps(time_s: np.ndarray, count: int, draw: np.random.Generator) -> np.ndarray:
    """Wrong matches of 0.1 to 0.3 m that last for a part of a second up to a few seconds."""
    out = np.zeros((len(time_s), 2))
    for _ in range(count):
        start_s, for_s = draw.uniform(0.1, 0.9) * time_s[-1], draw.uniform(0.2, 3.0)
        size, direction = draw.uniform(0.1, 0.3), draw.uniform(-np.pi, np.pi)
        during = (time_s >= start_s) & (time_s < start_s + for_s)
        out[during] += size * np.array([np.cos(direction), np.sin(direction)])
    return out
