"""A slip map from runs with true poses: penalised least squares, the penalty chosen by leaving out each run in its turn.

With the run's measured heading, places along it are linear in the weights w, v and the tracked point's offset o:

    p_k - p_0 = sum_j e^(i psi_j) (ideal_j + w . phi_j) + (e^(i psi_k) - e^(i psi_0)) o
    psi_k - psi_0 = sum_j (dpsi_j + v . chi_j / l)
    minimise   sum |r_k / s_k|^2 + sum |w_i / tau_i|^2,        tau_i = tau / roughness_i^2, less by a factor for shapes of speed
    left-out residuals of a run g:   (I - H_gg)^-1 r_g,        H the hat matrix

tau, one for ways and one for turns, is where the median (ways) or the mean square (turns) of left-out errors is least; that least
value is told as `left_out_percent`, a little better than runs that had no part in the choice: those held out are the fair figure.
Covariance: q (A^H A + P)^-1, with q the mean over runs of the sum of squared left-out residuals over s: marks of a run are
widened so that together they count as one, and their squares are one square.

Symbols    p places as complex numbers · psi heading · k marks along the run · s_k expected error, `PLACE_STD_M` + `PLACE_SHARE`
           way · A rows over s · P prior precisions
Reference  penalty of the fourth power of the frequency: smoothing splines on a circle; derived in docs/howto/omni_calibrate.md
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slipfit.calibration.omni.by_run import left_out_residuals
from slipfit.calibration.omni.directions import Shapes
from slipfit.calibration.omni.runs import LEAST_WAY_M, OmniRun
from slipfit.calibration.omni.slip_map import SlipMap
from slipfit.errors import LogError
from slipfit.library import OmniRobot

#: What a run may miss even with the best map; only ratios matter, the size is found from the left-out runs.
PLACE_STD_M, PLACE_SHARE = 0.003, 0.004
TURN_STD_RAD, TURN_RAD_PER_M = 0.01, 0.004

#: A place is compared at the end and at every so many metres before.
MARK_M = 2.0

#: Prior standard deviation of what shapes of degree 0 and 1 add (a wrong radius, constant slip), and of the offset: a marker is
#: put over the centre by hand (m).
CONSTANT_STD, OFFSET_STD_M = 1.0, 0.02

#: Roughness is tried over this range, per metre.
SMOOTHNESS = np.logspace(-3.0, 0.5, 15)

#: Slip depends less on speed than on direction: shapes times speed are expected to be smaller by one of these.
SPEED_PRIORS = (1.0, 2.0, 5.0)

#: Runs whose speeds differ by less than this share are of one speed.
ONE_SPEED = 0.2

#: Runs that a map needs at least: fewer do not tell a left-out run.
LEAST_RUNS = 4


@dataclass(frozen=True, eq=False, slots=True)
class _Rows:
    """Equations of all runs over their expected errors; which run each is of."""

    matrix: np.ndarray  # (rows, unknowns)
    target: np.ndarray  # (rows,)
    run: np.ndarray  # (rows,)


@dataclass(frozen=True, eq=False, slots=True)
class _Solved:
    weights: np.ndarray
    covariance: np.ndarray
    left_out: np.ndarray  # (rows,) residuals of each run by the others, over their expected errors


def fit_slip_map(runs: Sequence[OmniRun], robot: OmniRobot, *, surface: str = "surface") -> SlipMap:
    """The map of a robot on a surface, from four runs or more with true poses all along."""
    if len(runs) < LEAST_RUNS:
        raise LogError(f"slip map: {len(runs)} runs; expected {LEAST_RUNS} or more, in different directions")
    shapes = shapes_of(runs, robot)
    ways, turns, last_std = _equations(runs, robot, shapes)
    way_m = np.array([float(run.way_m[-1]) for run in runs])
    last = np.append(np.flatnonzero(np.diff(ways.run)), len(ways.run) - 1)
    goes = way_m > LEAST_WAY_M
    if not goes.any():
        raise LogError(f"slip map: no run goes farther than {LEAST_WAY_M:g} m; expected lines or arcs beside turns on the spot")

    def end_percent(found: _Solved) -> float:
        return float(100.0 * np.median((np.abs(found.left_out[last]) * last_std)[goes] / way_m[goes]))

    way_fit, way_tau, missed = _smoothest(ways, shapes.way_roughness, shapes, end_percent)
    turn_fit, turn_tau, _ = _smoothest(turns, shapes.turn_roughness, shapes, lambda found: float(np.mean(found.left_out**2)))
    offset = way_fit.weights[-1]
    return SlipMap(
        robot=robot.name,
        surface=surface,
        shapes=shapes,
        way_weights=way_fit.weights[:-1],
        turn_weights=turn_fit.weights,
        offset_m=np.array([offset.real, offset.imag]),
        way_covariance=way_fit.covariance,
        turn_covariance=turn_fit.covariance,
        smoothness=(way_tau, turn_tau),
        left_out_percent=missed,
        runs=tuple(run.name for run in runs),
    )


def shapes_of(runs: Sequence[OmniRun], robot: OmniRobot) -> Shapes:
    """Shapes that these runs can tell: of speed only where it differs from run to run."""
    length = float(np.hypot(*robot.at_m.T).mean())
    speeds = np.array([_typical_speed(run, robot, length) for run in runs])
    low, high = np.quantile(speeds, [0.02, 0.98])
    if high - low < ONE_SPEED * high:
        return Shapes(length)
    return Shapes(length, 0.5 * float(low + high), 0.5 * float(high - low))


def _typical_speed(run: OmniRun, robot: OmniRobot, length_m: float) -> float:
    moved = np.linalg.norm(run.ideal_motion(robot) * [1.0, 1.0, length_m], axis=1) / np.diff(run.time_s)
    return float(np.median(moved[moved > 0.1 * moved.max()]))


def _equations(runs: Sequence[OmniRun], robot: OmniRobot, shapes: Shapes) -> tuple[_Rows, _Rows, np.ndarray]:
    """Rows of places (complex) and of headings, run by run; and the expected error (m) of each run's last place."""
    ways: list[tuple[np.ndarray, complex, int]] = []
    turns: list[tuple[np.ndarray, complex, int]] = []
    last_std = []
    for g, run in enumerate(runs):
        ideal, way, heading = run.ideal_motion(robot), run.way_m, run.poses[:, 2]
        way_shapes, turn_shapes = shapes.of_steps(ideal, run.duration_s / len(ideal))
        middle = np.exp(0.5j * (heading[1:] + heading[:-1]))
        way_sums, turn_sums = np.cumsum(middle[:, None] * way_shapes, axis=0), np.cumsum(turn_shapes, axis=0)
        missed = (run.poses[1:, :2] - run.poses[0, :2]) @ [1.0, 1j] - np.cumsum(middle * (ideal[:, 0] + 1j * ideal[:, 1]))
        over_turned = heading[1:] - heading[0] - np.cumsum(ideal[:, 2])
        offset = np.exp(1j * heading[1:]) - np.exp(1j * heading[0])
        count = max(1, round(float(way[-1]) / MARK_M))
        ends = np.searchsorted(way, way[-1] * np.arange(1, count) / count).clip(1, len(ideal))
        for k in np.unique([*ends, len(ideal)]) - 1:
            # Marks of one run share their errors: together they count as one.
            place = (PLACE_STD_M + PLACE_SHARE * way[k + 1]) * np.sqrt(count)
            turn = (TURN_STD_RAD + TURN_RAD_PER_M * way[k + 1]) * np.sqrt(count)
            ways.append((np.append(way_sums[k], offset[k]) / place, missed[k] / place, g))
            turns.append((turn_sums[k] / shapes.length_m / turn, over_turned[k] / turn, g))
        last_std.append(place)
    return _stacked(ways), _stacked(turns), np.array(last_std)


def _stacked(rows: Sequence[tuple[np.ndarray, complex, int]]) -> _Rows:
    return _Rows(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), np.array([row[2] for row in rows]))


def _smoothest(
    rows: _Rows, roughness: np.ndarray, shapes: Shapes, judged: Callable[[_Solved], float]
) -> tuple[_Solved, float, float]:
    """The fit whose left-out runs are judged best, its tau, and the judgement."""
    squares, pulled = rows.matrix.conj().T @ rows.matrix, rows.matrix.conj().T @ rows.target
    best: tuple[float, float, _Solved] | None = None
    for speed_prior in SPEED_PRIORS if shapes.speed_terms > 1 else SPEED_PRIORS[:1]:
        for tau in SMOOTHNESS:
            std = np.where(roughness > 0, tau / np.maximum(roughness, 1) ** 2, CONSTANT_STD)
            std = np.where(shapes.speed_orders > 0, np.minimum(std, tau) / speed_prior, std)
            std = np.append(std, OFFSET_STD_M) if len(squares) > len(std) else std
            found = _solve(rows, squares + np.diag(1.0 / std**2), pulled)
            value = judged(found)
            if best is None or value < best[0]:
                best = (value, float(tau), found)
    assert best is not None
    return best[2], best[1], best[0]


def _solve(rows: _Rows, information: np.ndarray, pulled: np.ndarray) -> _Solved:
    inverse = np.linalg.inv(information)
    weights = inverse @ pulled
    left_out = left_out_residuals(rows.matrix, inverse, rows.target - rows.matrix @ weights, rows.run)
    scale = float(np.sum(np.abs(left_out) ** 2)) / (int(rows.run[-1]) + 1)
    return _Solved(weights, inverse * scale, left_out)
