"""What a run tells: how far it went from the twin, the two tests' constants, and how its contacts and its rest were.

    c_lat / c_long from the steady end of the spin: `calibrate.spin_test.ratio_from_spin`, with the wheel speeds that were reached
    c_long = n ∫ (w - v) dt / (m ∫ w dv)  over the speed step

Symbols    w, v speed of rims and body · n wheels · m mass
Reference  [Trimble2022] eqs. (2), (3); c_long by integrating m a = sum F = n (w - v) / (c w)
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from slipfit.calibrate.replay import replay
from slipfit.calibrate.spin_test import SpinGeometry, ratio_from_spin
from slipfit.engines import EngineRun
from slipfit.library import Ground, Robot
from slipfit.verify.manoeuvres import REST_S, Manoeuvre

#: Steady end of a spin (s).
STEADY_S = 1.5

#: Harmonics of the heading that a yaw rate is looked over for: slip axes fixed in the world make the second.
HARMONICS = (1, 2)


@dataclass(frozen=True, eq=False, slots=True)
class Paths:
    """Twin and engine side by side, from a common start; (T,) each."""

    time_s: np.ndarray
    twin_m: np.ndarray  # (T, 2)
    twin_rad: np.ndarray
    engine_m: np.ndarray
    engine_rad: np.ndarray

    @property
    def apart_m(self) -> np.ndarray:
        return np.asarray(np.linalg.norm(self.engine_m - self.twin_m, axis=1))

    @property
    def turned_apart_rad(self) -> np.ndarray:
        return np.asarray(self.engine_rad - self.twin_rad)

    @property
    def distance_m(self) -> float:
        """Way of the twin."""
        return float(np.linalg.norm(np.diff(self.twin_m, axis=0), axis=1).sum())


@dataclass(frozen=True, slots=True)
class Apart:
    """How far an engine's robot is from the twin's at worst, over a drive."""

    distance_m: float  # way of the twin
    apart_m: float
    share: float  # of the way
    heading_deg: float

    @classmethod
    def of(cls, paths: Paths) -> "Apart":
        apart = float(paths.apart_m.max())
        turned = float(np.degrees(np.abs(paths.turned_apart_rad)).max())
        way = paths.distance_m
        return cls(way, apart, apart / way if way > 0.0 else float("nan"), turned)

    def text(self) -> str:
        """0.02 % of 8.1 m and 0.04°."""
        return f"{100.0 * self.share:.2f} % of {self.distance_m:.3g} m and {self.heading_deg:.2f}°"

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def paths(drive: Manoeuvre, run: EngineRun, robot: Robot, ground: Ground, *, reached: bool) -> Paths:
    """Both paths. With `reached` the twin turns its wheels as the engine's turned, whose servos may be soft."""
    theirs, ours = run.trajectory(), drive.motion
    time_s = np.asarray(ours.time_s)
    at = np.column_stack([ours.x_m, ours.y_m, ours.heading_rad])
    if reached:
        speeds = np.column_stack([np.interp(time_s[1:], run.time_s, column) for column in run.wheel_speed_radps.T])
        place = drive.scenario.ground
        slope = {"slope_rad": np.array([place.slope_rad]), "uphill_rad": np.array([place.uphill_rad])}
        at = replay(robot, ground, speeds).whole(slope)[:, :3]
    columns = (theirs.x_m, theirs.y_m, theirs.heading_rad)
    x, y, heading = (np.interp(time_s, theirs.time_s, column - column[0]) for column in columns)
    # The engine's robot may have been turned at the start: back into the twin's axes.
    c, s = np.cos(theirs.heading_rad[0]), np.sin(theirs.heading_rad[0])
    engine = np.column_stack([c * x + s * y, c * y - s * x])
    return Paths(time_s, at[:, :2], at[:, 2] - at[0, 2], engine, heading)


def is_whole(run: EngineRun) -> bool:
    """Whether the numbers stayed finite."""
    return bool(np.isfinite(run.position_m).all() and np.isfinite(run.wheel_speed_radps).all())


def reached_speed(run: EngineRun, last_s: float = STEADY_S) -> float:
    """Mean speed of wheels at the end (rad/s), each counted positive."""
    return float(np.abs(run.wheel_speed_radps[run.steady(last_s)]).mean())


def spin_rates(run: EngineRun, robot: Robot) -> tuple[float, float]:
    """Yaw rate that the rims ask for, and the robot's, over the steady end."""
    last = run.steady(STEADY_S)
    asked = reached_speed(run) * robot.wheels.radius_m.value / (0.5 * robot.track_m)
    turned = run.heading_rad[last]
    return asked, float(turned[-1] - turned[0]) / float(run.time_s[last][-1] - run.time_s[last][0])


def spin_reading(run: EngineRun, robot: Robot, c_long_per_n: float, half_width_m: float = 0.0) -> float:
    """c_lat / c_long by eq. 3; `half_width_m` for wheels that stand on both edges."""
    asked, rate = spin_rates(run, robot)
    return ratio_from_spin(asked, rate, SpinGeometry.of(robot, half_width_m), c_long_per_n=c_long_per_n)


def step_reading(run: EngineRun, robot: Robot) -> float:
    """c_long of the speed step (1/N)."""
    motion = run.trajectory()
    after = motion.time_s >= REST_S + 0.5
    v = motion.vx_mps[after]
    rim = motion.wheel_speed_radps[after].mean(axis=1) * robot.wheels.radius_m.value
    # Rims and body are known at the ends of steps; both sums take the means of steps.
    slipped = float(np.sum(0.5 * ((rim - v)[1:] + (rim - v)[:-1]))) * run.step_s
    pushed = float(np.sum(0.5 * (rim[1:] + rim[:-1]) * np.diff(v))) * robot.mass_kg.value
    return len(robot.wheels.at_m.value) * slipped / pushed if pushed else float("nan")


def rate_by_heading(run: EngineRun) -> float:
    """How much the yaw rate of the spin swings with the heading, over its mean: amplitude of the harmonics over a whole turn."""
    turned = run.heading_rad - run.heading_rad[-1]
    # Of the last whole turn; of a spin that did not get that far, the second half.
    last = turned > -2.0 * np.pi if turned[0] < -2.0 * np.pi else run.time_s > 0.5 * run.time_s[-1]
    rate, heading = run.yaw_rate_radps[last], run.heading_rad[last]
    columns = [np.ones_like(heading)] + [f(k * heading) for k in HARMONICS for f in (np.cos, np.sin)]
    fitted, *_ = np.linalg.lstsq(np.column_stack(columns), rate, rcond=None)
    return float(np.hypot(fitted[1::2], fitted[2::2]).max() / max(abs(fitted[0]), 1e-9))


@dataclass(frozen=True, slots=True)
class Rest:
    """A robot that stands: drift, loads against statics, sinkage and contacts."""

    drift_mps: float
    worst_load_share: float  # of the twin's load
    loads_n: tuple[float, ...]
    sinkage_m: float
    contacts: float  # mean of all wheels

    def to_document(self) -> dict[str, Any]:
        return {**asdict(self), "loads_n": list(self.loads_n)}


def rest(run: EngineRun, drive: Manoeuvre) -> Rest:
    """The stretch before a manoeuvre begins."""
    still = run.time_s <= 0.95 * REST_S
    moved = run.position_m[still][-1, :2] - run.position_m[still][0, :2]
    later = still & (run.time_s > 0.3 * REST_S)
    loads = np.nanmean(run.normal_n[later], axis=0)
    known = np.asarray(drive.motion.load_n[0])
    return Rest(
        drift_mps=float(np.linalg.norm(moved)) / (0.95 * REST_S),
        worst_load_share=float(np.abs(loads / known - 1.0).max()),
        loads_n=tuple(float(load) for load in loads),
        sinkage_m=float(np.nanmean(run.sinkage_m[later])),
        contacts=float(run.contacts[later].mean()),
    )
