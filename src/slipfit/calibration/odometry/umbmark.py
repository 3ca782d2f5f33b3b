"""UMBmark: systematic odometry errors from squares driven both ways.

Each run ends where it began by its own odometry; e is where it really was less where it believed to be, x along the first leg.
With c the centres of gravity of e over clockwise and counter-clockwise runs, L the side of the square and b the track:

    alpha = (x_cw + x_ccw) / (-4 L)         also (y_cw - y_ccw) / (-4 L)       turn error at each corner
    beta  = (x_cw - x_ccw) / (-4 L)         also (y_cw + y_ccw) / (-4 L)       turn along each leg
    E_b = (pi/2) / (pi/2 - alpha),   R = (L/2) / sin(beta/2),   E_d = D_right / D_left = (R + b/2) / (R - b/2)
    D_left = 2 / (E_d + 1) D,   D_right = 2 / (1/E_d + 1) D,   b_actual = E_b b,   E_max,syst = max(|c_cw|, |c_ccw|)

Symbols    D mean wheel diameter, kept · alpha, beta the means of both forms, each with half the noise
Reference  [BorensteinFeng1996]; signs and both forms derived in docs/theory/odometry, eq. (UMBmark)
Valid for  squares with turns on the spot, errors small against the square (first order in alpha and beta)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slipfit.calibration.odometry.path_constants import powertrain_of_paths
from slipfit.calibration.odometry.readings import ReadingErrors
from slipfit.calibration.odometry.spreads import Estimate
from slipfit.calibration.odometry.travel import OdometryModel, Run
from slipfit.errors import LogError
from slipfit.library import SkidSteerRobot
from slipfit.twin import FittedParameter, FittedPowertrain

#: A run counts as a square's if it turned by a whole turn, give or take this (rad).
TURN_TOLERANCE_RAD = 0.6

#: A side that was told may differ from a quarter of the way by this share: corners are rounded, radii nominal.
SIDE_TOLERANCE = 0.2


@dataclass(frozen=True, slots=True)
class Umbmark:
    """Errors of both directions and what they mean."""

    centre_cw_m: tuple[float, float]
    centre_ccw_m: tuple[float, float]
    runs_cw: int
    runs_ccw: int
    side_m: float
    alpha_rad: Estimate
    beta_rad: Estimate
    e_d: Estimate
    e_b: Estimate
    radius_left_m: FittedParameter
    radius_right_m: FittedParameter
    track_m: FittedParameter

    @property
    def e_max_syst_m(self) -> float:
        """The larger distance of a centre of gravity from the start."""
        return max(math.hypot(*self.centre_cw_m), math.hypot(*self.centre_ccw_m))

    def parameters(self) -> dict[str, FittedParameter]:
        """Corrected radii and track."""
        return {"radius_left_m": self.radius_left_m, "radius_right_m": self.radius_right_m, "track_m": self.track_m}

    def powertrain(self, counts_per_turn: tuple[float, float] | None = None) -> FittedPowertrain:
        """Radii (as metres per count, where counts per turn of left and right are known) and effective track for a twin."""
        track = self.track_m.model_copy(update={"note": "on the spot, UMBmark"})
        return powertrain_of_paths(self.radius_left_m, self.radius_right_m, track, counts_per_turn)

    def model(self, nominal_radius_m: float) -> OdometryModel:
        """Dead reckoning with the corrected radii and track."""
        left, right, track = (p.value or math.nan for p in (self.radius_left_m, self.radius_right_m, self.track_m))
        return OdometryModel(left / nominal_radius_m, right / nominal_radius_m, track, track)

    def summary(self) -> str:
        """A screen of text."""
        (x, y), (u, v) = self.centre_cw_m, self.centre_ccw_m
        rows = [
            f"UMBmark, squares of {self.side_m:.3g} m: {self.runs_cw} clockwise, {self.runs_ccw} counter-clockwise",
            f"  centre, clockwise     {1e3 * x:.1f}, {1e3 * y:.1f} mm; counter-clockwise {1e3 * u:.1f}, {1e3 * v:.1f} mm",
            f"  E_max,syst            {1e3 * self.e_max_syst_m:.1f} mm",
            f"  alpha, beta           {self._corner_text(self.alpha_rad)}, {self._corner_text(self.beta_rad)}",
            f"  E_d, right over left  {self.e_d.value:.6f} ± {self.e_d.spread_text}",
            f"  E_b, track            {self.e_b.value:.6f} ± {self.e_b.spread_text}",
            *(f"  {name:<22}{p.text()}" for name, p in self.parameters().items()),
        ]
        return "\n".join([*rows, *(f"  {finding}" for finding in self.findings)])

    @staticmethod
    def _corner_text(angle: Estimate) -> str:
        spread = "unknown" if math.isnan(angle.std) else f"{math.degrees(angle.std):.3f}°"
        return f"{math.degrees(angle.value):.3f}° ± {spread}"

    @property
    def findings(self) -> tuple[str, ...]:
        """What the squares do not tell."""
        if not math.isnan(self.alpha_rad.std):
            return ()
        return ("one square a way does not tell its scatter: spreads are unknown, there are no intervals; drive five a way",)

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        numbers = {name: {"value": e.value, "std": None if math.isnan(e.std) else e.std} for name, e in self._estimates().items()}
        return {
            "centre_cw_m": list(self.centre_cw_m),
            "centre_ccw_m": list(self.centre_ccw_m),
            "runs": {"cw": self.runs_cw, "ccw": self.runs_ccw},
            "side_m": self.side_m,
            "e_max_syst_m": self.e_max_syst_m,
            **numbers,
            "parameters": {name: p.model_dump() for name, p in self.parameters().items()},
            "findings": list(self.findings),
        }

    def _estimates(self) -> dict[str, Estimate]:
        return {"alpha_rad": self.alpha_rad, "beta_rad": self.beta_rad, "e_d": self.e_d, "e_b": self.e_b}


def umbmark(
    errors_cw_m: Sequence[tuple[float, float]],
    errors_ccw_m: Sequence[tuple[float, float]],
    *,
    side_m: float,
    track_m: float,
    radius_m: float,
    radius_std_m: float = 0.0,
    source: str = "typed readings",
) -> Umbmark:
    """The benchmark from return errors (true less believed position, x along the first leg) of squares driven both ways.

    The spread of the centres comes from the scatter of the runs of one direction; of one a way it is not known.
    `radius_m` is the mean of both sides, which squares do not tell: its spread is part of the radii's and, as distances are
    rolled with it, of the track's.
    """
    if not errors_cw_m or not errors_ccw_m:
        raise LogError(
            f"UMBmark: {len(errors_cw_m)} clockwise and {len(errors_ccw_m)} counter-clockwise squares; expected both, five each: "
            f"one direction alone cannot tell a wrong track from unequal wheels"
        )
    if not (side_m > 0.0 and track_m > 0.0 and radius_m > 0.0):
        raise LogError(f"UMBmark: side {side_m:g} m, track {track_m:g} m, radius {radius_m:g} m; expected all above zero")
    cw, ccw = np.asarray(errors_cw_m, dtype=float), np.asarray(errors_ccw_m, dtype=float)
    (x, y), (u, v) = cw.mean(axis=0), ccw.mean(axis=0)
    # Both forms of alpha are means of x and y; so are those of beta.
    alpha = (x + u + y - v) / (-8.0 * side_m)
    beta = (x - u + y + v) / (-8.0 * side_m)
    std, freedom = _spread(cw, ccw, side_m)
    bend = 0.5 * track_m * 2.0 * math.sin(0.5 * beta) / side_m  # b / (2 R)
    e_d = (1.0 + bend) / (1.0 - bend)
    e_d_std = 2.0 / (1.0 - bend) ** 2 * 0.5 * track_m / side_m * std
    e_b = 0.5 * math.pi / (0.5 * math.pi - alpha)
    e_b_std = e_b**2 / (0.5 * math.pi) * std
    diameter = Estimate(e_d, e_d_std, freedom)
    ratio_std = 2.0 / (e_d + 1.0) ** 2 * e_d_std
    mean, note = (radius_m, radius_std_m / radius_m), "UMBmark, mean radius kept"
    return Umbmark(
        centre_cw_m=(float(x), float(y)),
        centre_ccw_m=(float(u), float(v)),
        runs_cw=len(cw),
        runs_ccw=len(ccw),
        side_m=side_m,
        alpha_rad=Estimate(float(alpha), std, freedom),
        beta_rad=Estimate(float(beta), std, freedom),
        e_d=diameter,
        e_b=Estimate(e_b, e_b_std, freedom),
        radius_left_m=Estimate(2.0 / (e_d + 1.0), ratio_std, freedom).times(*mean).fitted(source, note),
        radius_right_m=Estimate(2.0 / (1.0 / e_d + 1.0), ratio_std, freedom).times(*mean).fitted(source, note),
        track_m=Estimate(e_b, e_b_std, freedom).times(track_m, mean[1]).fitted(source, "UMBmark"),
    )


def _spread(cw: np.ndarray, ccw: np.ndarray, side_m: float) -> tuple[float, float]:
    """Standard deviation of alpha and of beta, and its degrees of freedom; of one run a way NaN, not known."""
    freedom = 2 * (len(cw) + len(ccw) - 2)
    if freedom < 2:
        return math.nan, math.inf
    squares = float(((cw - cw.mean(axis=0)) ** 2).sum() + ((ccw - ccw.mean(axis=0)) ** 2).sum())
    return math.sqrt(squares / freedom * 2.0 * (1.0 / len(cw) + 1.0 / len(ccw))) / (8.0 * side_m), float(freedom)


def umbmark_of_runs(
    runs: Sequence[Run],
    *,
    track_m: float,
    radius_m: float,
    radius_std_m: float = 0.0,
    side_m: float | None = None,
    source: str = "",
) -> Umbmark:
    """The benchmark from recorded squares with a true pose at start and end; clockwise is to the right."""
    ideal = OdometryModel.ideal(track_m)
    errors: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for run in runs:
        if abs(abs(run.turned_rad) - 2.0 * math.pi) > TURN_TOLERANCE_RAD:
            raise LogError(f"{run.name}: turned by {run.turned_rad:.2f} rad in all; expected a square, 6.28 rad either way")
        miss = run.poses[-1, :2] - ideal.path(run)[-1, :2]
        c, s = math.cos(run.poses[0, 2]), math.sin(run.poses[0, 2])
        errors[run.turned_rad < 0.0].append((float(c * miss[0] + s * miss[1]), float(c * miss[1] - s * miss[0])))
    named = source or ", ".join(run.name for run in runs)
    return umbmark(
        errors[True],
        errors[False],
        side_m=_side(runs, side_m),
        track_m=track_m,
        radius_m=radius_m,
        radius_std_m=radius_std_m,
        source=named,
    )


def mean_radius(robot: SkidSteerRobot, known: FittedPowertrain | None = None) -> Estimate:
    """Mean radius of both sides, which squares do not change: by metres per count and counts per turn where they were found, else
    the robot's. Tape and diameter are shared by the sides, so that their relative spreads do not average out."""
    radii = (known.rolling_radius_m("left"), known.rolling_radius_m("right")) if known else (None, None)
    if known is None or radii[0] is None or radii[1] is None:
        radius = robot.wheels.radius_m
        return Estimate(radius.value, radius.std or 0.5 * ReadingErrors().diameter_m)
    per_count = (known.left.metres_per_count, known.right.metres_per_count)
    shares = [(p.std or 0.0) / p.value for p in per_count if p is not None and p.value]
    mean = 0.5 * (radii[0] + radii[1])
    return Estimate(mean, float(np.mean(shares)) * mean)


def _side(runs: Sequence[Run], told_m: float | None) -> float:
    """Side of the squares: as told, where it agrees with every way driven, else a quarter of the mean way."""
    quarters = [run.way_m / 4.0 for run in runs]
    if told_m is None:
        return float(np.mean(quarters)) if runs else 1.0
    if not (math.isfinite(told_m) and told_m > 0.0):
        raise LogError(f"UMBmark: squares with a side of {told_m:g} m; expected above zero")
    for run, quarter in zip(runs, quarters, strict=True):
        if abs(told_m - quarter) > SIDE_TOLERANCE * quarter:
            raise LogError(
                f"{run.name}: the way driven is {4.0 * quarter:.3g} m, squares of {quarter:.3g} m, but the side is told as "
                f"{told_m:g} m; expected both to agree within {100.0 * SIDE_TOLERANCE:g} %: measure the side, or leave it out"
            )
    return told_m
