"""Where a pose comes from: independent of the wheels, wheel odometry, fused from wheels and gyro, or unknown.

The data decide. Dead reckoning has no measurement noise and no sideways slip, a measured pose has both, so a pose that moves
sideways by more than dead reckoning can is independent. One that does not is wheel odometry where the wheels explain its heading,
and fused where they explain only its distance. Names and frames decide where the data do not. docs/theory/provenance.md has the
thresholds and what they rest on.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from slipfit.logs.provenance.evidence import LEAST_TURN_RAD, Evidence
from slipfit.logs.provenance.source import Origin, PoseSource

#: Lateral motion per interval (m, and as a share of the displacement) below which there is none, and from which there is some.
#: Wheel odometry leaves 0.02 to 0.1 mm, filters of wheels and gyro up to 0.4 mm, poses of 1 mm noise 1.4 mm.
NO_LATERAL_M, NO_LATERAL_SHARE = 1.5e-4, 1.5e-3
LATERAL_M, LATERAL_SHARE = 8e-4, 5e-3

#: Noise of a measurement (neighbors that do not correlate by more than the first number) counts earlier: from the second number
#: (m) on, if it is this share of the displacement. Motion capture of slow robots has 0.25 mm and 2 %, filters at most 1 %.
NOISY, NOISE_M, NOISE_SHARE = 0.1, 1.5e-4, 0.015

#: Lateral motion counts from so many times what resolution and rates of the sensors make of it.
FLOORS_NONE, FLOORS_SOME = 2.0, 4.0

#: Lateral motion whose neighbors correlate by more than this has no measurement noise in it: slip alone, or filters that are
#: given positions and headings that disagree. Beyond the last number (m) it may be
#: smoother (localizers that update now and then), and is slip where the wheels do not explain the distance.
SMOOTH, LESS_SMOOTH, LARGE_M = 0.3, 0.6, 5e-3

#: Noise of a position is the same forward and sideways, that of a heading is sideways only: forward over lateral residual. Poses
#: that were measured have 0.7 and more, distance of wheels along a compass or AHRS 0.1.
ISOTROPIC = 0.4

#: A heading that the wheels explain so many times better than the gyro does (with a free scale) is the wheels', whatever noise
#: was added; a gyro that leaves more than the second number does not work.
VETO, GYRO_WORKS = 2.5, 0.5

#: A measured heading turns as far as the gyro, and gyros of robots are right to 3 %. One that the wheels explain and that differs
#: by more than the first number is the wheels'. Beyond the second, units or signs of the gyro are wrong.
GYRO_SCALE, GYRO_UNITS = 0.04, 2.0

#: Where turns are too few for a scale: the gyro leaves more than the first number of the heading, and so many times more than it
#: would with a free scale. More than all of it is left by wrong units and signs.
GYRO_LEAVES, GYRO_TIMES = 0.1, 3.0

#: Residuals that grow by less than this when they are added up over seconds are noise on dead reckoning: noise alone gives 0.8 to
#: 1.3, lidar odometry that drifts 2 and more. Names decide then, since noise may be a sensor's, or added to odometry.
GROWS = 1.5

#: White noise (correlation of neighbors) counts from 0.1 mm on where intervals are shorter than this (s).
WHITE, WHITE_M, SHORT_S = -0.3, 1e-4, 0.3

#: Neighbors of white noise correlate by -0.5, and no noise of a measurement by less than this: what does goes up and down with
#: every second interval, as poses that a node extrapolates between slower ones.
SAWTOOTH = -0.7

#: A quantity follows the wheels where they leave at most this share of it over a second: exact odometry leaves 0.1 %, smoothed
#: one and integrated commands 3 %. A heading that the wheels leave more of than the second number comes from elsewhere.
FOLLOWS, HEADING_FOLLOWS = 0.1, 0.06

#: Where the wheels leave less than this of a measured pose's motion, the robot hardly slips.
HARDLY_SLIPS = 0.02

#: Displacement at rest per interval from which a pose has measurement noise (m).
REST_NOISE_M = 3e-4

#: Lateral root mean square over robust standard deviation from which corrections come in jumps.
JUMPY = 20.0


class Doubt(Enum):
    """Why the data do not decide."""

    NO_WHEELS = "no encoders to compare it with"
    AT_REST = "the wheels stand still, so that they tell nothing of it"
    NO_POSES = "it has fewer than three poses with x, y and yaw that differ"
    NO_MOTION = "too little motion to compare it with the wheels"
    ADDED_NOISE = "it is dead reckoning with noise"
    UNCLEAR = "its lateral motion is neither that of dead reckoning nor clearly measured"


#: Doubts of poses that there was nothing to compare with.
NOT_COMPARED = (Doubt.NO_WHEELS, Doubt.AT_REST)


@dataclass(frozen=True, eq=False, slots=True)
class Classified:
    """A pose source, where it comes from, and why."""

    source: PoseSource
    origin: Origin
    reason: str
    evidence: Evidence | None = None
    is_by_data: bool = False  # else by names and frames
    doubt: Doubt | None = None  # why not

    @property
    def name(self) -> str:
        return self.source.name

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        from dataclasses import asdict

        return {
            "name": self.name,
            "type": self.source.type,
            "frame": self.source.frame,
            "child_frame": self.source.child_frame,
            "rate_hz": float(self.source.channel.rate_hz),
            "samples": len(self.source.channel.stamps_ns),
            "origin": self.origin.value,
            "reason": self.reason,
            "by_data": self.is_by_data,
            "evidence": None if self.evidence is None else asdict(self.evidence),
        }


def classify(source: PoseSource, evidence: Evidence | None, doubt: Doubt = Doubt.NO_MOTION) -> Classified:
    """By the data where they decide, else by name and frames; `doubt` is the reason for a lack of evidence."""
    if evidence is None:
        return _by_name(source, None, doubt, doubt.value)
    lateral = _lateral(evidence)
    if lateral is True and _is_vetoed(evidence):
        said = (
            f"the wheels explain {_percent(evidence.yaw_wheels_share)} of its heading, also where the gyro turned otherwise; "
            f"what it moves sideways ({_lateral_text(evidence)}) is added noise, steps, or a clock that is off"
        )
        return Classified(source, Origin.WHEELS, said, evidence, is_by_data=True)
    if lateral is True and _is_gyro_other(evidence):
        said = (
            f"its heading turns {evidence.gyro_scale:.3g} times as far as the gyro, and the wheels explain "
            f"{_percent(evidence.yaw_wheels_share)} of it; what it moves sideways ({_lateral_text(evidence)}) is added noise, or "
            "the gyro's scale is wrong"
        )
        return Classified(source, Origin.WHEELS, said, evidence, is_by_data=True)
    if lateral is True and source.is_called_odometry and (said := _added_noise(evidence)):
        return _by_name(source, evidence, Doubt.ADDED_NOISE, said)
    if lateral is True:
        return Classified(source, Origin.INDEPENDENT, _independent_sentence(evidence), evidence, is_by_data=True)
    follows = evidence.forward_share < FOLLOWS
    turns = evidence.turn_rad > LEAST_TURN_RAD
    if lateral is None:
        said = f"it moves sideways by {_lateral_text(evidence)}, which is not clearly a measured pose's"
        return _by_name(source, evidence, Doubt.UNCLEAR, said)
    if follows:
        return _dead_reckoned(source, evidence, turns=turns)
    said = (
        f"it never moves sideways ({_lateral_text(evidence)}), as dead reckoning does, but the wheels leave "
        f"{100 * evidence.forward_share:.1f} % of its forward motion: integrated commands, or other wheels"
    )
    return Classified(source, Origin.UNKNOWN, said, evidence, is_by_data=True)


def _lateral(e: Evidence) -> bool | None:
    """Whether a pose moves sideways as no dead reckoning does; None where that is not clear."""
    is_some = _moves_sideways(e)
    if is_some and not (e.is_delay_found and is_isotropic(e)):
        return None
    return is_some


def is_isotropic(e: Evidence) -> bool:
    """Whether what is left of a pose is as large forward as sideways. Robots on omni wheels go in any direction; of theirs it is
    not asked."""
    return not e.is_sided or e.forward_m > ISOTROPIC * e.lateral_m


def _is_vetoed(e: Evidence) -> bool:
    """Whether the heading is the wheels', by a gyro that turned otherwise."""
    gyro = e.yaw_gyro_free_share
    return gyro is not None and gyro < GYRO_WORKS and e.yaw_wheels_share < HEADING_FOLLOWS and gyro > VETO * e.yaw_wheels_share


def _is_gyro_other(e: Evidence) -> bool:
    """Whether the wheels explain the heading, and the gyro turned farther or less."""
    return e.gyro_scale is not None and e.yaw_wheels_share < HEADING_FOLLOWS and _turns_unlike_gyro(e)


def _added_noise(e: Evidence) -> str:
    """Why what is called odometry may be dead reckoning with noise: the residuals do not add up, as slip and drift do, or the
    heading is none that was measured. Empty where neither is so."""
    if e.growth is not None and e.growth < GROWS:
        return (
            f"it is dead reckoning with {_lateral_text(e)} of noise: odometry with added noise, or a measured pose of a robot "
            "that hardly slips"
        )
    if _turns_unlike_gyro(e):
        return (
            f"its heading does not turn as the gyro does, and it moves sideways by {_lateral_text(e)}: odometry with added "
            "noise, or scale or clock of the gyro are wrong"
        )
    return ""


def _turns_unlike_gyro(e: Evidence) -> bool:
    """Whether the gyro explains the heading with another scale only."""
    if e.gyro_scale is not None:
        return 1.0 / GYRO_UNITS < e.gyro_scale < GYRO_UNITS and abs(e.gyro_scale - 1.0) > GYRO_SCALE
    if e.yaw_gyro_share is None or e.yaw_gyro_free_share is None:
        return False
    return GYRO_LEAVES < e.yaw_gyro_share < 1.0 and e.yaw_gyro_share > GYRO_TIMES * e.yaw_gyro_free_share


def _moves_sideways(e: Evidence) -> bool | None:
    is_sawtooth = e.smoothness < SAWTOOTH and e.interval_s < SHORT_S
    if is_sawtooth and e.lateral_m > NO_LATERAL_M:
        return None
    is_white = e.smoothness < WHITE and e.interval_s < SHORT_S and e.lateral_m > max(WHITE_M, FLOORS_SOME * e.floor_m)
    if is_white and e.forward_m > 0.5 * e.lateral_m:
        return True
    if e.rest_m is not None and e.rest_m > max(REST_NOISE_M, FLOORS_SOME * e.floor_m) and e.lateral_m > NO_LATERAL_M:
        return True
    noise = min(LATERAL_M, max(NOISE_M, NOISE_SHARE * e.step_m))
    if e.smoothness < NOISY and e.lateral_m > max(noise, LATERAL_SHARE * e.step_m, FLOORS_SOME * e.floor_m):
        return True
    if e.lateral_m > max(LATERAL_M, LATERAL_SHARE * e.step_m, FLOORS_SOME * e.floor_m):
        is_slip = e.forward_share > FOLLOWS and e.yaw_wheels_share > HARDLY_SLIPS  # else a filter on positions alone
        is_large = e.lateral_m > LARGE_M and (e.smoothness < LESS_SMOOTH or is_slip)
        return True if e.smoothness < SMOOTH or is_large else None
    if e.lateral_m < max(NO_LATERAL_M, NO_LATERAL_SHARE * e.step_m, FLOORS_NONE * e.floor_m):
        jumps = e.lateral_rms_m > max(JUMPY * max(e.lateral_m, e.floor_m), 10.0 * LATERAL_M)
        return None if jumps else False
    return None


def _dead_reckoned(source: PoseSource, e: Evidence, *, turns: bool) -> Classified:
    """Wheel odometry or fused: by who explains the heading."""
    as_with = [] if e.radius_m is None else [f"computed with a wheel radius of {abs(e.radius_m):.3g} m"]
    as_with += [f"published {e.late_s:.2f} s late"] if e.late_s > 0.03 else []
    if e.lateral_m > NO_LATERAL_M:
        as_with.insert(0, f"{_lateral_text(e)}, which resolution and rates of the sensors explain")
    sideways = f"it never moves sideways ({', '.join(as_with)})" if as_with else "it never moves sideways"
    distance = f"the wheels explain {_percent(e.forward_share)} of its forward motion"
    by_gyro = e.yaw_gyro_share is not None and e.yaw_gyro_rad is not None
    is_gyro = by_gyro and turns and e.yaw_gyro_rad < e.yaw_wheels_rad and e.yaw_gyro_share < e.yaw_wheels_share  # type: ignore[operator]
    if turns and (is_gyro or e.yaw_wheels_share > HEADING_FOLLOWS):
        whose = f"the gyro explains {_percent(e.yaw_gyro_share or 0.0)}" if is_gyro else "something else than the wheels gives"
        said = f"{distance}, {whose} of its heading, and {sideways}"
        return Classified(source, Origin.FUSED, said, e, is_by_data=True)
    heading = f" and {_percent(e.yaw_wheels_share)} of its heading" if turns else ""
    said = f"{distance}{heading}, and {sideways}"
    if source.hint is Origin.INDEPENDENT:
        said += "; a robot that does not slip at all, with a pose without noise, would look the same"
    return Classified(source, Origin.WHEELS, said, e, is_by_data=True)


def _by_name(source: PoseSource, evidence: Evidence | None, doubt: Doubt, reason: str) -> Classified:
    """Names promise independence where there is nothing to compare with; beside wheels, only names of motion capture and of
    simulators do."""
    hint = source.hint
    is_believed = hint is Origin.INDEPENDENT and (source.is_named_outside or doubt in NOT_COMPARED)
    if is_believed and doubt is not Doubt.NO_POSES:
        return Classified(source, hint, f"by its name or frame; {reason}", evidence, doubt=doubt)
    of = "" if hint in (Origin.UNKNOWN, Origin.INDEPENDENT) else f"; its name or frame is that of {hint.value}"
    return Classified(source, Origin.UNKNOWN, f"{reason}{of}", evidence, doubt=doubt)


def _independent_sentence(e: Evidence) -> str:
    said = f"it moves sideways by {_lateral_text(e)}, as measured poses do and dead reckoning does not"
    if not e.has_heading:
        return f"{said}; its heading never changes while the wheels turn the robot, so that it is no pose"
    if e.forward_share < HARDLY_SLIPS and e.yaw_wheels_share < HARDLY_SLIPS:
        said += (
            f"; the wheels explain {_percent(e.forward_share)} of its forward motion and {_percent(e.yaw_wheels_share)} of its "
            "heading: the robot hardly slips"
        )
    return said


def _lateral_text(e: Evidence) -> str:
    return f"{1e3 * e.lateral_m:.2g} mm per {e.interval_s:.2g} s"


def _percent(left: float) -> str:
    return f"{100.0 * (1.0 - left):.4g} %" if left < 0.1 else f"{100.0 * (1.0 - left):.0f} %"
