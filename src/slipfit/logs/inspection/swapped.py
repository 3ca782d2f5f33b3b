"""Columns that were exchanged: x and y of the accelerometer, x and y of the pose, a pose whose yaw is off by a quarter turn.

The wheels tell the acceleration ahead, dv/dt, and in arcs the one to the left, v r. A column that follows the one of the other
axis while its own does not is exchanged; signs are left to `correct_signs`, so that an IMU turned by a quarter is found too.
Steps of a path, seen along the pose's yaw, tell the distance ahead, unless x and y are exchanged:
d (sin psi, cos psi) seen along psi is d sin 2 psi. A drive in one direction cannot tell this from a yaw that is off by a quarter;
one that turns can.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.inspection.align import find_agreement, pair, signals_between
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import Wheels, inertial_of, origin_ns, seen_of, wheels_of
from slipfit.logs.inspection.signs import arc_correlation

#: R² that the exchanged columns must reach in one signal, what they must gain in all, and may lose in none. Accelerometers of a
#: Warthog on five grounds have 0.47 to 0.84 in the better signal, and at most 0.05 with exchanged columns.
FOLLOWS_R2, GAIN_R2, LOSS_R2 = 0.4, 0.35, 0.05

#: R² of a path along its yaw below which the path is doubted, above which another reading of it is believed, and its lead. Paths
#: of a Warthog and a Husky have 0.51 to 0.88 as they are and at most 0.2 with exchanged columns.
DOUBTED_R2, BELIEVED_R2, LEAD_R2 = 0.25, 0.5, 0.3

#: Fewer steps of a path agree by chance.
LEAST_STEPS = 100


def exchanged(channel: Channel, first: str, second: str) -> Channel:
    """The channel with the values of two columns exchanged."""
    order = list(range(len(channel.columns)))
    a, b = channel.columns.index(first), channel.columns.index(second)
    order[a], order[b] = b, a
    return replace(channel, values=channel.values[:, order])


def correct_swapped_acceleration(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """accel_x and accel_y the other way round, where each follows what the wheels say about the other."""
    wheels = wheels_of(log, robot, origin_ns(log))
    columns = ("accel_x_mps2", "accel_y_mps2")
    if wheels is None or names.IMU not in log or not set(columns) <= set(log[names.IMU].columns):
        return Step(log)
    swapped = log.having(exchanged(log[names.IMU], *columns))
    now, then = _follows(log, wheels), _follows(swapped, wheels)
    gains = [after - before for before, after in zip(now, then, strict=True)]
    if max(then) < FOLLOWS_R2 or sum(gains) < GAIN_R2 or min(gains) < -LOSS_R2:
        return Step(log)
    ahead, left = (f"{before:.2f} as they are, {after:.2f} exchanged" for before, after in zip(now, then, strict=True))
    finding = Finding(
        Severity.ERROR,
        names.IMU,
        "swapped axes",
        f"accel_x and accel_y are exchanged: R² with the wheels' acceleration {ahead}, with v r in arcs {left}",
        "exchange accel_x and accel_y, or mount the IMU as REP 103 says",
        float(max(then)),
        is_corrected=True,
    )
    return Step(swapped, (finding,), ("swapped axes of imu, accel_x and accel_y",))


def _follows(log: DriveLog, wheels: Wheels) -> tuple[float, float]:
    """R² of accel_x with the wheels' acceleration and of accel_y with v r; 0 where they have nothing in common."""
    inertial = inertial_of(log, origin_ns(log))
    agreed = find_agreement(wheels, inertial) if inertial is not None else None
    if agreed is None or inertial is None:
        return 0.0, 0.0
    arc = arc_correlation(log, wheels, inertial, agreed.late_s)
    return agreed.r2.get("accel", 0.0), 0.0 if arc is None else arc * arc


def correct_swapped_pose(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """x and y of the pose the other way round, or its yaw a quarter turn off: the path does not go where the robot looks."""
    wheels, seen = wheels_of(log, robot, origin_ns(log)), seen_of(log, origin_ns(log))
    if wheels is None or seen is None or "yaw_rad" not in log[names.POSE].columns:
        return Step(log)
    agreed = find_agreement(wheels, seen)
    if agreed is None:
        return Step(log)
    told = {name: _ahead_r2(log.having(change(log[names.POSE])), wheels, agreed.late_s) for name, change in READINGS.items()}
    asis = told.pop("as it is")
    best, second = sorted(told, key=lambda name: -told[name])
    if asis > DOUBTED_R2 or told[best] < BELIEVED_R2:
        return Step(log)
    is_told = told[best] - told[second] > LEAD_R2
    best, second = (best, second) if is_told else (SWAPPED, TURNED)  # the more usual one; both move the robot alike
    rival = "" if is_told else f" (or {second}: a drive in one direction cannot tell)"
    found = f"the path does not go where the robot looks, unless {best}{rival}: R² {asis:.2f} as it is, {told[best]:.2f} then"
    kind, remedy = KINDS[best]
    finding = Finding(Severity.ERROR, names.POSE, kind, found, remedy, told[best], is_corrected=True)
    return Step(log.having(READINGS[best](log[names.POSE])), (finding,), (f"{kind} of pose",))


def _ahead_r2(log: DriveLog, wheels: Wheels, late_s: float) -> float:
    """R² of the distance along the pose's yaw with that of the wheels. With a yaw of the wrong sign no reading reaches much."""
    seen = seen_of(log, origin_ns(log))
    assert seen is not None
    ahead = next(s for s in signals_between(wheels, seen, signed=True) if s.name == "ahead")
    x, y = pair(ahead, wheels, seen, late_s)
    if len(x) < LEAST_STEPS or x.std() < 1e-9 or y.std() < 1e-12:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1]) ** 2


def _quarter(channel: Channel) -> Channel:
    """Yaw a quarter turn to the left; half a turn more, where needed, is found by `correct_signs`."""
    values = channel.values.copy()
    values[:, channel.columns.index("yaw_rad")] += 0.5 * np.pi
    return replace(channel, values=values)


SWAPPED, TURNED = "x and y are exchanged", "yaw is off by a quarter turn"

READINGS: dict[str, Callable[[Channel], Channel]] = {
    "as it is": lambda channel: channel,
    SWAPPED: lambda channel: exchanged(channel, "x_m", "y_m"),
    TURNED: _quarter,
}

#: Name of the finding and remedy of each other reading.
KINDS = {
    SWAPPED: ("swapped axes", "exchange x and y of the pose"),
    TURNED: (
        "yaw turned by a quarter",
        "the pose's yaw is not the robot's x axis; add or take a quarter turn",
    ),
}
