"""Which model a drive asks for: with Coulomb's limit or without, with tyres that relax or without."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from slipfit.calibration.first_look import NO_LIMIT, Start, best_free, best_limited, moved_load, starts
from slipfit.calibration.grip import at_limit_s, doubtful_moments_s, grips, is_near, sliding_s, used_grip
from slipfit.calibration.one_drive import ROBUST_FROM, Fitter, Problem, Solution
from slipfit.calibration.spread import spread_of
from slipfit.calibration.unknowns import NO_RELAXATION, Unknown, constant, pose_unknowns, started, tyres
from slipfit.contact.wheel_slip import RELAXATION

#: Nothing is missing from a model that leaves this mean square of white residuals, with the fit's own robust loss.
EXPLAINED = 1.25

#: Residuals that leave less than this share of the noise are rounding: no model is better than another.
BELOW_NOISE = 0.5

#: A limit is looked for when one explains more by this factor, or when wheels would carry more than this share of their load.
CLEARLY_LOWER, PLAUSIBLE_GRIP = 0.97, 1.0

#: A limit is believed when it leaves at most this share of the squares, and wheels slide in the replay for so long (s).
BELIEVED_BELOW, SLIDING_S = 0.95, 0.03

#: Wheels that slide only while they hardly turn (a side that passes through zero speed in a curve) must explain more than that.
BELIEVED_AT_REST_BELOW = 0.9

#: Residuals below this share of the noise are those of exact sensors: wheels that slid would show in them.
EXACT = 0.1

#: Readings at which wheels may have slid are left out where such moments last so many seconds in all: noise and encoder counts
#: push what a wheel carries beyond the trusted share for a tenth of a second here and there. In so many rounds.
LEAST_DOUBTFUL_S, TRUSTED_ROUNDS = 0.5, 2

#: The IMU's clock and the scale of its changes where no pose helps (s): over a fraction of a sample the corners of a replay that
#: counts shake look like a precise clock, several times more precise than the sum of squares is narrow.
CLOCK, CLOCK_SCALE_S = "imu_clock_s", 0.016

#: The center of mass, the places at which it is held to see what it changes, in standard deviations, and how tightly.
CENTER, HELD_CENTERS, HELD_STD = "centre_of_mass_x_m", ((0.0, -1.0, -2.0), (1.0, 2.0)), 0.05

#: Most rounds of looking for a lower minimum with other loads.
LOAD_ROUNDS = 3

#: Another minimum is lower when its robust sum of squares, which is -2 log likelihood, is smaller by this much: two standard
#: deviations.
CLEARLY_DEEPER = 4.0

#: Least relative standard deviation of a limit beside readings that it does not act on.
LIMIT_SHARE = 0.05

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
    found = _chosen(problem, unknowns)
    if found.left < EXACT or problem.observations.imu is None or problem.observations.pose is not None:
        return found.told
    smooth = [replace(u, scale=CLOCK_SCALE_S) if u.name == CLOCK else u for u in unknowns]
    return _within_trusted_grip(problem, smooth, _deepest(problem, smooth, found).told)


def _chosen(problem: Problem, unknowns: Sequence[Unknown]) -> "_Fitted":
    judge = Fitter(problem)
    ranked = starts(judge, unknowns)
    found = _fitted(judge, unknowns, ranked[0])
    if found.left < BELOW_NOISE:
        return found
    if found.left > EXPLAINED and (held := _braked_at_rest(judge, unknowns, found)) is not None:
        return held
    if (
        found.left > EXPLAINED
        or _used_grip(problem, found) > PLAUSIBLE_GRIP
        or _best_limit(judge, found)[1] < CLEARLY_LOWER * found.left
    ):
        sliding = _fitted(judge, unknowns, best_limited(judge, unknowns))
        if _slides(problem, sliding, found.left):
            found = sliding
    if found.left > EXPLAINED:
        found = min(found, _fitted(judge, unknowns, best_free(judge, unknowns, ranked)), key=lambda f: f.left)
    if found.left > EXPLAINED and problem.observations.imu is not None and problem.observations.pose is not None:
        found = min(found, _fitted(judge, unknowns, _by_imu_alone(problem, unknowns)), key=lambda f: f.left)
    return found


def _deepest(problem: Problem, unknowns: Sequence[Unknown], found: "_Fitted") -> "_Fitted":
    """The lowest minimum that restarts lead to: with smooth slopes, from the expected clock, and from other loads under a limit.

    Clock and center of mass trade against the slip constants: slip delays the body as a late clock does, and the wheels that the
    center of mass unloads slide first. Fits stop in several places, all with residuals below the noise.
    """
    judge = Fitter(problem)
    at = _place(found.solution)
    again, on_time = (_fitted(judge, unknowns, Start(np.inf, at | moved)) for moved in ({}, {CLOCK: 0.0}))
    found = _lower(_lower(again, on_time), found)
    for _ in range(LOAD_ROUNDS if "mu" in found.solution.names else 0):
        before, found = found, _lower(found, _fitted(judge, unknowns, moved_load(judge, unknowns, _place(found.solution))))
        if found is before:
            break
    return found


def _lower(found: "_Fitted", other: "_Fitted") -> "_Fitted":
    """The second of two fits where it is clearly lower."""
    return other if (found.left - other.left) * len(found.solution.white) > CLEARLY_DEEPER else found


def _place(solution: Solution) -> dict[str, float]:
    """Where a fit ended, as a start: without tyres that relax."""
    at = dict(zip(solution.names, map(float, solution.values), strict=True))
    return {"mu": NO_LIMIT} | {name: value for name, value in at.items() if name not in RELAXATION}


def _within_trusted_grip(problem: Problem, unknowns: Sequence[Unknown], found: Solution) -> Solution:
    """The fit without the readings at which wheels would carry more than any floor is trusted to hold.

    In a steady spin the side force does not depend on the speed: a limit, and where the center of mass lies, then explain the yaw
    rate as well as other slip constants do, and no residual shows which. What remains, arcs and gentle ramps, does not depend on
    the limit. A limit that was found keeps its value, with its spread. Beside a pose everything is used.
    """
    imu = problem.observations.imu
    if imu is None or problem.observations.pose is not None:
        return found
    interval_s, told = float(np.median(np.diff(imu.time_s))), found
    for _ in range(TRUSTED_ROUNDS):  # constants change, and with them the readings that are left
        moments_s = doubtful_moments_s(problem, told)
        if problem.replay.step_s * len(moments_s) < LEAST_DOUBTFUL_S:
            break
        is_doubtful = is_near(moments_s, imu.time_s) & ~problem.doubts.excluded
        doubtful_s = interval_s * float(is_doubtful.sum())
        doubts = replace(problem.doubts, excluded=problem.doubts.excluded | is_doubtful)
        fitter = Fitter(replace(problem, doubts=doubts))
        if any(w is None for w in fitter.weighings):
            return replace(found, is_grip_doubtful=True)
        at = dict(zip(told.names, told.values, strict=True))
        sought = [*unknowns, *(_held(u, found) for u in found.unknowns if u.name == "mu")]
        is_relaxing = any(at.get(name, 0.0) > 2.0 * NO_RELAXATION for name in RELAXATION)
        told = fitter.fit(started([*sought, *tyres()] if is_relaxing else sought, at))
        told = replace(told if is_relaxing else fitter.widened(told, NOT_RELAXING), doubtful_grip_s=doubtful_s)
    return told if told is found else replace(told, between=_between(fitter, told))


def _between(fitter: Fitter, told: Solution) -> np.ndarray:
    """Covariance between fits with the center of mass held at places to the front and to the back, weighed by likelihood.

    Without spins little tells it, while its slopes at one place, where wheels begin to slide, promise a precise value. Each fit
    starts where its neighbor ended.
    """
    center = told.unknowns[told.names.index(CENTER)]
    assert center.prior_std is not None
    is_relaxing = any(u.start > 2.0 * NO_RELAXATION for u in told.unknowns if u.name in RELAXATION)
    sought = [u for u in told.unknowns if is_relaxing or u.name not in RELAXATION]  # those of the tyres come last
    costs, ends = [told.cost], [told.values]
    for shares in HELD_CENTERS:
        values = told.values
        for share in shares:
            place = center.expected + share * center.prior_std
            at = dict(zip(told.names, map(float, values), strict=True)) | {CENTER: place}
            held = replace(center, expected=place, prior_std=HELD_STD * center.prior_std, scale=HELD_STD * center.scale)
            end = fitter.solve(started([held if u.name == CENTER else u for u in sought], at), tolerance=1e-4)
            values = np.concatenate([end.values, told.values[len(sought) :]])
            costs.append(end.cost + share**2)
            ends.append(values)
    weights = np.exp(-0.5 * (np.array(costs) - min(costs)))
    away = np.array(ends) - told.values
    return np.asarray((away.T * weights) @ away / weights.sum())


def _held(mu: Unknown, found: Solution) -> Unknown:
    """A limit that is expected where a fit found it."""
    k = found.names.index(mu.name)
    std = max(float(spread_of(found).std[k]), LIMIT_SHARE * float(found.values[k]))
    return replace(mu, expected=float(found.values[k]), prior_std=std)


def _slides(problem: Problem, limited: "_Fitted", left: float) -> bool:
    """Whether a fit with a limit explains clearly more than `left`, and wheels slide in it."""
    if limited.left < BELIEVED_BELOW * left and sliding_s(problem, limited.solution) > SLIDING_S:
        return True
    return limited.left < BELIEVED_AT_REST_BELOW * left and at_limit_s(problem, limited.solution) > SLIDING_S


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


def _best_limit(judge: Fitter, found: _Fitted) -> tuple[float, float]:
    """The mu that explains most with everything else as found, and what it leaves: one batch."""
    mus = np.geomspace(0.1, 1.2, 16)
    points = np.column_stack([np.repeat(found.solution.values[None], len(mus), axis=0), mus])
    left = _left(judge, [*found.solution.unknowns, constant("mu", 1.0)], points)
    return float(mus[int(np.argmin(left))]), min(left)


def _braked_at_rest(judge: Fitter, unknowns: Sequence[Unknown], found: _Fitted) -> _Fitted | None:
    """The fit with a limit that only wheels at rest reach, while the body turns about them; None where that does not explain all.

    Without a limit a wheel that passes through zero speed in a curve stops the body. Everything else is nearly right then, and
    the fit starts from there.
    """
    mu, _ = _best_limit(judge, found)
    at = dict(zip(found.solution.names, map(float, found.solution.values), strict=True))
    limited = _fitted(judge, unknowns, Start(0.0, {n: v for n, v in at.items() if n not in RELAXATION} | {"mu": mu}))
    is_all = limited.left < EXPLAINED and limited.left < BELIEVED_AT_REST_BELOW * found.left
    rolls = sliding_s(judge.problem, limited.solution) <= SLIDING_S
    return limited if is_all and rolls and at_limit_s(judge.problem, limited.solution) > SLIDING_S else None
