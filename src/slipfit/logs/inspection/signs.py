"""Signs: flipped yaw, exchanged sides, wheels or axes that run the other way, one side that counts backward.

Witnesses of turning are wheels, gyro, yaw of the pose, the course of the path (atan2 of its steps) and, in arcs, the
accelerometer, because a_y = v r. Witnesses of going ahead are wheels, pose and accel_x. `convict` finds the smallest set of
flips. Its mirror image is as good a log: where nothing but yaw tells, constants do not depend on the choice.
"""

from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.inspection.align import find_agreement, pair, signals_between
from slipfit.logs.inspection.record import Finding, Severity, Step
from slipfit.logs.inspection.signals import (
    Inertial,
    Seen,
    Wheels,
    inertial_of,
    origin_ns,
    rotation_of,
    seen_of,
    wheels_of,
)
from slipfit.logs.inspection.slow import ahead_sign, yaw_sign
from slipfit.logs.inspection.suspects import Evidence, Mistake, Verdict, convict

#: Correlations count as a sign from this R² on, arcs from a lateral acceleration that the accelerometer can tell from noise.
LEAST_R2, LEAST_ARC_MPS2 = 0.3, 0.05

#: (channel, finding, remedy) of each flip; costs differ a little, so that of two equal explanations the more usual one is taken.
FLIPS = {
    "gyro": (names.IMU, "yaw sign", "the gyro's z axis points down; turn the sign of gyro_z", 1.0),
    "swap": (names.ENCODERS, "swapped sides", "left and right are exchanged; check cables and joint names", 1.02),
    "yaw": (names.POSE, "yaw sign", "the pose counts yaw clockwise; turn its sign", 1.01),
    "mirror": (names.POSE, "mirrored", "the pose is left-handed; turn the signs of y and yaw", 1.3),
    "behind": (names.POSE, "yaw turned by half", "the pose's x axis points backward; add half a turn to yaw", 1.2),
    "reverse": (names.ENCODERS, "reversed direction", "wheels count backward; turn the sign of all of them", 1.1),
    "accel_x": (names.IMU, "flipped accel_x", "turn the sign of accel_x, or mount the IMU as REP 103 says", 1.15),
    "accel_y": (names.IMU, "flipped accel_y", "turn the sign of accel_y, or mount the IMU as REP 103 says", 1.05),
}


def correct_one_side(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """One side that counts backward: then the sum of the sides tells the yaw, and their difference the speed."""
    origin = origin_ns(log)
    wheels = wheels_of(log, robot, origin)
    others = [o for o in (inertial_of(log, origin), seen_of(log, origin)) if o is not None]
    if wheels is None or not others:
        return Step(log)
    odd = replace(wheels, values=wheels.values * np.array([-1.0, 1.0]))
    straight, crossed = (max(_r2_of(w, o) for o in others) for w in (wheels, odd))
    if crossed < straight + 0.3 or crossed < 0.6:
        return Step(log)
    ahead = [o for o in others if isinstance(o, Seen)]
    is_left = not ahead or _ahead_sign(odd, ahead[0]) >= 0.0
    side = names.SIDES[0 if is_left else 1]
    found = rotation_of(log[names.ENCODERS])
    assert found is not None
    _, left, right = found
    channel = negated(log[names.ENCODERS], left if is_left else right)
    finding = Finding(
        Severity.ERROR,
        names.ENCODERS,
        "one side reversed",
        f"the {side} side counts backward: the sum of both sides tells the yaw rate, not their difference",
        f"turn the sign of the {side} wheels",
        crossed,
        is_corrected=True,
    )
    return Step(log.having(channel), (finding,), (f"sign of the {side} wheels",))


def _r2_of(wheels: Wheels, other: Inertial | Seen) -> float:
    agreed = find_agreement(wheels, other)
    return agreed.r2.get("yaw", 0.0) if agreed else 0.0


def _ahead_sign(wheels: Wheels, seen: Seen) -> float:
    agreed = find_agreement(wheels, seen, signed=True)
    return agreed.sign.get("ahead", 1.0) if agreed else 1.0


def correct_signs(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Find the smallest set of flips that explains all witnesses, and undo it."""
    evidence = _evidence(log, robot)
    if not evidence:
        return Step(log)
    asked = {q for e in evidence for q in e.powers}
    suspects = {q: (Mistake(q, -1.0, FLIPS[q][3]),) for q in FLIPS if q in asked}
    verdicts = convict(suspects, evidence)
    cost, verdict = verdicts[0]
    if not verdict:
        return Step(log)
    unflipped = next(c for c, v in verdicts if not v)
    if unflipped - cost < 1.0:
        return Step(log)
    said = _unless(verdict, [v for c, v in verdicts[1:] if c - cost < 1.1 and _is_mirror(v, verdict)])
    findings = []
    for quantity in verdict:
        channel, kind, remedy, _ = FLIPS[quantity]
        log = log.having(_flipped(log[channel], quantity))
        findings.append(
            Finding(
                Severity.ERROR, channel, kind, f"opposite to what the other sensors say{said}", remedy, -1.0, is_corrected=True
            )
        )
    return Step(log, tuple(findings), tuple(f"{FLIPS[q][1]} of {FLIPS[q][0]}" for q in verdict))


def _is_mirror(a: Verdict, b: Verdict) -> bool:
    """Whether two verdicts differ by a reflection of the whole robot: every yaw turns its sign."""
    return bool(set(a) ^ set(b)) and set(a) ^ set(b) <= {"gyro", "swap", "yaw", "mirror", "accel_y"}


def _unless(verdict: Verdict, rivals: list[Verdict]) -> str:
    if not rivals:
        return ""
    other = " and ".join(f"{FLIPS[q][1]} of {FLIPS[q][0]}" for q in rivals[0])
    return f" (or {other}: the drive has no arc that could tell; both are mirror images with the same constants)"


def _flipped(channel: Channel, quantity: str) -> Channel:
    """Undo one flip."""
    column = {name: k for k, name in enumerate(channel.columns)}
    if quantity == "gyro":
        return negated(channel, [column["gyro_z_radps"]])
    if quantity in ("accel_x", "accel_y"):
        return negated(channel, [column[f"{quantity}_mps2"]])
    if quantity == "yaw":
        return negated(channel, [column["yaw_rad"]])
    if quantity == "mirror":
        return negated(channel, [column["y_m"], column["yaw_rad"]])
    if quantity == "behind":
        values = channel.values.copy()
        values[:, column["yaw_rad"]] += np.pi
        return replace(channel, values=values)
    if quantity == "reverse":
        return negated(channel, list(range(len(channel.columns))))
    order = np.array([column.get(_opposite(name), k) for k, name in enumerate(channel.columns)])
    return replace(channel, values=channel.values[:, order])


def _opposite(name: str) -> str:
    """Column of the wheel on the other side: left and right, or wheels 0 and 1, 2 and 3 …"""
    for side, other in (names.SIDES, names.SIDES[::-1]):
        if name.startswith(f"{side}_"):
            return other + name.removeprefix(side)
    words = name.split("_")
    return "_".join(str(int(word) ^ 1) if word.isdigit() else word for word in words)


def negated(channel: Channel, columns: list[int]) -> Channel:
    """The channel with the sign of some columns turned."""
    values = channel.values.copy()
    values[:, columns] = -values[:, columns]
    return replace(channel, values=values)


def _evidence(log: DriveLog, robot: SkidSteerRobot) -> list[Evidence]:
    origin = origin_ns(log)
    wheels, inertial, seen = wheels_of(log, robot, origin), inertial_of(log, origin), seen_of(log, origin)
    told: list[Evidence] = []
    if wheels is not None and inertial is not None:
        agreed = find_agreement(wheels, inertial)
        if agreed and agreed.is_certain:
            told += _sign(agreed.sign, agreed.r2, "yaw", ("swap", "reverse", "gyro"))
            told += _sign(agreed.sign, agreed.r2, "accel", ("accel_x", "reverse"))
            told += _arc(log, wheels, inertial, agreed.late_s)
    if seen is not None and (wheels is not None or inertial is not None):
        reference: Wheels | Inertial = wheels if wheels is not None else inertial  # type: ignore[assignment]
        agreed = find_agreement(reference, seen)
        if agreed and agreed.is_certain:
            powers = ("yaw", "mirror", *(("swap", "reverse") if wheels is not None else ("gyro",)))
            told += _sign(agreed.sign, agreed.r2, "yaw", powers)
            if wheels is not None:
                told += _course(log, wheels, agreed.late_s)
        else:
            told += _slow_sign(reference, seen, ("yaw", "mirror", *(("swap", "reverse") if wheels is not None else ("gyro",))))
            sign = ahead_sign(wheels, seen, *_with_other_yaw(log)) if wheels is not None else None
            told += [] if sign is None else [Evidence(sign, {"reverse": 1, "behind": 1})]
    if seen is not None and inertial is not None and wheels is not None:
        agreed = find_agreement(inertial, seen)
        if agreed and agreed.is_certain:
            told += _sign(agreed.sign, agreed.r2, "yaw", ("gyro", "yaw", "mirror"))
        else:
            told += _slow_sign(inertial, seen, ("gyro", "yaw", "mirror"))
    return told


def _with_other_yaw(log: DriveLog) -> list[Seen]:
    """The pose as it would be if its yaw had the other sign."""
    pose = log[names.POSE]
    if "yaw_rad" not in pose.columns:
        return []
    seen = seen_of(log.having(negated(pose, [pose.columns.index("yaw_rad")])), origin_ns(log))
    return [] if seen is None else [seen]


def _slow_sign(reference: Wheels | Inertial, seen: Seen, flips: tuple[str, ...]) -> list[Evidence]:
    sign = yaw_sign(reference, seen)
    return [] if sign is None else [Evidence(sign, dict.fromkeys(flips, 1))]


def _sign(signs: dict[str, float], r2: dict[str, float], signal: str, flips: tuple[str, ...]) -> list[Evidence]:
    if r2.get(signal, 0.0) < LEAST_R2:
        return []
    return [Evidence(signs[signal], dict.fromkeys(flips, 1))]


def _arc(log: DriveLog, wheels: Wheels, inertial: Inertial, late_s: float) -> list[Evidence]:
    r = arc_correlation(log, wheels, inertial, late_s)
    return [Evidence(float(np.sign(r)), {"accel_y": 1, "reverse": 1, "gyro": 1})] if r is not None and r * r > LEAST_R2 else []


def arc_correlation(log: DriveLog, wheels: Wheels, inertial: Inertial, late_s: float) -> float | None:
    """Correlation of accel_y with v r in arcs; its slow part only, wheels shake the rest. None where there are no arcs."""
    if "accel_y_mps2" not in log[names.IMU].columns:
        return None
    edges = np.arange(inertial.time_s[0], inertial.time_s[-1], max(0.25, 2.0 * inertial.period_s, 2.0 * wheels.period_s))
    if len(edges) < 9:
        return None
    ok = inertial.is_whole(edges) & wheels.is_whole(edges - late_s)
    width = np.diff(edges)
    sides = np.diff(wheels.at(edges - late_s), axis=0)
    sums = np.diff(inertial.at(edges), axis=0)
    expected = (sides.mean(axis=1) / width * sums[:, 0] / width)[ok]
    felt = (sums[:, 2] / width)[ok]
    if len(felt) < 8 or np.percentile(np.abs(expected), 98.0) < LEAST_ARC_MPS2 or felt.std() < 1e-9 or expected.std() < 1e-9:
        return None
    return float(np.corrcoef(expected, felt)[0, 1])


def _course(log: DriveLog, wheels: Wheels, late_s: float) -> list[Evidence]:
    """Steps of the path, seen along yaw and along yaw with its sign turned, against the distance by the wheels."""
    pose = log[names.POSE]
    if "yaw_rad" not in pose.columns:
        return []
    places = {name: k for k, name in enumerate(pose.columns)}
    r2, sign = {}, {}
    for flip in (1.0, -1.0):
        channel = pose if flip > 0.0 else negated(pose, [places["yaw_rad"]])
        seen = seen_of(log.having(channel), origin_ns(log))
        assert seen is not None
        ahead = next(s for s in signals_between(wheels, seen, signed=True) if s.name == "ahead")
        x, y = pair(ahead, wheels, seen, late_s)
        if len(x) < 8 or x.std() < 1e-9 or y.std() < 1e-12:
            return []
        r = float(np.corrcoef(x, y)[0, 1])
        r2[flip], sign[flip] = r * r, float(np.sign(r))
    better = 1.0 if r2[1.0] >= r2[-1.0] else -1.0
    told = []
    if r2[better] > LEAST_R2 and r2[better] - r2[-better] > 0.1 * r2[better]:
        told.append(Evidence(better, {"yaw": 1}))
    if r2[better] > LEAST_R2:
        told.append(Evidence(sign[better], {"reverse": 1, "behind": 1}))
    return told
