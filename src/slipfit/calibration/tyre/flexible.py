"""A curve without a formula: what a smooth surface through the measured forces predicts, as a peer of the laws.

A Gaussian process for the force of each axis over the direction of (rim speed, ground speed along, ground speed across), which
tells every slip and slip angle, and nothing else where forces do not depend on speed; and over the load where it varies.

    F = N_mean (m + f(x)),    f ~ GP(0, a^2 k(r)),    k = (1 + q + q^2 / 3) exp(-q),  q = sqrt(5) r,    r^2 = sum_k (dx_k / l_k)^2

Lengths l, size a and noise are those of the largest marginal likelihood.

Symbols    x inputs · l lengths over which forces change · N_mean mean load
Reference  [RasmussenWilliams2006] ch. 2 (prediction), ch. 4 (Matern kernel), ch. 5 (marginal likelihood)
Valid for  slips and loads like those of the data; between them it is smooth, outside it falls back to the mean
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from slipfit.calibration.tyre.data import TyreData

#: Work grows with the third power of the rows: of more, evenly spaced ones are taken, and fewer for the search of lengths.
MOST_ROWS, SEARCH_ROWS = 600, 200

#: Rows that are predicted at once: memory.
AT_ONCE = 2000

#: A load that varies by less than this share of its mean is one load, as well as the rig held it: its noise explains nothing.
SAME_LOAD = 0.2

#: Ranges of lengths, in standard deviations of the input, and of size and noise, in those of the force.
LENGTHS, SIZES, NOISES = (0.03, 30.0), (0.05, 50.0), (1e-3, 2.0)


@dataclass(frozen=True, eq=False, slots=True)
class Surface:
    """The process of one axis."""

    inputs: np.ndarray  # (n, d), in lengths
    lengths: np.ndarray  # (d,)
    size: float
    noise: float
    weights: np.ndarray
    root: np.ndarray  # Cholesky root of the covariance, lower
    mean: float
    scale_n: float

    def predict(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Force (N) and the standard deviation of the curve, not of a reading."""
        parts = [self._predict(inputs[k : k + AT_ONCE]) for k in range(0, len(inputs), AT_ONCE)]
        return np.concatenate([force for force, _ in parts]), np.concatenate([std for _, std in parts])

    def _predict(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cross = self.size**2 * _kernel(_distance(inputs / self.lengths, self.inputs))
        half = solve_triangular(self.root, cross.T, lower=True)
        variance = np.maximum(self.size**2 - (half**2).sum(axis=0), 0.0)
        return self.scale_n * (self.mean + cross @ self.weights), self.scale_n * np.sqrt(variance)


@dataclass(frozen=True, eq=False, slots=True)
class Flexible:
    """Surfaces of the measured axes."""

    surfaces: dict[str, Surface]
    with_load: bool

    def predict(self, data: TyreData) -> dict[str, np.ndarray]:
        """Forces (N) by axis."""
        return {axis: surface.predict(self._inputs(data))[0] for axis, surface in self.surfaces.items()}

    def spread(self, data: TyreData) -> dict[str, np.ndarray]:
        """Standard deviation (N) of the curve, by axis."""
        return {axis: surface.predict(self._inputs(data))[1] for axis, surface in self.surfaces.items()}

    def _inputs(self, data: TyreData) -> np.ndarray:
        return inputs_of(data, with_load=self.with_load)


def inputs_of(data: TyreData, *, with_load: bool) -> np.ndarray:
    """Direction of the three speeds (T, 3), and the logarithm of the load."""
    speeds = np.column_stack([data.rim_mps, data.ground_mps])
    size = np.maximum(np.linalg.norm(speeds, axis=1), 1e-12)[:, None]
    return np.column_stack([speeds / size, np.log(data.load_n)]) if with_load else speeds / size


def fit_flexible(data: TyreData) -> Flexible:
    """Surfaces through the measured forces."""
    if len(data) > MOST_ROWS:
        data = data.rows(np.linspace(0, len(data) - 1, MOST_ROWS).astype(int))
    with_load = float(data.load_n.std()) > SAME_LOAD * data.mean_load_n
    inputs = inputs_of(data, with_load=with_load)
    with threadpool_limits(1):  # small matrices: threads of BLAS would only wait for each other
        surfaces = {axis: _fit(inputs, force, data.mean_load_n) for axis, force in data.forces().items()}
    return Flexible(surfaces, with_load)


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Between every row of a and every row of b."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _kernel(r: np.ndarray) -> np.ndarray:
    q = np.sqrt(5.0) * r
    return np.asarray((1.0 + q + q * q / 3.0) * np.exp(-q))


def _fit(inputs: np.ndarray, force: np.ndarray, scale_n: float) -> Surface:
    target = force / scale_n
    mean, deviation = float(target.mean()), max(float(target.std()), 1e-9)
    spread = np.maximum(inputs.std(axis=0), 1e-9)
    moves = inputs.std(axis=0) > 1e-6  # an input that never changes tells nothing
    few = np.linspace(0, len(target) - 1, min(len(target), SEARCH_ROWS)).astype(int)
    apart = (inputs[few, None] - inputs[few]) ** 2 / spread**2
    squares = [apart[:, :, k] if moves[k] else None for k in range(inputs.shape[1])]
    ranges = [*([LENGTHS] * inputs.shape[1]), SIZES, NOISES]
    start = np.log([*np.ones(inputs.shape[1]), 2.0, 0.1])
    found = minimize(
        _cost_and_slope,
        start,
        args=(squares, (target[few] - mean) / deviation),
        jac=True,
        method="L-BFGS-B",
        bounds=[tuple(np.log(pair)) for pair in ranges],
        options={"maxiter": 100},
    )
    lengths, (size, noise) = np.exp(found.x[:-2]) * spread, np.exp(found.x[-2:]) * deviation
    scaled = inputs / lengths
    covariance = size**2 * _kernel(_distance(scaled, scaled)) + noise**2 * np.eye(len(target))
    root = cholesky(covariance, lower=True)
    weights = cho_solve((root, True), target - mean)
    return Surface(scaled, lengths, float(size), float(noise), weights, root, mean, scale_n)


def _cost_and_slope(log: np.ndarray, squares: list[np.ndarray | None], target: np.ndarray) -> tuple[float, np.ndarray]:
    """Negative logarithm of the marginal likelihood, less a constant, and its gradient by the logarithms of the constants."""
    lengths, size, noise = np.exp(log[:-2]), np.exp(log[-2]), np.exp(log[-1])
    parts = [None if s is None else s / w**2 for s, w in zip(squares, lengths, strict=True)]
    r = np.sqrt(sum((p for p in parts if p is not None), np.zeros((len(target), len(target)))))
    q = np.sqrt(5.0) * r
    decay = size**2 * np.exp(-q)
    smooth = decay * (1.0 + q + q * q / 3.0)
    root = cholesky(smooth + (noise**2 + 1e-10) * np.eye(len(target)), lower=True)
    inverse = cho_solve((root, True), np.eye(len(target)))
    weights = inverse @ target
    inner = inverse - np.outer(weights, weights)
    by_length = inner * (5.0 / 3.0) * decay * (1.0 + q)
    slope = [0.0 if p is None else 0.5 * float((by_length * p).sum()) for p in parts]
    slope += [float((inner * smooth).sum()), noise**2 * float(np.trace(inner))]
    return float(0.5 * target @ weights + np.log(np.diag(root)).sum()), np.array(slope)
