"""Back through what a slip filter kept: the smoother of Rauch, Tung and Striebel, in the form of Bryson and Frazier.

What readings after a moment say about the state then is kept as r and L, with which

    x_s = x + P r,    P_s = P - P L P

are the smoothed state and covariance. Both are zero after the last event, and go back through what the filter did:

    reading     r <- r + h (e / S - k^T r),    L <- h h^T / S + (1 - k h^T)^T L (1 - k h^T)
    x -> A x    r <- A^T r,                    L <- A^T L A

for a transition, the velocity that an accelerometer remembers, and a pose that starts anew. In exact numbers this is Rauch, Tung
and Striebel's smoother, and no covariance has to be inverted: one that remembers a velocity is singular by what it is. Noise
between two moments stands in the later P alone, where the filter put it: also that by which slip was opened after a jump. Each
event is run forwards again from what was kept before it, with the same functions, so that h, k, S and e are those of the filter.

Symbols    x, P state and covariance after an event · h slopes of a reading · e innovation, S its variance · k = P h / S gain
Reference  [Bierman1973] (the form of Bryson and Frazier), [BarShalom2001] (Rauch, Tung and Striebel); docs/theory/estimation
"""

import numpy as np

from slipfit.kernels import compiled
from slipfit.vehicles.slip_filter import (
    ACCELEROMETER,
    ANCHOR,
    COURSE,
    FACTOR,
    FATE,
    NOTHING,
    PSI,
    RELOCATED,
    SKIPPED,
    U_THEN,
    USED,
    V_THEN,
    N,
    Q,
    course_slopes,
    expect,
    is_usable,
    most_readings,
    open_up,
    predict,
    use_reading,
    write_row,
)
from slipfit.vehicles.slip_motion import imu_velocity, slip_twist


@compiled(nogil=True)
def _through(slopes, r, spread, work):
    """r <- A^T r and L <- A^T L A, in place; work is (N + 1, N)."""
    for i in range(N):
        work[N, i] = r[i]
        for j in range(N):
            total = 0.0
            for k in range(N):
                total += spread[i, k] * slopes[k, j]
            work[i, j] = total
    for i in range(N):
        total = 0.0
        for k in range(N):
            total += slopes[k, i] * work[N, k]
        r[i] = total
        for j in range(i + 1):
            total = 0.0
            for k in range(N):
                total += slopes[k, i] * work[k, j]
            spread[i, j] = total
            spread[j, i] = total


@compiled(nogil=True)
def _back_through_reading(h, column, apart, per, r, spread, along):
    """r and L before a reading, in place; column is P h = S k."""
    told, size = 0.0, 0.0
    for i in range(N):
        told += column[i] * r[i]
        total = 0.0
        for k in range(N):
            total += spread[i, k] * column[k]
        along[i] = total * per  # L k
    for i in range(N):
        size += along[i] * column[i] * per  # k^T L k
    weight = (apart - told) * per
    for i in range(N):
        r[i] += h[i] * weight
        for j in range(N):
            spread[i, j] += h[i] * h[j] * (per + size) - h[i] * along[j] - along[i] * h[j]


@compiled(nogil=True)
def _back_through_event(model, noise, kind, values, stds, rims, since_s, fate, state, cov, r, spread, work):
    """r and L before an event, in place, from those after it; state and cov are those before it, and are changed."""
    h, column, along = work[:3], work[3:6], work[6]
    apart, per = work[7], work[8]
    if fate == RELOCATED:
        expect(model, kind, 0, state, rims, since_s, h[0])
        open_up(noise, state, cov, kind, values, stds, rims, h[0])
    for i in range(most_readings(kind)):
        if is_usable(values[i], stds[i]):
            apart[i], per[i] = use_reading(model, state, cov, kind, i, values, stds, rims, since_s, h[i], column[i])
    for i in range(most_readings(kind) - 1, -1, -1):
        if is_usable(values[i], stds[i]):
            _back_through_reading(h[i], column[i], apart[i], per[i], r, spread, along)


@compiled(nogil=True)
def _fill_slopes(model, kind, state, values, stds, rims, slopes):
    """Slopes of what an event does to the state beside its readings: velocities that are remembered, a pose that starts anew."""
    slopes[:] = 0.0
    for i in range(N):
        slopes[i, i] = 1.0
    if kind == ACCELEROMETER:
        twist, d = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
        _, dp = imu_velocity(model, twist, d)
        slopes[U_THEN, U_THEN], slopes[V_THEN, V_THEN] = 0.0, 0.0
        for j in range(3):
            slopes[U_THEN, Q + j], slopes[V_THEN, Q + j] = dp[j], dp[3 + j]
        return
    for i in range(3):
        if is_usable(values[i], stds[i]):
            slopes[i, i] = 0.0
    if kind == COURSE:
        slopes[PSI, PSI] = 0.0
        slopes[PSI, Q], slopes[PSI, Q + 1], slopes[PSI, Q + 2] = course_slopes(model, state, rims)


@compiled(nogil=True)
def _write_smoothed(state, cov, r, spread, smoothed, smoothed_cov, work):
    """x + P r and P - P L P."""
    for i in range(N):
        total = state[i]
        for k in range(N):
            total += cov[i, k] * r[k]
        smoothed[i] = total
        for j in range(N):
            total = 0.0
            for k in range(N):
                total += cov[i, k] * spread[k, j]
            work[i, j] = total
    for i in range(N):
        for j in range(i + 1):
            total = cov[i, j]
            for k in range(N):
                total -= work[i, k] * cov[k, j]
            smoothed_cov[i, j] = total
            smoothed_cov[j, i] = total
        smoothed_cov[i, i] = max(smoothed_cov[i, i], 0.0)


@compiled(nogil=True)
def smooth(model, noise, time_s, kinds, values, stds, inputs, record, states, covs, out, out_covs):
    """Backwards through what `run` kept of a drive that it ran from its start.

    Parameters
    ----------
    time_s, kinds, values, stds, inputs : as `run` took and filled them
    record, states, covs : as `run` filled them
    out : (n, RECORD), smoothed; innovations and fates are not in it
    out_covs : (n, N, N), smoothed, or of no length where they are not wanted
    """
    n = len(time_s)
    slopes, work = np.empty((N, N)), np.empty((N + 1, N))
    state, cov = np.empty(N), np.empty((N, N))
    r, spread = np.zeros(N), np.zeros((N, N))
    clock, since = np.empty(n), np.zeros(n)
    heard, has_heard = 0.0, False
    for k in range(n):
        # A reading that comes late is used where the filter stands.
        clock[k] = time_s[k] if k == 0 else max(time_s[k], clock[k - 1])
        since[k] = clock[k] - heard if has_heard else 0.0
        if kinds[k] == ACCELEROMETER:
            heard, has_heard = clock[k], True
    for k in range(n - 1, -1, -1):
        _write_smoothed(states[k], covs[k], r, spread, state, cov, work)
        write_row(model, state, cov, inputs[k], 0.0, 0.0, SKIPPED, record[k, FACTOR], out[k])
        if len(out_covs):
            out_covs[k] = cov
        if k == 0:
            break
        kind, fate = kinds[k], record[k, FATE]
        if (kind == ACCELEROMETER) | (kind == ANCHOR) | (kind == COURSE):
            _fill_slopes(model, kind, states[k], values[k], stds[k], inputs[k], slopes)
            _through(slopes, r, spread, work)
        state[:] = states[k - 1]
        cov[:] = covs[k - 1]
        dt = clock[k] - clock[k - 1]
        if dt > 0.0:
            predict(model, noise, state, cov, record[k - 1, FACTOR], dt, inputs[k - 1], inputs[k], slopes)
        is_used = (fate == USED) | (fate == RELOCATED)
        if is_used & (kind != NOTHING) & (kind != ANCHOR) & (kind != COURSE):
            _back_through_event(
                model, noise, kind, values[k], stds[k], inputs[k], since[k], fate, state, cov, r, spread, work
            )  # fmt: skip
        if dt > 0.0:
            _through(slopes, r, spread, work)
