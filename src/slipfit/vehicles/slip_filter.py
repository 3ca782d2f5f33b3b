"""Extended Kalman filter for slip: where the body is, how fast its sides slip, and what its sensors are biased by.

State (N = 11), in this order

    X, Y, psi     pose of the wheels' centre
    q0, q1, q2    slip: velocities (`SlipVelocities`), or rotation centres (`RotationCentres`)
    b_g, b_x, b_y biases of gyro and accelerometer
    u', v'        velocity at the last accelerometer reading: an accelerometer tells a change since then

Between readings the body moves along an arc (`kinematic.along_arc`) and slip follows what is expected of it,

    q+ = e+ + exp(-k dt) g (q - e) + noise,    g = 1 + h (h+ - h) / max(h^2, h_0^2)

so that with the expected slip e = 0 and k = 0 slip *ratios* stay as they are while rim speeds change, and nothing is divided by
a rim speed of zero. The noise of q has the variance per second a^2 + (b h)^2, and (c (h+ - h))^2 for each change of the rims;
half of it enters before the motion and half after, which is the trapezoid of its integral.

Symbols    h speed that a slip is proportional to (m/s) · h_0 `CARRY_FLOOR_MPS` · a, b, c `SlipNoise` · k 1 / correlation time
Reference  [BarShalom2001] (filter, gate, consistency, smoother); [Martinez2005] for rotation centres; equations and
           observability: derived in docs/theory/estimation
Valid for  planar motion; readings of one event independent of each other
"""

from math import cos, exp, isfinite, pi, sin
from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.slip import SPEED_FLOOR_MPS, slip_ratio
from slipfit.kernels import chosen_by_type, compiled, part
from slipfit.vehicles.kinematic import IcrDrive, along_arc, body_velocity

#: Places in the state.
X, Y, PSI, Q, BIAS_G, BIAS_X, BIAS_Y, U_THEN, V_THEN, N = 0, 1, 2, 3, 6, 7, 8, 9, 10, 11

#: States that the smoother carries back: the two velocities of the last accelerometer reading are only memory.
SMOOTHED = 9

#: Kinds of events.
NOTHING, POSE, GYRO, ACCELEROMETER, ANCHOR, VELOCITY = 0, 1, 2, 3, 4, 5

#: What became of a reading.
USED, SKIPPED, GATED, RELOCATED = 0, 1, 2, 3

#: Below this speed (m/s) slip is not carried in proportion to the rims: a ratio means nothing there.
CARRY_FLOOR_MPS = 0.1

#: Ceiling of variances: (100 m)^2, (100 m/s)^2. A filter without readings for an hour stays finite.
LARGEST_VARIANCE = 1e4

#: No sensor says numbers beyond this; squares of larger ones overflow.
LARGEST_READING = 1e9

#: Limits of the factor on the slip's noise.
LEAST_FACTOR, LARGEST_FACTOR = 1e-2, 1e4

#: So many readings in a row that the gate refuses are no outliers: the robot was carried away, or the map jumped.
PATIENCE = 10

#: Columns of a filter's record: state, its standard deviations, twist (u, v, r) and its own, then normalised innovation squared,
#: number of readings in it, what became of them, factor on the slip's noise.
RECORD = 2 * N + 6 + 4

#: Length of a run's book, and the time of what has not happened.
BOOK, NEVER = 13, -1e300


class SlipVelocities(NamedTuple):
    """Slip velocities q take from rim speeds c: (u, v, r) = `into_twist` (c - q).

    Of two sides q = (s_l, s_r, s_y): along the left and the right track, and across, s_y = -v.
    """

    into_twist: Any  # (3, 3)


class RotationCentres(NamedTuple):
    """q = (y_l, y_r, x): rotation centres of left and right side and of the body (m), as in `IcrDrive`, whose gains are known."""

    least_arm: float  # m; |y| stays above
    gain_left: float
    gain_right: float


class SlipNoise(NamedTuple):
    """How slip and biases move; arrays have one entry for each slip."""

    floor: Any  # (3,) a^2: variance per second at any speed
    share: Any  # (3,) b^2: and for each (m/s)^2 of speed
    change: Any  # (3,) c^2: for each (m/s)^2 that the speed changes
    decay_per_s: Any  # (3,) k
    place: float  # m^2/s, of the pose itself
    heading: float  # rad^2/s
    gyro_bias: float  # (rad/s)^2/s
    accel_bias: float  # (m/s^2)^2/s
    is_carried: float  # 1.0: slip in proportion to speed; 0.0: as it is
    adapt: float  # gain of the factor on the slip's noise; 0.0 keeps it
    gate: Any  # (4,) largest normalised innovation squared of 0, 1, 2, 3 readings


@chosen_by_type
def slip_twist(model, c0, c1, c2, q0, q1, q2):
    """(u, v, r) from rim speeds c and slip q, and its slopes by q: nine numbers, row by row."""
    raise NotImplementedError("a filter's motion registers its own twist")


@slip_twist.of(SlipVelocities)
def _(model, c0, c1, c2, q0, q1, q2):
    m = model.into_twist
    d0, d1, d2 = c0 - q0, c1 - q1, c2 - q2
    twist = (
        m[0, 0] * d0 + m[0, 1] * d1 + m[0, 2] * d2,
        m[1, 0] * d0 + m[1, 1] * d1 + m[1, 2] * d2,
        m[2, 0] * d0 + m[2, 1] * d1 + m[2, 2] * d2,
    )
    slopes = (-m[0, 0], -m[0, 1], -m[0, 2], -m[1, 0], -m[1, 1], -m[1, 2], -m[2, 0], -m[2, 1], -m[2, 2])
    return twist, slopes


@slip_twist.of(RotationCentres)
def _(model, c0, c1, c2, q0, q1, q2):
    left, right = max(q0, model.least_arm), min(q1, -model.least_arm)
    u, v, r = body_velocity(IcrDrive(left, right, q2, model.gain_left, model.gain_right), c0, c1)
    c0, c1 = model.gain_left * c0, model.gain_right * c1
    per = 1.0 / (left - right)
    slopes = ((c1 - u) * per, (u - c0) * per, 0.0, q2 * r * per, -q2 * r * per, -r, -r * per, r * per, 0.0)
    return (u, v, r), slopes


@part
def _carry(noise, before, after):
    """g: by how much a slip grows with the speed that it is proportional to."""
    return 1.0 + noise.is_carried * before * (after - before) / max(before * before, CARRY_FLOOR_MPS * CARRY_FLOOR_MPS)


@part
def _add_half_of_the_noise(noise, cov, scale, dt, before, after):
    half = 0.5
    for j in range(3):
        speed, change = 0.5 * (before[3 + j] + after[3 + j]), after[3 + j] - before[3 + j]
        rate = scale * (noise.floor[j] + noise.share[j] * speed * speed)
        cov[Q + j, Q + j] += half * (rate * dt + noise.change[j] * change * change)
    cov[X, X] += half * noise.place * dt
    cov[Y, Y] += half * noise.place * dt
    cov[PSI, PSI] += half * noise.heading * dt
    # Biases that no sensor has are known to be zero.
    cov[BIAS_G, BIAS_G] += half * noise.gyro_bias * dt
    cov[BIAS_X, BIAS_X] += half * noise.accel_bias * dt
    cov[BIAS_Y, BIAS_Y] += half * noise.accel_bias * dt


@compiled(nogil=True)
def predict(model, noise, state, cov, scale, dt, before, after, slopes):
    """Carry state and covariance over dt, in place.

    Parameters
    ----------
    before, after : (9,), at both ends: rim speeds, speeds that slips are proportional to, expected slips; three of each
    slopes : (N, N), filled with the transition's slopes
    """
    slopes[:] = 0.0
    for i in range(N):
        slopes[i, i] = 1.0
    for j in range(3):
        slopes[Q + j, Q + j] = exp(-noise.decay_per_s[j] * dt) * _carry(noise, before[3 + j], after[3 + j])
    old0, old1, old2 = state[Q], state[Q + 1], state[Q + 2]
    for j in range(3):
        state[Q + j] = after[6 + j] + slopes[Q + j, Q + j] * (state[Q + j] - before[6 + j])
    c0, c1, c2 = 0.5 * (before[0] + after[0]), 0.5 * (before[1] + after[1]), 0.5 * (before[2] + after[2])
    q0, q1, q2 = 0.5 * (old0 + state[Q]), 0.5 * (old1 + state[Q + 1]), 0.5 * (old2 + state[Q + 2])
    (u, v, r), d = slip_twist(model, c0, c1, c2, q0, q1, q2)
    x, y, heading = along_arc(state[X], state[Y], state[PSI], u, v, r, dt)
    dx, dy = x - state[X], y - state[Y]
    c, s = cos(state[PSI] + 0.5 * r * dt), sin(state[PSI] + 0.5 * r * dt)
    state[X], state[Y], state[PSI] = x, y, heading
    slopes[X, PSI], slopes[Y, PSI] = -dy, dx
    for j in range(3):
        by_mid = 0.5 * (1.0 + slopes[Q + j, Q + j]) * dt
        du, dv, dr = d[j] * by_mid, d[3 + j] * by_mid, d[6 + j] * by_mid
        slopes[X, Q + j] = c * du - s * dv - 0.5 * dy * dr
        slopes[Y, Q + j] = s * du + c * dv + 0.5 * dx * dr
        slopes[PSI, Q + j] = dr
    _add_half_of_the_noise(noise, cov, scale, dt, before, after)
    _transform(cov, slopes)
    _add_half_of_the_noise(noise, cov, scale, dt, before, after)
    for i in range(N):
        if cov[i, i] > LARGEST_VARIANCE:  # shrink row and column alike: the matrix stays one of a covariance
            shrink = (LARGEST_VARIANCE / cov[i, i]) ** 0.5
            for k in range(N):
                cov[i, k] *= shrink
            for k in range(N):
                cov[k, i] *= shrink


@compiled(nogil=True)
def _transform(cov, slopes):
    """F P F^T in place; only pose and slip have rows of their own in F."""
    for i in range(3):
        turning = slopes[i, PSI] if i < PSI else 0.0
        a, b, c = slopes[i, Q], slopes[i, Q + 1], slopes[i, Q + 2]
        for k in range(N):
            cov[i, k] += turning * cov[PSI, k] + a * cov[Q, k] + b * cov[Q + 1, k] + c * cov[Q + 2, k]
    for j in range(3):
        for k in range(N):
            cov[Q + j, k] *= slopes[Q + j, Q + j]
    for k in range(N):
        turn = cov[k, PSI]
        for i in range(3):
            total = cov[k, i]
            if i < PSI:
                total += slopes[i, PSI] * turn
            for j in range(3):
                total += slopes[i, Q + j] * cov[k, Q + j]
            cov[k, i] = total
        for j in range(3):
            cov[k, Q + j] *= slopes[Q + j, Q + j]
    for i in range(N):
        for k in range(i):
            mean = 0.5 * (cov[i, k] + cov[k, i])
            cov[i, k] = mean
            cov[k, i] = mean


@part
def _is_usable(value, std):
    return (abs(value) < LARGEST_READING) & (std > 0.0) & (std < LARGEST_READING)  # False for NaN


@part
def _wrapped(angle):
    return angle - 2.0 * pi * np.floor((angle + pi) / (2.0 * pi))


@compiled(nogil=True)
def _row(model, kind, i, state, rims, since_s, h):
    """What reading i of an event is expected to be; its slopes go to h."""
    h[:] = 0.0
    if kind == POSE:
        h[i] = 1.0
        return state[i]
    (u, v, r), d = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
    if kind == ACCELEROMETER:
        now, then, place = (u, state[U_THEN], U_THEN) if i == 0 else (v, state[V_THEN], V_THEN)
        per = 1.0 / since_s
        centripetal = -v * r if i == 0 else u * r
        for j in range(3):
            turning = -(v * d[6 + j] + r * d[3 + j]) if i == 0 else u * d[6 + j] + r * d[j]
            h[Q + j] = d[3 * i + j] * per + turning
        h[place] = -per
        h[BIAS_X + i] = 1.0
        return (now - then) * per + centripetal + state[BIAS_X + i]
    row = 2 if kind == GYRO else i
    for j in range(3):
        h[Q + j] = d[3 * row + j]
    if kind == GYRO:
        h[BIAS_G] = 1.0
        return r + state[BIAS_G]
    return u if i == 0 else (v if i == 1 else r)


@compiled(nogil=True)
def _remember_velocity(model, state, cov, rims):
    """u', v' become the velocity of now."""
    (u, v, _), d = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
    state[U_THEN], state[V_THEN] = u, v
    for k in range(N):
        for i in range(2):
            cov[U_THEN + i, k] = d[3 * i] * cov[Q, k] + d[3 * i + 1] * cov[Q + 1, k] + d[3 * i + 2] * cov[Q + 2, k]
    for k in range(N):
        for i in range(2):
            cov[k, U_THEN + i] = d[3 * i] * cov[k, Q] + d[3 * i + 1] * cov[k, Q + 1] + d[3 * i + 2] * cov[k, Q + 2]


@compiled(nogil=True)
def _anchor(state, cov, values, stds):
    """The pose starts anew in another frame: its errors have nothing to do with the slip's any more."""
    for i in range(3):
        if _is_usable(values[i], stds[i]):
            state[i] = values[i]
            for k in range(N):
                cov[i, k] = 0.0
                cov[k, i] = 0.0
            cov[i, i] = stds[i] * stds[i]


@compiled(nogil=True)
def update(model, noise, state, cov, kind, values, stds, rims, since_s, refused, work):
    """Use up to three readings, in place: (normalised innovation squared, readings in it, what became of them).

    A reading that is not finite, or whose standard deviation is not a positive number, is left out. If all of them together are
    farther from what was expected than the gate allows, nothing changes; after `PATIENCE` refusals in a row the pose is believed
    again, with the spread that the difference asks for.

    Parameters
    ----------
    since_s : seconds since the last accelerometer reading; not above zero for the first one
    refused : how many readings in a row the gate refused before
    work : (N + 3, N), scratch: old covariance, old state, slopes, gains
    """
    if kind == ANCHOR:
        _anchor(state, cov, values, stds)
        return 0.0, 0.0, USED
    if (kind == ACCELEROMETER) & (since_s <= 0.0):
        _remember_velocity(model, state, cov, rims)
        return 0.0, 0.0, SKIPPED
    work[:N] = cov
    work[N] = state
    nis, count, fate = _innovated(model, state, cov, kind, values, stds, rims, since_s, work[N + 1], work[N + 2])
    if nis > noise.gate[int(count)]:
        cov[:] = work[:N]
        state[:] = work[N]
        fate = GATED
        if (kind == POSE) & (refused >= PATIENCE):
            for i in range(3):
                if _is_usable(values[i], stds[i]):
                    apart = values[i] - state[i]
                    apart = _wrapped(apart) if i == PSI else apart
                    cov[i, i] += min(apart * apart, LARGEST_VARIANCE)
            _innovated(model, state, cov, kind, values, stds, rims, since_s, work[N + 1], work[N + 2])
            fate = RELOCATED
    if not _is_sound(state, cov):
        cov[:] = work[:N]
        state[:] = work[N]
        nis, count, fate = 0.0, 0.0, SKIPPED
    if kind == ACCELEROMETER:
        _remember_velocity(model, state, cov, rims)
    return nis, count, fate


@part
def _is_sound(state, cov):
    for i in range(N):
        if not (isfinite(state[i]) & isfinite(cov[i, i]) & (cov[i, i] >= 0.0)):
            return False
    return True


@compiled(nogil=True)
def _innovated(model, state, cov, kind, values, stds, rims, since_s, h, column):
    """Readings one after another: the same as all at once, because their errors are independent."""
    nis, count = 0.0, 0.0
    for i in range(3):
        if _is_usable(values[i], stds[i]):
            expected = _row(model, kind, i, state, rims, since_s, h)
            apart = values[i] - expected
            apart = _wrapped(apart) if (kind == POSE) & (i == PSI) else apart
            total = stds[i] * stds[i]
            for k in range(N):
                column[k] = 0.0
            for m in range(N):
                if h[m] != 0.0:
                    for k in range(N):
                        column[k] += cov[k, m] * h[m]
            for k in range(N):
                total += h[k] * column[k]
            per = 1.0 / total
            nis += apart * apart * per
            count += 1.0
            for k in range(N):
                gain = column[k] * per
                state[k] += gain * apart
                for m in range(N):
                    cov[k, m] -= gain * column[m]
    for i in range(N):
        cov[i, i] = max(cov[i, i], 0.0)
    return nis, count, USED if count > 0.0 else SKIPPED


@compiled(nogil=True)
def _write(model, state, cov, rims, nis, count, fate, scale, out):
    (u, v, r), d = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
    for k in range(N):
        out[k] = state[k]
        out[N + k] = max(cov[k, k], 0.0) ** 0.5
    out[2 * N], out[2 * N + 1], out[2 * N + 2] = u, v, r
    for i in range(3):
        total = 0.0
        for j in range(3):
            for m in range(3):
                total += d[3 * i + j] * cov[Q + j, Q + m] * d[3 * i + m]
        out[2 * N + 3 + i] = max(total, 0.0) ** 0.5
    out[2 * N + 6], out[2 * N + 7], out[2 * N + 8], out[2 * N + 9] = nis, count, fate, scale


@compiled(nogil=True)
def run(model, noise, time_s, kinds, values, stds, inputs, state, cov, book, out, states, covs):
    """All events in their order; returns how many were behind the one before (they are used where the filter stands).

    Parameters
    ----------
    time_s, kinds : (n,), events in order of time
    values, stds : (n, 3), readings and their standard deviations
    inputs : (n, 9), as `predict` takes them, at each event
    state, cov : (N,), (N, N), at `book[0]`; changed
    book : (BOOK,): time, factor on the slip's noise, time of the last accelerometer reading (`NEVER`: none), refusals in a row,
        inputs of the last event; changed, so that a run can be continued
    out : (n, RECORD)
    states, covs : (n, N), (n, N, N) after each event, for the smoother; of no length where it is not wanted
    """
    slopes, work = np.empty((N, N)), np.empty((N + 3, N))
    before = book[4:]
    late = 0
    for k in range(len(time_s)):
        dt = time_s[k] - book[0]
        late += dt < 0.0
        if dt > 0.0:
            predict(model, noise, state, cov, book[1], dt, before, inputs[k], slopes)
            book[0] = time_s[k]
        before[:] = inputs[k]
        nis, count, fate = 0.0, 0.0, SKIPPED
        kind = kinds[k]
        if kind != NOTHING:
            since = book[0] - book[2] if book[2] > NEVER else 0.0
            nis, count, fate = update(model, noise, state, cov, kind, values[k], stds[k], inputs[k], since, book[3], work)
            if kind == ACCELEROMETER:
                book[2] = book[0]
            if kind == POSE:
                book[3] = book[3] + 1.0 if fate == GATED else 0.0
                if (noise.adapt > 0.0) & (fate == USED):
                    # The factor rises while innovations are larger than their covariance, and falls while they are smaller.
                    surprise = min(nis / count, 4.0) - 1.0
                    book[1] = min(max(book[1] * exp(noise.adapt * surprise), LEAST_FACTOR), LARGEST_FACTOR)
        _write(model, state, cov, inputs[k], nis, count, fate, book[1], out[k])
        if len(states):
            states[k] = state
            covs[k] = cov
    return late


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
def smooth(model, noise, time_s, kinds, inputs, scales, states, covs, out):
    """Rauch, Tung and Striebel's smoother, backwards through what `run` kept; `out` has the same rows, smoothed.

    Across an anchor the pose says nothing about the pose before: only slip and biases are carried back.
    """
    m = SMOOTHED
    slopes = np.empty((N, N))
    last = len(time_s) - 1
    state, cov = states[last].copy(), covs[last].copy()
    _write(model, state, cov, inputs[last], 0.0, 0.0, SKIPPED, scales[last], out[last])
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
        _write(model, state, cov, inputs[k], 0.0, 0.0, SKIPPED, scales[k], out[k])


@compiled
def side_ratios(rims, grounds, stds, out):
    """Slip ratio of each pair of rim and ground speed, and its standard deviation by that of the ground speed; out is (n, 2).

    i = (w - u) / max(|w|, |u|): its slope by u is 1 / |w| while driving, |w| / u^2 while braking.
    """
    for k in range(len(rims)):
        w, u = rims[k], grounds[k]
        out[k, 0] = slip_ratio(u, w)
        slower, faster = abs(w), max(max(abs(w), abs(u)), SPEED_FLOOR_MPS)
        slope = 1.0 / faster if slower >= abs(u) else min(slower / (faster * faster), 1.0 / faster)
        out[k, 1] = slope * stds[k]
