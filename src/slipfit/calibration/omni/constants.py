"""Wheel radii, axle angles and centre distance from runs with true poses: the best kinematics without slip.

    p_k - p_0 = e^(i o) sum_j e^(i psi_j) (M_x + i M_y) dtheta_j,    psi_k - psi_0 = M_psi sum_j dtheta_j,    M = G(R, alpha, l)^+

Symbols    G `wheel_map` with radii R, directions of rolling alpha and centre distances scaled by l · psi measured heading ·
           o how far the truth's heading points to the right of straight ahead · k marks along the run, as for `slip_map_fit`
Reference  derived in docs/howto/omni_calibrate.md; spreads `by_run`
Valid for  what rolls on average: slip that does not depend on direction is part of the radii
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as student

from slipfit.calibration.odometry.path_fit import TOLD
from slipfit.calibration.omni.by_run import covariance_by_run, freedom_by_run, left_out_residuals
from slipfit.calibration.omni.friction_fit import signed
from slipfit.calibration.omni.runs import OmniRun, dead_reckoned
from slipfit.calibration.omni.slip_map_fit import MARK_M, PLACE_SHARE, PLACE_STD_M, TURN_RAD_PER_M, TURN_STD_RAD
from slipfit.calibration.spread import inverse_of
from slipfit.errors import LogError
from slipfit.library import OmniRobot
from slipfit.twin import FittedParameter, Status
from slipfit.vehicles.omni_kinematics import wheel_map

#: How far numbers may be from the robot's file before any run is driven: relative radii, angles (rad), relative distance, offset.
RADIUS_STD, ANGLE_STD_RAD, DISTANCE_STD, OFFSET_STD_RAD = 0.3, 0.02, 0.1, 0.05

#: Degrees of freedom of an interval are at least this, as `spread.quantile` has it.
FEWEST_FREE = 3.0


@dataclass(frozen=True, eq=False, slots=True)
class OmniConstants:
    """Kinematic constants with their spreads, and what the runs could not tell."""

    robot: str
    body_map: np.ndarray  # (3, n) body motion per wheel angle, truth's heading offset included
    parameters: dict[str, FittedParameter]
    scatter: float
    runs: int

    def motion(self, run: OmniRun) -> np.ndarray:
        """Body motion of each step, (T - 1, 3)."""
        return np.asarray(np.diff(run.wheels_rad, axis=0) @ self.body_map.T)

    def path(self, run: OmniRun, *, measured_heading: bool = False) -> np.ndarray:
        """Poses (T, 3) from the run's true start."""
        return dead_reckoned(run.poses[0], self.motion(run), heading_rad=run.poses[:, 2] if measured_heading else None)

    def summary(self) -> str:
        """A few lines of text."""
        rows = [f"{self.robot}: kinematic constants from {self.runs} runs, residuals {self.scatter:.2g} of expected"]
        return "\n".join([*rows, *(f"  {name:<24}{p.text()}  ({p.status.sentence})" for name, p in self.parameters.items())])

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        return {
            "robot": self.robot,
            "body_map": self.body_map.tolist(),
            "scatter": self.scatter,
            "runs": self.runs,
            "parameters": {name: p.model_dump() for name, p in self.parameters.items()},
        }


def fit_constants(runs: Sequence[OmniRun], robot: OmniRobot) -> OmniConstants:
    """Radii, axle angles, centre distance and the truth's heading offset from two runs or more."""
    if len(runs) < 2:
        raise LogError(f"kinematic constants: {len(runs)} runs; expected two or more")
    n = len(robot.at_m)
    prior = np.concatenate([np.full(n, RADIUS_STD), np.full(n, ANGLE_STD_RAD), [DISTANCE_STD, OFFSET_STD_RAD]])
    of_run = [_marks(run) for run in runs]
    marks = [mark for each in of_run for mark in each]
    once = np.repeat(np.arange(len(runs)), [len(each) for each in of_run])
    run, series = np.tile(once, 3), np.concatenate([once + k * len(runs) for k in range(3)])  # along x, along y, turn
    rolled, turned, place, heading, place_std, turn_std = (np.array(column) for column in zip(*marks, strict=True))

    def residuals(z: np.ndarray) -> np.ndarray:
        moved = _body_map(robot, z)
        miss = (rolled @ (moved[0] + 1j * moved[1]) - place) / place_std
        return np.concatenate([miss.real, miss.imag, (turned @ moved[2] - heading) / turn_std, z / prior])

    found = least_squares(residuals, np.zeros(2 * n + 2), x_scale=prior)
    data, rows, precision = found.fun[: -len(prior)], found.jac[: -len(prior)], np.diag(prior**-2.0)
    inverse = inverse_of(rows.T @ rows + precision)
    left_out = left_out_residuals(rows, inverse, data, run)
    std = np.sqrt(np.diag(covariance_by_run(rows, inverse, left_out, run, precision)))
    reach = student.ppf(0.95, np.maximum(FEWEST_FREE, np.minimum(freedom_by_run(rows, inverse, series), len(runs) - 1.0)))
    scatter = float(np.sqrt(data @ data / (3 * len(runs))))  # marks of a run count as one
    parameters = _parameters(robot, found.x, std, reach, prior, f"{len(runs)} runs")
    return OmniConstants(robot.name, _body_map(robot, found.x), parameters, scatter, len(runs))


def _body_map(robot: OmniRobot, z: np.ndarray) -> np.ndarray:
    n = len(robot.at_m)
    layout = wheel_map(
        robot.at_m * (1.0 + z[2 * n]), robot.rolling_rad + z[n : 2 * n], robot.roller_rad, robot.radii_m * (1.0 + z[:n])
    )
    moved = np.linalg.pinv(layout)
    c, s = np.cos(z[2 * n + 1]), np.sin(z[2 * n + 1])
    return np.vstack([c * moved[0] - s * moved[1], s * moved[0] + c * moved[1], moved[2]])


def _marks(run: OmniRun) -> list[tuple[np.ndarray, np.ndarray, complex, float, float, float]]:
    """At the end and every `MARK_M`: sums of wheel angles in the world's and the body's frame, truth, expected errors."""
    steps, heading, way = np.diff(run.wheels_rad, axis=0), run.poses[:, 2], run.way_m
    turning = np.cumsum(np.exp(0.5j * (heading[1:] + heading[:-1]))[:, None] * steps, axis=0)
    count = max(1, round(float(way[-1]) / MARK_M))
    found = []
    for k in np.unique([*np.searchsorted(way, way[-1] * np.arange(1, count) / count).clip(1, len(steps)), len(steps)]):
        place = complex((run.poses[k, :2] - run.poses[0, :2]) @ [1.0, 1j])
        stds = (PLACE_STD_M + PLACE_SHARE * way[k], TURN_STD_RAD + TURN_RAD_PER_M * way[k])
        shared = float(np.sqrt(count))
        found.append((turning[k - 1], run.wheels_rad[k], place, heading[k] - heading[0], stds[0] * shared, stds[1] * shared))
    return found


def _parameters(
    robot: OmniRobot, z: np.ndarray, std: np.ndarray, reach: np.ndarray, prior: np.ndarray, source: str
) -> dict[str, FittedParameter]:
    n, distance = len(robot.at_m), float(np.hypot(*robot.at_m.T).mean())
    named = {
        f"radius_{k + 1}_m": (robot.radii_m[k], robot.radii_m[k], k, "slip that all directions share is part of it")
        for k in range(n)
    }
    named |= {f"rolling_{k + 1}_rad": (robot.rolling_rad[k], 1.0, n + k, "") for k in range(n)}
    named |= {
        "centre_distance_m": (distance, distance, 2 * n, "mean of the wheels'"),
        "heading_offset_rad": (0.0, 1.0, 2 * n + 1, ""),
    }
    found = {}
    for name, (nominal, scale, k, note) in named.items():
        if std[k] < TOLD * prior[k]:
            found[name] = signed(float(nominal + scale * z[k]), float(scale * std[k]), source, note, reach=float(reach[k]))
        else:
            found[name] = FittedParameter(status=Status.NOT_EXCITED, source=source, note="the runs do not tell it")
    return found
