"""Draws of the constants, as sure or unsure as the calibration left them."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from slipfit.contact.law import LawInfo
from slipfit.errors import ParameterError
from slipfit.library import Robot
from slipfit.twin.fitted_ground import FittedGround

#: Rounds of drawing anew what fell outside the law's bounds; a normal with its centre on a bound needs some thirty for a
#: million draws. What is left after them is put on the bound.
MOST_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class NormalTogether:
    """Constants that were found together: mean + root z with independent standard normals z, kept within bounds."""

    names: tuple[str, ...]
    mean: np.ndarray
    root: np.ndarray  # root root^T is the covariance
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class EvenBetween:
    """A constant of which only bounds are known."""

    name: str
    low: float
    high: float


def spreads(ground: FittedGround, law: LawInfo, robot: Robot) -> list[NormalTogether | EvenBetween]:
    """How unsure the calibration is: constants of the covariance together (normal), others with a `std` by themselves (normal),
    those of which only an upper bound is known evenly up to it from their lowest value. Constants without spread are left out."""
    bounds = {p.name: (p.lower, p.upper) for p in law.parameters}
    bounds |= {p.name: (p.lower_bound, p.upper_bound) for p in robot.parameters().values()}
    means = {name: p.value for name, p in ground.parameters.items() if p.value is not None}
    means |= {name: p.value for name, p in robot.parameters().items() if name not in means}
    found: list[NormalTogether | EvenBetween] = []
    together: tuple[str, ...] = ()
    if ground.covariance is not None:
        together = tuple(ground.covariance.names)
        found.append(_together(together, [means[n] for n in together], ground.covariance.array, [bounds[n] for n in together]))
    for name, p in ground.parameters.items():
        if name in together:
            continue
        if p.value is not None and p.std:
            found.append(_together((name,), [p.value], np.array([[p.std**2]]), [bounds[name]]))
        elif p.value is None and p.at_most is not None:
            found.append(EvenBetween(name, bounds[name][0] if p.at_least is None else p.at_least, p.at_most))
    return found


def without(part: NormalTogether | EvenBetween, names: Collection[str]) -> NormalTogether | EvenBetween | None:
    """The same without some of the constants (of normals that is the distribution of the others); None where none is left."""
    if isinstance(part, EvenBetween):
        return None if part.name in names else part
    kept = [k for k, name in enumerate(part.names) if name not in names]
    if not kept:
        return None
    own = tuple(part.names[k] for k in kept)
    covariance = part.root[kept] @ part.root[kept].T
    bounds = list(zip(part.low[kept].tolist(), part.high[kept].tolist(), strict=True))
    return part if len(kept) == len(part.names) else _together(own, part.mean[kept].tolist(), covariance, bounds)


def _together(
    names: tuple[str, ...], mean: list[float], covariance: np.ndarray, bounds: list[tuple[float, float]]
) -> NormalTogether:
    low, high = np.array(bounds, dtype=float).T
    spread = np.sqrt(covariance.diagonal())
    scale = np.where(spread > 0.0, spread, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = scale[:, None] * vectors * np.sqrt(np.clip(values, 0.0, None))
    return NormalTogether(names, np.array(mean), root, low, high)


def draw(ground: FittedGround, law: LawInfo, robot: Robot, n: int, seed: int) -> dict[str, np.ndarray]:
    """n draws of every constant that has a spread, by its full name. All stay within the law's bounds."""
    if n < 1:
        raise ParameterError(f"{n} draws were asked for; expected 1 or more")
    source = np.random.default_rng(seed)
    drawn: dict[str, np.ndarray] = {}
    for part in spreads(ground, law, robot):
        if isinstance(part, EvenBetween):
            drawn[part.name] = source.uniform(part.low, part.high, n)
        else:
            drawn |= dict(zip(part.names, _normal(part, n, source).T, strict=True))
    return {name: column for name, column in drawn.items() if np.ptp(column) > 0.0 or n == 1}


def _normal(part: NormalTogether, n: int, source: np.random.Generator) -> np.ndarray:
    """Draws within the bounds, shape (n, names)."""
    out = part.mean + source.standard_normal((n, len(part.mean))) @ part.root.T
    for _ in range(MOST_ROUNDS):
        outside = ((out < part.low) | (out > part.high)).any(axis=1)
        if not outside.any():
            return np.asarray(out)
        out[outside] = part.mean + source.standard_normal((int(outside.sum()), len(part.mean))) @ part.root.T
    return np.asarray(np.clip(out, part.low, part.high))
