"""Moments in which a wheel leaves the ground: by the load transfer that the IMU feels, and by a wheel that outruns its neighbour.

Front and rear wheel of one side get the same command. When load transfer takes the load off one of them it is held by nothing
but its own inertia, and runs ahead of the other in the direction of its torque. Speeding up lightens the front and pulls its
rim forward, braking lightens the rear and pulls its rim backward: in both the front wheel is the faster one,

    v_front - v_rear > 0,

as it is when the robot speeds up backward. IMUs miss much of this: wheels chatter faster than they sample.
"""

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import robust_std
from slipfit.logs import channels as names
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.inspection.record import Finding, Severity, Step, spans
from slipfit.logs.inspection.rest import GRAVITY_MPS2, rest_of
from slipfit.logs.inspection.signals import origin_ns, rolled, rotation_of, seconds
from slipfit.vehicles import loads

#: Specific force is averaged over this long, and over three samples: shorter peaks are shocks, within which no wheel rises.
TRANSFER_S, TRANSFER_SAMPLES = 0.1, 3

#: Speeds of wheels are means over this long, and over two samples.
OUTRUN_S = 0.02

#: A wheel outruns its neighbour by so much: m/s, and share of the drive's fast speed; while its side speeds up so much, m/s².
OUTRUN_MPS, OUTRUN_SHARE, OUTRUN_ACCEL_MPS2 = 0.05, 0.1, 1.0

#: Lifts closer than this are one: a wheel bounces.
BOUNCE_S = 0.1

#: Pitch and roll rates of a robot whose wheels stay down on a floor are smaller, rad/s; averaged over a tenth of a second.
BURST_RADPS = 0.5

Spans = list[tuple[float, float]]


def find_lift(log: DriveLog, robot: SkidSteerRobot) -> tuple[Step, tuple[tuple[float, float], ...]]:
    """Moments in which a wheel is in the air, begin and end in seconds; bursts of pitch or roll."""
    by_transfer, by_rims = lifted_by_transfer(log, robot), lifted_by_rims(log, robot)
    lifted = merged([*by_transfer, *by_rims])
    findings = []
    if lifted:
        total = sum(b - a for a, b in lifted)
        why = [
            w for w, told in (("load transfer felt by the IMU", by_transfer), ("front wheels outrun rear ones", by_rims)) if told
        ]
        findings.append(
            Finding(
                Severity.WARNING,
                names.ENCODERS if by_rims else names.IMU,
                "wheel lift",
                f"{_looks(by_transfer)} {len(lifted)} time{'s' if len(lifted) > 1 else ''}, first at {lifted[0][0]:.2f} s, "
                f"for {total:.2f} s altogether ({' and '.join(why)})",
                "accelerate more gently; these moments do not count for slip",
                lifted[0][0],
            )
        )
    return Step(log, (*findings, *_bursts(log))), tuple(lifted)


def _looks(by_transfer: Spans) -> str:
    """Rims alone do not tell why a front wheel is faster."""
    return "a wheel leaves the ground" if by_transfer else "a wheel seems to leave the ground, or front and rear slip unequally,"


def merged(told: Spans) -> Spans:
    """Spans in order of time, those that overlap or nearly do made one."""
    together: Spans = []
    for begin, end in sorted(told):
        if together and begin - together[-1][1] < BOUNCE_S:
            together[-1] = (together[-1][0], max(end, together[-1][1]))
        else:
            together.append((begin, end))
    return together


def lifted_by_transfer(log: DriveLog, robot: SkidSteerRobot) -> Spans:
    """When the specific force leaves an axle or a side without load."""
    if names.IMU not in log or not {"accel_x_mps2", "accel_y_mps2"} <= set(log[names.IMU].columns):
        return []
    channel = log[names.IMU]
    if len(channel.stamps_ns) < TRANSFER_SAMPLES:
        return []
    time_s = seconds(channel, origin_ns(log))
    rest = rest_of(log, robot)
    force = []
    for name in ("accel_x_mps2", "accel_y_mps2"):
        column = channel.column(name)
        zero = column[rest].mean() if rest is not None else np.median(column)
        force.append(_smoothed(column - zero, max(TRANSFER_SAMPLES, round(TRANSFER_S * channel.rate_hz))))
    half = 0.5 * max(TRANSFER_SAMPLES / channel.rate_hz, TRANSFER_S)  # the force that was averaged lies as far around
    return [(float(time_s[a]) - half, float(time_s[b]) + half) for a, b in spans(smallest_share(robot, *force) <= 0.0)]


def smallest_share(robot: SkidSteerRobot, force_x: np.ndarray, force_y: np.ndarray) -> np.ndarray:
    """Smallest share of the weight on an axle or side, before clipping, at each moment: 0 or less is a wheel in the air.

    Shares as in `vehicles.loads`, which clips them.
    """
    wheels = loads.wheels(robot.wheels.at_m.value, robot.wheels.radius_m.value)
    x, y, height = robot.centre_of_mass_m.value
    at_x = x - height * force_x / GRAVITY_MPS2
    at_y = y - height * force_y / GRAVITY_MPS2
    on_axle = wheels.share_x[:, None] + wheels.leverage_x[:, None] * at_x
    on_side = wheels.share_y[:, None] + wheels.leverage_y[:, None] * at_y
    return np.asarray(np.minimum(on_axle, on_side).min(axis=0))


def lifted_by_rims(log: DriveLog, robot: SkidSteerRobot) -> Spans:
    """When the front wheel of a side outruns the rear one while the side changes its speed. Needs a column for every wheel."""
    found = rotation_of(log[names.ENCODERS]) if names.ENCODERS in log else None
    if found is None or found[0] == "ticks" or len(found[1]) < 2 or len(log[names.ENCODERS].stamps_ns) < 8:
        return []
    channel = log[names.ENCODERS]
    time_s = seconds(channel, origin_ns(log))
    stride = max(2, round(OUTRUN_S * channel.rate_hz))
    if len(time_s) < 4 * stride:
        return []
    rims = rolled(channel.values, time_s, found[0]) * robot.wheels.radius_m.value
    width = (time_s[stride:] - time_s[:-stride])[:, None]
    speed, middle = (rims[stride:] - rims[:-stride]) / width, 0.5 * (time_s[stride:] + time_s[:-stride])
    lifted = np.zeros(len(middle), dtype=bool)
    for side in (found[1], found[2]):
        front, rear = speed[:, side[0]], speed[:, side[-1]]
        fast = float(np.percentile(np.abs(rear), 98.0))
        usual = np.abs(rear) > 0.3 * fast
        if fast < OUTRUN_MPS:
            continue
        size = float(np.median(front[usual] / rear[usual]))  # radii of tyres differ
        accel = np.abs(np.gradient(0.5 * (front + rear), middle))
        accel = np.maximum.reduce([accel, np.roll(accel, stride), np.roll(accel, -stride)])
        lifted |= (front - size * rear > max(OUTRUN_MPS, OUTRUN_SHARE * fast)) & (accel > OUTRUN_ACCEL_MPS2)
    # Two moments that share no sample: one wild count makes a wheel outrun the other for less than that.
    return [(float(middle[a]), float(middle[b])) for a, b in spans(lifted) if b - a >= stride]


def _bursts(log: DriveLog) -> list[Finding]:
    """Rates of pitch and roll that no floor gives."""
    if names.IMU not in log or len(log[names.IMU].stamps_ns) < 3:
        return []
    channel, findings = log[names.IMU], []
    time_s = seconds(channel, origin_ns(log))
    for axis, what in (("gyro_y_radps", "pitch"), ("gyro_x_radps", "roll")):
        if axis not in channel.columns:
            continue
        rate = _smoothed(channel.column(axis), round(0.1 * channel.rate_hz))
        rate = rate - np.median(rate)
        burst = spans(np.abs(rate) > max(BURST_RADPS, 8.0 * robust_std(rate, about=0.0)))
        if burst:
            findings.append(
                Finding(
                    Severity.WARNING,
                    names.IMU,
                    f"{what} burst",
                    f"{len(burst)} bursts of {what} rate, first at {time_s[burst[0][0]]:.2f} s, "
                    f"up to {np.abs(rate).max():.2f} rad/s: a wheel lifts or meets an obstacle",
                    "keep to level floor",
                    float(np.abs(rate).max()),
                )
            )
    return findings


def _smoothed(column: np.ndarray, samples: int) -> np.ndarray:
    """Running mean over an odd number of samples."""
    width = max(1, samples) // 2 * 2 + 1
    if width >= len(column):
        return column
    return np.convolve(np.pad(column, width // 2, mode="edge"), np.full(width, 1.0 / width), mode="valid")
