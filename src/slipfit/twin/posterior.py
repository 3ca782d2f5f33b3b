"""Draws of the constants, as sure or unsure as the calibration left them."""

import numpy as np

from slipfit.contact.law import LawInfo
from slipfit.errors import ParameterError
from slipfit.library import Robot
from slipfit.twin.fitted_ground import FittedGround

#: Rounds of drawing anew what fell outside the law's bounds; a normal with its centre on a bound needs some thirty for a
#: million draws. What is left after them is put on the bound.
MOST_ROUNDS = 100

Bounds = tuple[float, float]


def draw(ground: FittedGround, law: LawInfo, robot: Robot, n: int, seed: int) -> dict[str, np.ndarray]:
    """n draws of every constant that has a spread, by its full name.

    Constants of the covariance are drawn together (normal); others with a `std` by themselves (normal); those of which only
    an upper bound is known evenly between their lowest value and it. All stay within the law's bounds. Constants without
    spread are left out, they do not vary.
    """
    if n < 1:
        raise ParameterError(f"{n} draws were asked for; expected 1 or more")
    source = np.random.default_rng(seed)
    bounds = {p.name: (p.lower, p.upper) for p in law.parameters}
    bounds |= {p.name: (p.lower_bound, p.upper_bound) for p in robot.parameters().values()}
    means = {name: p.value for name, p in ground.parameters.items() if p.value is not None}
    means |= {name: p.value for name, p in robot.parameters().items() if name not in means}
    drawn: dict[str, np.ndarray] = {}
    if ground.covariance is not None:
        names = ground.covariance.names
        together = _normal([means[name] for name in names], ground.covariance.array, [bounds[name] for name in names], n, source)
        drawn |= dict(zip(names, together.T, strict=True))
    for name, p in ground.parameters.items():
        if name in drawn:
            continue
        if p.value is not None and p.std:
            drawn[name] = _normal([p.value], np.array([[p.std**2]]), [bounds[name]], n, source)[:, 0]
        elif p.value is None and p.at_most is not None:
            low = bounds[name][0] if p.at_least is None else p.at_least
            drawn[name] = source.uniform(low, p.at_most, n)
    return {name: column for name, column in drawn.items() if np.ptp(column) > 0.0 or n == 1}


def _normal(mean: list[float], covariance: np.ndarray, bounds: list[Bounds], n: int, source: np.random.Generator) -> np.ndarray:
    """Draws within the bounds, shape (n, len(mean))."""
    low, high = np.array(bounds, dtype=float).T
    spread = np.sqrt(covariance.diagonal())
    scale = np.where(spread > 0.0, spread, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = scale[:, None] * vectors * np.sqrt(np.clip(values, 0.0, None))
    out = np.array(mean) + source.standard_normal((n, len(mean))) @ root.T
    for _ in range(MOST_ROUNDS):
        outside = ((out < low) | (out > high)).any(axis=1)
        if not outside.any():
            return np.asarray(out)
        out[outside] = np.array(mean) + source.standard_normal((int(outside.sum()), len(mean))) @ root.T
    return np.asarray(np.clip(out, low, high))
