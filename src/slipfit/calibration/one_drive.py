"""The joint fit of one drive: all unknowns at once, residuals made white, every column of the Jacobian from one batch."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares
from threadpoolctl import threadpool_limits

from slipfit.calibration.observations import Observations
from slipfit.calibration.replay import Replay
from slipfit.calibration.unknowns import Unknown, started
from slipfit.calibration.weights import PoseNoise, Weighing, noise_of_poses, pose_noise, reading_noise, weigh_inertial, weigh_pose
from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import robust_std

#: Least noise that a channel is taken to have: accelerations, turning rates, ways, angles.
FLOORS = {"accel": 2e-3, "gyro": 1e-4, "way": 1e-5, "angle": 1e-5}

#: Noise of a good tracker's poses: ahead, to the left (m), yaw (rad).
GOOD_TRACKER = (1e-3, 1e-3, 2e-3)

SIGNALS = (
    ("accel_x_mps2", "accelerometer ahead"),
    ("accel_y_mps2", "accelerometer to the left"),
    ("gyro_z_radps", "gyro"),
    ("pose_x_m", "motion ahead from pose to pose"),
    ("pose_y_m", "motion to the left from pose to pose"),
    ("pose_yaw_rad", "turn from pose to pose"),
)

MOST_EVALUATIONS = 150

#: Differences reach over this share of an unknown's scale: a limit has kinks, which larger ones would step over.
REACH = 0.25

#: Beyond this many standard deviations a residual counts less and less.
ROBUST_FROM = 4.0


#: Forces, and with them all motion, stay the same if mass and inertia grow by a factor and slip constants shrink by it: a limit
#: is one of accelerations, mu g. Powers of the unknowns that undo what a change of the mass does.
MASS_FOLLOWS = {"c_long_per_n": 1.0, "c_lat_per_n": 1.0, "yaw_inertia_kgm2": -1.0}


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

    robot: SkidSteerRobot
    replay: Replay
    observations: Observations
    doubts: Doubts
    gravity_mps2: float
    imu_at_m: tuple[float, float, float] | None = None  # on the robot, by the log's transforms

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
    doubtful_grip_s: float = 0.0  # readings that were not used because wheels may have slid
    between: np.ndarray | None = None  # covariance between fits that explain nearly as much
    is_grip_doubtful: bool = False  # they were used, because too little is left without them

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(u.name for u in self.unknowns)


def noise_of_readings(observations: Observations) -> list[float | PoseNoise]:
    """What the readings tell before anything is fitted; of a pose at least what a good tracker has."""
    found: list[float | PoseNoise] = []
    if observations.imu is not None:
        kinds = ("accel", "accel", "gyro")
        found += [reading_noise(observations.imu.readings[:, k], FLOORS[kind]) for k, kind in enumerate(kinds)]
    if observations.pose is not None:
        found += [noise_of_poses(observations.pose, k, least) for k, least in enumerate(GOOD_TRACKER)]
    return found


def _with_mass(jacobian: np.ndarray, names: Sequence[str], point: np.ndarray) -> np.ndarray:
    """The column of the mass put in: m dr/dm = c_long dr/dc_long + c_lat dr/dc_lat - I dr/dI."""
    at = names.index("mass_kg")
    others = [name for name in names if name != "mass_kg"]
    column = sum(power * point[names.index(n)] * jacobian[:, others.index(n)] for n, power in MASS_FOLLOWS.items()) / point[at]
    return np.insert(jacobian, at, column, axis=1)


class Fitter:
    """Weighs and solves: the state that passes from one round of weighing to the next."""

    def __init__(self, problem: Problem, noise: Sequence[float | PoseNoise] = ()) -> None:
        """`noise` of every signal, in the order of SIGNALS, where it is known beforehand; else the readings tell it."""
        self.problem = problem
        self.noise: list[float | PoseNoise] = list(noise) or noise_of_readings(problem.observations)
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
                spread = robust_std(white, about=0.0)
                least = self.least[k]
                assert not isinstance(least, PoseNoise)
                self.noise[k] = max(noise * min(spread, 10.0), least)
        self.weighings = self._weigh()

    def jacobian(
        self,
        unknowns: Sequence[Unknown],
        point: np.ndarray,
        body: np.ndarray,
        *,
        both_ways: bool = True,
        reach_share: float = REACH,
        of: Sequence[int] | None = None,
    ) -> np.ndarray:
        """Differences, central, or forward on the way where nothing has kinks; all replays in one batch.

        They reach over a share of each unknown's scale. `of` are the columns wanted, all where it is not given; the mass's
        follows from others (MASS_FOLLOWS), without a difference across the kinks of a limit.
        """
        names = [u.name for u in unknowns]
        follows = of is None and {"mass_kg", *MASS_FOLLOWS} <= set(names)
        wanted = [j for j in (range(len(unknowns)) if of is None else of) if not (follows and names[j] == "mass_kg")]
        here = self.problem.residuals(names, point, body)
        reach = np.array([reach_share * u.scale for u in unknowns])
        # Downward only where there is no way up.
        reach = np.where(point + reach > [u.bounds()[1] for u in unknowns], -reach, reach)
        ways = (1.0, -1.0) if both_ways else (1.0,)
        ends = {(j, way): self._shifted(unknowns, point, j, way * reach[j]) for j in wanted for way in ways}
        runs = [key for key in ends if unknowns[key[0]].acts_on == "motion"]
        bodies = self.problem.bodies(unknowns, np.array([ends[key] for key in runs])) if runs else np.empty(0)
        moved = dict(zip(runs, bodies, strict=True))
        columns = []
        for j in wanted:
            up = self.problem.residuals(names, ends[j, 1.0], moved.get((j, 1.0), body))
            other = self.problem.residuals(names, ends[j, -1.0], moved.get((j, -1.0), body)) if both_ways else here
            width = ends[j, 1.0][j] - (ends[j, -1.0][j] if both_ways else point[j])
            columns.append([(a - b) / width for a, b in zip(up, other, strict=True)])
        white = self.white([np.column_stack([column[k] for column in columns]) for k in range(len(self.weighings))])
        return _with_mass(white, names, point) if follows else white

    @staticmethod
    def _shifted(unknowns: Sequence[Unknown], point: np.ndarray, j: int, by: float) -> np.ndarray:
        shifted = point.copy()
        shifted[j] = max(point[j] + by, unknowns[j].lower)
        return shifted

    def coarse(self) -> "Fitter":
        """The same weights over a replay in larger steps, for a first look."""
        other = copy(self)
        other.problem = replace(self.problem, replay=self.problem.replay.coarse())
        return other

    def solve(self, unknowns: Sequence[Unknown], *, tolerance: float = 1e-6, evaluations: int = MOST_EVALUATIONS) -> Solution:
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
            return np.vstack(
                [np.nan_to_num(self.jacobian(unknowns, point, body(point), both_ways="mu" in names)), np.diag(prior)]
            )

        # In steps of their own scales: else the solver would judge convergence by the largest number, the mass.
        scale = np.array([10.0 * u.scale for u in unknowns])
        start = np.clip([u.start for u in unknowns], bounds[0] + 1e-12, bounds[1] - 1e-12)
        with threadpool_limits(1):  # small matrices: threads of BLAS would only wait for each other
            found = least_squares(
                lambda z: cost(z * scale), start / scale, jac=lambda z: slope(z * scale) * scale, bounds=bounds / scale,
                loss="soft_l1", f_scale=ROBUST_FROM, max_nfev=evaluations, xtol=10.0 * tolerance, ftol=tolerance,
            )  # fmt: skip
        return self.solution(unknowns, found.x * scale, cost=2.0 * float(found.cost), is_converged=bool(found.status > 0))

    def solution(self, unknowns: Sequence[Unknown], point: np.ndarray, *, cost: float, is_converged: bool) -> Solution:
        """Everything about a point, with the weights as they are."""
        names = [u.name for u in unknowns]
        body = self.problem.bodies(unknowns, point[None])[0]
        kept = [w for w in self.weighings if w is not None]
        which = [k for k, w in enumerate(self.weighings) if w is not None]
        return Solution(
            unknowns=tuple(unknowns),
            values=point,
            white=self.white(self.problem.residuals(names, point, body)),
            # Of a spread the slope over a typical change counts: kinks of a limit would look like information.
            jacobian=self.jacobian(unknowns, point, body, reach_share=1.0 if "mu" in names else REACH),
            white_time_s=np.concatenate([w.time_s for w in kept]),
            white_signal=np.repeat(which, [len(w.time_s) for w in kept]),
            weighings=tuple(self.weighings),
            noise=tuple(n.pose if isinstance(n, PoseNoise) else n for n in self.noise),
            cost=cost,
            is_converged=is_converged,
        )

    def widened(self, solution: Solution, more: Sequence[Unknown]) -> Solution:
        """The same solution, with unknowns that stay where they start: their columns tell what they might change."""
        unknowns, values = (*solution.unknowns, *more), np.concatenate([solution.values, [u.start for u in more]])
        body = self.problem.bodies(unknowns, values[None])[0]
        columns = self.jacobian(unknowns, values, body, reach_share=1.0, of=range(len(solution.unknowns), len(unknowns)))
        return replace(solution, unknowns=unknowns, values=values, jacobian=np.hstack([solution.jacobian, columns]))

    def fit(self, unknowns: Sequence[Unknown], *, rounds: int = 2) -> Solution:
        """Solve, weigh anew by what is left, solve again."""
        solution = self.solve(self.without_offsets(unknowns), tolerance=1e-4)
        for _ in range(rounds - 1):
            at = dict(zip(solution.names, solution.values, strict=True))
            body = self.problem.bodies(solution.unknowns, solution.values[None])[0]
            self.reweigh(self.problem.residuals(solution.names, solution.values, body))
            solution = self.solve(started(unknowns, at))
        return solution

    def without_offsets(self, unknowns: Sequence[Unknown]) -> list[Unknown]:
        """Biases start where the medians of the residuals are: the solver then has no long way to go."""
        names, point = [u.name for u in unknowns], np.array([u.start for u in unknowns])
        residuals = self.problem.residuals(names, point, self.problem.bodies(unknowns, point[None])[0])
        biases = ("accel_bias_x_mps2", "accel_bias_y_mps2", "gyro_bias_radps")
        return started(unknowns, {b: float(np.median(r)) for b, r in zip(biases, residuals, strict=False) if b in names})
