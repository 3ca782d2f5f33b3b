"""Where a fit may start: a grid of slip constants and limits, then a few short fits over coarse replays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from slipfit.calibration.one_drive import Fitter, Solution
from slipfit.calibration.unknowns import CONSTANTS, Unknown, constant, started

#: Coulomb's limit where none acts, and the limits that a first look tries.
NO_LIMIT, TRIED_LIMITS = 1e3, (0.9, 0.6, 0.4, 0.28, 0.18)

#: Slip constants along the wheel, and their ratios, that a first look tries.
TRIED_C_LONG, TRIED_RATIOS = np.geomspace(4e-4, 4e-2, 6), np.geomspace(0.7, 150.0, 6)

#: How many places a second look starts from, without a limit and under one.
FREE_STARTS, LIMITED_STARTS = 4, 4

#: Where the center of mass is tried, to the front and to the back, in its standard deviations.
TRIED_CENTER = 2.0

#: Evaluations of a short fit: enough to tell a good valley from a bad one.
SHORT_FIT = 15


@dataclass(frozen=True, slots=True)
class Start:
    """A place of the grid and what it leaves."""

    cost: float
    at: dict[str, float]

    @property
    def is_limited(self) -> bool:
        return self.at["mu"] != NO_LIMIT


def starts(fitter: Fitter, unknowns: Sequence[Unknown], mus: Sequence[float] = (NO_LIMIT,)) -> list[Start]:
    """All places of a coarse grid, cheapest first: slip constants over two decades, in one batch."""
    names = [u.name for u in unknowns]
    grid = [(c, c * ratio, mu) for mu in mus for c in TRIED_C_LONG for ratio in TRIED_RATIOS]
    points = np.repeat(np.array([[u.start for u in unknowns]]), len(grid), axis=0)
    for j, name in enumerate(names):
        if name in CONSTANTS:
            points[:, j] = [place[CONSTANTS.index(name)] for place in grid]
    look = fitter.coarse()
    vary = {u.name: points[:, j] for j, u in enumerate(unknowns) if u.acts_on == "motion" and u.name != "start_v_mps"}
    vary["mu"] = np.array([place[2] for place in grid])
    bodies = look.problem.replay.bodies(vary, len(grid))
    costs = [_rough_cost(look, names, point, body) for point, body in zip(points, bodies, strict=True)]
    found = [Start(cost, dict(zip(CONSTANTS, place, strict=True))) for cost, place in zip(costs, grid, strict=True)]
    return sorted(found, key=lambda start: start.cost)


def short_fits(fitter: Fitter, unknowns: Sequence[Unknown], tried: Sequence[Start]) -> Start:
    """Where the best of a few short fits over coarse replays ends."""
    look = fitter.coarse()
    ends: list[Solution] = []
    for start in tried:
        sought = [*unknowns, constant("mu", start.at["mu"])] if start.is_limited else list(unknowns)
        begun = look.without_offsets(started(sought, start.at))
        ends.append(look.solve(begun, tolerance=1e-3, evaluations=SHORT_FIT))
    best = min(ends, key=lambda end: end.cost)
    return Start(best.cost, {"mu": NO_LIMIT} | dict(zip(best.names, (float(v) for v in best.values), strict=True)))


def best_free(fitter: Fitter, unknowns: Sequence[Unknown], ranked: Sequence[Start]) -> Start:
    """The best start without a limit."""
    return short_fits(fitter, unknowns, apart(ranked, FREE_STARTS))


def best_limited(fitter: Fitter, unknowns: Sequence[Unknown]) -> Start:
    """The best start with a limit: first the limit, from the best place of each; then the slip constants under it."""
    ranked = starts(fitter, unknowns, TRIED_LIMITS)
    per_limit = [next(start for start in ranked if start.at["mu"] == mu) for mu in TRIED_LIMITS]
    first = short_fits(fitter, unknowns, per_limit)
    moved = [replace(u, start=first.at.get(u.name, u.start)) for u in unknowns]
    second = short_fits(fitter, moved, apart(starts(fitter, moved, (first.at["mu"],)), LIMITED_STARTS))
    return min(first, second, key=lambda start: start.cost)


def moved_load(fitter: Fitter, unknowns: Sequence[Unknown], at: Mapping[str, float]) -> Start:
    """The best start with a limit and the center of mass to the front or to the back, all else as in a solution."""
    center = next(u for u in unknowns if u.name == "centre_of_mass_x_m")
    assert center.prior_std is not None
    tried: list[Start] = []
    for side in (-1.0, 1.0):
        there = {**at, center.name: center.expected + side * TRIED_CENTER * center.prior_std}
        ranked = starts(fitter, started(unknowns, there), TRIED_LIMITS)
        tried += [Start(start.cost, there | start.at) for start in apart(ranked, LIMITED_STARTS)]
    return short_fits(fitter, unknowns, tried)


def apart(ranked: Sequence[Start], count: int) -> list[Start]:
    """The cheapest places that are not neighbours: of each limit one, then others that differ by more than a step."""
    chosen: list[Start] = []
    for start in ranked:
        if all(_differs(start, other) for other in chosen):
            chosen.append(start)
        if len(chosen) == count:
            break
    return chosen


def _differs(a: Start, b: Start) -> bool:
    c_long = abs(np.log(a.at["c_long_per_n"] / b.at["c_long_per_n"]))
    c_lat = abs(np.log(a.at["c_lat_per_n"] / b.at["c_lat_per_n"]))
    return bool(a.at["mu"] != b.at["mu"] or max(c_long, c_lat) > 1.5)


def _rough_cost(fitter: Fitter, names: Sequence[str], point: np.ndarray, body: np.ndarray) -> float:
    """Sum of absolute white residuals, offsets removed: biases are not found yet."""
    residuals = [r - np.median(r) if k < 3 else r for k, r in enumerate(fitter.problem.residuals(names, point, body))]
    white = fitter.white(residuals)
    return float(np.minimum(np.abs(white), 30.0).sum()) if np.isfinite(white).all() else np.inf
