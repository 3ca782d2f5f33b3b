"""What a run tells: how far it went from the twin, the two tests' constants, and how its contacts and its rest were.

    c_lat / c_long from the steady end of the spin: `calibrate.spin_test.ratio_from_spin`, with the wheel speeds that were reached
    c_long = n ∫ (w - v) dt / (m ∫ w dv)  over the speed step

Symbols    w, v speed of rims and body · n wheels · m mass
Reference  [Trimble2022] eqs. (2), (3); c_long by integrating m a = sum F = n (w - v) / (c w)
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from slipfit.calibration.replay import replay
from slipfit.calibration.spin_test import SpinGeometry, ratio_from_spin
from slipfit.engines import EngineRun
from slipfit.library import Ground, SkidSteerRobot
from slipfit.simulation import Trajectory
from slipfit.verification.manoeuvres import REST_S, SPIN_RADPS, Manoeuvre

#: Steady end of a spin (s).
STEADY_S = 1.5

#: A spin is steady when its yaw rate stays within this share over that end, is above this rate (a twentieth of what is asked
#: for), and motors give all they have for less than this share of the time.
STEADY_SHARE, LEAST_SPIN_RADPS, LIMIT_SHARE = 0.01, 0.05 * SPIN_RADPS, 0.1

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


def paths(drive: Manoeuvre, run: EngineRun, robot: SkidSteerRobot, ground: Ground, *, reached: bool) -> Paths:
    """Both paths, of the twin's origin. With `reached` the twin's wheels turn as the engine's did, whose servos may be soft."""
    theirs, ours = run.trajectory(robot), drive.motion
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


def steady_end(run: EngineRun | Trajectory, last_s: float = STEADY_S) -> slice:
    """Records of the last so many seconds."""
    return slice(int(np.searchsorted(run.time_s, run.time_s[-1] - last_s)), None)


def spin_rates(run: EngineRun | Trajectory, robot: SkidSteerRobot) -> tuple[float, float]:
    """Yaw rate that the rims ask for, and the robot's, over the steady end."""
    last = steady_end(run)
    reached_radps = float(np.abs(run.wheel_speed_radps[last]).mean())
    asked = reached_radps * robot.wheels.radius_m.value / (0.5 * robot.track_m)
    turned = run.heading_rad[last]
    return asked, float(turned[-1] - turned[0]) / float(run.time_s[last][-1] - run.time_s[last][0])


def is_steady_spin(motion: Trajectory) -> bool:
    """Whether a twin's spin ends at a rate that stays, with motors below their limit: only then eq. 3 has something to read."""
    last = steady_end(motion)
    rate = np.asarray(motion.yaw_rate_radps[last])
    at_limit = (np.abs(motion.effort[last]) >= motion.effort_limit * (1.0 - 1e-9)).any(axis=1)
    mean = abs(float(rate.mean()))
    return bool(mean > LEAST_SPIN_RADPS and np.ptp(rate) <= STEADY_SHARE * mean and at_limit.mean() < LIMIT_SHARE)


def spin_reading(run: EngineRun | Trajectory, robot: SkidSteerRobot, c_long_per_n: float, half_width_m: float = 0.0) -> float:
    """What eq. 3 says for c_lat / c_long, of an engine's spin or of the twin's own; `half_width_m` for wheels on both edges.

    Where Coulomb's limit is reached it says something else than c_lat / c_long, but the same for the same motion.
    """
    asked, rate = spin_rates(run, robot)
    return ratio_from_spin(asked, rate, SpinGeometry.of(robot, half_width_m), c_long_per_n=c_long_per_n)


def step_reading(run: EngineRun | Trajectory, robot: SkidSteerRobot) -> float:
    """What the speed step says for c_long (1/N), of an engine's run or of the twin's own.

    Where Coulomb's limit is reached it says something else, but the same for the same motion. NaN where nothing speeds up.
    """
    motion = run.trajectory(robot) if isinstance(run, EngineRun) else run
    after = motion.time_s >= REST_S + 0.5
    v = motion.vx_mps[after]
    rim = motion.wheel_speed_radps[after].mean(axis=1) * robot.wheels.radius_m.value
    # Rims and body are known at the ends of steps; both sums take the means of steps.
    slipped = float(np.sum(0.5 * ((rim - v)[1:] + (rim - v)[:-1]))) * float(motion.time_s[1] - motion.time_s[0])
    pushed = float(np.sum(0.5 * (rim[1:] + rim[:-1]) * np.diff(v))) * robot.mass_kg.value
    return len(robot.wheels.at_m.value) * slipped / pushed if pushed else float("nan")


def rate_by_heading(run: EngineRun | Trajectory) -> float:
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
    worst_load_share: float  # of what is determined, see `load_share`
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
    has_springs = run.settings.kp_n_per_m is not None
    return Rest(
        drift_mps=float(np.linalg.norm(moved)) / (0.95 * REST_S),
        worst_load_share=load_share(loads, np.asarray(drive.motion.load_n[0]), run.wheels_at_m[:, :2], has_springs=has_springs),
        loads_n=tuple(float(load) for load in loads),
        sinkage_m=float(np.nanmean(run.sinkage_m[later])),
        contacts=float(run.contacts[later].mean()),
    )


def load_share(loads_n: np.ndarray, twin_n: np.ndarray, at_m: np.ndarray, *, has_springs: bool) -> float:
    """How far loads at rest are from the twin's at worst, in what is determined: over the mean load of a wheel or a pair.

    Weight and two moments are all that statics knows of four and more wheels: what a front and a rear axle would carry, and what
    a left and a right side would, F = sum N (x - x_min) / (x_max - x_min) and so on; of four wheels these are sums of pairs.
    Contacts that are equal springs (`has_springs`) determine each load too: a rigid body sinks in as a plane, N = a + b x + c y.

    Symbols    N loads (N) · x, y wheels in the base link's frame (m)
    """
    weight_n = float(twin_n.sum())
    apart = [(_by_pairs(loads_n, at_m) - _by_pairs(twin_n, at_m)) / (0.5 * weight_n)]
    if has_springs:
        plane = np.column_stack([np.ones(len(at_m)), at_m])
        # The plane that has the twin's weight and moments is the one through its loads by least squares.
        fitted, *_ = np.linalg.lstsq(plane, twin_n, rcond=None)
        apart.append((loads_n - plane @ fitted) / (weight_n / len(twin_n)))
    return float(np.abs(np.concatenate(apart)).max())


def _by_pairs(loads_n: np.ndarray, at_m: np.ndarray) -> np.ndarray:
    """What front, rear, left and right would carry if there were only these (N)."""
    lever = (at_m - at_m.min(axis=0)) / np.ptp(at_m, axis=0)
    high = loads_n @ lever
    return np.concatenate([high, loads_n.sum() - high])
