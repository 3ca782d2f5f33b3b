"""The ladder's rungs: from the rim speeds of both sides to the body's velocity, simplest first.

| rung | unknowns | source |
|---|---|---|
| ideal | none | differential drive |
| equal slip | none | [Haas2009], T^2 + B^2 |
| track and gain | effective track, gain | wheel_separation_multiplier and wheel_radius_multiplier of ros2_control |
| icr | rotation centres of left, right and body, gains of both sides | [Mandow2007] |
| drifting icr | the same, and a drift in curves | here |
| wheel_slip, magic formula | constants of a law, replayed by the simulator (`contact_rungs`) | [Trimble2022], [Pacejka2012] |
| ... with regression | small polynomials for what the rung below leaves | here |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from slipfit.calibration.unknowns import Unknown
from slipfit.library import SkidSteerRobot
from slipfit.logs.rims import Rims
from slipfit.vehicles.kinematic import DriftingIcr, EqualSlip, IcrDrive, IdealDrive, body_velocity

Values = Mapping[str, float]


class Rung(Protocol):
    """A model of the ladder."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def unknowns(self) -> tuple[Unknown, ...]: ...

    @property
    def starts(self) -> tuple[Values, ...]:
        """Where a fit may begin instead of the unknowns' starts: it tries them all and goes on from the best."""
        ...

    def twists(self, rims: Rims, sets: Sequence[Values]) -> list[np.ndarray]:
        """Velocity ahead, to the left and yaw rate at every point of the grid, (T, 3), for several sets of values."""
        ...


@dataclass(frozen=True, slots=True)
class KinematicRung:
    """A model that needs the moment's rim speeds only."""

    name: str
    about: str
    unknowns: tuple[Unknown, ...]
    model: Callable[[Values], Any]
    starts: tuple[Values, ...] = ()

    def twists(self, rims: Rims, sets: Sequence[Values]) -> list[np.ndarray]:
        return [np.column_stack(body_velocity(self.model(values), rims.left_mps, rims.right_mps)) for values in sets]


def _motion(name: str, start: float, scale: float, prior_std: float | None, about: str, lower: float = -np.inf) -> Unknown:
    return Unknown(name, start, scale, prior_std, about, "motion", start, lower=lower)


def ideal(robot: SkidSteerRobot) -> KinematicRung:
    return KinematicRung("ideal", "differential drive without slip", (), lambda _: IdealDrive(robot.track_m))


def equal_slip(robot: SkidSteerRobot) -> KinematicRung:
    """Of more than two axles the wheelbase is that of two with the same mean square distance from their middle."""
    base = 2.0 * float(np.std([x for x, _ in robot.wheels.at_m.value]))
    return KinematicRung("equal slip", "all wheels slip alike, T²+B²", (), lambda _: EqualSlip(robot.track_m, base))


def track_and_gain(robot: SkidSteerRobot) -> KinematicRung:
    """What ros2_control's diff_drive_controller can be told."""

    def model(v: Values) -> IcrDrive:
        half = 0.5 * v["effective_track_m"]
        return IcrDrive(half, -half, 0.0, v["gain"], v["gain"])

    track = robot.track_m
    unknowns = (
        _motion("effective_track_m", 1.5 * track, 0.05 * track, 3.0 * track, "track that an ideal drive would need", 0.1 * track),
        _motion("gain", 1.0, 0.02, 0.3, "way of the robot over way of the rims", 0.05),
    )
    return KinematicRung("track and gain", "an ideal drive with another track and radius", unknowns, model)


def icr(robot: SkidSteerRobot) -> KinematicRung:
    return KinematicRung("icr", "rotation centres of both sides and of the body", _icr_unknowns(robot), _icr)


def drifting_icr(robot: SkidSteerRobot) -> KinematicRung:
    drift = _motion("drift_s", 0.0, 0.02, 0.5, "sliding outwards in curves, speed to the side over u r")
    return KinematicRung(
        "drifting icr", "rotation centres that move ahead with speed", (*_icr_unknowns(robot), drift),
        lambda v: DriftingIcr(*_icr(v), v["drift_s"]),
    )  # fmt: skip


def _icr_unknowns(robot: SkidSteerRobot) -> tuple[Unknown, ...]:
    half = 0.75 * robot.track_m
    return (
        _motion("y_left_m", half, 0.05 * half, 3.0 * half, "rotation centre of the left side", 0.05 * half),
        Unknown(
            "y_right_m", -half, 0.05 * half, 3.0 * half, "rotation centre of the right side", "motion", -half, upper=-0.05 * half
        ),
        _motion("x_m", 0.0, 0.02, robot.wheelbase_m, "rotation centre of the body ahead of the pose's origin"),
        _motion("gain_left", 1.0, 0.02, 0.3, "way over way of the left rim", 0.05),
        _motion("gain_right", 1.0, 0.02, 0.3, "way over way of the right rim", 0.05),
    )


def _icr(v: Values) -> IcrDrive:
    return IcrDrive(v["y_left_m"], v["y_right_m"], v["x_m"], v["gain_left"], v["gain_right"])


#: Terms of the regression: what they add to (ahead, to the left, yaw rate), from u and r of the rung below (SI units).
TERMS: dict[str, tuple[int, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "ahead u": (0, lambda u, r: u),
    "left u r": (1, lambda u, r: u * r),
    "yaw r": (2, lambda u, r: r),
    "yaw u": (2, lambda u, r: u),
    "ahead u|r|": (0, lambda u, r: u * np.abs(r)),
    "ahead u|u|": (0, lambda u, r: u * np.abs(u)),
    "ahead u r²": (0, lambda u, r: u * r * r),
    "left |u|u r": (1, lambda u, r: np.abs(u) * u * r),
    "left u r|r|": (1, lambda u, r: u * r * np.abs(r)),
    "yaw r|r|": (2, lambda u, r: r * np.abs(r)),
    "yaw r|u|": (2, lambda u, r: r * np.abs(u)),
    "yaw u|r|": (2, lambda u, r: u * np.abs(r)),
    "yaw u|u|": (2, lambda u, r: u * np.abs(u)),
}

#: How large a term's coefficient may be: a tenth at 1 m/s and 1 rad/s.
TERM_STD = 0.1


@dataclass(frozen=True, slots=True)
class RegressedRung:
    """Another rung and small polynomials on top: each even in the direction of driving, as tyres are."""

    base: Rung

    @property
    def name(self) -> str:
        return f"{self.base.name} with regression"

    @property
    def about(self) -> str:
        return f"{self.base.about}, and polynomials for what it leaves"

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        return (*self.base.unknowns, *(_motion(name, 0.0, 0.01, TERM_STD, "regression") for name in TERMS))

    @property
    def starts(self) -> tuple[Values, ...]:
        return self.base.starts

    def twists(self, rims: Rims, sets: Sequence[Values]) -> list[np.ndarray]:
        # Columns of a Jacobian differ mostly in the terms: a replay is run once for each set that the base sees.
        seen = [tuple(values[u.name] for u in self.base.unknowns) for values in sets]
        distinct = list(dict.fromkeys(seen))
        twists = dict(zip(distinct, self.base.twists(rims, [sets[seen.index(key)] for key in distinct]), strict=True))
        found = []
        for values, key in zip(sets, seen, strict=True):
            twist = twists[key]
            u, r = twist[:, 0], twist[:, 2]
            corrected = twist.copy()
            for name, (signal, term) in TERMS.items():
                if values[name]:
                    corrected[:, signal] += values[name] * term(u, r)
            found.append(corrected)
        return found


def kinematic_ladder(robot: SkidSteerRobot) -> list[Rung]:
    """Rungs without a contact law, simplest first."""
    return [ideal(robot), equal_slip(robot), track_and_gain(robot), icr(robot), drifting_icr(robot), RegressedRung(icr(robot))]
