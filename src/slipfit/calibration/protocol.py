"""The published calibration protocol [Trimble2022] on a recorded drive: longitudinal test and spin test, run by run.

Every speed step gives a c_long, every spin a c_lat / c_long; runs at Coulomb's limit or with wheels in the air are rejected with
the reason, the others are pooled. The protocol is kept for comparison: it takes the sensors at their word, so the joint fit of
the whole trajectory does better wherever they are noisy or biased (docs/theory/wheel_slip_protocol).

Reference  [Trimble2022] section 2
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import hypot, sqrt
from typing import Any, Literal

import numpy as np

from slipfit.calibration.manoeuvres import Manoeuvre, ManoeuvreKind, find_manoeuvres
from slipfit.calibration.spin_test import SpinGeometry, ratio_from_spin
from slipfit.calibration.step_test import (
    StepOutcome,
    StepResult,
    backward_differences,
    c_long_from_step,
    integrated_speed,
    repeated_differences,
)
from slipfit.contact.wheel_slip import spin_forces
from slipfit.errors import FitError
from slipfit.library import SkidSteerRobot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import IMU, POSE
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.wheel_motion import WheelMotion, wheel_motion
from slipfit.vehicles.loads import wheels as load_tables

Method = Literal["central", "backward", "imu"]
Limit = Literal["pyramid", "cone"]

#: A force within this share of Coulomb's limit counts as at the limit: sensors do not tell them apart.
NEAR_LIMIT = 0.02

#: Accelerations for loads and forces are averaged over this long, so that noise does not lift wheels.
ACCEL_WINDOW_S = 0.1

#: Rest of at least this long gives an IMU's bias.
LEAST_REST_S = 0.5


class RunVerdict(Enum):
    """Whether a run counts; the value is what the user reads."""

    USED = "used"
    SATURATED = "a contact reached Coulomb's limit; change load, geometry or surface (a lower speed does not help)"
    LIFTED = "wheels left the ground; accelerate more gently"
    NO_ROOT = "no slip constant explains this run"
    NO_DATA = "the sensor of this method has too few samples in this run"


@dataclass(frozen=True, slots=True)
class StepRun:
    """The longitudinal test on one speed step."""

    manoeuvre: Manoeuvre
    verdict: RunVerdict
    result: StepResult | None
    force_n: float  # per wheel, at the largest acceleration
    lowest_load_n: float  # of the lightest wheel at that moment

    @property
    def grip_used(self) -> float:
        """|F| / N of the lightest wheel."""
        return self.force_n / self.lowest_load_n if self.lowest_load_n > 0.0 else float("inf")

    def summary(self) -> str:
        """One line."""
        found = self.result.summary() if self.result else "no c_long"
        verdict = "" if self.verdict is RunVerdict.USED else f" Rejected: {self.verdict.value}."
        return f"{self.manoeuvre.summary()}  {found}{verdict}"

    def to_document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "manoeuvre": self.manoeuvre.to_document(),
            "verdict": self.verdict.name.lower(),
            "reason": self.verdict.value,
            "force_n": self.force_n,
            "grip_used": self.grip_used if self.lowest_load_n > 0.0 else None,
            "result": self.result.to_document() if self.result else None,
        }


@dataclass(frozen=True, slots=True)
class SpinRun:
    """The spin test on one steady spin."""

    manoeuvre: Manoeuvre
    verdict: RunVerdict
    commanded_radps: float  # what the wheels' speeds would turn the robot by
    yaw_rate_radps: float
    ratio: float | None  # c_lat / c_long
    forces_n: tuple[float, float] | None = None  # along and across each wheel; None without c_long
    lowest_load_n: float = float("nan")

    @property
    def grip_used(self) -> float | None:
        """|F| / N of the lightest wheel; does not depend on the spin's rate."""
        return None if self.forces_n is None else hypot(*self.forces_n) / self.lowest_load_n

    def summary(self) -> str:
        """One line."""
        found = "no ratio" if self.ratio is None else f"c_lat / c_long {self.ratio:.4g}"
        verdict = "" if self.verdict is RunVerdict.USED else f" Rejected: {self.verdict.value}."
        return f"{self.manoeuvre.summary()}  {found} at {self.yaw_rate_radps:.4f} rad/s.{verdict}"

    def to_document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "manoeuvre": self.manoeuvre.to_document(),
            "verdict": self.verdict.name.lower(),
            "reason": self.verdict.value,
            "commanded_radps": self.commanded_radps,
            "yaw_rate_radps": self.yaw_rate_radps,
            "ratio": self.ratio,
            "forces_n": None if self.forces_n is None else list(self.forces_n),
            "grip_used": self.grip_used,
        }


@dataclass(frozen=True, slots=True)
class Pooled:
    """Repeated runs as one number."""

    mean: float
    runs: int
    repeatability: float | None  # standard deviation among runs; None for a single one

    @property
    def std_of_mean(self) -> float | None:
        return None if self.repeatability is None else self.repeatability / sqrt(self.runs)

    @property
    def relative_repeatability(self) -> float | None:
        return None if self.repeatability is None or not self.mean else self.repeatability / abs(self.mean)

    @classmethod
    def of(cls, values: Sequence[float], weights: Sequence[float] | None = None) -> "Pooled | None":
        """Weighted mean and spread of the runs that count; None if there is none."""
        if not values:
            return None
        mean = float(np.average(values, weights=weights))
        variance = float(np.average((np.asarray(values) - mean) ** 2, weights=weights))
        count = len(values)
        return cls(mean, count, sqrt(variance * count / (count - 1)) if count > 1 else None)

    def summary(self) -> str:
        """Value, spread of the mean, repeatability."""
        if self.repeatability is None or self.relative_repeatability is None:
            return f"{self.mean:.5g} (one run: no repeatability)"
        repeatable = f"repeatable to {100 * self.relative_repeatability:.1f} %"
        return f"{self.mean:.5g} ± {self.std_of_mean:.2g} ({self.runs} runs, {repeatable})"

    def to_document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "value": self.mean,
            "runs": self.runs,
            "std_of_mean": self.std_of_mean,
            "repeatability": self.repeatability,
            "relative_repeatability": self.relative_repeatability,
        }


@dataclass(frozen=True, slots=True)
class ProtocolResult:
    """What both tests of the protocol found in one drive."""

    method: Method
    c_long_per_n: Pooled | None
    ratio: Pooled | None
    mass_kg: float
    mass_std_kg: float | None
    static_load_n: float  # m g / n
    steps: tuple[StepRun, ...]
    spins: tuple[SpinRun, ...]
    notes: tuple[str, ...] = ()

    @property
    def c_long_std_per_n(self) -> float | None:
        """Spread of c_long with the mass's: the test determines only m c_long. None after a single run."""
        if self.c_long_per_n is None or self.c_long_per_n.std_of_mean is None:
            return None
        return hypot(self.c_long_per_n.std_of_mean, self.c_long_per_n.mean * (self.mass_std_kg or 0.0) / self.mass_kg)

    @property
    def c_lat_per_n(self) -> float | None:
        """c_long times the ratio."""
        return self.c_long_per_n.mean * self.ratio.mean if self.c_long_per_n and self.ratio else None

    @property
    def c_lat_std_per_n(self) -> float | None:
        """By the relative spreads of both tests; None where one of them has a single run."""
        if not (self.c_long_per_n and self.ratio) or self.c_long_std_per_n is None or self.ratio.std_of_mean is None:
            return None
        relative = hypot(self.c_long_std_per_n / self.c_long_per_n.mean, self.ratio.std_of_mean / self.ratio.mean)
        return self.c_long_per_n.mean * self.ratio.mean * relative

    @property
    def compliances(self) -> tuple[float | None, float | None]:
        """c N, along and across: what stays the same when a payload changes the wheels' load N."""
        along = self.c_long_per_n.mean * self.static_load_n if self.c_long_per_n else None
        return along, None if self.c_lat_per_n is None else self.c_lat_per_n * self.static_load_n

    def summary(self) -> str:
        """A screen of text."""
        rows = [f"the published protocol [Trimble2022], {self.method}:"]
        rows.append(f"  c_long          {self.c_long_per_n.summary() + ' 1/N' if self.c_long_per_n else 'not found'}")
        rows.append(f"  c_lat / c_long  {self.ratio.summary() if self.ratio else 'not found'}")
        if self.c_lat_per_n is not None:
            spread = "" if self.c_lat_std_per_n is None else f" ± {self.c_lat_std_per_n:.2g}"
            rows.append(f"  c_lat           {self.c_lat_per_n:.5g}{spread} 1/N")
        rows += [f"  {step.summary()}" for step in self.steps]
        rows += [f"  {spin.summary()}" for spin in self.spins]
        return "\n".join([*rows, *(f"  note: {note}" for note in self.notes)])

    def to_document(self) -> dict[str, Any]:
        """For JSON."""
        along, across = self.compliances
        return {
            "method": self.method,
            "c_long_per_n": self.c_long_per_n.to_document() | {"std": self.c_long_std_per_n} if self.c_long_per_n else None,
            "c_lat_over_c_long": self.ratio.to_document() if self.ratio else None,
            "c_lat_per_n": None if self.c_lat_per_n is None else {"value": self.c_lat_per_n, "std": self.c_lat_std_per_n},
            "compliance_long": along,
            "compliance_lat": across,
            "steps": [run.to_document() for run in self.steps],
            "spins": [run.to_document() for run in self.spins],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class _Coulomb:
    """What a contact can carry."""

    mu: float | None
    limit: Limit

    def is_reached(self, along_n: float, across_n: float, load_n: float) -> bool:
        """Pyramid: each axis against mu N; cone: the resultant."""
        if self.mu is None:
            return False
        force = hypot(along_n, across_n) if self.limit == "cone" else max(abs(along_n), abs(across_n))
        return force >= (1.0 - NEAR_LIMIT) * self.mu * load_n


@dataclass(frozen=True, eq=False, slots=True)
class _Drive:
    """What the tests of one drive share."""

    log: DriveLog
    robot: SkidSteerRobot
    motion: WheelMotion
    method: Method
    coulomb: _Coulomb
    gravity_mps2: float
    gyro_bias_radps: float
    accel_bias_mps2: float

    def lowest_load_n(self, fx_mps2: float, fy_mps2: float = 0.0) -> float:
        """Load of the lightest wheel under a specific force; zero where it lifts."""
        robot = self.robot
        tables = load_tables(robot.wheels.at_m.value, 1.0)
        com_x, com_y, height = robot.centre_of_mass_m.value
        axle = tables.share_x + tables.leverage_x * (com_x - height * fx_mps2 / self.gravity_mps2)
        side = tables.share_y + tables.leverage_y * (com_y - height * fy_mps2 / self.gravity_mps2)
        share = float((np.clip(axle, 0.0, 1.0) * np.clip(side, 0.0, 1.0)).min())
        return robot.mass_kg.value * self.gravity_mps2 * share

    def samples(self, channel: str, manoeuvre: Manoeuvre) -> Channel | None:
        """The part of a channel within a manoeuvre, NaN and repeated stamps left out; None where little is left."""
        whole = self.log[channel]
        inside = (whole.stamps_ns >= manoeuvre.start_ns) & (whole.stamps_ns <= manoeuvre.end_ns)
        inside &= np.isfinite(whole.values).all(axis=1)
        stamps, first = np.unique(whole.stamps_ns[inside], return_index=True)
        return Channel(channel, stamps, whole.values[inside][first], whole.columns) if len(stamps) >= 6 else None


def run_protocol(
    log: DriveLog,
    robot: SkidSteerRobot,
    *,
    mu: float | None = None,
    method: Method = "central",
    half_width_m: float = 0.0,
    limit: Limit = "pyramid",
    gravity_mps2: float = 9.81,
    counts_per_turn: float | None = None,
) -> ProtocolResult:
    """Both tests of the protocol on every speed step and every spin of a drive.

    Parameters
    ----------
    mu : Coulomb's coefficient, to reject runs that reach it; None: forces are reported, none is rejected for them
    method : speed and acceleration by `central` or `backward` differences of the pose, or from the `imu`
    half_width_m : of wheels that stand on both edges; zero for round or thin ones
    limit : `pyramid` limits each axis, `cone` the resultant
    """
    needed = IMU if method == "imu" else POSE
    if needed not in log:
        raise FitError(
            f"the log has no channel '{needed}', which method '{method}' needs; it has {', '.join(sorted(log.channels))}"
        )
    motion = wheel_motion(log, robot, counts_per_turn=counts_per_turn)
    manoeuvres = find_manoeuvres(log, robot, counts_per_turn=counts_per_turn)
    gyro_bias, accel_bias, notes = _bias_at_rest(log, manoeuvres) if method == "imu" else (0.0, 0.0, [])
    drive = _Drive(log, robot, motion, method, _Coulomb(mu, limit), gravity_mps2, gyro_bias, accel_bias)
    steps = tuple(_step_run(drive, m) for m in manoeuvres if m.kind is ManoeuvreKind.STEP)
    c_long = _pooled_c_long(steps)
    geometry = SpinGeometry.of(robot, half_width_m)
    found = (_spin_run(drive, m, geometry, c_long) for m in manoeuvres if m.kind is ManoeuvreKind.SPIN)
    spins = tuple(run for run in found if run)
    ratio = Pooled.of([s.ratio for s in spins if s.verdict is RunVerdict.USED and s.ratio is not None])
    if not steps:
        notes.append("no speed step was found: drive straight at a low speed, then at once faster, and brake")
    if not spins:
        notes.append("no steady spin was found: turn on the spot at a constant rate for a few seconds")
    if mu is None:
        notes.append("mu was not given: no run is rejected for sliding")
    elif spins and c_long is None:
        notes.append("without c_long the forces of the spins are unknown: none is rejected for sliding")
    return ProtocolResult(
        method=method,
        c_long_per_n=c_long,
        ratio=ratio,
        mass_kg=robot.mass_kg.value,
        mass_std_kg=robot.mass_kg.std,
        static_load_n=robot.mass_kg.value * gravity_mps2 / len(robot.wheels.at_m.value),
        steps=steps,
        spins=spins,
        notes=tuple(notes),
    )


def _pooled_c_long(steps: Sequence[StepRun]) -> Pooled | None:
    """Runs weighted by what they can tell: slip grows with m c (v1² - v0²) / 2n, the error of a distance does not."""
    used = [(s.result.c_long_per_n, s.manoeuvre) for s in steps if s.verdict is RunVerdict.USED and s.result]
    found = [(c, (m.to_mps**2 - m.from_mps**2) ** 2) for c, m in used if c is not None]
    return Pooled.of([c for c, _ in found], [weight for _, weight in found])


def _bias_at_rest(log: DriveLog, manoeuvres: Sequence[Manoeuvre]) -> tuple[float, float, list[str]]:
    """Mean of the gyro and of the accelerometer ahead while the wheels stand; the ends of a rest are left out."""
    imu = log[IMU]
    rest = np.zeros(len(imu.stamps_ns), dtype=bool)
    for m in manoeuvres:
        if m.kind is ManoeuvreKind.REST and m.duration_s >= LEAST_REST_S:
            edge = round(0.1 * NANOSECONDS)
            rest |= (imu.stamps_ns >= m.start_ns + edge) & (imu.stamps_ns <= m.end_ns - edge)
    rest &= np.isfinite(imu.values).all(axis=1)
    if not rest.any():
        return 0.0, 0.0, ["the robot never stood still: the IMU's bias is taken as zero"]
    gyro, accel = float(imu.column("gyro_z_radps")[rest].mean()), float(imu.column("accel_x_mps2")[rest].mean())
    return gyro, accel, [f"IMU at rest: {gyro:.5f} rad/s, {accel:.4f} m/s², taken off"]


def _step_run(drive: _Drive, step: Manoeuvre) -> StepRun:
    samples = drive.samples(IMU if drive.method == "imu" else POSE, step)
    accel = _largest_accel(drive, step)
    force = drive.robot.mass_kg.value * abs(accel) / len(drive.robot.wheels.at_m.value)
    load = drive.lowest_load_n(accel)
    if samples is None:
        return StepRun(step, RunVerdict.NO_DATA, None, force, load)
    result = _c_long(drive, step, samples)
    verdict = RunVerdict.USED
    if result.outcome is not StepOutcome.FOUND:
        verdict = RunVerdict.NO_ROOT
    if load <= 0.0:
        verdict = RunVerdict.LIFTED
    elif drive.coulomb.is_reached(force, 0.0, load):
        verdict = RunVerdict.SATURATED
    return StepRun(step, verdict, result, force, load)


def _c_long(drive: _Drive, step: Manoeuvre, samples: Channel) -> StepResult:
    mass, wheels = drive.robot.mass_kg.value, len(drive.robot.wheels.at_m.value)
    time_s = samples.time_s
    odometer = drive.motion.odometer_m(samples.stamps_ns)
    if drive.method == "imu":
        t, (v, a) = time_s, _imu_speed(drive, step, samples)
    else:
        differences = backward_differences if drive.method == "backward" else repeated_differences
        t, v, a = differences(time_s, _along(samples, odometer))
    rolled = np.interp([t[0], t[-1]], time_s, odometer)
    return c_long_from_step(v, a, t, float(rolled[1] - rolled[0]), mass, wheels)


def _along(pose: Channel, odometer_m: np.ndarray) -> np.ndarray:
    """Distance along the line that the robot drove; needs no heading, so none that is misaligned either."""
    at = np.column_stack([pose.column("x_m"), pose.column("y_m")])
    # The direction in which positions go with the odometer: positive is where the wheels roll forward.
    direction = (odometer_m - odometer_m.mean()) @ (at - at.mean(axis=0))
    return np.asarray((at - at[0]) @ (direction / max(hypot(*direction), 1e-12)))


def _imu_speed(drive: _Drive, step: Manoeuvre, imu: Channel) -> tuple[np.ndarray, np.ndarray]:
    """Speed and acceleration from the IMU. At steady speed nothing slips, so the wheels tell the speed at both ends: the first
    starts the integral, the second shows the bias."""
    a = imu.column("accel_x_mps2") - drive.accel_bias_mps2
    start = float(np.mean(drive.motion.mean_speeds_mps(step.start_ns, max(step.change_start_ns, step.start_ns + 50_000_000))))
    v = integrated_speed(imu.time_s, a, start)
    ending = (imu.stamps_ns >= step.change_end_ns) & (imu.stamps_ns <= step.end_ns)
    if step.has_margins and ending.any():
        rolling = float(np.mean(drive.motion.mean_speeds_mps(step.change_end_ns, step.end_ns)))
        bias = (float(v[ending].mean()) - rolling) / float(imu.time_s[ending].mean())
        a = a - bias
        v = integrated_speed(imu.time_s, a, start)
    return v, a


def _largest_accel(drive: _Drive, step: Manoeuvre) -> float:
    """Largest acceleration of a step, with its sign: the IMU's, or the wheels' where there is none."""
    if drive.method == "imu" and (imu := drive.samples(IMU, step)):
        t, speed = imu.time_s, integrated_speed(imu.time_s, imu.column("accel_x_mps2") - drive.accel_bias_mps2, 0.0)
    else:
        inside = (drive.motion.stamps_ns >= step.start_ns) & (drive.motion.stamps_ns <= step.end_ns)
        t = (drive.motion.stamps_ns[inside] - step.start_ns) / NANOSECONDS
        rolled = drive.motion.odometer_m(drive.motion.stamps_ns[inside])
        half = 0.5 * ACCEL_WINDOW_S
        before, after = np.maximum(t - half, t[0]), np.minimum(t + half, t[-1])
        speed = (np.interp(after, t, rolled) - np.interp(before, t, rolled)) / (after - before)
    moments = np.arange(t[0], t[-1] - ACCEL_WINDOW_S, 0.25 * ACCEL_WINDOW_S)
    if not len(moments):
        return float((speed[-1] - speed[0]) / max(t[-1] - t[0], 1e-9))
    accel = (np.interp(moments + ACCEL_WINDOW_S, t, speed) - np.interp(moments, t, speed)) / ACCEL_WINDOW_S
    return float(accel[np.argmax(np.abs(accel))])


def _spin_run(drive: _Drive, spin: Manoeuvre, geometry: SpinGeometry, c_long: Pooled | None) -> SpinRun | None:
    samples = drive.samples(IMU if drive.method == "imu" else POSE, spin)
    left, right = drive.motion.mean_speeds_mps(spin.start_ns, spin.end_ns)
    commanded = (right - left) / (2.0 * geometry.half_track_m)
    if samples is None:
        return SpinRun(spin, RunVerdict.NO_DATA, commanded, float("nan"), None)
    if drive.method == "imu":
        rate = float(samples.column("gyro_z_radps").mean()) - drive.gyro_bias_radps
    else:
        rate = float(np.polyfit(samples.time_s, np.unwrap(samples.column("yaw_rad")), 1)[0])
    ratio = ratio_from_spin(commanded, rate, geometry, c_long_per_n=c_long.mean if c_long else None)
    run = SpinRun(spin, RunVerdict.USED, commanded, rate, ratio)
    if not 0.0 < ratio < float("inf"):
        return replace(run, verdict=RunVerdict.NO_ROOT, ratio=None)
    if c_long is None:
        return run
    along, across = spin_forces(
        commanded, rate, c_long.mean, ratio * c_long.mean, geometry.half_track_m, geometry.half_wheelbase_m
    )
    turned_mps2 = -(rate**2)
    load = drive.lowest_load_n(turned_mps2 * geometry.offset_x_m, turned_mps2 * geometry.offset_y_m)
    verdict = RunVerdict.LIFTED if load <= 0.0 else RunVerdict.USED
    if load > 0.0 and drive.coulomb.is_reached(along, across, load):
        verdict = RunVerdict.SATURATED
    return replace(run, verdict=verdict, forces_n=(float(along), float(across)), lowest_load_n=load)
