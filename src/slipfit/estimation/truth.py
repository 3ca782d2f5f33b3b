"""How far off an estimate is where truth is known, against what the filter says of itself: errors normalised by its covariance.

    NEES = (x - x_true)^T (P + R)^-1 (x - x_true) / m

of m = 3 numbers of the pose, or of slip, is 1 on average if the covariance P is right, and inside the 95 % interval of
chi^2(m) / m at 95 % of all moments. Moments that follow each other err alike: the band of the mean over a drive is that of as
many independent moments as T / tau, with tau the sum of the errors' autocorrelations.

Symbols    x pose, or slip velocities · R variance of the truth itself where a sensor told it, zero of a simulation
Reference  [BarShalom2001] (consistency); docs/theory/estimation
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import chi2

from slipfit.errors import LogError
from slipfit.estimation.filter import FilterRun
from slipfit.estimation.motion import Motion
from slipfit.estimation.readings import Readings, Sensor
from slipfit.estimation.record import StateConsistency
from slipfit.estimation.scatter import scatter
from slipfit.logs import DriveLog
from slipfit.logs.channels import POSE, POSE_COLUMNS
from slipfit.logs.drive_log import NANOSECONDS
from slipfit.logs.poses import has_pose
from slipfit.logs.provenance import with_truth
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles.slip_filter import POSE as POSE_EVENT
from slipfit.vehicles.slip_filter import PSI, N, Q

#: Moments at which errors are looked at are so far apart (s).
MOMENT_S = 0.5

#: A truth is not interpolated over longer pauses (s).
LONGEST_GAP_S = 0.5

#: Fewer moments than this tell nothing about consistency.
LEAST_MOMENTS = 10

#: Of three numbers.
STATES = 3


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """How the robot really moved, on the clock of the log's stamps (s)."""

    name: str
    time_s: np.ndarray
    pose: np.ndarray  # (n, 3) of the wheels' centre
    velocity: np.ndarray | None = None  # (n, 3) u, v, r; None: slip is not told
    pose_std: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @classmethod
    def of_trajectory(cls, trajectory: Trajectory, name: str = "simulation") -> "Truth":
        """Of a simulated drive: its stamps begin at zero."""
        t = trajectory
        pose = np.column_stack([t.x_m, t.y_m, t.heading_rad])
        return cls(name, t.time_s, pose, np.column_stack([t.vx_mps, t.vy_mps, t.yaw_rate_radps]))

    @classmethod
    def of_log(cls, log: DriveLog) -> "Truth":
        """A pose that the filter is not told, as of mocap, with the noise by which it scatters."""
        log, name = with_truth(log), log.source or log.about or "reference"
        if not has_pose(log):
            why = f" ({log.truth_line()})" if log.truth is not None and log.truth.poses else ""
            raise LogError(f"{name}: no pose to compare with{why}; expected a channel '{POSE}' with {', '.join(POSE_COLUMNS)}")
        pose = np.column_stack([log[POSE].column(column) for column in POSE_COLUMNS])
        told = np.isfinite(pose).all(axis=1)
        time_s, pose = log[POSE].stamps_ns[told] / NANOSECONDS, pose[told]
        pose[:, PSI] = np.unwrap(pose[:, PSI])
        order = np.argsort(time_s, kind="stable")
        std = scatter(Sensor("truth", time_s[order], pose[order], np.zeros(3), POSE_EVENT))
        return cls(name, time_s[order], pose[order], None, std)

    @classmethod
    def load(cls, path: Path | str, topics: dict[str, str] | None = None) -> "Truth":
        """A trajectory (.parquet, .csv) that `slipfit simulate -o` wrote, or a log with a better pose than the filter has."""
        path = Path(path)
        if path.suffix in (".parquet", ".csv"):
            return cls.of_trajectory(Trajectory.load(path), path.name)
        from slipfit.logs import read_log

        return cls.of_log(read_log(path, topics=topics or {}))


@dataclass(frozen=True, eq=False, slots=True)
class _At:
    """The truth at some moments of a run, and the share of its own variance that interpolation leaves."""

    rows: np.ndarray  # of the run
    time_s: np.ndarray
    pose: np.ndarray
    velocity: np.ndarray | None
    left: np.ndarray


def state_consistency(truth: Truth, readings: Readings, motion: Motion, run: FilterRun) -> tuple[StateConsistency, ...]:
    """Of pose and slip, forwards and, where that was asked for, smoothed; of rotation centres the pose alone."""
    at = _at(truth, readings, run)
    if not any(readings.has(name) for name in ("pose", "gnss")):
        at = _from_the_start(at, truth, readings, run)
    ways = [("forwards", run.forward, run.forward_cov)]
    if run.smoothed is not None:
        ways.append(("smoothed", run.smoothed, run.smoothed_cov))
    found = []
    for way, record, covariances in ways:
        assert covariances is not None
        cov = covariances[at.rows]
        if not any(len(sensor.anchors) and sensor.anchors.any() for sensor in readings.sensors):
            apart = record[at.rows, :Q] - at.pose
            apart[:, PSI] = np.angle(np.exp(1j * apart[:, PSI]))
            own = at.left[:, None, None] * np.diag(truth.pose_std**2)
            found.append(_verdict("pose", way, at.time_s, apart, cov[:, :Q, :Q] + own))
        if at.velocity is not None and not motion.is_centres:
            # Slip is what the rims say less what the body does: errors of both are the same.
            into = motion.model.into_twist  # type: ignore[union-attr]
            apart = np.linalg.solve(into, (at.velocity - record[at.rows, 2 * N : 2 * N + 3]).T).T
            found.append(_verdict("slip", way, at.time_s, apart, cov[:, Q : Q + 3, Q : Q + 3]))
    return tuple(found)


def _at(truth: Truth, readings: Readings, run: FilterRun) -> _At:
    """At moments `MOMENT_S` apart that the truth tells."""
    reports = np.flatnonzero(run.events.is_report)
    time_s = run.events.time_s[reports]
    stamped = time_s + readings.start_ns / NANOSECONDS
    every = max(1, round(MOMENT_S / float(np.median(np.diff(time_s))))) if len(time_s) > 1 else 1
    after = np.searchsorted(truth.time_s, stamped, side="right").clip(1, max(len(truth.time_s) - 1, 1))
    begin, end = truth.time_s[after - 1], truth.time_s[np.minimum(after, len(truth.time_s) - 1)]
    told = (stamped >= begin) & (stamped <= end + 1e-9) & (end - begin <= LONGEST_GAP_S) & (np.arange(len(time_s)) % every == 0)
    if told.sum() < LEAST_MOMENTS:
        raise LogError(
            f"{truth.name}: tells {int(told.sum())} moments of {readings.name}, which lasts from {stamped[0]:.3f} s to "
            f"{stamped[-1]:.3f} s by its stamps, the truth from {truth.time_s[0]:.3f} s to {truth.time_s[-1]:.3f} s; expected "
            f"{LEAST_MOMENTS} moments at least that are {MOMENT_S:g} s apart, on the same clock"
        )
    when = stamped[told]
    share = (when - begin[told]) / np.maximum(end - begin, 1e-12)[told]
    pose = np.column_stack([np.interp(when, truth.time_s, column) for column in truth.pose.T])
    moving = truth.velocity
    velocity = None if moving is None else np.column_stack([np.interp(when, truth.time_s, column) for column in moving.T])
    return _At(reports[told], time_s[told], pose, velocity, share**2 + (1.0 - share) ** 2)


def _from_the_start(at: _At, truth: Truth, readings: Readings, run: FilterRun) -> _At:
    """The truth in the frame in which a filter without places lives: its own pose at the first moment that is told."""
    first, there = run.forward[at.rows[0], :Q], at.pose[0]
    turn = first[PSI] - there[PSI]
    moved = (at.pose[:, 0] - there[0] + 1j * (at.pose[:, 1] - there[1])) * np.exp(1j * turn)
    pose = np.column_stack([first[0] + moved.real, first[1] + moved.imag, at.pose[:, PSI] + turn])
    return _At(at.rows, at.time_s, pose, at.velocity, at.left)


def _verdict(state: str, way: str, time_s: np.ndarray, apart: np.ndarray, cov: np.ndarray) -> StateConsistency:
    ridge = 1e-12 * np.trace(cov, axis1=1, axis2=2)[:, None, None] * np.eye(STATES) + 1e-18 * np.eye(STATES)
    nees = np.einsum("ki,ki->k", apart, np.linalg.solve(cov + ridge, apart[:, :, None])[:, :, 0]) / STATES
    low, high = (float(q) / STATES for q in chi2.ppf([0.025, 0.975], STATES))
    independent = _independent(nees)
    band = tuple(float(q) / (STATES * independent) for q in chi2.ppf([0.025, 0.975], STATES * independent))
    inside = float(((nees >= low) & (nees <= high)).mean())
    series = tuple(zip(time_s.tolist(), nees.tolist(), strict=True))
    return StateConsistency(
        state, way, len(nees), independent, float(nees.mean()), (band[0], band[1]), inside, (low, high), series
    )


def _independent(values: np.ndarray) -> float:
    """How many independent values tell as much about the mean: n over the sum of autocorrelations while they are positive."""
    apart = values - values.mean()
    n, variance = len(values), float(apart @ apart)
    if not variance > 0.0:
        return 1.0
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(apart, size)
    told = np.fft.irfft(np.abs(spectrum) ** 2, size)[:n] / variance
    until = int(np.argmax(told <= 0.0)) if (told <= 0.0).any() else n
    return float(np.clip(n / (2.0 * told[:until].sum() - 1.0), 1.0, n))
