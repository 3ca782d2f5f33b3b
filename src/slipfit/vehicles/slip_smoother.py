"""Back through what a slip filter kept: Rauch, Tung and Striebel's smoother.

Reference  [BarShalom2001]; docs/theory/estimation
"""

import numpy as np

from slipfit.kernels import compiled
from slipfit.vehicles.slip_filter import ANCHOR, SKIPPED, N, Q, predict, write_row

#: States that are carried back: the two velocities of the last accelerometer reading are only memory.
SMOOTHED = 9


@compiled(nogil=True)
def _cholesky_solve(a, b):
    """b <- a^-1 b, for a symmetric a that is not quite positive: a ridge of rounding keeps its factor real. b is (m, n)."""
    m = a.shape[0]
    for i in range(m):
        a[i, i] += 1e-12 * a[i, i] + 1e-18
    for i in range(m):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if i == j:
                a[i, i] = max(total, 1e-18) ** 0.5
            else:
                a[i, j] = total / a[j, j]
    for column in range(b.shape[1]):
        for i in range(m):
            total = b[i, column]
            for k in range(i):
                total -= a[i, k] * b[k, column]
            b[i, column] = total / a[i, i]
        for i in range(m - 1, -1, -1):
            total = b[i, column]
            for k in range(i + 1, m):
                total -= a[k, i] * b[k, column]
            b[i, column] = total / a[i, i]


@compiled(nogil=True)
def smooth(model, noise, time_s, kinds, inputs, scales, states, covs, out, out_covs):
    """Rauch, Tung and Striebel's smoother, backwards through what `run` kept; `out` has the same rows, smoothed.

    `out_covs` gets the smoothed covariances, and is of no length where they are not wanted.

    Across an anchor the pose says nothing about the pose before: only slip and biases are carried back.
    """
    m = SMOOTHED
    slopes = np.empty((N, N))
    last = len(time_s) - 1
    state, cov = states[last].copy(), covs[last].copy()
    write_row(model, state, cov, inputs[last], 0.0, 0.0, SKIPPED, scales[last], out[last])
    if len(out_covs):
        out_covs[last] = cov
    for k in range(last - 1, -1, -1):
        ahead, spread = states[k].copy(), covs[k].copy()
        dt = time_s[k + 1] - time_s[k]
        slopes[:] = 0.0
        for i in range(N):
            slopes[i, i] = 1.0
        if dt > 0.0:
            predict(model, noise, ahead, spread, scales[k], dt, inputs[k], inputs[k + 1], slopes)
        first = Q if kinds[k + 1] == ANCHOR else 0
        gain = np.zeros((m - first, m))  # transposed
        for i in range(m - first):
            for j in range(m):
                total = 0.0
                for n in range(m):
                    total += slopes[first + i, n] * covs[k, n, j]
                gain[i, j] = total
        known = spread[first:m, first:m].copy()
        _cholesky_solve(known, gain)
        apart = state[first:m] - ahead[first:m]
        excess = cov[first:m, first:m] - spread[first:m, first:m]
        state[:] = states[k]
        cov[:] = covs[k]
        for j in range(m):
            for i in range(m - first):
                state[j] += gain[i, j] * apart[i]
        for j in range(m):
            for i in range(m):
                total = 0.0
                for n in range(m - first):
                    for o in range(m - first):
                        total += gain[n, j] * excess[n, o] * gain[o, i]
                cov[j, i] += total
        for j in range(m):
            cov[j, j] = max(cov[j, j], 0.0)
        write_row(model, state, cov, inputs[k], 0.0, 0.0, SKIPPED, scales[k], out[k])
        if len(out_covs):
            out_covs[k] = cov
