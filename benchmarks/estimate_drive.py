"""Slip filter on recordings of real robots, the pose withheld for 2 s: `python benchmarks/estimate_drive.py`, some minutes.

DRIVE's recordings. A twin's rotation centres are fitted on odd calibration steps. On even ones the filter gets wheel speeds,
gyro, accelerometer and poses, but none in the last 2 s horizon of each step. How far off it is at the end of that horizon stands
beside ideal odometry, the twin without a filter, and the twin's way ahead along the gyro's heading. Medians of place (m) and
heading (rad). The filter runs forwards only: it never sees what comes later.

How fast slip moves is a choice, and no recording may choose for itself: `filter` has the settings that did best on the other
surfaces (all recordings of a surface are held out together), `filter, default` what slipfit comes with.
"""

import sys
from dataclasses import dataclass, replace

import numpy as np

from real import Recording, robot_of
from slipfit.calibration.ladder import fit_rung
from slipfit.calibration.ladder.rungs import icr
from slipfit.estimation.clocks import find_delay
from slipfit.estimation.filter import run_filter
from slipfit.estimation.motion import sides
from slipfit.estimation.readings import Readings, readings_of
from slipfit.estimation.settings import FilterSettings
from slipfit.library import find_robot
from slipfit.logs.rims import Rims
from slipfit.vehicles.kinematic import IcrDrive, IdealDrive, along_arc, body_velocity
from slipfit.vehicles.slip_filter import N

SURFACES = {
    "husky": "test_husky",
    "asphalt": "warthog_wheels_asphalt",
    "gravel": "warthog_wheels_gravel_2024_8_6_11h37s32",
    "sand 1": "warthog_wheels_sand_2024_9_25_14h13s47",
    "sand 2": "warthog_wheels_sand_2024_9_25_14h32s32",
}

#: Lidar poses and a vibrating IMU, as robots of this size have them; how slip moves is as slipfit has it.
SETTINGS = FilterSettings(pose_m=0.05, pose_rad=0.01, gyro_radps=0.02, accel_mps2=1.0, correlation_s=5.0)

#: What is tried: noise of slip (a share of the speed per root of a second), and seconds until it is what the twin expects.
SHARES, CORRELATIONS_S = (0.02, 0.035, 0.07, 0.14, 0.28), (2.0, 5.0, 20.0)
TRIED = tuple(replace(SETTINGS, slip_share=b, correlation_s=t) for b in SHARES for t in CORRELATIONS_S)

MODELS = ("ideal odometry", "twin, no filter", "twin and gyro", "filter", "filter, default", "filter, centres")
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


@dataclass(frozen=True, eq=False)
class Withheld:
    """A recording whose poses are withheld at the end of each even step, and what is judged there."""

    surface: str
    drive: IcrDrive
    track_m: float
    rims: Rims
    readings: Readings
    late_s: float
    spans_s: np.ndarray  # (k, 2) withheld horizons
    truth: np.ndarray  # (k, 3) where the body went in them

    @classmethod
    def of(cls, surface: str) -> "Withheld":
        recording = Recording.read(SURFACES[surface])
        drive, robot = recording.drive, find_robot(robot_of(recording.name))
        windows = drive.windows
        fit = fit_rung(icr(robot), drive.rims, windows, recording.is_odd)
        twin = IcrDrive(*(fit.as_values()[name] for name in ("y_left_m", "y_right_m", "x_m", "gain_left", "gain_right")))
        is_last = np.array([not (windows.piece == p + 1).any() or p % 3 == 2 for p in windows.piece])
        tested = np.flatnonzero(windows.believed & ~recording.is_odd & is_last)
        motion = sides(robot.track_m, twin)
        readings = readings_of(drive.inspection.corrected, robot, motion, SETTINGS)
        late = find_delay(readings, motion, SETTINGS).late_s
        spans = np.column_stack([windows.pose_from_s[tested], windows.pose_to_s[tested]])
        withheld = readings.without("pose", *(spans + 1e-6).tolist())
        return cls(surface, twin, robot.track_m, drive.rims, withheld, late, spans - late, windows.moved[tested])

    def filtered(self, settings: FilterSettings, formulation: str = "slip") -> tuple[np.ndarray, np.ndarray]:
        """Times and velocities of a forward run."""
        motion = sides(self.track_m, self.drive, formulation=formulation)
        run = run_filter(self.readings, motion, settings, late_s={"pose": self.late_s})
        rows = run.events.is_report
        return run.events.time_s[rows], run.forward[rows, 2 * N : 2 * N + 3]

    def by_wheels(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Velocities without a filter."""
        models = (("ideal odometry", IdealDrive(self.track_m)), ("twin, no filter", self.drive))
        found = {name: np.column_stack(body_velocity(m, self.rims.left_mps, self.rims.right_mps)) for name, m in models}
        gyro = np.interp(self.rims.time_s, self.readings["gyro"].time_s, self.readings["gyro"].values[:, 0])
        found["twin and gyro"] = np.column_stack([found["twin, no filter"][:, :2], gyro])
        return {name: (self.rims.time_s, twist) for name, twist in found.items()}

    def off(self, time_s: np.ndarray, twist: np.ndarray) -> tuple[float, float]:
        """Median errors of place (m) and heading (rad) at the end of the horizons."""
        apart = np.array([gone(time_s, twist, *span) for span in self.spans_s]) - self.truth
        return float(np.median(np.hypot(apart[:, 0], apart[:, 1]))), float(np.median(np.abs(apart[:, 2])))


def chosen(surface: str, tried: dict[str, np.ndarray]) -> FilterSettings:
    """The settings with the smallest drift on other surfaces, by the mean of its logarithm over them."""
    others: dict[str, list[np.ndarray]] = {}
    for name, drifts in tried.items():
        if kind_of(name) != kind_of(surface):
            others.setdefault(kind_of(name), []).append(np.log(drifts))
    return TRIED[int(np.mean([np.mean(drifts, axis=0) for drifts in others.values()], axis=0).argmin())]


def kind_of(surface: str) -> str:
    return surface.split()[0]


def measure(recording: Withheld, settings: FilterSettings) -> Drift:
    """All models on one recording; `settings` are the filter's, chosen elsewhere."""
    tracks = recording.by_wheels()
    tracks["filter"] = recording.filtered(settings)
    tracks["filter, default"] = recording.filtered(SETTINGS)
    tracks["filter, centres"] = recording.filtered(SETTINGS, "centres")
    found = {name: recording.off(*tracks[name]) for name in MODELS}
    place, heading = ({name: pair[k] for name, pair in found.items()} for k in (0, 1))
    return Drift(recording.surface, len(recording.spans_s), recording.late_s, place, heading)


def main() -> int:
    recordings = {surface: Withheld.of(surface) for surface in SURFACES}
    tried = {name: np.array([r.off(*r.filtered(s))[0] for s in TRIED]) for name, r in recordings.items()}
    print(f"{'place (m) / heading (rad) after 2 s':<40}" + "".join(f"{name:>18}" for name in MODELS))
    worse = 0
    for surface, recording in recordings.items():
        settings = chosen(surface, tried)
        drift = measure(recording, settings)
        cells = "".join(f"{f'{drift.place_m[m]:.3f} / {drift.heading_rad[m]:.4f}':>18}" for m in MODELS)
        print(f"{f'{surface}, {drift.windows} horizons, pose {drift.late_s:.2f} s late':<40}{cells}")
        said = f"share {settings.slip_share:g}, correlation {settings.correlation_s:g} s"
        best = TRIED[int(tried[surface].argmin())]
        own = f"its own best would be {best.slip_share:g}, {best.correlation_s:g} s: {tried[surface].min():.3f} m"
        print(f"    chosen on other surfaces: {said}; {own}", flush=True)
        worse += drift.place_m["filter"] > min(drift.place_m["ideal odometry"], drift.place_m["twin, no filter"])
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
