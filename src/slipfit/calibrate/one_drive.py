"""The joint fit of one drive: all unknowns at once, residuals made white, every column of the Jacobian from one batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares
from threadpoolctl import threadpool_limits

from slipfit.calibrate.observations import Observations
from slipfit.calibrate.replay import Replay
from slipfit.calibrate.unknowns import CONSTANTS, Unknown, started
from slipfit.calibrate.weights import PoseNoise, Weighing, pose_noise, reading_noise, weigh_inertial, weigh_pose
from slipfit.library import Robot

#: Least noise that a channel is taken to have: accelerations, turning rates, ways, angles.
FLOORS = {"accel": 2e-3, "gyro": 1e-4, "way": 1e-5, "angle": 1e-5}

SIGNALS = (
    ("accel_x_mps2", "accelerometer ahead"),
    ("accel_y_mps2", "accelerometer to the left"),
    ("gyro_z_radps", "gyro"),
    ("pose_x_m", "motion ahead from pose to pose"),
    ("pose_y_m", "motion to the left from pose to pose"),
    ("pose_yaw_rad", "turn from pose to pose"),
)

MOST_EVALUATIONS = 150

#: Windows with at least this share undisturbed decide between models.
TRUSTED = 0.9

#: Beyond this many standard deviations a residual counts less and less.
ROBUST_FROM = 4.0


@dataclass(frozen=True, eq=False, slots=True)
class Doubts:
    """How wrong a replay may be at each of the IMU's readings, because of what lies between encoder samples."""

    readings: np.ndarray  # (T, 3)
    excluded: np.ndarray  # (T,) wheels off the ground, or sliding where that is not modelled
    way_m: float  # noise of a side's way
    turn_rad: float  # the same as an angle of the body


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """Data and model of one drive."""

    robot: Robot
    replay: Replay
    observations: Observations
    doubts: Doubts
    gravity_mps2: float

    def predict(self, x: Mapping[str, float], body: np.ndarray) -> list[np.ndarray]:
        """What each channel would have said."""
        return self.observations.predict(body, self.replay.step_s, self.robot, self.gravity_mps2, x)

    def bodies(self, unknowns: Sequence[Unknown], points: np.ndarray) -> np.ndarray:
        """Motion for several sets of values, (n, k)."""
        vary = {u.name: points[:, j] for j, u in enumerate(unknowns) if u.acts_on == "motion"}
        if "start_v_mps" in vary:
            vary["start_v_mps"] = vary["start_v_mps"] + self.replay.values["start_v_mps"]
        return self.replay.bodies(vary, len(points))

    def residuals(self, names: Sequence[str], point: np.ndarray, body: np.ndarray) -> list[np.ndarray]:
        """Measured minus predicted of every signal, in the order of SIGNALS."""
        predicted = self.predict(dict(zip(names, point, strict=True)), body)
        return [m[:, k] - p[:, k] for m, p in zip(self.observations.measured, predicted, strict=True) for k in range(3)]

    @property
    def signals(self) -> list[tuple[str, str]]:
        """Names of the signals that are there."""
        has = [self.observations.imu is not None] * 3 + [self.observations.pose is not None] * 3
        return [signal for signal, is_there in zip(SIGNALS, has, strict=True) if is_there]


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """Where a fit ended."""

    unknowns: tuple[Unknown, ...]
    values: np.ndarray
    white: np.ndarray  # whitened residuals of all signals
    jacobian: np.ndarray  # of the whitened residuals
    white_time_s: np.ndarray
    white_signal: np.ndarray  # number of the signal each belongs to
    weighings: tuple[Weighing | None, ...]
    noise: tuple[float, ...]
    cost: float
    is_converged: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(u.name for u in self.unknowns)


def _noise_of_readings(observations: Observations) -> list[float | PoseNoise]:
    """What the readings tell before anything is fitted; of a pose, what a tracker has."""
    found: list[float | PoseNoise] = []
    if observations.imu is not None:
        kinds = ("accel", "accel", "gyro")
        found += [reading_noise(observations.imu.readings[:, k], FLOORS[kind]) for k, kind in enumerate(kinds)]
    if observations.pose is not None:
        found += [PoseNoise(1e-3, 1e-3), PoseNoise(1e-3, 1e-3), PoseNoise(2e-3, 2e-3)]
    return found


class Fitter:
    """Weighs and solves: the state that passes from one round of weighing to the next."""

    def __init__(self, problem: Problem, noise: Sequence[float | PoseNoise] = ()) -> None:
        """`noise` of every signal, in the order of SIGNALS, where it is known beforehand; else the readings tell it."""
        self.problem = problem
        self.noise: list[float | PoseNoise] = list(noise) or _noise_of_readings(problem.observations)
        self.least = list(self.noise)
        self.weighings = self._weigh()

    def _weigh(self) -> list[Weighing | None]:
        p = self.problem
        found: list[Weighing | None] = []
        for k, noise in enumerate(self.noise):
            if isinstance(noise, PoseNoise):
                assert p.observations.pose is not None
                found.append(weigh_pose(p.observations.pose, noise))
                continue
            assert p.observations.imu is not None
            wheel_noise, order = ((p.doubts.way_m, 2), (0.0, 0), (p.doubts.turn_rad, 1))[k]
            found.append(
                weigh_inertial(p.observations.imu, noise, p.doubts.readings[:, k], wheel_noise, order, p.doubts.excluded)
            )
        return found

    def white(self, residuals: Sequence[np.ndarray]) -> np.ndarray:
        """All signals whitened, one after the other."""
        return np.concatenate([w.whiten(r) for w, r in zip(self.weighings, residuals, strict=True) if w is not None])

    def clean_cost(self, residuals: Sequence[np.ndarray]) -> float:
        """Sum of squares away from corners, where a replay can be trusted to the last; outliers count as five deviations."""
        clean = np.concatenate([w.clean for w in self.weighings if w is not None])
        white = np.minimum(self.white(residuals) ** 2, 25.0)
        return float(white[clean > TRUSTED].sum())

    def reweigh(self, residuals: Sequence[np.ndarray]) -> None:
        """Noise anew from what the fit leaves: channels that fit worse than their noise says count less."""
        for k, (noise, w, r) in enumerate(zip(self.noise, self.weighings, residuals, strict=True)):
            if w is None:
                continue
            if isinstance(noise, PoseNoise):
                assert self.problem.observations.pose is not None
                floor = FLOORS["angle" if k % 3 == 2 else "way"]
                self.noise[k] = pose_noise(r, self.problem.observations.pose.is_next, floor)
            else:
                white = w.whiten(r)
                spread = 1.4826 * float(np.median(np.abs(white)))
                least = self.least[k]
                assert not isinstance(least, PoseNoise)
                self.noise[k] = max(noise * min(spread, 10.0), least)
        self.weighings = self._weigh()

    def jacobian(self, unknowns: Sequence[Unknown], point: np.ndarray, body: np.ndarray) -> np.ndarray:
        """Central differences; all replays in one batch, what the sensors add without any."""
        names = [u.name for u in unknowns]
        moving = [j for j, u in enumerate(unknowns) if u.acts_on == "motion"]
        points = np.repeat(point[None], 2 * len(moving), axis=0)
        for row, j in enumerate(moving):
            reach = unknowns[j].scale
            points[2 * row, j] += reach
            points[2 * row + 1, j] = max(point[j] - reach, unknowns[j].lower)
        moved = self.problem.bodies(unknowns, points) if moving else np.empty((0,))
        columns = []
        for j, u in enumerate(unknowns):
            if j in moving:
                row = moving.index(j)
                ends = [(points[2 * row + e], moved[2 * row + e]) for e in (0, 1)]
            else:
                shift = np.eye(len(point))[j] * u.scale
                ends = [(point + shift, body), (point - shift, body)]
            up, down = (self.problem.residuals(names, end, motion) for end, motion in ends)
            width = ends[0][0][j] - ends[1][0][j]
            columns.append([(b - a) / width for a, b in zip(up, down, strict=True)])
        stacked = [np.column_stack([column[k] for column in columns]) for k in range(len(self.weighings))]
        return -self.white(stacked)

    def solve(self, unknowns: Sequence[Unknown], *, tolerance: float = 1e-6) -> Solution:
        """One robust least-squares fit with the weights as they are."""
        names = [u.name for u in unknowns]
        prior = np.array([1.0 / u.prior_std if u.prior_std else 0.0 for u in unknowns])
        expected = np.array([u.expected for u in unknowns])
        bounds = np.array([u.bounds() for u in unknowns]).T
        latest: dict[bytes, np.ndarray] = {}

        def body(point: np.ndarray) -> np.ndarray:
            key = point.tobytes()
            if key not in latest:
                latest.clear()
                latest[key] = self.problem.bodies(unknowns, point[None])[0]
            return latest[key]

        def cost(point: np.ndarray) -> np.ndarray:
            white = self.white(self.problem.residuals(names, point, body(point)))
            return np.concatenate([np.nan_to_num(white, nan=1e6, posinf=1e6, neginf=-1e6), prior * (point - expected)])

        def slope(point: np.ndarray) -> np.ndarray:
            return np.vstack([np.nan_to_num(self.jacobian(unknowns, point, body(point))), np.diag(prior)])

        # In steps of their own scales: else the solver would judge convergence by the largest number, the mass.
        scale = np.array([10.0 * u.scale for u in unknowns])
        start = np.clip([u.start for u in unknowns], bounds[0] + 1e-12, bounds[1] - 1e-12)
        with threadpool_limits(1):  # small matrices: threads of BLAS would only wait for each other
            found = least_squares(
                lambda z: cost(z * scale), start / scale, jac=lambda z: slope(z * scale) * scale, bounds=bounds / scale,
                loss="soft_l1", f_scale=ROBUST_FROM, max_nfev=MOST_EVALUATIONS, xtol=10.0 * tolerance, ftol=tolerance,
            )  # fmt: skip
        point = found.x * scale
        residuals = self.problem.residuals(names, point, body(point))
        white = self.white(residuals)
        kept = [w for w in self.weighings if w is not None]
        which = [k for k, w in enumerate(self.weighings) if w is not None]
        return Solution(
            unknowns=tuple(unknowns),
            values=point,
            white=white,
            jacobian=self.jacobian(unknowns, point, body(point)),
            white_time_s=np.concatenate([w.time_s for w in kept]),
            white_signal=np.repeat(which, [len(w.time_s) for w in kept]),
            weighings=tuple(self.weighings),
            noise=tuple(n.pose if isinstance(n, PoseNoise) else n for n in self.noise),
            cost=2.0 * float(found.cost),
            is_converged=bool(found.status > 0),
        )

    def fit(self, unknowns: Sequence[Unknown], *, rounds: int = 2) -> Solution:
        """Solve, weigh anew by what is left, solve again."""
        solution = self.solve(self._without_offsets(unknowns), tolerance=1e-5)
        for _ in range(rounds - 1):
            at = dict(zip(solution.names, solution.values, strict=True))
            body = self.problem.bodies(solution.unknowns, solution.values[None])[0]
            self.reweigh(self.problem.residuals(solution.names, solution.values, body))
            solution = self.solve(started(unknowns, at))
        return solution

    def _without_offsets(self, unknowns: Sequence[Unknown]) -> list[Unknown]:
        """Biases start where the medians of the residuals are: the solver then has no long way to go."""
        names, point = [u.name for u in unknowns], np.array([u.start for u in unknowns])
        residuals = self.problem.residuals(names, point, self.problem.bodies(unknowns, point[None])[0])
        biases = ("accel_bias_x_mps2", "accel_bias_y_mps2", "gyro_bias_radps")
        return started(unknowns, {b: float(np.median(r)) for b, r in zip(biases, residuals, strict=False) if b in names})


def best_start(fitter: Fitter, unknowns: Sequence[Unknown], mus: Sequence[float]) -> list[tuple[float, dict[str, float]]]:
    """The best place of a coarse grid for each mu, cheapest first: slip constants over two decades, in one batch."""
    names = [u.name for u in unknowns]
    base = np.array([u.start for u in unknowns])
    grid = [(c, c * ratio, mu) for mu in mus for c in np.geomspace(4e-4, 4e-2, 6) for ratio in np.geomspace(0.7, 150.0, 6)]
    points = np.repeat(base[None], len(grid), axis=0)
    for j, name in enumerate(names):
        if name in CONSTANTS:
            points[:, j] = [place[CONSTANTS.index(name)] for place in grid]
    problem = replace(fitter.problem, replay=fitter.problem.replay.coarse())
    vary = {u.name: points[:, j] for j, u in enumerate(unknowns) if u.acts_on == "motion" and u.name != "start_v_mps"}
    vary["mu"] = np.array([place[2] for place in grid])
    bodies = problem.replay.bodies(vary, len(grid))
    costs = np.array([_rough_cost(fitter, problem, names, point, body) for point, body in zip(points, bodies, strict=True)])
    found = []
    for mu in mus:
        rows = [k for k, place in enumerate(grid) if place[2] == mu]
        best = rows[int(np.argmin(costs[rows]))]
        found.append((float(costs[best]), dict(zip(CONSTANTS, grid[best], strict=True))))
    return sorted(found, key=lambda entry: entry[0])


def _rough_cost(fitter: Fitter, problem: Problem, names: Sequence[str], point: np.ndarray, body: np.ndarray) -> float:
    """Sum of absolute white residuals, offsets removed: biases are not found yet."""
    residuals = [r - np.median(r) if k < 3 else r for k, r in enumerate(problem.residuals(names, point, body))]
    white = fitter.white(residuals)
    return float(np.minimum(np.abs(white), 30.0).sum()) if np.isfinite(white).all() else np.inf
