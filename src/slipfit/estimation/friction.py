"""Friction coefficients from motor currents: longitudinal from straight driving, lateral from turns, each over time.

Forces of both sides from currents I, and the balances ahead and about the vertical axis:

    F_side = k I - d sgn(w) - d_v w - m_s w.
    F_L + F_R - m (u. - v r)        = mu_r W (sgn u_L + sgn u_R) / 2
    (F_R - F_L) B / 2 - I_z r.      = mu_l G + mu_r (W B / 4) (sgn u_R - sgn u_L)

G is what lateral friction of one would turn against. Of tracks G = (W L / 4) sgn r: pressure is uniform, and the track slides
sideways along all of its length. Of wheels each one's friction points along its own slip s, G = -sum of N X s_y / |s| over them.

Constants are piecewise constant in time: a floor ends where a change of them explains more than it costs (`change_points`).
Spreads come from blocks of time. Errors of k and d are the same in all of them and go through the fit, theta = N^-1 A^T y, as

    d theta / d k = N^-1 A^T dy/dk,    dy/dk by the sides' currents, dy/dd by -sgn(w)

so that an error of k in drag that is taken away from small forces is in rolling friction too.

Symbols    k force over current (N/A) · d, d_v drag of a side's drive (N, N s/m) · w rim speed · m_s inertia of a side's wheels
           and rotors over radius² (kg) · W weight · B track · L length of the track's contact · m mass · I_z yaw inertia ·
           u, v, r body velocity · X wheel position ahead
Reference  [Hackett2011] (second tier; M_r = mu_l W L / 4); derived in docs/theory/estimation
Valid for  level ground, motors that drive (currents without a sign are taken to have the rims')
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from slipfit.errors import FitError, ParameterError
from slipfit.estimation.blocks import Blocks
from slipfit.estimation.change_points import change_points
from slipfit.estimation.currents import side_currents, signed
from slipfit.estimation.record import SlipEstimate
from slipfit.library import SkidSteerRobot, TrackedRobot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.library.robot import DcMotor
from slipfit.logs import DriveLog
from slipfit.logs.channels import MOTORS, SIDES, motor_column

NAMES = ("mu_rolling", "mu_lateral")

#: Sides slower than this (m/s), and turns slower than this (rad/s) or in which the ends of the contact move sideways more slowly
#: than this (m/s), tell no friction: it may hold, or creep, instead of slide.
MOVING_MPS, TURNING_RADPS, SLIDING_MPS = 0.05, 0.05, 0.05

#: Length of a block of time (s): longer than motors and filters remember.
BLOCK_S = 1.0

#: Accelerations are slopes over so long (s).
SLOPE_S = 0.4

#: Where a rim's speed changes by more than this (m/s) within `SLOPE_S`, slopes smear what inertia takes, and starts and ends of
#: turns, which err against each other, would count as scatter: such moments tell no friction.
STEADY_MPS = 0.05

#: Runs with fewer blocks do not tell how much runs differ.
FEWEST_BLOCKS = 3

#: A coefficient is told where its standard deviation is below this.
TOLD_STD = 0.3


@dataclass(frozen=True, slots=True)
class DriveConstants:
    """What a side's current means: force (N) for each ampere, and the drag of its drive, constant (N) and with the rim's speed
    (N s/m), with standard deviations."""

    newton_per_ampere: float
    newton_per_ampere_std: float = 0.0
    drag_n: float = 0.0
    drag_n_std: float = 0.0
    drag_n_s_per_m: float = 0.0
    spinning_kg: float = 0.0  # inertia of a side's wheels and rotors over radius squared
    source: str = "given"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.newton_per_ampere) and self.newton_per_ampere > 0.0):
            raise ParameterError(f"newton_per_ampere is {self.newton_per_ampere:g}; expected above zero")
        if min(self.newton_per_ampere_std, self.drag_n, self.drag_n_std, self.drag_n_s_per_m) < 0.0:
            raise ParameterError("drag and standard deviations of a drive's constants are not below zero")

    @classmethod
    def of(cls, robot: SkidSteerRobot) -> "DriveConstants":
        """Of a robot whose file has a motor for each wheel: torque constant over radius, and the viscous friction of a side."""
        if not isinstance(robot.powertrain, DcMotor):
            raise ParameterError(
                f"{robot.name}'s file has no motors ({robot.powertrain.kind}); give newton_per_ampere, with its spread, to turn "
                f"currents into forces"
            )
        torque, radius = robot.powertrain.torque_constant_nm_per_a, robot.wheels.radius_m.value
        viscous = robot.powertrain.viscous_friction_nm_s_per_rad.value * len(robot.wheels.at_m.value) / 2
        inertia = robot.powertrain.rotor_inertia_kgm2.value + robot.wheels.spin_inertia_kgm2.value
        return cls(
            torque.value / radius, (torque.std or 0.0) / radius, drag_n_s_per_m=viscous / radius**2,
            spinning_kg=inertia * len(robot.wheels.at_m.value) / 2 / radius**2, source=torque.source,
        )  # fmt: skip

    @classmethod
    def of_tracks(cls, robot: TrackedRobot, newton_per_ampere: float, std: float = 0.0) -> "DriveConstants":
        """Of a tracked robot: what its belts lose and weigh stands in its file."""
        drive, radius = robot.powertrain, robot.tracks.sprocket_radius_m.value
        tension, share = drive.belt_tension_n, drive.belt_loss_share
        return cls(
            newton_per_ampere, std, drag_n=share.value * tension.value,
            drag_n_std=float(np.hypot((share.std or 0.0) * tension.value, share.value * (tension.std or 0.0))),
            drag_n_s_per_m=drive.belt_loss_n_s_per_m.value,
            spinning_kg=drive.sprocket_inertia_kgm2.value / radius**2 + drive.belt_mass_kg.value,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class FrictionPiece:
    """Coefficients over a stretch of time: rolling (longitudinal) and lateral."""

    from_s: float
    to_s: float
    values: np.ndarray  # (2,) as `NAMES`
    stds: np.ndarray
    freedom: float
    told: tuple[bool, bool]

    def interval_90(self, name: str) -> tuple[float, float]:
        k = NAMES.index(name)
        reach = float(student.ppf(0.95, max(self.freedom, 1.0))) * float(self.stds[k])
        return float(self.values[k]) - reach, float(self.values[k]) + reach

    def value(self, name: str) -> float:
        return float(self.values[NAMES.index(name)])


@dataclass(frozen=True, eq=False, slots=True)
class FrictionEstimate:
    """Friction over time."""

    name: str
    pieces: tuple[FrictionPiece, ...]
    constants: DriveConstants

    @property
    def changes_s(self) -> tuple[float, ...]:
        """When friction changed."""
        return tuple(piece.from_s for piece in self.pieces[1:])

    def summary(self) -> str:
        rows = [f"friction, {self.name}: {len(self.pieces)} piece{'s' if len(self.pieces) > 1 else ''}"]
        for piece in self.pieces:
            said = []
            for k, name in enumerate(NAMES):
                if piece.told[k]:
                    low, high = piece.interval_90(name)
                    said.append(f"{name} {piece.values[k]:.3f}, 90 % in {low:.3f} to {high:.3f}")
                else:
                    said.append(f"{name} not told")
            rows.append(f"  {piece.from_s:.1f} to {piece.to_s:.1f} s: {'; '.join(said)}")
        drive = self.constants
        rows.append(f"  with {drive.newton_per_ampere:.4g} ± {drive.newton_per_ampere_std:.2g} N/A ({drive.source})")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return {
            "log": self.name,
            "changes_s": list(self.changes_s),
            "newton_per_ampere": self.constants.newton_per_ampere,
            "newton_per_ampere_std": self.constants.newton_per_ampere_std,
            "source": self.constants.source,
            "pieces": [
                {
                    "from_s": p.from_s,
                    "to_s": p.to_s,
                    **{
                        name: {"value": p.value(name), "std": float(p.stds[k]), "interval_90": list(p.interval_90(name))}
                        if p.told[k]
                        else None
                        for k, name in enumerate(NAMES)
                    },
                }
                for p in self.pieces
            ],
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        from slipfit.library.files import write_json

        write_json(Path(path), self.to_document(), force=force)


def side_forces(e: SlipEstimate, currents: np.ndarray, k: DriveConstants) -> np.ndarray:
    """Force of the ground on each side (N), (n, 2), from its current."""
    spun = np.column_stack([_slope(e.time_s, rim) for rim in e.rims_mps.T])
    drags = k.drag_n * np.sign(e.rims_mps) + k.drag_n_s_per_m * e.rims_mps
    return np.asarray(k.newton_per_ampere * signed(currents, e.rims_mps) - drags - k.spinning_kg * spun)


def friction(
    estimate: SlipEstimate,
    log: DriveLog,
    robot: SkidSteerRobot,
    constants: DriveConstants | None = None,
    *,
    contact_length_m: float | None = None,
    gravity_mps2: float = STANDARD_GRAVITY.value,
    block_s: float = BLOCK_S,
) -> FrictionEstimate:
    """Coefficients of a drive, from the filter's motion and the log's currents. With `contact_length_m` the robot has tracks."""
    if estimate.is_omni:
        raise ParameterError(f"{robot.name} has omni wheels; friction from currents is for robots with a left and a right side")
    k = constants or DriveConstants.of(robot)
    currents = side_currents(log, robot, estimate.time_s, estimate.start_ns)
    block = np.floor((estimate.time_s - estimate.time_s[0]) / block_s).astype(int)
    ahead, turning = _balances(estimate, robot, currents, k, contact_length_m, gravity_mps2)
    by_current = signed(currents, estimate.rims_mps)
    by_drag = -np.sign(estimate.rims_mps)
    parts, errors = [], []
    for (regressors, readings), arms in ((ahead, np.ones(2)), (turning, 0.5 * robot.track_m * np.array([-1.0, 1.0]))):
        plain = Blocks.of(block, regressors, readings)
        noise = max(_row_noise(regressors, readings), 1e-9)
        parts.append(Blocks(plain.gram / noise**2, plain.moment / noise**2, plain.square / noise**2, plain.count))
        errors.append([Blocks.of(block, regressors, forces @ arms).moment / noise**2 for forces in (by_current, by_drag)])
    both = Blocks(*(getattr(parts[0], name) + getattr(parts[1], name) for name in ("gram", "moment", "square", "count")))
    alike = (errors[0][0] + errors[1][0]) * k.newton_per_ampere_std, (errors[0][1] + errors[1][1]) * k.drag_n_std
    if both.count.sum() < 10:
        raise FitError(
            f"{estimate.name}: the robot hardly moves; expected straight driving and turns at steady speeds, with currents"
        )
    edges = change_points({"friction": both}, block_s=block_s)
    told = tuple(_told(both, first, last, estimate, alike, block_s) for first, last in pairwise(edges))
    return FrictionEstimate(estimate.name, told, k)


def _row_noise(regressors: np.ndarray, readings: np.ndarray) -> float:
    """Of one balance alone (N or N m): the median deviation from one fit."""
    kept = np.isfinite(regressors).all(axis=1) & np.isfinite(readings)
    if kept.sum() < 3:
        return 1.0
    theta = np.linalg.lstsq(regressors[kept], readings[kept], rcond=1e-9)[0]
    return float(np.median(np.abs(readings[kept] - regressors[kept] @ theta)) / 0.6745)


def _slope(time_s: np.ndarray, values: np.ndarray) -> np.ndarray:
    step = float(np.median(np.diff(time_s)))
    half = max(1, round(0.5 * SLOPE_S / step))
    padded = np.pad(values, half, mode="edge")
    return np.asarray((padded[2 * half :] - padded[: -2 * half]) / (2 * half * step))


def _balances(
    e: SlipEstimate, robot: SkidSteerRobot, currents: np.ndarray, k: DriveConstants, length_m: float | None, gravity: float
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Regressors (n, 2) and readings (n,) of both balances; NaN where friction may hold instead of slide."""
    u, v, r = e.velocity.T
    weight, track = robot.mass_kg.value * gravity, robot.track_m
    sides = np.column_stack([u - 0.5 * track * r, u + 0.5 * track * r])
    forces = side_forces(e, currents, k)
    moves = np.where(np.abs(sides) > MOVING_MPS, np.sign(sides), np.nan)
    pushed = forces.sum(axis=1) - robot.mass_kg.value * (_slope(e.time_s, u) - v * r)
    ahead = np.column_stack([0.5 * weight * moves.sum(axis=1), np.zeros(len(u))])
    moment = 0.5 * track * (forces[:, 1] - forces[:, 0]) - robot.yaw_inertia_kgm2.value * _slope(e.time_s, r)
    against = 0.25 * weight * length_m * np.sign(r) if length_m is not None else _wheels_against(e, robot, weight)
    turning = np.column_stack([0.25 * weight * track * (moves[:, 1] - moves[:, 0]), against])
    reach = 0.5 * (length_m if length_m is not None else robot.wheelbase_m)
    turning[np.abs(r) < max(TURNING_RADPS, SLIDING_MPS / reach)] = np.nan
    ahead[np.abs(moves.sum(axis=1)) < 1.0] = np.nan  # sides against each other: nothing ahead
    changing = np.max([np.abs(_slope(e.time_s, rim)) for rim in e.rims_mps.T], axis=0) * SLOPE_S > STEADY_MPS
    ahead[changing], turning[changing] = np.nan, np.nan
    return (ahead, pushed), (turning, moment)


def _wheels_against(e: SlipEstimate, robot: SkidSteerRobot, weight: float) -> np.ndarray:
    """G of wheels, loads as at rest, friction along each wheel's slip."""
    at = np.array(robot.wheels.at_m.value)
    com_x = robot.centre_of_mass_m.value[0]
    load = weight * _rest_shares(at[:, 0], com_x)
    u, v, r = e.velocity.T
    total = np.zeros(len(u))
    for n, (x, y) in enumerate(at):
        along, across = e.rims_mps[:, n % 2] - (u - r * y), -(v + r * x)
        total -= load[n] * (x - com_x) * across / np.maximum(np.hypot(along, across), 1e-6)
    return total


def _rest_shares(x: np.ndarray, com_x: float) -> np.ndarray:
    """Share of the weight on each wheel at rest: linear in x, as springs alike would have it."""
    apart = x - x.mean()
    return np.asarray((1.0 + apart * (com_x - x.mean()) / np.mean(apart**2)) / len(x))


def _told(blocks: Blocks, first: int, last: int, e: SlipEstimate, alike: tuple[np.ndarray, ...], block_s: float) -> FrictionPiece:
    """Coefficients of a piece; their covariance by the blocks' scores, as blocks and not readings are independent, and by errors
    that are alike in all readings: `alike` are the moments (blocks, 2) that one standard deviation of each adds."""
    gram, moment = blocks.gram[first:last], blocks.moment[first:last]
    heard = blocks.count[first:last] > 0
    inverse = np.linalg.pinv(gram.sum(axis=0), rcond=1e-9, hermitian=True)
    theta = inverse @ moment.sum(axis=0)
    scores = (moment - gram @ theta)[heard]
    voices = max(int(heard.sum()), 2)
    spread = inverse @ (scores.T @ scores) @ inverse * voices / max(voices - 2, 1)
    common = sum(((inverse @ moments[first:last].sum(axis=0)) ** 2 for moments in alike), np.zeros(2))
    stds = np.sqrt(np.maximum(np.diag(spread), 0.0) + common)
    excited = np.diag(gram.sum(axis=0)) > 0.0
    start = float(e.time_s[0])
    ends = (start + first * block_s, min(start + last * block_s, float(e.time_s[-1])))
    told = tuple(bool(excited[j] and stds[j] < TOLD_STD) for j in range(2))
    return FrictionPiece(*ends, theta, stds, float(voices - 2), (told[0], told[1]))


@dataclass(frozen=True, slots=True)
class TurningCurrent:
    """Mean current of a side in turns on the spot, less that of straight driving, over runs of one floor (A)."""

    floor: str
    turning_a: float
    turning_std_a: float
    straight_a: float
    straight_std_a: float

    @property
    def excess_a(self) -> float:
        return self.turning_a - self.straight_a

    @property
    def excess_std_a(self) -> float:
        return float(np.hypot(self.turning_std_a, self.straight_std_a))


def turning_current(floor: str, logs: Sequence[DriveLog], *, radius_m: float, block_s: float = 2.0) -> TurningCurrent:
    """From logs that tell both sides' speeds and currents; spreads over blocks of `block_s`, and between runs. Where a single run
    turns, runs are taken to differ as much, in proportion, as those that drive straight."""
    from slipfit.logs.channels import ENCODERS, side_column

    turns: list[np.ndarray] = []
    straights: list[np.ndarray] = []
    for log in logs:
        time_s = log[ENCODERS].time_s
        rims = np.column_stack([radius_m * log[ENCODERS].column(side_column("speed", side)) for side in SIDES])
        at = (log[ENCODERS].stamps_ns - log[MOTORS].stamps_ns[0]) / 1e9
        both = [np.interp(at, log[MOTORS].time_s, np.abs(log[MOTORS].column(motor_column("current", s)))) for s in SIDES]
        mean = np.mean(both, axis=0)
        slower = np.abs(rims).min(axis=1)
        is_pivot = (rims.prod(axis=1) < 0.0) & (slower > 2.0 * MOVING_MPS)
        is_straight = (rims.prod(axis=1) > 0.0) & (np.ptp(rims, axis=1) < 0.1 * np.abs(rims).max(axis=1)) & (slower > 0.2)
        for kind, found in ((is_pivot, turns), (is_straight, straights)):
            blocks = np.floor(time_s / block_s).astype(int)
            means = [float(mean[kind & (blocks == b)].mean()) for b in np.unique(blocks[kind])]
            if means:
                found.append(np.array(means))
    if not turns or not straights:
        lacking = "turn on the spot" if not turns else "drive straight"
        raise FitError(f"{floor}: no run in which the sides {lacking}; expected both")
    driven = np.array([run.mean() for run in straights if len(run) >= FEWEST_BLOCKS])
    alike = float(driven.std(ddof=1) / abs(driven.mean())) if len(driven) > 1 else 0.0
    return TurningCurrent(floor, *_mean_of_runs(turns, alike), *_mean_of_runs(straights, alike))


def _mean_of_runs(runs: list[np.ndarray], alike: float) -> tuple[float, float]:
    """Mean over blocks, and its spread by blocks and between runs; one run alone differs from others by the share `alike`."""
    every = np.concatenate(runs)
    within = float(every.std(ddof=1) / np.sqrt(len(every))) if len(every) > 1 else float(abs(every[0]))
    weights = np.array([len(run) for run in runs], dtype=float)
    means = np.array([run.mean() for run in runs])
    mean = float(weights @ means / weights.sum())
    if len(runs) > 1:
        between = float(np.sqrt(weights**2 @ (means - mean) ** 2 * len(runs) / (len(runs) - 1)) / weights.sum())
    else:
        between = alike * abs(mean)
    return mean, max(within, between)


def friction_beside(reference: TurningCurrent, other: TurningCurrent, mu: float, mu_std: float) -> tuple[float, float]:
    """Lateral friction of a floor from that of a reference floor, and its standard deviation: moments against turning are
    proportional to what turning takes more current than driving straight. The force for each ampere cancels."""
    if other is reference:
        return float(mu), float(mu_std)  # its currents say nothing about it that was not known
    ratio = other.excess_a / reference.excess_a
    relative = np.sqrt(
        (other.excess_std_a / other.excess_a) ** 2 + (reference.excess_std_a / reference.excess_a) ** 2 + (mu_std / mu) ** 2
    )
    return float(ratio * mu), float(abs(ratio * mu) * relative)
