"""Drives whose effective track, gain and errors are known, ready for a ladder; no simulator, no kernels."""

import numpy as np

from slipfit.calibration.ladder import Drive, Ladder, Scored, fit_rung
from slipfit.calibration.ladder.contact_rungs import ContactRung
from slipfit.calibration.ladder.fit import FittedRung
from slipfit.calibration.ladder.rungs import track_and_gain
from slipfit.calibration.ladder.windows import windows_of
from slipfit.library import find_robot
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU, IMU_COLUMNS, POSE, POSE_COLUMNS
from slipfit.logs.drive_log import Channel
from slipfit.logs.inspection import Inspection
from slipfit.logs.rims import GRID_S, Rims

HORIZON_S = 2.0


def known_drive(track_m, gain, *, pieces=150, seed=1, turn_error=0.0, way_error=0.0, digest="ab" * 32, has_pose=True, turns=True):
    """Steady pieces as long as the horizon; in each the robot turns and goes by other shares too far (standard deviations)."""
    random = np.random.default_rng(seed)
    per = round(HORIZON_S / GRID_S)
    speed, rate = random.uniform(-1.0, 1.0, pieces), random.uniform(-0.5, 0.5, pieces)
    rate[::3], speed[1::3] = 0.0, 0.0  # straight, on the spot, curves
    if not turns:
        rate[:] = 0.0
    u, r = np.repeat(speed, per), np.repeat(rate, per)
    left, right = (u - 0.5 * track_m * r) / gain, (u + 0.5 * track_m * r) / gain
    u = u * (1.0 + np.repeat(way_error * random.standard_normal(pieces), per))
    r = r * (1.0 + np.repeat(turn_error * random.standard_normal(pieces), per))
    u, r = np.append(u, u[-1]), np.append(r, r[-1])
    ahead, turn = (0.5 * (rate[1:] + rate[:-1]) * GRID_S for rate in (u, r))  # joined by lines, as sensors are read
    heading = np.concatenate([[0.0], np.cumsum(turn)])
    middle = heading[:-1] + 0.5 * turn
    x, y = (np.concatenate([[0.0], np.cumsum(ahead * of(middle))]) for of in (np.cos, np.sin))
    stamps = np.round(np.arange(len(x)) * GRID_S * 1e9).astype(np.int64)
    imu = np.zeros((len(x), len(IMU_COLUMNS)))
    imu[:, IMU_COLUMNS.index("gyro_z_radps")] = r
    channels = {IMU: Channel(IMU, stamps, imu, IMU_COLUMNS)}
    if has_pose:
        channels[POSE] = Channel(POSE, stamps, np.column_stack([x, y, heading]), POSE_COLUMNS)
    log = DriveLog(channels, source="known.csv", digest=digest)
    rims = Rims(0, np.append(left, left[-1]), np.append(right, right[-1]))
    return Drive("known.csv", digest, rims, windows_of(log, rims, horizon_s=HORIZON_S), Inspection(log, log, (), ("yaw sign",)))


def scored_track_and_gain(drive, robot):
    fit = fit_rung(track_and_gain(robot), drive.rims, drive.windows)
    count = int((drive.windows.whole & drive.windows.is_trusted).sum())
    return Scored(fit, np.zeros(count), np.zeros(count))


def law_fit(robot, log_values, log_std=0.1, correlation=0.5):
    """A fit of wheel_slip's rung that found these logarithms."""
    rung = ContactRung(robot, "wheel_slip")
    values = np.array([log_values.get(u.name, u.start) for u in rung.unknowns])
    covariance = np.diag(np.full(len(values), log_std**2))
    covariance[0, 1] = covariance[1, 0] = correlation * log_std**2
    return FittedRung(rung, rung.unknowns, values, covariance, np.ones((4, 3)), 20, 100)


def known_ladder(drive, robot="husky", log_values=None, **law):
    robot = find_robot(robot)
    plain = scored_track_and_gain(drive, robot)
    contact = Scored(law_fit(robot, log_values or {}, **law), plain.place_m, plain.heading_rad)
    return Ladder(robot, drive, HORIZON_S, (plain, contact), contact, plain, np.zeros(len(plain.place_m)))
