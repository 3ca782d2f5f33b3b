"""Clocks: IMU and pose against the encoders, whose clock counts as the log's."""

from dataclasses import replace

from slipfit.library import Robot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import NANOSECONDS, Channel, DriveLog
from slipfit.logs.inspection.align import Offset, find_offset
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import inertial_of, origin_ns, seen_of, wheels_of

#: Offsets below this stay: fits have a clock of their own to find, and slip of an unknown law looks like a few milliseconds.
LEAST_S = 0.01

#: Two clocks whose spans overlap by less than this share of the shorter are not the same clock.
LEAST_OVERLAP = 0.5


def correct_clocks(log: DriveLog, robot: Robot) -> Step:
    """Shift stamps of IMU and pose so that they tell of the same moments as the encoders."""
    wheels = wheels_of(log, robot, origin_ns(log))
    if wheels is None:
        return Step(log)
    findings, corrections, channels = [], [], []
    for name, make in ((names.IMU, inertial_of), (names.POSE, seen_of)):
        other = make(log, origin_ns(log))
        if other is None:
            continue
        begin, end = max(wheels.time_s[0], other.time_s[0]), min(wheels.time_s[-1], other.time_s[-1])
        shorter = min(wheels.time_s[-1] - wheels.time_s[0], other.time_s[-1] - other.time_s[0])
        if end - begin < LEAST_OVERLAP * shorter:
            findings.append(_apart(name, float(other.time_s[0] - wheels.time_s[0])))
            continue
        offset = find_offset(wheels, other)
        if offset is None or not offset.is_clear:
            findings.append(_unknown(name, offset))
            continue
        low, high = offset.interval_90
        is_off = abs(offset.late_s) > LEAST_S and not low <= 0.0 <= high
        findings.append(
            Finding(
                (Severity.ERROR if abs(offset.late_s) > 0.02 else Severity.WARNING) if is_off else Severity.INFO,
                name,
                "clock offset",
                f"{abs(offset.late_s):.4f} s {'behind' if offset.late_s > 0 else 'ahead of'} the encoders "
                f"(90 %: {low:.4f} to {high:.4f} s)",
                "stamp all sensors by one clock" if is_off else "nothing",
                offset.late_s,
                offset.interval_90,
                is_corrected=is_off,
            )
        )
        if is_off:
            corrections.append(f"clock offset of {name} {offset.late_s:.3f} s")
            stamps = log[name].stamps_ns - round(offset.late_s * NANOSECONDS)
            channels.append(replace(log[name], stamps_ns=stamps))
            if name == names.POSE and names.SEGMENTS in log:
                channels.append(_with(log, names.SEGMENTS, round(offset.late_s * NANOSECONDS)))
    return Step(log.having(*channels), tuple(findings), tuple(corrections))


def _with(log: DriveLog, name: str, shift_ns: int) -> Channel:
    return replace(log[name], stamps_ns=log[name].stamps_ns - shift_ns)


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
