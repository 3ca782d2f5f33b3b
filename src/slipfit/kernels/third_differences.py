"""The curve nearest to samples whose third differences have given variances, and how sure its third differences are.

    minimise  sum (x - y)^2  +  sum (third difference of x)^2 / variance

A matrix of seven bands: factors and those parts of the inverse that lie within the bands take a time proportional to the
number of samples.
Reference  inverse within the bands [Takahashi1973]
"""

import numpy as np

from slipfit.kernels.compile import compiled, part

#: Weights of a third difference.
_WEIGHTS = (-1.0, 3.0, -3.0, 1.0)


@part
def _bands(variance, samples):
    """Diagonal and the three bands beside it, (4, samples), of I + D^T diag(1 / variance) D."""
    bands = np.zeros((4, samples))
    bands[0] = 1.0
    for k in range(samples - 3):
        for i in range(4):
            for j in range(i, 4):
                bands[j - i, k + i] += _WEIGHTS[i] * _WEIGHTS[j] / variance[k]
    return bands


@part
def _factored(bands):
    """L D L^T in place: bands[0] becomes D, the others columns of L below its unit diagonal."""
    samples = bands.shape[1]
    for i in range(samples):
        for m in range(1, min(4, i + 1)):
            bands[0, i] -= bands[m, i - m] ** 2 * bands[0, i - m]
        for j in range(1, min(4, samples - i)):
            for m in range(1, min(4 - j, i + 1)):
                bands[j, i] -= bands[m, i - m] * bands[m + j, i - m] * bands[0, i - m]
            bands[j, i] /= bands[0, i]


@part
def _solved(factor, y):
    samples = len(y)
    x = y.copy()
    for i in range(samples):
        for j in range(1, min(4, samples - i)):
            x[i + j] -= factor[j, i] * x[i]
    for i in range(samples - 1, -1, -1):
        x[i] /= factor[0, i]
        for j in range(1, min(4, samples - i)):
            x[i] -= factor[j, i] * x[i + j]
    return x


@part
def _inverse_in_bands(factor):
    """Parts of the inverse beside the diagonal, (4, samples): column i holds those of rows i to i + 3."""
    samples = factor.shape[1]
    inverse = np.zeros((4, samples))
    for i in range(samples - 1, -1, -1):
        for j in range(min(3, samples - 1 - i), -1, -1):
            total = 1.0 / factor[0, i] if j == 0 else 0.0
            for m in range(1, min(4, samples - i)):
                total -= factor[m, i] * (inverse[m, i] if j == 0 else inverse[abs(m - j), i + min(m, j)])
            inverse[j, i] = total
    return inverse


@compiled
def curve_through(y, variance):
    """(curve, variance of each of its third differences), both in units of the samples' own variance."""
    bands = _bands(variance, len(y))
    _factored(bands)
    curve, inverse = _solved(bands, y), _inverse_in_bands(bands)
    spread = np.zeros(len(y) - 3)
    for k in range(len(y) - 3):
        for i in range(4):
            for j in range(4):
                spread[k] += _WEIGHTS[i] * _WEIGHTS[j] * inverse[abs(i - j), k + min(i, j)]
    return curve, spread
