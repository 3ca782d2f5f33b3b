"""The drive itself: is there what calibration needs, does the robot steer, stand, turn."""

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import DriveLog
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import inertial_of, origin_ns, rolled, rotation_of, seconds, seen_of, wheels_of
from slipfit.logs.provenance.truth import WHAT_TO_RECORD

#: Less than this is no motion, no turn, no drive.
LEAST_MOTION_M, LEAST_TURN_RAD, LEAST_MOVING_S = 0.02, 0.5, 3.0


def require_witnesses(log: DriveLog, _: SkidSteerRobot, others: tuple[str, ...] = ()) -> Step:
    """Encoders, and an IMU or a pose, or one of other channels that tell as much to who asks; no steering joints."""
    findings = []
    if names.ENCODERS not in log or rotation_of(log[names.ENCODERS]) is None:
        has = ", ".join(log[names.ENCODERS].columns) if names.ENCODERS in log else ", ".join(sorted(log.channels)) or "nothing"
        what = "encoders with columns of left and right wheels" if names.ENCODERS in log else "encoders"
        findings.append(_fatal("encoders", "missing", f"the log has no {what} (it has {has})", "record JointState of the wheels"))
    if not any(name in log for name in (names.IMU, names.POSE, *others)):
        findings.append(_nothing_independent(log))
    for note in log.notes:
        if "steer: this robot does not turn by slip" in note:
            said = "this robot steers its wheels, slip constants of a skid-steer robot cannot be found"
            findings.append(_fatal("encoders", "steered", f"{note}", said))
    return Step(log, tuple(findings))


def _nothing_independent(log: DriveLog) -> Finding:
    """No channel says how the body moved but the wheels themselves."""
    poses = log.truth.poses if log.truth is not None else ()
    if not poses:
        found = "the log has neither IMU nor pose; expected one of them, to see how the body moves"
        return _fatal("", "missing", found, WHAT_TO_RECORD)
    said = "; ".join(f"{pose.name} is {pose.origin.value} ({pose.reason})" for pose in poses[:2])
    found = f"nothing in the log is independent of the wheels, and slip cannot be seen without: {said}; it has no IMU"
    remedy = f"{WHAT_TO_RECORD}; if you know that a pose is independent, pass --truth {poses[0].name}"
    return _fatal("", "missing", found, remedy)


def _fatal(channel: str, kind: str, found: str, remedy: str) -> Finding:
    return Finding(Severity.FATAL, channel, kind, found, remedy)


def require_motion(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """A robot that moves, long enough, and turns."""
    wheels = wheels_of(log, robot, origin_ns(log))
    if wheels is None:
        return Step(log)
    steps = np.abs(np.diff(wheels.values, axis=0))
    travelled = float(steps.sum(axis=0).max())
    is_ticks = (rotation_of(log[names.ENCODERS]) or ("",))[0] == "ticks"
    if np.ptp(wheels.values, axis=0).max() < LEAST_MOTION_M and travelled < 5.0 * LEAST_MOTION_M:
        return Step(
            log, (_fatal("encoders", "standing", f"the wheels turn by {travelled * 1e3:.1f} mm: the robot stands", "drive it"),)
        )
    findings = []
    speed = steps.max(axis=1) / np.diff(wheels.time_s)
    moving_s = float(np.diff(wheels.time_s)[speed > 0.1 * np.percentile(speed, 98.0)].sum())
    if moving_s < LEAST_MOVING_S:
        findings.append(
            Finding(
                Severity.WARNING,
                "encoders",
                "short drive",
                f"the robot moves for {moving_s:.1f} s",
                "drive for 20 s and more",
                moving_s,
            )
        )
    turned = _turned(log, wheels.yaw_rad if not is_ticks else None)
    if turned is not None and turned < LEAST_TURN_RAD:
        findings.append(
            Finding(
                Severity.WARNING,
                "",
                "no spin",
                f"the robot turns by {np.degrees(turned):.1f}° altogether: c_lat cannot be found",
                "add a spin on the spot, a turn to each side",
                turned,
            )
        )
    return Step(log, (*findings, *_steered(log, robot)))


def _turned(log: DriveLog, by_wheels: np.ndarray | None) -> float | None:
    """Largest change of heading, by the body's own witnesses."""
    inertial, seen = inertial_of(log, origin_ns(log)), seen_of(log, origin_ns(log))
    told = [float(np.ptp(s.values[:, 0])) for s in (inertial, seen) if s is not None and np.ptp(s.values[:, 0]) > 0.0]
    if told:
        return max(told)
    return None if by_wheels is None else float(np.ptp(by_wheels))


def _steered(log: DriveLog, robot: SkidSteerRobot) -> list[Finding]:
    """Front wheels of a steered robot outrun the rear ones in turns: v_f² - v_r² = (r L)²."""
    found = rotation_of(log[names.ENCODERS])
    inertial = inertial_of(log, origin_ns(log))
    if found is None or len(found[1]) < 2 or found[0] == "ticks" or inertial is None:
        return []
    channel = log[names.ENCODERS]
    time_s = seconds(channel, origin_ns(log))
    width = max(0.2, 2.0 * float(np.median(np.diff(time_s))))
    edges = np.arange(max(time_s[0], inertial.time_s[0]), min(time_s[-1], inertial.time_s[-1]), width)
    if len(edges) < 10:
        return []
    sums = rolled(channel.values, time_s, found[0]) * robot.wheels.radius_m.value
    speed = [
        [np.diff(np.interp(edges, time_s, sums[:, k])) / width for k in (side[0], side[-1])] for side in (found[1], found[2])
    ]
    gain = np.mean([front**2 - rear**2 for front, rear in speed], axis=0)
    rate = np.diff(inertial.at(edges)[:, 0]) / width
    expected = (rate * robot.wheelbase_m) ** 2
    if expected.max() < 1e-3 or gain.std() < 1e-9:
        return []
    slope = float(expected @ gain / (expected @ expected))
    r2 = float(np.corrcoef(expected, gain)[0, 1]) ** 2
    if not (0.5 < slope < 2.0 and r2 > 0.7):
        return []
    found_text = f"front wheels outrun the rear ones in turns as those of a steered robot do (v_f² - v_r² = {slope:.2f} (r L)²)"
    return [_fatal("encoders", "steered", found_text, "slip constants of a skid-steer robot cannot be found from it")]
