"""What a drive of a tracked robot told, as a ground of its twin: friction or soil, and how it turns.

Tracks that turn slide along as well as across: at a place x ahead of the middle the belt slides by (s, -r x), and Coulomb's
friction points against that. Of the moment mu W L / 4 of tracks that slide across alone is left the share

    q = (h sqrt(a^2 + h^2) - a^2 asinh(h / a)) / h^2,    a = |s / r|,    h = L / 2

so that the coefficient of the ground is mu = mu_lateral / q. How the pressure lies along the tracks is not measured: uniform is
supposed, and `PRESSURE_STD` is how far off that may be.

Symbols    s slip velocity of a belt along · r yaw rate · L length of the contact · W weight
Reference  derived in docs/theory/estimation (friction from currents)
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from slipfit.errors import FitError
from slipfit.estimation.friction import SLIDING_MPS, TURNING_RADPS, FrictionEstimate, FrictionPiece
from slipfit.estimation.record import SlipEstimate
from slipfit.estimation.soil import BOUNDS, NAMES, SoilEstimate, SoilPrior
from slipfit.estimation.soil_told import STRENGTH
from slipfit.library import Ground, TrackedRobot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.twin import Covariance, FittedKinematics, FittedOn, FittedParameter, Status, TrackBalance, TrackGround
from slipfit.twin.tracked import FRICTION, SOIL

#: Of the coefficient: closed forms of twelve places and of uniform pressure differ by 2 %, simulated belts with cleats by 6 %;
#: pressure of real belts gathers under their wheels.
PRESSURE_STD = 0.05

#: Length of a block of time (s) for spreads of the kinematics; sides that differ by less than this (m/s) do not turn.
BLOCK_S, TURNS_MPS = 1.0, 0.05

#: Blocks that tell how a robot turns, and how far it goes, at least.
FEWEST = 4


@dataclass(frozen=True, slots=True)
class Contact:
    """One track's contact."""

    length_m: float
    area_m2: float | None = None


def grounds_of_drive(
    name: str, e: SlipEstimate, robot: TrackedRobot, contact: Contact, friction: FrictionEstimate | None,
    soil: SoilEstimate | None = None, base: Ground | None = None,
) -> dict[str, TrackGround]:  # fmt: skip
    """Grounds by name: a soil where one was fitted, otherwise one of friction for each floor that the drive went over, numbered
    where there are several. `base` is the soil that constants come from which no drive tells."""
    source = f"log {e.digest[:12]}" if e.digest else f"log {e.name}"
    if soil is not None:
        pieces = friction.pieces if friction else ()
        balance = _balance(robot, contact, pieces[0] if len(pieces) == 1 else None, soil, source)
        return {name: _soil_ground(e, robot, soil, base, balance, source)}
    if friction is None:
        return {name: _friction_ground(e, robot, None, contact, source)}
    found = [_friction_ground(e, robot, piece, contact, source) for piece in friction.pieces]
    return {name if len(found) == 1 else f"{name}_{k}": ground for k, ground in enumerate(found, 1)}


def prior_of(base: Ground) -> SoilPrior:
    """Cohesion and friction angle of a soil's file, as unsure as it says."""
    if base.law != SOIL:
        raise FitError(f"soil {base.name} has the law {base.law}; expected a ground with the law {SOIL}")
    kept = {name: p for name in NAMES[:2] if (p := base.parameters[name]).std}
    if not kept:
        raise FitError(f"soil {base.name} gives no std of cohesion_pa and friction_angle_rad; how sure are they?")
    stds = {name: float(p.std or 0.0) for name, p in kept.items()}
    return SoilPrior({name: p.value for name, p in kept.items()}, stds, base.name)


def sliding_share(e: SlipEstimate, length_m: float, from_s: float, to_s: float) -> float:
    """q of the turns within a stretch of time; 1 where there are none."""
    rate, half = e.velocity[:, 2], 0.5 * length_m
    turns = (np.abs(rate) > max(TURNING_RADPS, SLIDING_MPS / half)) & (e.time_s >= from_s) & (e.time_s <= to_s)
    if not turns.any():
        return 1.0
    a = np.maximum(np.abs(e.slip_velocity[turns, :2] / rate[turns, None]), 1e-9)
    return float(np.mean((half * np.hypot(a, half) - a**2 * np.arcsinh(half / a)) / half**2))


def _friction_ground(
    e: SlipEstimate, robot: TrackedRobot, piece: FrictionPiece | None, contact: Contact, source: str
) -> TrackGround:
    ends = (float(e.time_s[0]), float(e.time_s[-1])) if piece is None else (piece.from_s, piece.to_s)
    told = FittedParameter(status=Status.NOT_EXCITED, source=source, note="no turn in which the tracks slide, with currents")
    if piece is not None and piece.told[1] and piece.value("mu_lateral") > 0.0:
        share = sliding_share(e, contact.length_m, *ends)
        mu = piece.value("mu_lateral") / share
        std = float(np.hypot(piece.stds[1] / share, PRESSURE_STD * mu))
        note = "of sliding, in turns; what holds is at least as much, and is taken to be the same"
        told = _told(mu, std, piece.freedom, source, note, least=1e-6)
    return TrackGround(
        about=f"from {e.name}, {ends[0]:.0f} to {ends[1]:.0f} s",
        law=FRICTION,
        parameters={"mu_static": told},
        fitted_on=_range(e, *ends),
        kinematics=kinematics(e, robot, source, *ends),
        balance=None if piece is None else _balance(robot, contact, piece, None, source),
    )


def _balance(
    robot: TrackedRobot, contact: Contact, piece: FrictionPiece | None, soil: SoilEstimate | None, source: str
) -> TrackBalance:
    told = {} if piece is None else {name: _coefficient(piece, name, source) for name in ("mu_lateral", "mu_rolling")}
    strength = soil.combinations.get(STRENGTH) if soil else None
    return TrackBalance(
        contact_length_m=contact.length_m,
        contact_area_m2=contact.area_m2,
        load_n=0.5 * robot.mass_kg.value * STANDARD_GRAVITY.value,
        mu_lateral=told.get("mu_lateral"),
        mu_rolling=told.get("mu_rolling"),
        strength_n=None if strength is None or soil is None else _told(*strength, soil.freedom, source, "A c + W tan(phi)"),
    )


def _coefficient(piece: FrictionPiece, name: str, source: str) -> FittedParameter:
    k = ("mu_rolling", "mu_lateral").index(name)
    if not piece.told[k]:
        return FittedParameter(status=Status.NOT_EXCITED, source=source)
    return _told(piece.value(name), float(piece.stds[k]), piece.freedom, source)


def _soil_ground(
    e: SlipEstimate, robot: TrackedRobot, soil: SoilEstimate, base: Ground | None, balance: TrackBalance, source: str
) -> TrackGround:
    records = {
        key: FittedParameter(value=p.value, std=p.std, status=Status.CONVERGED, source=p.source, note=f"of {name}")
        for name, soils in ([(base.name, base.parameters)] if base else [])
        for key, p in soils.items()
    }
    for k, key in enumerate(NAMES):
        if soil.told[k]:
            bounds, note = BOUNDS[:, k], f"with a prior from {soil.prior}" if soil.prior and k < 2 else ""
            records[key] = _told(soil.value(key), soil.std(key), soil.freedom, source, note, *bounds)
            if key in soil.at_bound:
                records[key] = records[key].model_copy(update={"status": Status.AT_BOUND})
        elif key not in records:
            note = "the drive tells the strength alone (balance.strength_n)" if k < 2 and balance.strength_n else ""
            records[key] = FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
    together = [k for k, key in enumerate(NAMES) if soil.told[k] and key not in soil.at_bound]
    matrix = soil.covariance[np.ix_(together, together)]
    return TrackGround(
        about=f"from {e.name}" + (f", with constants of {base.name}" if base else ""),
        law=SOIL,
        parameters=records,
        covariance=Covariance(names=[NAMES[k] for k in together], matrix=(0.5 * (matrix + matrix.T)).tolist())
        if together
        else None,
        fitted_on=_range(e, float(e.time_s[0]), float(e.time_s[-1])),
        kinematics=kinematics(e, robot, source, float(e.time_s[0]), float(e.time_s[-1])),
        balance=balance,
    )


def kinematics(e: SlipEstimate, robot: TrackedRobot, source: str, from_s: float, to_s: float) -> FittedKinematics | None:
    """Effective track and gain of a stretch of a drive; none where it tells neither."""
    at = (e.time_s >= from_s) & (e.time_s <= to_s)
    left, right = e.rims_mps[at].T
    block = np.floor((e.time_s[at] - from_s) / BLOCK_S).astype(int)
    turned = _slope(block, (right - left) / robot.track_m, e.velocity[at, 2], np.abs(right - left) > TURNS_MPS)
    gone = _slope(block, 0.5 * (left + right), e.velocity[at, 0], np.abs(left + right) > 2.0 * TURNS_MPS)
    if turned is None or turned[0] <= 0.0:
        return None
    gain = (1.0, 0.0, 1.0) if gone is None or gone[0] <= 0.0 else gone
    track = gain[0] * robot.track_m / turned[0]
    std = track * float(np.hypot(turned[1] / turned[0], gain[1] / gain[0]))
    untold = FittedParameter(status=Status.NOT_EXCITED, source=source, note="the robot hardly drives ahead")
    return FittedKinematics(
        track_m=robot.track_m,
        effective_track_m=_told(track, std, min(turned[2], gain[2]) if gone else turned[2], source),
        gain=untold if gone is None or gone[0] <= 0.0 else _told(*gain, source),
        rung="track and gain",
    )


def _slope(block: np.ndarray, x: np.ndarray, y: np.ndarray, kept: np.ndarray) -> tuple[float, float, float] | None:
    """y over x by least squares, its standard deviation by blocks of time, and their number less one."""
    names = np.unique(block[kept])
    if len(names) < FEWEST:
        return None
    square = float(x[kept] @ x[kept])
    slope = float(x[kept] @ y[kept]) / square
    scores = np.array([x[kept & (block == b)] @ (y - slope * x)[kept & (block == b)] for b in names])
    n = len(names)
    return slope, float(np.sqrt(scores @ scores * n / (n - 1.0)) / square), n - 1.0


def _told(
    value: float, std: float, freedom: float, source: str, note: str = "", least: float = -np.inf, most: float = np.inf
) -> FittedParameter:
    """A number with the interval of Student's distribution, within its bounds."""
    reach = float(student.ppf(0.95, max(freedom, 1.0))) * std
    ends = (float(max(value - reach, min(least, value))), float(min(value + reach, max(most, value))))
    return FittedParameter(value=value, std=std, interval_90=ends, status=Status.CONVERGED, source=source, note=note)


def _range(e: SlipEstimate, from_s: float, to_s: float) -> FittedOn:
    at = (e.time_s >= from_s) & (e.time_s <= to_s)
    (slow, _, right), (fast, _, left) = e.velocity[at].min(axis=0).tolist(), e.velocity[at].max(axis=0).tolist()
    return FittedOn(speed_mps=(slow, fast), yaw_rate_radps=(right, left))
