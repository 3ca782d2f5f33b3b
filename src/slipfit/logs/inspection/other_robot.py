"""Is it this robot's log? What the body does over what its wheels say, against what wheel radius, track and slip allow.

Wheels that are larger in the robot's file than on the robot roll too far by the same share at all times; slip comes and goes with
commands and ground. So a ratio counts that is outside its window and alike throughout the drive.
"""

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.inspection.align import find_agreement, signals_between
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import Inertial, Seen, Wheels, inertial_of, origin_ns, rotation_of, seen_of, wheels_of
from slipfit.logs.inspection.slow import LEAST_AHEAD_R2, LEAST_R2, way_ratio
from slipfit.logs.inspection.units import YAW_WINDOW, slopes_at

#: Way ahead over what the wheels roll. Recordings of a Husky and a Warthog have 0.73 to 1.04, the lowest in sand and on grass; no
#: robot outruns its wheels but by an error of their radius.
WAY_WINDOW = (0.7, 1.1)

#: Quartiles of the ratio over a drive that are farther apart than this are slip, or noise.
ALIKE = 1.5


def look_at_robot(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """A finding for a way and one for a turn that contradict the robot's file; nothing is corrected."""
    origin = origin_ns(log)
    wheels = wheels_of(log, robot, origin)
    if wheels is None or (rotation_of(log[names.ENCODERS]) or ("ticks",))[0] == "ticks":
        return Step(log)
    findings = []
    seen, inertial = seen_of(log, origin), inertial_of(log, origin)
    way = _ratio(wheels, seen, "ahead", LEAST_AHEAD_R2)
    if way is None and seen is not None:
        way = way_ratio(wheels, seen)
    if way is not None and not WAY_WINDOW[0] <= way <= WAY_WINDOW[1]:
        radius = robot.wheels.radius_m.value
        findings.append(
            Finding(
                Severity.WARNING,
                names.POSE,
                "another robot?",
                f"the robot goes {way:.2f} m for each metre that its wheels roll by the radius of {robot.name}, {radius:.4g} m, "
                f"alike throughout the drive; expected {WAY_WINDOW[0]:g} to {WAY_WINDOW[1]:g}",
                f"name the robot that drove, or correct radius_m ({way * radius:.3g} m would fit); on loose ground it may be "
                "slip",
                way,
            )
        )
    turns = [_ratio(wheels, other, "yaw", LEAST_R2) for other in (inertial, seen)]
    told = [turn for turn in turns if turn is not None]
    if told and not any(YAW_WINDOW[0] <= turn <= YAW_WINDOW[1] for turn in told):
        findings.append(
            Finding(
                Severity.WARNING,
                names.ENCODERS,
                "another robot?",
                f"the robot turns by {told[0]:.2f} of what its wheels say with radius and track of {robot.name}, alike "
                f"throughout the drive; expected {YAW_WINDOW[0]:g} to {YAW_WINDOW[1]:g}",
                "name the robot that drove, or correct radius_m and the wheels' places",
                told[0],
            )
        )
    return Step(log, tuple(findings))


def _ratio(wheels: Wheels, other: Inertial | Seen | None, signal: str, least_r2: float) -> float | None:
    """Of the body over the wheels, where both tell of the same motion and the ratio is alike at all times."""
    agreed = find_agreement(wheels, other) if other is not None else None
    if agreed is None or other is None or agreed.r2.get(signal, 0.0) < least_r2:
        return None
    found = next(s for s in signals_between(wheels, other, signed=False) if s.name == signal)
    low, middle, high = (abs(slope) for slope in slopes_at(found, wheels, other, agreed.late_s, (0.25, 0.5, 0.75)))
    return middle if 0.0 < max(low, high) <= ALIKE * min(low, high) else None
