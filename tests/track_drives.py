"""Drives of tracked robots whose friction or soil is known, as logs with noisy sensors."""

import numpy as np

from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.simulation import simulate
from slipfit.simulation.track_kinematics import track_traction_n
from slipfit.vehicles.kinematic import along_arc
from tracks import climb

PACKBOT = find_robot("packbot")
NEWTON_PER_AMPERE = 20.0
POSE_M = POSE_RAD = 0.003

#: Straight, and on the spot to both sides, for so many seconds each: (m/s, rad/s, s).
TURNS = ((0.4, 0.0, 5.0), (0.0, 1.0, 5.0), (0.4, 0.0, 5.0), (0.0, -1.0, 5.0)) * 2


def log_of(time_s, pose, belts_mps, forces_n, seed=0):
    """What sprockets, a pose and motors would have said."""
    draw, radius = np.random.default_rng(seed), PACKBOT.tracks.sprocket_radius_m.value
    stamps = np.round(time_s * 1e9).astype(np.int64)
    told = {
        "encoders": (belts_mps / radius, ("left_speed_radps", "right_speed_radps")),
        "pose": (pose + draw.normal(size=pose.shape) * [POSE_M, POSE_M, POSE_RAD], ("x_m", "y_m", "yaw_rad")),
        "motors": (forces_n / NEWTON_PER_AMPERE + 0.1 * draw.normal(size=forces_n.shape), ("left_current_a", "right_current_a")),
    }
    return DriveLog({name: Channel(name, stamps, *entry) for name, entry in told.items()}, about="packbot with known ground")


def turning_log(mu, seed=0):
    """A PackBot on hard ground of this friction, by the simulator, one part of the drive after the other."""
    rows, start, (x, y, heading) = [], 0.0, (0.0, 0.0, 0.0)
    for speed, rate, duration in TURNS:
        t = simulate(PACKBOT, climb(mu_static=mu, speed_mps=speed, yaw_rate_radps=rate, duration_s=duration))
        c, s = np.cos(heading), np.sin(heading)
        ahead, aside = t["x_m"] - t["x_m"][0], t["y_m"] - t["y_m"][0]
        pose = np.column_stack([x + c * ahead - s * aside, y + s * ahead + c * aside, heading + t.heading_rad - t.heading_rad[0]])
        names = ("belt_left_mps", "belt_right_mps", "drive_left_n", "drive_right_n")
        rows.append(np.column_stack([start + t["time_s"], pose, *(t[name] for name in names)])[:-1])
        start, (x, y, heading) = start + float(t["time_s"][-1]), pose[-1]
    time_s, *_ = (whole := np.concatenate(rows)).T
    return log_of(time_s, whole[:, 1:4], whole[:, 4:6], whole[:, 6:8], seed)


def slipping_log(soil, *, area_m2, seed=0):
    """A PackBot that drives straight through soil at 0.3 m/s of its belts and slips more and more, as if it pulled a load; each
    belt pushes as Janosi's soil lets it under half of the weight, and loses what the robot's file says."""
    time_s = np.arange(0.0, 40.0, 0.02)
    slip = np.interp(time_s, [0.0, 2.0, 38.0, 40.0], [0.03, 0.03, 0.6, 0.6])
    belts = np.full((len(time_s), 2), 0.3)
    pose = np.zeros((len(time_s), 3))
    for k in range(len(time_s) - 1):
        pose[k + 1] = along_arc(*pose[k], 0.3 * (1.0 - 0.5 * (slip[k] + slip[k + 1])), 0.0, 0.0, 0.02)
    load = 0.5 * PACKBOT.mass_kg.value * 9.81
    push = track_traction_n(slip, **soil, load_n=load, area_m2=area_m2, length_m=PACKBOT.wheelbase_m)
    drive = PACKBOT.powertrain
    lost = drive.belt_loss_share.value * drive.belt_tension_n.value + drive.belt_loss_n_s_per_m.value * 0.3
    return log_of(time_s, pose, belts, np.column_stack([push + lost, push + lost]), seed)
