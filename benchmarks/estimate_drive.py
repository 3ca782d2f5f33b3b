"""Slip filter on recordings of real robots, the pose withheld for 2 s: `python benchmarks/estimate_drive.py`, a minute.

DRIVE's recordings. A twin's rotation centres are fitted on odd calibration steps. On even ones the filter gets wheel speeds,
gyro, accelerometer and poses, but none in the last 2 s horizon of each step. How far off it is at the end of that horizon stands
beside ideal odometry, the twin without a filter, and the twin's way ahead along the gyro's heading. Medians of place (m) and
heading (rad). The filter runs forwards only: it never sees what comes later.
"""

import sys
from dataclasses import dataclass

import numpy as np

from real import Recording, robot_of
from slipfit.calibrate.ladder import fit_rung
from slipfit.calibrate.ladder.rungs import icr
from slipfit.estimate.clocks import find_delay
from slipfit.estimate.filter import FilterRun, run_filter
from slipfit.estimate.motion import Motion, sides
from slipfit.estimate.readings import Readings, readings_of
from slipfit.estimate.settings import FilterSettings
from slipfit.library import find_robot
from slipfit.vehicles.kinematic import IcrDrive, IdealDrive, along_arc, body_velocity
from slipfit.vehicles.slip_filter import N

SURFACES = {
    "husky": "test_husky",
    "asphalt": "warthog_wheels_asphalt",
    "gravel": "warthog_wheels_gravel_2024_8_6_11h37s32",
    "sand 1": "warthog_wheels_sand_2024_9_25_14h13s47",
    "sand 2": "warthog_wheels_sand_2024_9_25_14h32s32",
}

#: Lidar poses and a vibrating IMU, as robots of this size have them.
SETTINGS = FilterSettings(pose_m=0.05, pose_rad=0.01, gyro_radps=0.02, accel_mps2=1.0, correlation_s=5.0, slip_share=0.07)

MODELS = ("ideal odometry", "twin, no filter", "twin and gyro", "filter", "filter, centres")
STEP_S = 0.01


@dataclass(frozen=True, eq=False)
class Drift:
    """Medians over withheld horizons, by model: place (m) and heading (rad)."""

    surface: str
    windows: int
    late_s: float
    place_m: dict[str, float]
    heading_rad: dict[str, float]


def gone(time_s: np.ndarray, twist: np.ndarray, start_s: float, end_s: float) -> np.ndarray:
    """Where a body with these velocities is at the end, seen from where it was at the start."""
    count = max(1, round((end_s - start_s) / STEP_S))
    step = (end_s - start_s) / count
    middles = start_s + (np.arange(count) + 0.5) * step
    u, v, r = (np.interp(middles, time_s, column) for column in twist.T)
    pose = (0.0, 0.0, 0.0)
    for k in range(count):
        pose = along_arc(*pose, u[k], v[k], r[k], step)
    return np.array(pose)


def filtered(readings: Readings, motion: Motion, settings: FilterSettings, late_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and velocities of a forward run."""
    run: FilterRun = run_filter(readings, motion, settings, late_s={"pose": late_s})
    rows = run.events.is_report
    return run.events.time_s[rows], run.forward[rows, 2 * N : 2 * N + 3]


def measure(surface: str, settings: FilterSettings = SETTINGS) -> Drift:
    recording = Recording.read(SURFACES[surface])
    drive, robot = recording.drive, find_robot(robot_of(recording.name))
    windows, rims = drive.windows, drive.rims
    fit = fit_rung(icr(robot), rims, windows, recording.is_odd)
    twin = IcrDrive(*(fit.as_values()[name] for name in ("y_left_m", "y_right_m", "x_m", "gain_left", "gain_right")))
    is_last = np.array([not (windows.piece == p + 1).any() or p % 3 == 2 for p in windows.piece])
    tested = np.flatnonzero(windows.believed & ~recording.is_odd & is_last)
    truth = windows.moved
    log = drive.inspection.corrected
    motion = sides(robot.track_m, twin)
    readings = readings_of(log, robot, motion, settings)
    late = find_delay(readings, motion, settings).late_s
    spans = [(windows.pose_from_s[k] + 1e-6, windows.pose_to_s[k] + 1e-6) for k in tested]
    withheld = readings.without("pose", *spans)
    by_wheels = {name: np.column_stack(body_velocity(m, rims.left_mps, rims.right_mps)) for name, m in (
        ("ideal odometry", IdealDrive(robot.track_m)), ("twin, no filter", twin))}  # fmt: skip
    gyro = np.interp(rims.time_s, readings["gyro"].time_s, readings["gyro"].values[:, 0])
    by_wheels["twin and gyro"] = np.column_stack([by_wheels["twin, no filter"][:, :2], gyro])
    tracks = {name: (rims.time_s, twist) for name, twist in by_wheels.items()}
    tracks["filter"] = filtered(withheld, motion, settings, late)
    tracks["filter, centres"] = filtered(withheld, sides(robot.track_m, twin, formulation="centres"), settings, late)
    place, heading = {}, {}
    for name in MODELS:
        ends = np.array([gone(*tracks[name], windows.pose_from_s[k] - late, windows.pose_to_s[k] - late) for k in tested])
        apart = ends - truth[tested]
        place[name] = float(np.median(np.hypot(apart[:, 0], apart[:, 1])))
        heading[name] = float(np.median(np.abs(apart[:, 2])))
    return Drift(surface, len(tested), late, place, heading)


def main() -> int:
    print(f"{'place (m) / heading (rad) after 2 s':<36}" + "".join(f"{name:>18}" for name in MODELS))
    worse = 0
    for surface in sys.argv[1:] or SURFACES:
        drift = measure(surface)
        cells = "".join(f"{f'{drift.place_m[m]:.3f} / {drift.heading_rad[m]:.4f}':>18}" for m in MODELS)
        about = f"{surface}, {drift.windows} horizons, pose {drift.late_s:.2f} s late"
        print(f"{about:<36}{cells}", flush=True)
        worse += drift.place_m["filter"] > min(drift.place_m["ideal odometry"], drift.place_m["twin, no filter"])
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
