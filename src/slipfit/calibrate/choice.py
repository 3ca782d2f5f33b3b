"""Which model a drive asks for: with Coulomb's limit or without, with tyres that relax or without."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slipfit.calibrate.first_look import NO_LIMIT, Start, best_free, best_limited, starts
from slipfit.calibrate.grip import grips, sliding_s, used_grip
from slipfit.calibrate.one_drive import ROBUST_FROM, Fitter, Problem, Solution
from slipfit.calibrate.unknowns import NO_RELAXATION, Unknown, constant, pose_unknowns, started, tyres
from slipfit.contact.wheel_slip import RELAXATION

#: Nothing is missing from a model that leaves this mean square of white residuals, with the fit's own robust loss.
EXPLAINED = 1.25

#: Residuals that leave less than this share of the noise are rounding: no model is better than another.
BELOW_NOISE = 0.5

#: A limit is looked for when one explains more by this factor, or when wheels would carry more than this share of their load.
CLEARLY_LOWER, PLAUSIBLE_GRIP = 0.97, 1.0

#: A limit is believed when it leaves at most this share of the squares, and wheels slide in the replay for so long (s).
BELIEVED_BELOW, SLIDING_S = 0.95, 0.03

#: Tyres are taken to relax when that promises to lower the sum of squares by this much; smoothed counts alone promise up to 70.
TYRES_TELL = 100.0

#: Unknowns that only a pose tells.
POSE_ONLY = {"gyro_scale", *(u.name for u in pose_unknowns())}

NOT_RELAXING = [replace(u, start=NO_RELAXATION) for u in tyres()]


def solved(problem: Problem, unknowns: Sequence[Unknown]) -> Solution:
    """The fit without Coulomb's limit, or the one with it where the first fails, the second does not, and the replay slides.

    A limit just above the forces that occur always fits a little better: it clips what encoder counts make of a replay. So it
    must explain a good part of what is left, judged with the sensors' own noise. Tyres that relax are looked for when the
    drive asks for them; where it does not, what a little relaxation would change is still part of every spread.
    """
    judge = Fitter(problem)
    ranked = starts(judge, unknowns)
    found = _fitted(judge, unknowns, ranked[0])
    if found.left < BELOW_NOISE:
        return found.told
    if found.left > EXPLAINED or _used_grip(problem, found) > PLAUSIBLE_GRIP or _a_limit_helps(judge, found):
        sliding = _fitted(judge, unknowns, best_limited(judge, unknowns))
        if sliding.left < BELIEVED_BELOW * found.left and sliding_s(problem, sliding.solution) > SLIDING_S:
            found = sliding
    if found.left > EXPLAINED:
        found = min(found, _fitted(judge, unknowns, best_free(judge, unknowns, ranked)), key=lambda f: f.left)
    if found.left > EXPLAINED and problem.observations.imu is not None and problem.observations.pose is not None:
        found = min(found, _fitted(judge, unknowns, _by_imu_alone(problem, unknowns)), key=lambda f: f.left)
    return found.told


def _by_imu_alone(problem: Problem, unknowns: Sequence[Unknown]) -> Start:
    """Where the IMU by itself would end: an exact pose makes narrow valleys, which a distant start does not find."""
    alone = replace(problem, observations=replace(problem.observations, pose=None))
    sought = [u for u in unknowns if u.name not in POSE_ONLY]
    fitter = Fitter(alone)
    solution = fitter.fit(started(sought, starts(fitter, sought)[0].at))
    return Start(solution.cost, {"mu": NO_LIMIT} | dict(zip(solution.names, map(float, solution.values), strict=True)))


@dataclass(frozen=True, eq=False, slots=True)
class _Fitted:
    solution: Solution
    told: Solution  # the same with the tyres' unknowns, fitted or as columns of the Jacobian only
    left: float  # mean robust square of white residuals under the sensors' own noise, the same for all that are compared


def _fitted(judge: Fitter, unknowns: Sequence[Unknown], start: Start) -> _Fitted:
    """The fit from a start; with tyres that relax, where these promise to explain something, or where something is missing."""
    fitter = Fitter(judge.problem)
    sought = [*unknowns, constant("mu", start.at["mu"])] if start.is_limited else unknowns
    solution = fitter.fit(started(sought, start.at))
    left = _left(judge, solution.unknowns, solution.values[None])[0]
    wide = fitter.widened(solution, NOT_RELAXING)
    found = _Fitted(solution, wide, left)
    # The judge does not know a pose's noise; the solution's own cost, after weighing anew, does.
    lacks = max(left, solution.cost / len(solution.white)) > EXPLAINED
    if lacks or _promised_by_lengths(wide) > TYRES_TELL * float(np.mean(wide.white**2)):
        at = dict(zip(solution.names, solution.values, strict=True))
        relaxing = fitter.fit(started([*solution.unknowns, *tyres()], at))
        left_by_tyres = _left(judge, relaxing.unknowns, relaxing.values[None])[0]
        if left_by_tyres < CLEARLY_LOWER * left or relaxing.cost < CLEARLY_LOWER * solution.cost:
            found = _Fitted(relaxing, relaxing, left_by_tyres)
    return found


def _promised_by_lengths(wide: Solution) -> float:
    """By how much a linear step towards tyres that relax lowers the sum of squares; lengths only grow."""
    prior = np.array([1.0 / u.prior_std if u.prior_std else 0.0 for u in wide.unknowns])
    rows, right = np.vstack([wide.jacobian, np.diag(prior)]), np.concatenate([-wide.white, 0.0 * prior])
    kept = np.ones(len(prior), dtype=bool)
    for _ in RELAXATION:
        step = np.zeros(len(prior))
        step[kept] = np.linalg.lstsq(rows[:, kept], right)[0]
        shrinks = np.array([name in RELAXATION for name in wide.names]) & (step < 0.0)
        if not shrinks.any():
            break
        kept &= ~shrinks
    others = np.array([name not in RELAXATION for name in wide.names])
    without = np.linalg.lstsq(rows[:, others], right)[0]
    return float(((rows[:, others] @ without - right) ** 2).sum() - ((rows @ step - right) ** 2).sum())


def _left(judge: Fitter, unknowns: Sequence[Unknown], points: np.ndarray) -> list[float]:
    """Mean robust square of the white residuals at each point under one fitter's weights."""
    names = [u.name for u in unknowns]
    bodies = judge.problem.bodies(unknowns, points)
    residuals = [judge.problem.residuals(names, point, body) for point, body in zip(points, bodies, strict=True)]
    return [float(np.mean(2.0 * ROBUST_FROM**2 * (np.sqrt(1.0 + (judge.white(r) / ROBUST_FROM) ** 2) - 1.0))) for r in residuals]


def _used_grip(problem: Problem, found: _Fitted) -> float:
    along, across, _ = grips(problem, found.solution)
    return used_grip(problem, along, across)


def _a_limit_helps(judge: Fitter, found: _Fitted) -> bool:
    """Whether some mu explains more with everything else as found: one batch."""
    mus = np.geomspace(0.1, 1.2, 16)
    points = np.column_stack([np.repeat(found.solution.values[None], len(mus), axis=0), mus])
    return min(_left(judge, [*found.solution.unknowns, constant("mu", 1.0)], points)) < CLEARLY_LOWER * found.left
