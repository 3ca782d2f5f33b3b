"""Constants of a friction curve from measured forces, by least squares on both axes together.

    min over p  sum ((F_x - N mu(S; p) s_x / S - o_x N)^2 + (F_y - N k_y mu(S; p) s_y / S - o_y N)^2) / N_mean^2

What is sought are the peak and, where a law has one, the shape of its curve against the peak (initial slope times critical slip
over mu, sliding friction over mu, ...), which go together less than the constants themselves do; numbers that go over decades
by their logarithm. A shape that the law does not allow is drawn towards that of the example until it is, and the way there is a
residual of its own: the search stays smooth at such an edge.

Symbols    p constants of the law · o offsets, force per load at zero slip (rolling resistance, ply steer), if asked for
Reference  derived in docs/howto/tyre_fit.md
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from threadpoolctl import threadpool_limits

from slipfit.calibration.tyre.data import AXES, TyreData
from slipfit.contact import LAWS, LawInfo, LawParameter, curve
from slipfit.errors import FitError

#: Ends of ranges that are open in the law: no rubber or soil is beyond.
SMALLEST, LARGEST = 1e-4, 100.0

#: A range of more than this factor is searched by logarithm.
DECADES = 20.0

PEAK, CRITICAL = "mu", "critical_slip"

#: How constants go with mu and with slip where a curve is stretched (powers), and the range of what is left, its shape.
_SHAPES = {
    "initial_slope": (1.0, -1.0, 1.0, 300.0),
    "stiffness_b": (0.0, -1.0, 0.02, 300.0),
    "steepness_c2": (0.0, -1.0, 0.1, 300.0),
    "sliding_mu": (1.0, 0.0, 0.0, 1.0),
    "sliding_slip": (0.0, 1.0, 1.02, 100.0),
}

#: Slips of the example's features, times these: where searches start.
STRETCHES = (0.2, 0.6, 1.5, 4.0)

#: Halvings of the way to an edge of what a law allows: finer than the steps of numerical derivatives.
EDGE_HALVINGS = 30

#: Calls of a search that starts near its end, as those of a profile do.
CALLS_NEARBY = 15

LATERAL, OFFSETS = "lateral_ratio", ("offset_along", "offset_across")


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One constant as the search sees it: itself or its shape, plain or by logarithm."""

    name: str
    lowest: float  # of the constant, as the law has it
    highest: float
    lower: float  # of what is sought
    upper: float
    powers: tuple[float, float]  # of mu and of the critical slip, that the constant is its shape times

    @classmethod
    def of(cls, parameter: LawParameter, *, has_peak: bool) -> "Coordinate":
        lowest = SMALLEST if math.isinf(parameter.upper) else parameter.lower
        highest = min(parameter.upper, LARGEST) if math.isinf(parameter.upper) else parameter.upper
        if has_peak and parameter.name in _SHAPES:
            *powers, lower, upper = _SHAPES[parameter.name]
            return cls(parameter.name, lowest, highest, lower, upper, (powers[0], powers[1]))
        return cls(parameter.name, lowest, highest, lowest, highest, (0.0, 0.0))

    @property
    def by_log(self) -> bool:
        return self.lower > 0.0 and self.upper > DECADES * self.lower

    @property
    def is_shape(self) -> bool:
        return self.powers != (0.0, 0.0)

    @property
    def range(self) -> tuple[float, float]:
        """Of the search."""
        return (math.log(self.lower), math.log(self.upper)) if self.by_log else (self.lower, self.upper)

    def inner(self, values: Mapping[str, float]) -> float:
        """Where the search finds these constants."""
        value = values.get(self.name, 0.0) / self._peak(values)
        held = min(max(value, self.lower), self.upper)
        return math.log(held) if self.by_log else held

    def outer(self, inner: float, peak: Mapping[str, float]) -> float:
        """The constant."""
        value = (math.exp(inner) if self.by_log else inner) * self._peak(peak)
        return min(max(value, self.lowest), self.highest)

    def _peak(self, values: Mapping[str, float]) -> float:
        return float(values[PEAK] ** self.powers[0] * values[CRITICAL] ** self.powers[1]) if self.is_shape else 1.0


@dataclass(frozen=True, eq=False, slots=True)
class LawFit:
    """A law with the constants that fit best."""

    law: str
    coordinates: tuple[Coordinate, ...]
    inner: np.ndarray
    values: dict[str, float]  # all constants of the law, those that were not sought by their default
    offsets: dict[str, float]
    residuals: np.ndarray  # in mean loads, one after another: along, then across
    jacobian: np.ndarray

    @property
    def free(self) -> int:
        """Degrees of freedom that are left."""
        return max(len(self.residuals) - len(self.inner), 1)

    @property
    def variance(self) -> float:
        return float(self.residuals @ self.residuals) / self.free

    def predict(self, data: TyreData) -> dict[str, np.ndarray]:
        """Forces (N) by axis."""
        return forces_of(self.law, self.values | self.offsets, data)


def forces_of(law: str, values: Mapping[str, float], data: TyreData) -> dict[str, np.ndarray]:
    """Forces (N) of a law at the slips and loads of the data, by measured axis."""
    own = {name: value for name, value in values.items() if name not in OFFSETS}
    total = np.maximum(data.resultant_slip, 1e-12)
    mu = curve(law, own, total) / total * data.load_n
    ratio = {"along": 1.0, "across": own.get(LATERAL, 1.0)}
    return {
        axis: ratio[axis] * mu * data.slip[:, AXES.index(axis)] + values.get(f"offset_{axis}", 0.0) * data.load_n
        for axis in data.forces()
    }


def sought(info: LawInfo, data: TyreData, *, with_offsets: bool = False) -> tuple[Coordinate, ...]:
    """What the measured axes can tell: the lateral ratio only where both were measured."""
    both = len(data.forces()) == len(AXES)
    has_peak = info.parameter(CRITICAL) is not None
    coordinates = [Coordinate.of(p, has_peak=has_peak) for p in info.parameters if p.name != LATERAL or both]
    if with_offsets:
        coordinates += [Coordinate(f"offset_{axis}", -1.0, 1.0, -1.0, 1.0, (0.0, 0.0)) for axis in data.forces()]
    return tuple(coordinates)


def outer_values(
    coordinates: tuple[Coordinate, ...], inner: np.ndarray, held: tuple[str, float] | None = None
) -> dict[str, float]:
    """Constants by name; one of them may be held at a value, whatever its coordinate says."""
    values = {held[0]: held[1]} if held else {}
    for shapes in (False, True):  # the peak first: shapes are taken of it
        for c, x in zip(coordinates, inner, strict=True):
            if c.is_shape == shapes and c.name not in values:
                values[c.name] = c.outer(float(x), values)
    return {c.name: values[c.name] for c in coordinates}


class _Problem:
    """Residuals over the coordinates of a law, one of whose constants may be held."""

    def __init__(
        self, law: str, data: TyreData, coordinates: tuple[Coordinate, ...], held: tuple[str, float] | None = None
    ) -> None:
        self.info, self.data, self.coordinates, self.held = LAWS[law], data, coordinates, held
        self.centre = np.array([c.inner(self.info.example) for c in coordinates])
        self.size = float(np.sqrt(sum(float(f @ f) for f in data.forces().values()))) / data.mean_load_n

    def values(self, inner: np.ndarray) -> dict[str, float]:
        return outer_values(self.coordinates, inner, self.held)

    def allowed(self, inner: np.ndarray) -> np.ndarray:
        """Constants that go together: one shape drawn towards the example's, or all of them, or everything."""
        if not self._problem(inner):
            return inner
        shapes = np.array([c.is_shape for c in self.coordinates])
        alone = [np.arange(len(inner)) == k for k in np.flatnonzero(shapes)]
        for moved in (*alone, shapes, np.full(len(inner), True)):
            nearest = np.where(moved, self.centre, inner)
            if not self._problem(nearest):
                return self._nearer(nearest, inner)
        return self.centre

    def _nearer(self, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
        for _ in range(EDGE_HALVINGS):
            middle = 0.5 * (inside + outside)
            inside, outside = (inside, middle) if self._problem(middle) else (middle, outside)
        return inside

    def _problem(self, inner: np.ndarray) -> str:
        return self.info.problem({name: value for name, value in self.values(inner).items() if name not in OFFSETS})

    def residuals(self, inner: np.ndarray) -> np.ndarray:
        """What is left of the forces, and the way to constants that go together."""
        allowed = self.allowed(inner)
        return np.concatenate([self.left(allowed), self.size * (inner - allowed)])

    def left(self, inner: np.ndarray) -> np.ndarray:
        """What is left of the forces, in mean loads."""
        predicted = forces_of(self.info.name, self.values(inner), self.data)
        return np.concatenate([(force - predicted[axis]) / self.data.mean_load_n for axis, force in self.data.forces().items()])

    def solve(self, start: np.ndarray, most_calls: int = 60) -> tuple[np.ndarray, float]:
        """Least squares from a start: coordinates and sum of squares."""
        low, high = np.array([c.range for c in self.coordinates]).T
        margin = 1e-9 * (high - low)
        answer = least_squares(
            self.residuals,
            np.clip(start, low + margin, high - margin),
            bounds=(low, high),
            x_scale=np.where([c.by_log for c in self.coordinates], 1.0, high - low),
            max_nfev=most_calls,
            xtol=1e-9,
            ftol=1e-11,
        )
        return answer.x, 2.0 * float(answer.cost)


def fit_law(law: str, data: TyreData, *, start: Mapping[str, float] | None = None, with_offsets: bool = False) -> LawFit:
    """The constants of a law that fit the data best; `start` is one more place to search from, as the fit of similar data."""
    info = LAWS[law]
    coordinates = sought(info, data, with_offsets=with_offsets)
    readings = len(data) * len(data.forces())
    if readings < len(coordinates):
        raise FitError(
            f"{data.name}: {readings} forces for the {len(coordinates)} constants of {law}; expected more of them, "
            f"measure at more slips or take a law with fewer constants"
        )
    problem = _Problem(law, data, coordinates)
    starts = _starts(info, data, coordinates) if start is None else [np.array([c.inner(start) for c in coordinates])]
    with threadpool_limits(1):  # small matrices: threads of BLAS would only wait for each other
        best = min((problem.solve(each) for each in starts), key=lambda answer: answer[1])
    inner = problem.allowed(best[0])
    values = problem.values(inner)
    offsets = {name: values.pop(name) for name in OFFSETS if name in values}
    rest = {p.name: float(p.default) for p in info.parameters if p.default is not None and p.name not in values}
    return LawFit(
        law, coordinates, inner, values | rest, offsets, problem.left(inner), slopes_by(coordinates, inner, problem.left)
    )


def slopes_by(coordinates: tuple[Coordinate, ...], inner: np.ndarray, numbers: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Derivatives of some numbers by the coordinates, (numbers, coordinates); on past an edge of what the law allows."""
    columns = []
    for k, coordinate in enumerate(coordinates):
        low, high = coordinate.range
        step = 1e-4 * (high - low)
        ahead, back = inner.copy(), inner.copy()
        ahead[k], back[k] = min(ahead[k] + step, high), max(back[k] - step, low)
        columns.append((numbers(ahead) - numbers(back)) / (ahead[k] - back[k]))
    return np.column_stack(columns)


def _starts(info: LawInfo, data: TyreData, coordinates: tuple[Coordinate, ...]) -> list[np.ndarray]:
    """The example's curve, as high as the data and stretched over slip in several ways."""
    ratios = np.concatenate([np.abs(force) / data.load_n for force in data.forces().values()])
    peak = max(float(np.quantile(ratios, 0.95)), SMALLEST)
    starts = []
    for stretch in STRETCHES:
        values = dict(info.example) | {PEAK: peak}
        if CRITICAL in values:
            values[CRITICAL] *= stretch
        for name, (a, b, *_) in _SHAPES.items():
            if name in values:
                values[name] *= (peak / info.example[PEAK]) ** a * stretch**b
        starts.append(np.array([c.inner(values) for c in coordinates]))
    return starts


def profile(fit: LawFit, data: TyreData, name: str, value: float, start: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of squares (in mean loads) with one constant held and the others fitted anew, and where."""
    inner, squares = _Problem(fit.law, data, fit.coordinates, (name, value)).solve(start, CALLS_NEARBY)
    return squares, inner
