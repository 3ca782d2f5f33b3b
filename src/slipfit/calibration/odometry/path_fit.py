"""Radii and track from runs of any shape with a true pose at start and end: the general form of UMBmark.

The unknowns z make end poses; each run gives three residuals over its expected error, and its start heading, which the truth
tells only to `START_HEADING_STD_RAD`, is found along with them:

    r = (p_end(z, h) - p_true) / s,  h / START_HEADING_STD_RAD,    s = POSITION_STD_M + POSITION_SHARE way, of headings alike
    chi^2 = sum r^2 + sum (z / prior)^2,    covariance = (J^T J / q + prior^-2)^-1,    q = chi^2_data / freedom

Symbols    z scale and difference of both radii, tracks on arcs and on the spot (relative), heading offset of the truth · h error
           of the truth's start heading · q what the runs scatter more, or less, than expected
Reference  derived in docs/theory/odometry, eq. (end poses)
Valid for  differential and skid-steer drives on one floor; errors that grow with the way
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from slipfit.calibration.odometry.path_constants import powertrain_of_paths
from slipfit.calibration.odometry.spreads import Estimate
from slipfit.calibration.odometry.travel import OdometryModel, Run, Steps, error_percent
from slipfit.errors import LogError
from slipfit.twin import FittedParameter, FittedPowertrain, Status

#: What a single run may miss even with the best constants: floors, marks, and motion capture at rest. Only ratios matter; the
#: size is found from the scatter of the runs.
POSITION_STD_M, POSITION_SHARE = 0.003, 0.002
HEADING_STD_RAD, HEADING_RAD_PER_M = 0.012, 0.0015
START_HEADING_STD_RAD = 0.012

#: Unknowns, and how far they may be from nominal before any run is driven (standard deviations).
PRIORS = {
    "scale": 0.05,  # a loaded tyre's radius
    "difference": 0.05,  # right over left
    "track": 0.10,  # relative
    "spin": 0.03,  # track on the spot over track on arcs
    "heading_offset_rad": 0.05,  # markers put on by hand
}

#: An unknown is told by the runs when they make its standard deviation smaller than this share of the prior.
TOLD = 0.5

#: Standard deviations within which 90 % of points in a plane lie, sqrt(-2 ln 0.1).
_CIRCLE_90 = math.sqrt(-2.0 * math.log(0.1))

#: Runs are never taken to be better than this share of the expected errors: a perfect fit is a simulated one.
LEAST_SCATTER = 0.1

#: A smaller share of the turning than this is no turn on the spot: arcs have a little of one, by sigma.
LEAST_SPUN = 0.02

#: Fewer degrees of freedom than this do not tell a scatter.
LEAST_FREEDOM = 3


@dataclass(frozen=True, eq=False, slots=True)
class Prediction:
    """Where a run ends by dead reckoning, and how far off that may be."""

    pose: np.ndarray  # x, y, heading
    covariance: np.ndarray  # (2, 2) of the position: constants, start heading and the run itself
    way_m: float

    @property
    def radius_90_m(self) -> float:
        """Radius about the predicted end that holds at least 90 %: sqrt(chi^2_2) times the worse direction's deviation."""
        return _CIRCLE_90 * math.sqrt(float(np.linalg.eigvalsh(self.covariance).max()))


@dataclass(frozen=True, eq=False, slots=True)
class OdometryFit:
    """Constants of dead reckoning with their spreads, and what the runs could not tell."""

    model: OdometryModel
    unknowns: np.ndarray  # (5,) in the order of PRIORS
    covariance: np.ndarray  # (5, 5)
    freedom: float
    scatter: float  # sqrt(q)
    nominal_radius_m: float
    nominal_track_m: float
    runs: tuple[str, ...]
    identifiability: tuple[str, ...]
    error_percent: float  # median of the runs that it was fitted on
    source: str

    def parameters(self) -> dict[str, FittedParameter]:
        """Radii, tracks and the truth's heading offset."""
        u, (scale, difference, track, spin, offset) = self.covariance, self.unknowns
        r, t = self.nominal_radius_m, self.nominal_track_m
        rows = {
            "radius_left_m": (r * (1.0 + scale - 0.5 * difference), r * np.array([1.0, -0.5, 0.0, 0.0, 0.0])),
            "radius_right_m": (r * (1.0 + scale + 0.5 * difference), r * np.array([1.0, 0.5, 0.0, 0.0, 0.0])),
            "track_m": (t * (1.0 + track), t * np.array([0.0, 0.0, 1.0, 0.0, 0.0])),
            "spin_track_m": (t * (1.0 + track) * (1.0 + spin), t * np.array([0.0, 0.0, 1.0, 1.0, 0.0])),
            "heading_offset_rad": (offset, np.array([0.0, 0.0, 0.0, 0.0, 1.0])),
        }
        priors = np.array(list(PRIORS.values()))
        before = {name: float(np.linalg.norm(row * priors)) for name, (_, row) in rows.items()}
        before["spin_track_m"] = t * PRIORS["spin"]  # more than the track on arcs tells of it
        found = {}
        for name, (value, row) in rows.items():
            std = math.sqrt(float(row @ u @ row))
            # Of a sum, not of its parts: squares tell the track on the spot, and not how it differs from the one on arcs.
            if std > TOLD * before[name]:
                found[name] = FittedParameter(status=Status.NOT_EXCITED, source=self.source, note=f"known to ± {std:.2g} at best")
                continue
            entry = Estimate(float(value), std, self.freedom)
            low, high = entry.value - entry.half_width_90, entry.value + entry.half_width_90
            found[name] = entry.fitted(self.source).model_copy(update={"interval_90": (low, high)})
        return found

    def powertrain(self, counts_per_turn: tuple[float, float] | None = None) -> FittedPowertrain:
        """Radii (as metres per count, where counts per turn of left and right are known) and effective track for a twin."""
        found = self.parameters()
        return powertrain_of_paths(found["radius_left_m"], found["radius_right_m"], self.effective_track(), counts_per_turn)

    def effective_track(self) -> FittedParameter:
        """The one track that yaw rates become wheel speeds with, of two. The note says which it is.

        That on arcs, as robots drive them more often than they spin; from paths that do not tell the two apart, the one that is
        known better, which is that of the turns they have.
        """
        found = self.parameters()
        on_arcs, on_the_spot = found["track_m"], found["spin_track_m"]
        if _is_told(self.covariance, "spin"):
            other = f" it is {on_the_spot.value:.4g} m" if on_the_spot.value is not None else ""
            more = f"{100.0 * self.unknowns[list(PRIORS).index('spin')]:+.2f} %"
            return on_arcs.model_copy(update={"note": f"on arcs; on the spot{other}, {more}"})
        arc_std, spot_std = _track_spreads(self.covariance)
        if spot_std < arc_std:
            return on_the_spot.model_copy(update={"note": "on the spot; the paths do not tell how it is on arcs"})
        return on_arcs.model_copy(update={"note": "on arcs; the paths do not tell how it is on the spot"})

    def predict(self, run: Run) -> Prediction:
        """End of another run from its wheels alone, with everything that is not known in the interval."""
        steps = Steps.of(run)
        ends = np.array([_model(z, self.nominal_track_m).end(steps) for z in _around(self.unknowns)])
        jacobian = ((ends[1:6] - ends[6:]) / (2.0 * _STEP)).T[:2]
        end, lever = ends[0], ends[0, :2] - run.poses[0, :2]
        turned = np.array([-lever[1], lever[0]]) * START_HEADING_STD_RAD * self.scatter
        own = (POSITION_STD_M + POSITION_SHARE * run.way_m) * self.scatter
        covariance = jacobian @ self.covariance @ jacobian.T + np.outer(turned, turned) + own**2 * np.eye(2)
        return Prediction(end, covariance, run.way_m)

    def summary(self) -> str:
        """A screen of text."""
        many = "1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs"
        rows = [f"odometry from {many}, median end error {self.error_percent:.2f} % of the way"]
        rows += [f"  {name:<20}{p.text():<58}{p.status.sentence}" for name, p in self.parameters().items()]
        return "\n".join([*rows, *(f"  {line}" for line in self.identifiability)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "parameters": {name: p.model_dump() for name, p in self.parameters().items()},
            "covariance": {"names": list(PRIORS), "matrix": self.covariance.tolist()},
            "runs": list(self.runs),
            "median_end_error_percent": self.error_percent,
            "identifiability": list(self.identifiability),
        }


#: Steps of central differences: relative numbers and radians.
_STEP = 1e-5


def _around(z: np.ndarray) -> list[np.ndarray]:
    """z, then z with each entry a step up, then with each a step down."""
    steps = _STEP * np.eye(len(z))
    return [z, *(z + step for step in steps), *(z - step for step in steps)]


def _model(z: np.ndarray, track_m: float) -> OdometryModel:
    scale, difference, track, spin, offset = (float(entry) for entry in z)
    wide = track_m * (1.0 + track)
    return OdometryModel(1.0 + scale - 0.5 * difference, 1.0 + scale + 0.5 * difference, wide, wide * (1.0 + spin), offset)


class _Expected(NamedTuple):
    """A run, and the errors of position and heading that it may have at its end."""

    steps: Steps
    end: np.ndarray
    position: float
    heading: float


def _residuals(z: np.ndarray, runs: Sequence[_Expected], track_m: float) -> np.ndarray:
    """Three numbers a run and one for its start heading, which is eliminated: it enters linearly."""
    model, rows = _model(z, track_m), []
    for run in runs:
        end = model.end(run.steps)
        miss, lever = run.end - end, end[:2] - run.steps.start[:2]
        r = np.array([miss[0] / run.position, miss[1] / run.position, miss[2] / run.heading, 0.0])
        j = np.array([-lever[1] / run.position, lever[0] / run.position, 1.0 / run.heading, 1.0 / START_HEADING_STD_RAD])
        rows.append(r - j * (j @ r) / (j @ j))
    return np.concatenate(rows)


def _expected(run: Run) -> _Expected:
    position = POSITION_STD_M + POSITION_SHARE * run.way_m
    return _Expected(Steps.of(run), run.poses[-1], position, HEADING_STD_RAD + HEADING_RAD_PER_M * run.way_m)


def fit_runs(runs: Sequence[Run], *, radius_m: float, track_m: float, source: str = "") -> OdometryFit:
    """Constants that make the ends of all runs come out best, from runs driven with these nominal numbers.

    Every unknown is fitted, and held by its prior where the runs do not tell it: predictions of other paths then carry it.
    """
    if not runs:
        raise LogError("odometry: no run given; expected recordings with wheels and a true pose at start and end")
    priors = np.array(list(PRIORS.values()))
    count, expected = 4 * len(runs), [_expected(run) for run in runs]

    def weighed(z: np.ndarray, spread: float) -> np.ndarray:
        return np.concatenate([_residuals(z, expected, track_m) / spread, z / priors])

    spread, z, freedom = 1.0, np.zeros(5), math.inf
    for _ in range(3):  # the scatter is part of the weights against the priors; it settles at once
        solution = least_squares(weighed, z, args=(spread,), x_scale=priors, method="lm")
        z, data = solution.x, solution.fun[:count] * spread
        # Of the four numbers of a run one went to its start heading; of the unknowns only those count that the runs tell.
        told = float(np.trace(solution.jac[:count] @ np.linalg.solve(solution.jac.T @ solution.jac, solution.jac[:count].T)))
        freedom = 3.0 * len(runs) - told
        spread = max(LEAST_SCATTER, math.sqrt(float(data @ data) / freedom)) if freedom >= LEAST_FREEDOM else 1.0
    covariance = np.linalg.inv(solution.jac.T @ solution.jac)
    model = _model(z, track_m)
    return OdometryFit(
        model=model,
        unknowns=z,
        covariance=covariance,
        freedom=freedom if freedom >= LEAST_FREEDOM else math.inf,
        scatter=spread,
        nominal_radius_m=radius_m,
        nominal_track_m=track_m,
        runs=tuple(run.name for run in runs),
        identifiability=_sentences(covariance, _spun(expected)),
        error_percent=float(np.median(error_percent(model, runs))),
        source=source or (runs[0].name if len(runs) == 1 else f"{len(runs)} runs"),
    )


def _is_told(covariance: np.ndarray, name: str) -> bool:
    k = list(PRIORS).index(name)
    return bool(math.sqrt(covariance[k, k]) < TOLD * PRIORS[name])


_UNTOLD = {
    "scale": "the common scale of both radii is not told: drive a path that ends far from its start",
    "difference": "the difference of both radii is not told: drive a line, or the same path both ways",
    "track": "the track is not told: drive arcs or turns",
    "heading_offset_rad": "how the truth's heading lies to the robot's is not told: drive paths that end far from their start",
}


def _spun(runs: Sequence[_Expected]) -> float:
    """Share of all turning that was done on the spot."""
    turned = [np.abs(run.steps.right - run.steps.left) for run in runs]
    spun = sum(float(turn @ run.steps.share) for turn, run in zip(turned, runs, strict=True))
    return spun / max(float(sum(turn.sum() for turn in turned)), 1e-300)


def _track_spreads(covariance: np.ndarray) -> tuple[float, float]:
    """Relative standard deviations of the tracks on arcs and on the spot."""
    both = [list(PRIORS).index(name) for name in ("track", "spin")]
    part = covariance[np.ix_(both, both)]
    return math.sqrt(part[0, 0]), math.sqrt(float(part.sum()))


def _untold_spin(covariance: np.ndarray, spun: float) -> str:
    """Why tracks on the spot and on arcs are not told apart: the runs lack the one or the other."""
    on_arcs, on_spot = _track_spreads(covariance)
    if on_spot < on_arcs:
        return (
            f"{100.0 * spun:.0f} % of the turning is on the spot: the track there is known to ± {100.0 * on_spot:.2g} %, on arcs "
            f"to ± {100.0 * on_arcs:.2g} % only; drive arcs too"
        )
    some = f"only {100.0 * spun:.1g} % of the turning is on the spot" if spun > LEAST_SPUN else "no run turns on the spot"
    return (
        f"{some}: how far such a turn goes is known to ± {100.0 * on_spot:.2g} % only, and the end of a square with four of them "
        f"accordingly; drive some"
    )


def _sentences(covariance: np.ndarray, spun: float) -> tuple[str, ...]:
    """What the runs did not tell, and what they tell only together."""
    stds = dict(zip(PRIORS, np.sqrt(np.diag(covariance)), strict=True))
    untold = {**_UNTOLD, "spin": _untold_spin(covariance, spun)}
    lines = [untold[name] for name in PRIORS if not _is_told(covariance, name)]
    names = list(PRIORS)
    correlation = covariance / np.outer(list(stds.values()), list(stds.values()))
    for i, one in enumerate(names):
        for k in range(i + 1, len(names)):
            if abs(correlation[i, k]) > 0.98 and not (_is_told(covariance, one) and _is_told(covariance, names[k])):
                lines.append(f"only {one} and {names[k]} together are told by these runs, neither by itself")
    return tuple(lines)
