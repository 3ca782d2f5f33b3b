"""Clocks: IMU and pose against the encoders, whose clock counts as the log's."""

from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.inspection.align import LEAST_LEAD, LEAST_S, Z_90, Offset, find_agreement, find_offset
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import Inertial, Seen, inertial_of, origin_ns, seen_of, wheels_of

#: Offsets between three sensors close within this, s: the coarse search's steps, and the body's lag, which it does not know.
CLOSED_S = 0.15

#: Two clocks whose spans overlap by less than this share of the shorter are not the same clock.
LEAST_OVERLAP = 0.5


def correct_clocks(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Shift stamps of IMU and pose so that they tell of the same moments as the encoders."""
    wheels = wheels_of(log, robot, origin_ns(log))
    if wheels is None:
        return Step(log)
    findings, corrections, channels = [], [], []
    inertial, seen = inertial_of(log, origin_ns(log)), seen_of(log, origin_ns(log))
    found: dict[str, Offset] = {}
    for name, other in ((names.IMU, inertial), (names.POSE, seen)):
        if other is None:
            continue
        begin, end = max(wheels.time_s[0], other.time_s[0]), min(wheels.time_s[-1], other.time_s[-1])
        shorter = min(wheels.time_s[-1] - wheels.time_s[0], other.time_s[-1] - other.time_s[0])
        if end - begin < LEAST_OVERLAP * shorter:
            findings.append(_apart(name, float(other.time_s[0] - wheels.time_s[0])))
            continue
        offset = find_offset(wheels, other)
        if offset is None or not offset.agreement.is_clear:
            findings.append(_unknown(name, offset))
            continue
        found[name] = offset
        closes = name == names.IMU or inertial is None or seen is None or _closes(found, inertial, seen)
        is_off = _is_wrong(offset) and closes
        findings.append(_finding(name, offset, is_off=is_off, closes=closes))
        if is_off:
            corrections.append(f"clock offset of {name} {offset.late_s:.3f} s")
            stamps = log[name].stamps_ns - round(offset.late_s * NANOSECONDS)
            channels.append(replace(log[name], stamps_ns=stamps))
            if name == names.POSE and names.SEGMENTS in log:
                channels.append(_with(log, names.SEGMENTS, round(offset.late_s * NANOSECONDS)))
    return Step(log.having(*channels), tuple(findings), tuple(corrections))


def _with(log: DriveLog, name: str, shift_ns: int) -> Channel:
    return replace(log[name], stamps_ns=log[name].stamps_ns - shift_ns)


def _is_wrong(offset: Offset) -> bool:
    """Far from zero, by more than its interval, better than none, and told by something that can be trusted."""
    low, high = offset.interval_90
    is_far = abs(offset.late_s) > LEAST_S and not low <= 0.0 <= high
    return is_far and offset.lead > LEAST_LEAD and offset.agreement.is_certain


def _closes(found: dict[str, Offset], inertial: Inertial, seen: Seen) -> bool:
    """Whether encoders to IMU to pose is as long as encoders to pose: three comparisons, two clocks."""
    direct = find_agreement(inertial, seen, signed=True)
    if names.IMU not in found or direct is None or not direct.is_clear or "yaw" not in direct.r2:
        return True
    rest = found[names.IMU].late_s + direct.late_s - found[names.POSE].late_s
    return abs(rest) < max(CLOSED_S, Z_90 * float(np.hypot(found[names.IMU].std_s, found[names.POSE].std_s)))


def _finding(name: str, offset: Offset, *, is_off: bool, closes: bool) -> Finding:
    low, high = offset.interval_90
    side, least, most = ("behind", low, high) if offset.late_s > 0 else ("ahead of", -high, -low)
    said = f"{abs(offset.late_s):.4f} s {side} the encoders (90 %: {least:.4f} to {most:.4f} s)"
    if is_off:
        remedy = "stamp all sensors by one clock"
    elif low <= 0.0 <= high:
        remedy = "nothing"
    elif abs(offset.late_s) <= LEAST_S:
        said += ", small enough to be left to calibration, which fits 50 ms to both sides"
        remedy = "nothing"
    elif offset.lead <= LEAST_LEAD:
        said += ", but a body that lags behind its wheels explains it as well"
        remedy = "drive turns to both sides, with starts and stops"
    else:
        said += ", but the sensors agree too little to be sure" if closes else ", but not against the IMU"
        remedy = "drive turns to both sides, with starts and stops"
    severity = Severity.ERROR if is_off else Severity.INFO
    return Finding(severity, name, "clock offset", said, remedy, offset.late_s, offset.interval_90, is_corrected=is_off)


def _apart(name: str, by_s: float) -> Finding:
    return Finding(
        Severity.ERROR,
        name,
        "clock",
        f"starts {by_s:.6g} s after the encoders and hardly overlaps with them: two clocks",
        "stamp all sensors by one clock, or take the stamps of reception",
        by_s,
    )


def _unknown(name: str, offset: Offset | None) -> Finding:
    why = "has no motion in common with the encoders" if offset is None else "several offsets fit equally well"
    return Finding(
        Severity.INFO,
        name,
        "clock offset",
        f"cannot be checked: {why}",
        "drive with starts, stops and turns that do not repeat",
        None if offset is None else offset.late_s,
    )
