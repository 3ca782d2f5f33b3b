"""Units that are not what the column's name says: degrees for radians, rpm for rad/s, millimetres for metres, g for m/s².

Wheels, gyro and pose tell how much the robot turned, wheels and pose how far it went, wheels and accelerometer how it sped up,
and gravity measures the accelerometer by itself. A skid-steer robot turns by a fifth to all of what its wheels say, so factors
are told apart by windows, not by equality.
"""

import math
from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.inspection.align import Signal, find_agreement, pair, signals_between
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import Inertial, Seen, Wheels, inertial_of, origin_ns, rotation_of, seen_of, wheels_of
from slipfit.logs.inspection.slow import AHEAD_WINDOW, way_ratio
from slipfit.logs.inspection.suspects import Evidence, Mistake, convict

DEGREES = 180.0 / math.pi
GRAVITY_MPS2 = 9.80665

#: A factor means that numbers in that unit are so many times what they should be. Converting twice divides once too often.
SUSPECTS = {
    "encoders": (
        Mistake("degrees instead of radians", DEGREES),
        Mistake("revolutions per minute instead of rad/s", 60.0 / (2.0 * math.pi)),
        Mistake("turns instead of radians", 1.0 / (2.0 * math.pi), 1.2),
        Mistake("radians converted twice", 1.0 / DEGREES, 1.3),
    ),
    "gyro": (
        Mistake("deg/s instead of rad/s", DEGREES),
        Mistake("mrad/s instead of rad/s", 1000.0, 1.2),
        Mistake("rad/s converted twice", 1.0 / DEGREES, 1.3),
    ),
    "yaw": (Mistake("degrees instead of radians", DEGREES), Mistake("radians converted twice", 1.0 / DEGREES, 1.3)),
    "position": (Mistake("millimetres instead of metres", 1000.0), Mistake("centimetres instead of metres", 100.0)),
    "acceleration": (
        Mistake("g instead of m/s²", 1.0 / GRAVITY_MPS2),
        Mistake("mm/s² instead of m/s²", 1000.0),
        Mistake("milli-g instead of m/s²", 1000.0 / GRAVITY_MPS2, 1.2),
        Mistake("cm/s² instead of m/s²", 100.0, 1.2),
    ),
}

#: Where each quantity lives.
COLUMNS = {
    "encoders": (names.ENCODERS, "rad", "radps"),
    "gyro": (names.IMU, "radps"),
    "yaw": (names.POSE, "rad"),
    "position": (names.POSE, "m"),
    "acceleration": (names.IMU, "mps2"),
}

#: Body over wheels: yaw of skid-steer robots, acceleration; for distance `AHEAD_WINDOW`.
YAW_WINDOW, ACCEL_WINDOW = (0.2, 1.25), (0.4, 1.6)
BODY_WINDOW = (0.75, 1.33)  # gyro against pose
GRAVITY_WINDOW = (0.8, 1.25)
WAY_WINDOW = (0.2, 3.0)  # way of a noisy, late pose against that of wheels that slip


def correct_units(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Find units that are wrong, and set them right."""
    evidence = _evidence(log, robot)
    if not evidence:
        return Step(log)
    involved = {q for e in evidence for q in e.powers}
    found = rotation_of(log[names.ENCODERS]) if names.ENCODERS in log else None
    suspects = {q: mistakes for q, mistakes in SUSPECTS.items() if q in involved}
    if found and found[0] == "angle" and "encoders" in suspects:
        suspects["encoders"] = tuple(m for m in suspects["encoders"] if "minute" not in m.name)
    verdicts = convict(suspects, evidence)
    cost, verdict = verdicts[0]
    if not verdict or cost > verdicts[[v for _, v in verdicts].index({})][0] - 1.0:
        return Step(log)
    findings, corrections = [], []
    for quantity, mistake in verdict.items():
        channel, *endings = COLUMNS[quantity]
        log = log.having(scaled(log[channel], endings, 1.0 / mistake.factor))
        findings.append(
            Finding(
                Severity.ERROR,
                channel,
                "unit",
                f"{quantity} {'are' if quantity == 'encoders' else 'is'} in {mistake.name}: numbers are {mistake.factor:.4g} "
                f"times what the other sensors say",
                f"divide by {mistake.factor:.4g}, or name the unit when reading",
                mistake.factor,
                is_corrected=True,
            )
        )
        corrections.append(f"unit of {channel}, {quantity} in {mistake.name}")
    return Step(log, tuple(findings), tuple(corrections))


def scaled(channel: Channel, endings: list[str], factor: float) -> Channel:
    """The channel with all columns of some units multiplied."""
    factors = np.array([factor if name.rsplit("_", 1)[-1] in endings else 1.0 for name in channel.columns])
    return replace(channel, values=channel.values * factors)


def _evidence(log: DriveLog, robot: SkidSteerRobot) -> list[Evidence]:
    origin = origin_ns(log)
    wheels, inertial = wheels_of(log, robot, origin), inertial_of(log, origin)
    seen = _seen(log, inertial if inertial is not None else wheels)
    told = []
    if inertial is not None and set(names.IMU_COLUMNS[:3]) <= set(log[names.IMU].columns):
        force = np.column_stack([log[names.IMU].column(name) for name in names.IMU_COLUMNS[:3]])
        told.append(
            Evidence(float(np.median(np.linalg.norm(force, axis=1))) / GRAVITY_MPS2, {"acceleration": 1}, *GRAVITY_WINDOW)
        )
    has_angles = wheels is not None and (rotation_of(log[names.ENCODERS]) or ("ticks",))[0] != "ticks"
    if wheels is not None and has_angles and inertial is not None:
        powers = {"yaw": ({"gyro": 1, "encoders": -1}, YAW_WINDOW), "accel": ({"acceleration": 1, "encoders": -1}, ACCEL_WINDOW)}
        told += _compared(wheels, inertial, powers)
    if wheels is not None and has_angles and seen is not None:
        powers = {"yaw": ({"yaw": 1, "encoders": -1}, YAW_WINDOW), "ahead": ({"position": 1, "encoders": -1}, AHEAD_WINDOW)}
        compared = _compared(wheels, seen, powers)
        ratio = way_ratio(wheels, seen)
        if ratio is not None and not any("position" in e.powers for e in compared):
            compared.append(Evidence(ratio, {"position": 1, "encoders": -1}, *WAY_WINDOW))
        told += compared
    if inertial is not None and seen is not None:
        told += _compared(inertial, seen, {"yaw": ({"yaw": 1, "gyro": -1}, BODY_WINDOW)})
    return [e for e in told if e.ratio > 0.0 and math.isfinite(e.ratio)]


def _seen(log: DriveLog, reference: Wheels | Inertial | None) -> Seen | None:
    """The pose, its yaw unwrapped at 360 where it then agrees better: degrees unwrapped at 2 pi tell nothing."""
    seen = seen_of(log, origin_ns(log))
    if seen is None or reference is None or "yaw_rad" not in log[names.POSE].columns:
        return seen
    if np.abs(log[names.POSE].column("yaw_rad")).max() < 2.0 * math.pi:
        return seen
    in_degrees = seen_of(log, origin_ns(log), turn=360.0)
    assert in_degrees is not None
    agreed = [find_agreement(reference, s) for s in (seen, in_degrees)]
    radians, degrees = (a.r2.get("yaw", 0.0) if a else 0.0 for a in agreed)
    return in_degrees if degrees > radians + 0.1 else seen


def _compared(
    reference: Wheels | Inertial, other: Inertial | Seen, powers: dict[str, tuple[dict[str, int], tuple[float, float]]]
) -> list[Evidence]:
    agreed = find_agreement(reference, other)
    if agreed is None:
        return []
    told = []
    for signal in signals_between(reference, other, signed=False):
        if signal.name in powers and agreed.r2.get(signal.name, 0.0) > 0.5:
            power, window = powers[signal.name]
            told.append(Evidence(abs(slope_at(signal, reference, other, agreed.late_s)), power, *window))
    return told


def slope_at(signal: Signal, reference: Wheels | Inertial, other: Inertial | Seen, late_s: float) -> float:
    """y over x as weighted median of quotients where x is large: a few wild samples do not matter."""
    return slopes_at(signal, reference, other, late_s, (0.5,))[0]


def slopes_at(
    signal: Signal, reference: Wheels | Inertial, other: Inertial | Seen, late_s: float, shares: tuple[float, ...]
) -> tuple[float, ...]:
    """Weighted quantiles of these quotients, one for each share; zeros where there are none."""
    x, y = pair(signal, reference, other, late_s)
    if not len(x):
        return (0.0,) * len(shares)
    large = np.abs(x) > 0.3 * np.percentile(np.abs(x), 95.0)
    quotient, weight = y[large] / x[large], x[large] ** 2
    order = np.argsort(quotient)
    below = np.cumsum(weight[order])
    if not len(below):
        return (0.0,) * len(shares)
    return tuple(float(quotient[order][np.searchsorted(below, share * below[-1])]) for share in shares)
