"""Many short runs on one floor, wheels and gyro only: one effective track, and a clock for each run.

Over windows of `WINDOW_S`, the wheels' turning against the gyro's mean rate:

    e_i = (1/D) ∫ r(t - late(t); theta) dt - (1/D) ∫ gyro dt + bias

theta is shared. The clock `late` (`run_clock`) belongs to a run and is eliminated run by run (Schur complement), so that a
hundred runs cost as much as one long one; a point turn at a constant rate has any clock. The gyro's bias is what it says while
the wheels stand, and none in runs without rest: a bias that were fitted would hide the track's error in every constant turn.

Spread     jackknife over runs, each left out of the linearised problem: runs are the blocks, and few of them turn much
Reference  the elimination is the usual Schur complement; the rest is written out above
Valid for  rungs whose yaw rate follows from the wheels; an IMU tells turning only: gains of both sides alike stay unknown
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d
from scipy.stats import t as student

from slipfit.calibration.ladder.fit import ROBUST_FROM
from slipfit.calibration.ladder.run_clock import FARTHEST_S, FIRST_STD_S, ClockLine, tried_offsets
from slipfit.calibration.ladder.rungs import KinematicRung, Rung
from slipfit.calibration.spread import inverse_of
from slipfit.calibration.unknowns import Unknown
from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.library.deviation import robust_std
from slipfit.logs import DriveLog
from slipfit.logs.channels import IMU
from slipfit.logs.rims import GRID_S, Rims, rims_of
from slipfit.vehicles.kinematic import IcrDrive

#: Length of a window (s): four samples of slow wheel encoders.
WINDOW_S = 0.6

#: Rims slower than this stand (m/s); so many windows of rest tell a gyro's bias.
AT_REST_MPS, FEWEST_RESTS = 1e-3, 3

#: Turning faster than this tells the noise (rad/s): a robot that drives straight agrees with every model.
TURNING = 0.05

#: Noise that a first round supposes, and the least that any does (rad/s).
FIRST_NOISE, LEAST_NOISE = 0.03, 3e-3

ROUNDS, STEPS = 3, 8

#: A wandering clock must lower the cost by this much for each knot that it adds (99 % with one degree of freedom, halved).
GAINED = 3.3

#: A robot that turns by less than this share of what its wheels say, for this long (s), is stuck: digging, or lifted.
STUCK_SHARE, STUCK_S = 0.4, 4.0

#: The cost of a clock is compared with that of one which is off by this much (s).
ASIDE_S = 0.5

#: A run's clock is told when its spread is below this (s): an interval of such encoders.
TOLD_S = 0.15


def yaw_track(robot: SkidSteerRobot) -> KinematicRung:
    """What a gyro can tell of `track and gain`: the track, wheels rolling as their radius says."""
    track = robot.track_m
    about = "track that an ideal drive would need"
    unknown = Unknown("effective_track_m", 1.5 * track, 0.05 * track, 3 * track, about, "motion", 1.5 * track, 0.1 * track)

    def model(v: Any) -> IcrDrive:
        return IcrDrive(0.5 * v["effective_track_m"], -0.5 * v["effective_track_m"], 0.0, 1.0, 1.0)

    return KinematicRung("track", "an ideal drive with another track", (unknown,), model)


def yaw_icr(robot: SkidSteerRobot) -> KinematicRung:
    """What a gyro can tell of `icr`: the distance of both sides' rotation centres, and how their gains differ."""
    base = yaw_track(robot).unknowns[0]
    ratio = Unknown("gain_ratio", 1.0, 0.01, 0.1, "gain of the right side over the left's", "motion", 1.0, 0.2)

    def model(v: Any) -> IcrDrive:
        half, left = 0.5 * v["effective_track_m"], 2.0 / (1.0 + v["gain_ratio"])
        return IcrDrive(half, -half, 0.0, left, left * v["gain_ratio"])

    return KinematicRung("track and side gains", "an ideal drive with another track, sides apart", (base, ratio), model)


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """One run: rims on the wheels' clock, and the gyro's mean rates over windows that start at zero of its own."""

    name: str
    digest: str
    rims: Rims
    time_s: np.ndarray  # (T,) middles of the grid's intervals, whole windows only
    rate_radps: np.ndarray  # (n,) of the windows, less the bias
    shift_s: float  # first stamp of the gyro behind the wheels'
    bias_radps: float  # of the gyro at rest; zero where the robot never rests

    @property
    def windows(self) -> int:
        return len(self.rate_radps)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Means over windows of values at `time_s`; further axes are kept."""
        return np.asarray(values.reshape(self.windows, -1, *values.shape[1:]).mean(axis=1))


def run_of(log: DriveLog, robot: SkidSteerRobot) -> Run:
    """Wheels and gyro of one log, as its stamps have them."""
    name = log.source or log.about or "run"
    if IMU not in log or "gyro_z_radps" not in log[IMU].columns:
        raise LogError(f"{name}: no yaw rate; expected wheel speeds and a gyro: join the IMU's file to the wheels'")
    channel = log[IMU]
    rims = rims_of(log, robot)
    rate = channel.column("gyro_z_radps")
    kept = np.isfinite(rate)
    stamps, rate = channel.stamps_ns[kept], rate[kept]
    gyro_s = rims.seconds(stamps)
    shift = float(gyro_s[0])
    gyro_s = gyro_s - shift
    per = round(WINDOW_S / GRID_S)
    count = int(min(gyro_s[-1], rims.time_s[-1] - shift) / WINDOW_S)
    if count < 2:
        raise LogError(f"{name}: {count} windows of {WINDOW_S:g} s; expected wheels and gyro over a second or longer")
    angle = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(gyro_s))])
    turned = np.diff(np.interp(np.arange(count + 1) * WINDOW_S, gyro_s, angle))
    time_s, means = (np.arange(count * per) + 0.5) * GRID_S, turned / WINDOW_S
    bias = _bias_at_rest(rims, time_s + shift, means)
    return Run(name, log.digest, rims, time_s, means - bias, shift, bias)


def _bias_at_rest(rims: Rims, time_s: np.ndarray, means: np.ndarray) -> float:
    """The gyro's median over windows in which the wheels stand, whatever their clock."""
    fastest = np.maximum(np.abs(rims.left_mps), np.abs(rims.right_mps))
    stands = maximum_filter1d(fastest, 2 * round(FARTHEST_S / GRID_S) + 1) < AT_REST_MPS
    rests = (np.interp(time_s, rims.time_s, stands) == 1.0).reshape(len(means), -1).all(axis=1)
    return float(np.median(means[rests])) if rests.sum() >= FEWEST_RESTS else 0.0


@dataclass(frozen=True, eq=False, slots=True)
class RunClock:
    """What belongs to one run, and how well its turning is told."""

    name: str
    windows: int
    at_s: np.ndarray
    late_s: np.ndarray  # wheels' samples later than the gyro's by this, at each knot
    late_std_s: np.ndarray
    offset_std_s: float
    bias_radps: float
    error_radps: np.ndarray  # of every window
    stuck_s: float  # time of windows in which the wheels turned a robot that did not turn: left out of the fit

    @property
    def offset_s(self) -> float:
        """Over the run, knots weighed by how well they are told."""
        return float(np.average(self.late_s, weights=self.late_std_s**-2.0))

    @property
    def is_told(self) -> bool:
        return self.offset_std_s < TOLD_S

    @property
    def rmse_radps(self) -> float:
        return float(np.sqrt(np.mean(self.error_radps**2)))


@dataclass(frozen=True, eq=False)
class PooledFit:
    """One rung on many runs."""

    rung: Rung
    values: np.ndarray
    covariance: np.ndarray
    freedom: float  # as many runs as turn, less one
    noise_radps: float
    gyro_sign: float
    wanders: bool
    runs: tuple[RunClock, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(u.name for u in self.rung.unknowns)

    def value(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def std(self, name: str) -> float:
        k = self.names.index(name)
        return float(np.sqrt(self.covariance[k, k]))

    def interval_90(self, name: str) -> tuple[float, float]:
        reach = float(student.ppf(0.95, self.freedom)) * self.std(name)
        return self.value(name) - reach, self.value(name) + reach

    def as_values(self) -> dict[str, float]:
        return dict(zip(self.names, map(float, self.values), strict=True))

    def score(self, runs: Sequence[Run], *, noise_radps: float | None = None) -> tuple[RunClock, ...]:
        """The errors of runs that the fit has not seen: the rung's numbers stay, each run finds its clock."""
        noise = self.noise_radps if noise_radps is None else noise_radps
        return tuple(
            _Eliminated.begun(self.rung, run, self.values, noise, self.wanders, self.gyro_sign).settled() for run in runs
        )

    def summary(self) -> str:
        rows = [f"{self.rung.name}, {len(self.runs)} runs, {sum(r.windows for r in self.runs)} windows of {WINDOW_S:g} s"]
        for name in self.names:
            low, high = self.interval_90(name)
            rows.append(f"  {name:<22}{self.value(name):>10.4f}   90 % in {low:.4f} to {high:.4f}")
        rows.append(f"  clocks {'wander' if self.wanders else 'keep their offset'}; wheels late by")
        rows += [f"    {_clock_line(run)}" for run in self.runs]
        if self.gyro_sign < 0:
            rows.append("  the gyro counts clockwise: its sign was turned")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return {
            "rung": self.rung.name,
            "numbers": {
                n: {"value": self.value(n), "std": self.std(n), "interval_90": list(self.interval_90(n))} for n in self.names
            },
            "noise_radps": self.noise_radps,
            "gyro_sign": self.gyro_sign,
            "clocks_wander": self.wanders,
            "runs": [
                {
                    "name": r.name, "windows": r.windows, "offset_s": r.offset_s, "offset_std_s": r.offset_std_s,
                    "offset_is_told": r.is_told, "offset_from_s": float(r.late_s.min()), "offset_to_s": float(r.late_s.max()),
                    "gyro_bias_radps": r.bias_radps, "rmse_radps": r.rmse_radps,
                    "stuck_s": r.stuck_s,
                }
                for r in self.runs
            ],
        }  # fmt: skip


def _clock_line(run: RunClock) -> str:
    span = f", between {run.late_s.min():+.2f} and {run.late_s.max():+.2f}" if len(run.late_s) > 1 else ""
    told = f"{run.offset_s:+.2f} ± {run.offset_std_s:.2f} s{span}" if run.is_told else "not told (nothing changes)"
    stuck = f"; stuck for {run.stuck_s:.1f} s" if run.stuck_s else ""
    return f"{run.name}: {told}; {run.rmse_radps:.4f} rad/s left{stuck}"


# --- one run, its own unknowns eliminated ------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class _Eliminated:
    """Residuals of one run, its clock at its best for some theta."""

    rung: Rung
    run: Run
    theta: np.ndarray
    noise: float
    clock: ClockLine
    sign: float
    late: np.ndarray
    trusted: np.ndarray  # (n,) 1.0, or 0.0 where the robot is stuck

    @classmethod
    def begun(cls, rung: Rung, run: Run, theta: np.ndarray, noise: float, wanders: bool, sign: float) -> "_Eliminated":
        clock = ClockLine.over(float(run.time_s[-1]), wanders=wanders)
        found = cls(rung, run, theta, noise, clock, sign, np.zeros(len(clock)), np.ones(run.windows))
        found.guess()
        return found

    def _rates(self, thetas: Sequence[np.ndarray]) -> list[np.ndarray]:
        names = [u.name for u in self.rung.unknowns]
        sets = [dict(zip(names, map(float, theta), strict=True)) for theta in thetas]
        return [twist[:, 2] for twist in self.rung.twists(self.run.rims, sets)]

    def _at(self, rate: np.ndarray, late_s: np.ndarray | float) -> np.ndarray:
        """The wheels' rate when the gyro's clock says `time_s`."""
        return np.asarray(np.interp(self.run.time_s + self.run.shift_s - late_s, self.run.rims.time_s, rate))

    def guess(self) -> None:
        """The clock's first line, over a grid of offsets."""
        (rate,) = self._rates([self.theta])
        offsets = tried_offsets()
        apart = np.column_stack([self.run.means(self._at(rate, o)) for o in offsets]) - self.sign * self.run.rate_radps[:, None]
        middles = self.run.means(self.run.time_s)
        self.late = self.clock.guess(middles, _robust_cost(apart / self.noise), offsets)
        self.trusted = 1.0 - self._stuck(rate)

    def _stuck(self, rate: np.ndarray) -> np.ndarray:
        model = self.run.means(self._at(rate, self.clock.hats(self.run.time_s) @ self.late))
        size = np.abs(model)
        behind = (size > TURNING) & (self.sign * self.run.rate_radps * np.sign(model) < STUCK_SHARE * size)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], behind.astype(int), [0]])))
        found = np.zeros(len(model))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            if (last - first) * WINDOW_S >= STUCK_S:
                found[first:last] = 1.0
        return found

    def residual(self, rate: np.ndarray, late: np.ndarray) -> np.ndarray:
        model = self.run.means(self._at(rate, self.clock.hats(self.run.time_s) @ late))
        return np.asarray(model - self.sign * self.run.rate_radps)

    def cost(self, rate: np.ndarray, late: np.ndarray) -> float:
        if np.abs(late).max() > FARTHEST_S:  # a knot that nothing tells
            return float("inf")
        prior = float(late @ self.clock.information() @ late)
        return float(self.trusted @ _robust_cost(self.residual(rate, late) / self.noise)) + 0.5 * prior

    def settle(self) -> float:
        """The clock at its best for theta; the cost there."""
        (rate,) = self._rates([self.theta])
        cost = self.cost(rate, self.late)
        for _ in range(STEPS):
            _, _, gradient, information = self._linear(rate)
            step = np.linalg.solve(information, gradient)
            tried = [(self.cost(rate, self.late - share * step), share) for share in (1.0, 0.5, 0.2, 0.05)]
            best, share = min(tried)
            if best >= cost - 1e-4 * (1.0 + cost):
                break
            cost, self.late = best, self.late - share * step
        return cost

    def _linear(self, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Robust weights, slopes by the clock's knots (white), gradient and information of them for a step."""
        hats = self.clock.hats(self.run.time_s)
        change = self._at(np.gradient(rate, GRID_S), hats @ self.late)
        own = -self.run.means(change[:, None] * hats) / self.noise
        white = self.residual(rate, self.late) / self.noise
        weight = self.trusted / np.sqrt(1.0 + (white / ROBUST_FROM) ** 2)
        prior = self.clock.information()
        gradient = own.T @ (weight * white) + prior @ self.late
        return weight, own, gradient, own.T @ (weight[:, None] * own) + prior

    def score_and_information(self, *, power: float) -> tuple[np.ndarray, np.ndarray]:
        """Of theta, with the clock eliminated. Residuals weigh 1 / sqrt(1 + z^2) in steps (`power` 1) and by the slope of their
        score, its cube, in spreads (`power` 3)."""
        scale = np.array([0.1 * u.scale for u in self.rung.unknowns])
        rates = self._rates([self.theta, *(self.theta + np.diag(scale))])
        weight, own, gradient, _ = self._linear(rates[0])
        white = self.residual(rates[0], self.late)
        shared = np.column_stack([(self.residual(r, self.late) - white) / s for r, s in zip(rates[1:], scale, strict=True)])
        shared, white = shared / self.noise, white / self.noise
        known = (weight**power)[:, None]
        cross = shared.T @ (known * own)
        away = np.linalg.solve(own.T @ (known * own) + self.clock.information(), np.column_stack([cross.T, gradient]))
        score = shared.T @ (weight * white) - cross @ away[:, -1]
        return score, shared.T @ (known * shared) - cross @ away[:, :-1]

    def errors(self) -> np.ndarray:
        (rate,) = self._rates([self.theta])
        return self.residual(rate, self.late)

    def settled(self) -> RunClock:
        self.settle()
        (rate,) = self._rates([self.theta])
        _, _, _, information = self._linear(rate)
        spread = np.sqrt(np.diag(inverse_of(information)))
        offset_std = max(float(spread.min()), self._offset_std(rate))
        run, stuck_s = self.run, float((1.0 - self.trusted).sum() * WINDOW_S)
        errors = self.errors()
        return RunClock(
            run.name, run.windows, self.clock.at_s, self.late, spread, offset_std, run.bias_radps, errors, stuck_s
        )  # fmt: skip

    def _offset_std(self, rate: np.ndarray) -> float:
        """Of the whole line, by how the cost rises to both sides: slopes alone take the encoders' noise for turning."""
        here, *aside = (
            float(self.trusted @ _robust_cost(self.residual(rate, self.late + s) / self.noise)) for s in (0.0, -ASIDE_S, ASIDE_S)
        )
        rise = 0.5 * sum(aside) - here
        return min(FIRST_STD_S, ASIDE_S / np.sqrt(2.0 * rise)) if rise > 0.0 else FIRST_STD_S


def _robust_cost(white: np.ndarray) -> np.ndarray:
    return np.asarray(ROBUST_FROM**2 * (np.sqrt(1.0 + (white / ROBUST_FROM) ** 2) - 1.0))


# --- all runs -----------------------------------------------------------------------------------------------------------


def fit_pooled(rung: Rung, runs: Sequence[Run]) -> PooledFit:
    """The rung's numbers from all runs; clocks wander where that explains much more than an offset."""
    if not runs:
        raise LogError("no runs; expected one or more with wheel speeds and a gyro")
    turning = sum(int((np.abs(run.rate_radps) > TURNING).sum()) for run in runs)
    if turning < 5:
        raise LogError(
            f"{turning} windows turn faster than {TURNING:g} rad/s; expected runs that turn: a gyro tells nothing else"
        )
    sign = _gyro_sign(rung, runs)
    still = _Pool(rung, runs, wanders=False, sign=sign)
    still.solve()
    moving = _Pool(rung, runs, wanders=True, sign=sign)
    moving.noise = still.noise
    moving.solve()
    added = sum(len(p.clock) for p in moving.parts) - len(runs)
    gained = still.cost_with(moving.noise) - moving.cost_with(moving.noise)
    return (moving if added and gained > GAINED * added else still).result()


def _gyro_sign(rung: Rung, runs: Sequence[Run]) -> float:
    """Whether wheels and gyro count alike: by which sign explains more, clocks at their best for each."""
    start = np.array([u.start for u in rung.unknowns])

    def cost(sign: float) -> float:
        parts = [_Eliminated.begun(rung, run, start, FIRST_NOISE, False, sign) for run in runs]
        for part in parts:
            part.trusted = np.ones(part.run.windows)  # with the wrong sign every robot looks stuck
        return sum(part.settle() for part in parts)

    return min((1.0, -1.0), key=cost)


class _Pool:
    """The shared numbers, and every run with its own."""

    def __init__(self, rung: Rung, runs: Sequence[Run], *, wanders: bool, sign: float) -> None:
        self.rung, self.runs, self.wanders, self.sign = rung, runs, wanders, sign
        self.theta = np.array([u.start for u in rung.unknowns])
        self.noise = FIRST_NOISE
        self.expected = np.array([u.expected for u in rung.unknowns])
        self.prior = np.diag([u.prior_std**-2.0 if u.prior_std else 0.0 for u in rung.unknowns])
        self.parts: list[_Eliminated] = []

    def solve(self) -> None:
        for _ in range(ROUNDS):
            args = (self.theta, self.noise, self.wanders, self.sign)
            self.parts = [_Eliminated.begun(self.rung, run, *args) for run in self.runs]
            for _ in range(STEPS):
                step = self._step()
                if np.all(np.abs(step) < 1e-3 * np.array([u.scale for u in self.rung.unknowns])):
                    break
            self._reweigh()

    def _step(self) -> np.ndarray:
        for part in self.parts:
            part.settle()
        scores, informations = self._told(1.0)
        total = informations.sum(axis=0) + self.prior
        step = np.linalg.solve(total, scores.sum(axis=0) + self.prior @ (self.theta - self.expected))
        low, high = np.array([(u.lower, u.upper) for u in self.rung.unknowns]).T
        self.theta = np.clip(self.theta - step, low, high)
        for part in self.parts:
            part.theta = self.theta
        return np.asarray(step)

    def _told(self, power: float) -> tuple[np.ndarray, np.ndarray]:
        pairs = [part.score_and_information(power=power) for part in self.parts]
        return np.array([s for s, _ in pairs]), np.array([i for _, i in pairs])

    def _reweigh(self) -> None:
        turning = np.concatenate(
            [part.errors()[(np.abs(part.run.rate_radps) > TURNING) & (part.trusted > 0)] for part in self.parts]
        )
        self.noise = max(robust_std(turning, about=0.0), LEAST_NOISE)

    def cost_with(self, noise: float) -> float:
        for part in self.parts:
            part.noise = noise
        return sum(part.settle() for part in self.parts)

    def result(self) -> PooledFit:
        clocks = tuple(part.settled() for part in self.parts)
        scores, informations = self._told(3.0)
        covariance, freedom = _left_out_in_turn(scores, informations, self.prior)
        return PooledFit(self.rung, self.theta, covariance, freedom, self.noise, self.sign, self.wanders, clocks)


def _left_out_in_turn(scores: np.ndarray, informations: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, float]:
    """Covariance by the jackknife, and its degrees of freedom: runs that hardly turn are no voices.

    theta without i - theta = (H - H_i)^-1 g_i
    """
    total = informations.sum(axis=0) + prior
    moved = np.array([inverse_of(total - i) @ s for s, i in zip(scores, informations, strict=True)])
    share = np.array([np.trace(inverse_of(total) @ i) for i in informations])
    voices = float(share.sum() ** 2 / (share @ share))
    spread = (moved.T @ moved) * (len(moved) - 1) / len(moved)
    # One voice cannot disagree with itself: the residuals' own scatter is the least.
    return spread + inverse_of(total), max(1.0, voices - 1.0)
