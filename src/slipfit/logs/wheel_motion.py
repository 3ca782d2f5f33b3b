"""How far each side's wheels rolled, from whatever the encoders tell: angles, ticks or speeds, of wheels or sides."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slipfit.errors import LogError
from slipfit.library import OmniRobot, SkidSteerRobot
from slipfit.library.deviation import robust_std
from slipfit.logs.channels import ENCODERS, side_column, wheel_columns
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog

#: Counts of one turn of a wheel: one number, or those of left and right.
TurnCounts = float | tuple[float, float]

#: Shares of a count that angles may be off by and still be counts: files round, integrated speeds do not agree.
COUNT_TOLERANCE = 0.05

#: Angles that never leave a turn are taken to start again after each, if they jump by more than half of it.
_HALF_TURN_RAD = np.pi


@dataclass(frozen=True, eq=False, slots=True)
class WheelMotion:
    """Rolled distance of the left and the right side (m), each the mean of its wheels, from the first stamp on."""

    stamps_ns: np.ndarray  # strictly increasing
    left_m: np.ndarray
    right_m: np.ndarray

    @property
    def time_s(self) -> np.ndarray:
        """Seconds since the first stamp."""
        return np.asarray((self.stamps_ns - self.stamps_ns[0]) / NANOSECONDS)

    @property
    def rate_hz(self) -> float:
        """By the median interval, which gaps do not change."""
        return NANOSECONDS / float(np.median(np.diff(self.stamps_ns)))

    def odometer_m(self, stamps_ns: np.ndarray) -> np.ndarray:
        """Distance of the robot's middle if nothing slipped, at any stamps."""
        middle = 0.5 * (self.left_m + self.right_m)
        first = self.stamps_ns[0]
        return np.asarray(np.interp(np.asarray(stamps_ns) - first, self.stamps_ns - first, middle))

    def mean_speeds_mps(self, start_ns: int, end_ns: int) -> tuple[float, float]:
        """Left and right speed over a while, by a straight line through all samples: one count matters less."""
        inside = (self.stamps_ns >= start_ns) & (self.stamps_ns <= end_ns)
        if inside.sum() < 2:
            raise LogError(
                f"encoders: {inside.sum()} samples within {(end_ns - start_ns) / NANOSECONDS:.3g} s; expected two or more"
            )
        t = (self.stamps_ns[inside] - start_ns) / NANOSECONDS
        left, right = (float(np.polyfit(t, side[inside], 1)[0]) for side in (self.left_m, self.right_m))
        return left, right


@dataclass(frozen=True, eq=False, slots=True)
class WheelAngles:
    """Angle of every wheel (rad) at strictly increasing stamps, and how finely the encoders tell it."""

    stamps_ns: np.ndarray
    angle_rad: np.ndarray  # (T, wheels)
    step_rad: float  # smallest change that occurs: the count of an incremental encoder; tiny where angles are smooth
    known_noise_rad: float | None = None  # where angles were moved to other times and no longer show it

    @property
    def noise_rad(self) -> float:
        """Standard deviation of rounding to counts, step / sqrt(12); where angles are no counts, of the scatter they show."""
        if self.known_noise_rad is not None:
            return self.known_noise_rad
        rounding = float(self.step_rad / np.sqrt(12.0))
        # Differences of counts alternate where a wheel rolls slowly; that is not noise.
        return rounding if _are_counts(self.angle_rad, self.step_rad) else max(rounding, _scatter(self.angle_rad))


def wheel_angles(log: DriveLog, robot: SkidSteerRobot | OmniRobot, *, counts_per_turn: TurnCounts | None = None) -> WheelAngles:
    """Angles of all wheels from whatever the encoders tell; rows with NaN and stamps that do not increase are left out."""
    channel, wheels = log[ENCODERS], len(robot.wheels.at_m.value)
    angles, is_speed = _angles_or_speeds(channel, wheels, counts_per_turn)
    keep = np.isfinite(angles).all(axis=1)
    stamps, angles = channel.stamps_ns[keep], angles[keep]
    newest = np.maximum.accumulate(stamps) if len(stamps) else stamps
    increasing = np.concatenate([[True], newest[1:] > newest[:-1]]) if len(stamps) else np.zeros(0, dtype=bool)
    stamps, angles = stamps[increasing], angles[increasing]
    if len(stamps) < 3:
        raise LogError(f"encoders: {len(stamps)} usable samples; expected three or more, with finite values and rising stamps")
    time_s = (stamps - stamps[0]) / NANOSECONDS
    step = _smallest_change(angles) * (float(np.median(np.diff(time_s))) if is_speed else 1.0)
    if is_speed:
        from scipy.integrate import cumulative_trapezoid  # here: most logs hold angles

        angles = cumulative_trapezoid(angles, time_s, axis=0, initial=0.0)
    angles = angles - angles[0]
    return WheelAngles(stamps, np.tile(angles, (1, wheels // angles.shape[1])), step)


def _scatter(angles: np.ndarray) -> float:
    """Standard deviation of white noise in angles of turning wheels, by fourth differences, which motion hardly reaches."""
    fourth, turning = np.abs(np.diff(angles, n=4, axis=0)), np.abs(np.diff(angles, axis=0))[2:-1] > 0.0
    return robust_std(fourth[turning], about=0.0) / float(np.sqrt(70.0)) if len(fourth) and turning.any() else 0.0


def _are_counts(angles: np.ndarray, step_rad: float) -> bool:
    """Whether angles from their first on are whole multiples of a step that is no rounding error of floats."""
    if step_rad <= 1e-9 * max(1.0, float(np.abs(angles).max())):
        return False
    counts = (angles - angles[0]) / step_rad
    return bool(np.abs(counts - np.round(counts)).max() < COUNT_TOLERANCE)


def _smallest_change(values: np.ndarray) -> float:
    """Smallest change between samples that is no rounding error: what one count makes."""
    changes = np.abs(np.diff(values, axis=0))
    tiny = 1e-12 * max(1.0, float(np.abs(values).max()))
    real = changes[changes > tiny]
    return float(real.min()) if len(real) else 0.0


def wheel_motion(log: DriveLog, robot: SkidSteerRobot, *, counts_per_turn: TurnCounts | None = None) -> WheelMotion:
    """Rolled distances of both sides from the encoders of a log."""
    wheels = wheel_angles(log, robot, counts_per_turn=counts_per_turn)
    rolled = robot.wheels.radius_m.value * wheels.angle_rad
    return WheelMotion(wheels.stamps_ns, rolled[:, ::2].mean(axis=1), rolled[:, 1::2].mean(axis=1))


def _angles_or_speeds(channel: Channel, wheels: int, counts_per_turn: TurnCounts | None) -> tuple[np.ndarray, bool]:
    """Columns left, right, left, right ... in rad or rad/s, and which of the two; angles are preferred, then ticks."""
    for quantity in ("angle", "ticks", "speed"):
        sides = tuple(side_column(quantity, side) for side in ("left", "right"))
        for names in (wheel_columns(quantity, wheels), sides):
            if not set(names) <= set(channel.columns):
                continue
            values = _columns(channel, names)
            if quantity == "ticks":
                if not counts_per_turn:
                    raise LogError("encoders: ticks do not say how many make a turn; give counts_per_turn")
                return values * (2.0 * np.pi / np.resize(counts_per_turn, values.shape[1])), False
            return (_unwrapped(values), False) if quantity == "angle" else (values, True)
    raise LogError(
        f"encoders: columns {', '.join(channel.columns)}; expected angle, ticks or speed of {wheels} wheels or of both sides"
    )


def _columns(channel: Channel, names: Sequence[str]) -> np.ndarray:
    return np.column_stack([channel.column(name) for name in names])


def _unwrapped(angles: np.ndarray) -> np.ndarray:
    """Angles that start again after each turn, made continuous; others are left alone, also across gaps."""
    finite = angles[np.isfinite(angles).all(axis=1)]
    if not len(finite) or np.ptp(finite, axis=0).max() > 2.0 * np.pi + 1e-6:
        return angles
    if not (np.abs(np.diff(finite, axis=0)) > _HALF_TURN_RAD).any():
        return angles
    return np.asarray(np.unwrap(angles, axis=0)) if np.isfinite(angles).all() else angles
