"""Extended Kalman filter for slip: where the body is, how fast its sides slip, and what its sensors are biased by.

State (N = 11), in this order

    X, Y, psi     pose of the wheels' centre
    q0, q1, q2    slip: velocities (`SlipVelocities`), or rotation centres (`RotationCentres`)
    b_g, b_x, b_y biases of gyro and accelerometer
    u', v'        velocity of the IMU's place at the last accelerometer reading: an accelerometer tells a change since then

Between readings the body moves along an arc (`kinematic.along_arc`) and slip follows what is expected of it,

    q+ = e+ + exp(-k dt) g (q - e) + noise,    g = sqrt(((h+)^2 + h_0^2) / (h^2 + h_0^2))

so that with the expected slip e = 0 and k = 0 slip *ratios* stay as they are while rim speeds change, nothing is divided by
a rim speed of zero, and it does not matter in which steps h changes. The noise of q has the variance per second

    a^2 + (b h)^2 + c^2 max(d^2 - d_0^2, 0) / T,    d = D - L D,    D = h - L h,    L x lags behind x: T (L x)' = x - L x

where d is by how much h departs from a steady ramp: where rims jump, wheels need traction, and a speed that is a mean over some
time is told wrongly. Half of the noise enters before the motion and half after, which is the trapezoid of its integral.

Symbols    h speed that a slip is proportional to (m/s) · h_0 `CARRY_FLOOR_MPS` · T `STEADY_S` · a, b, c, d_0 `SlipNoise` ·
           k 1 / correlation time
Reference  [BarShalom2001] (filter, gate, consistency); equations and observability: derived in docs/theory/estimation
Valid for  planar motion; readings of one event independent of each other
"""

from math import cos, exp, expm1, isfinite, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from slipfit.kernels import compiled, part
from slipfit.vehicles.kinematic import along_arc
from slipfit.vehicles.slip_motion import imu_velocity, slip_twist

#: Places in the state.
X, Y, PSI, Q, BIAS_G, BIAS_X, BIAS_Y, U_THEN, V_THEN, N = 0, 1, 2, 3, 6, 7, 8, 9, 10, 11

#: Kinds of events.
NOTHING, POSE, GYRO, ACCELEROMETER, ANCHOR, VELOCITY, COURSE = 0, 1, 2, 3, 4, 5, 6

#: What became of a reading.
USED, SKIPPED, GATED, RELOCATED = 0, 1, 2, 3

#: Well below this speed (m/s) slip is not carried in proportion to the rims: a ratio means nothing there.
CARRY_FLOOR_MPS = 0.1

#: Rims that change within this time (s) jump. It is that over which speeds are told as means (`logs.rims`).
STEADY_S = 0.1

#: Steps below this share of that time are integrated by three points of Gauss, exact to the fifth power, not in closed form.
_SHORT = 0.1
_GAUSS = ((0.5 - 0.15**0.5, 5.0 / 18.0), (0.5, 4.0 / 9.0), (0.5 + 0.15**0.5, 5.0 / 18.0))

#: Ceiling of variances: (100 m)^2, (100 m/s)^2. A filter without readings for an hour stays finite.
LARGEST_VARIANCE = 1e4

#: No sensor says numbers beyond this; squares of larger ones overflow.
LARGEST_READING = 1e9

#: Limits of the factor on the slip's noise.
LEAST_FACTOR, LARGEST_FACTOR = 1e-2, 1e4

#: So many readings in a row that the gate refuses are no outliers (one in 10^12 at its usual level, were errors independent): the
#: robot lost its grip or was carried away, or the map jumped.
PATIENCE = 3

#: Of a gyro, which speaks more often and shakes: a tenth of a second at 100 Hz, no time for more than one jolt.
GYRO_PATIENCE = 10

#: Slip is then believed as little as after so many seconds without a reading: enough for a robot that gets stuck at any speed.
LOST_S = 100.0

#: Columns of a filter's record: state, its standard deviations, twist (u, v, r) and its own, then normalised innovation squared,
#: number of readings in it, what became of them, factor on the slip's noise.
RECORD = 2 * N + 6 + 4
FATE, FACTOR = 2 * N + 8, 2 * N + 9

#: Columns of an event's inputs, and where in them begins what `run` fills: L h and L D.
INPUTS, LAGGED_SPEED, LAGGED_AWAY = 15, 9, 12

#: Length of a run's book, where the inputs begin in it, and the time of what has not happened.
BOOK, AT_INPUTS, NEVER = 6 + INPUTS, 6, -1e300


class SlipNoise(NamedTuple):
    """How slip and biases move; arrays have one entry for each slip."""

    floor: Any  # (3,) a^2: variance per second at any speed
    share: Any  # (3,) b^2: and for each (m/s)^2 of speed
    change: Any  # (3,) c^2: for each (m/s)^2 by which the speed departs from a steady ramp
    usual: float  # (m/s)^2, d_0^2: departures below are the noise of what rims are told by
    decay_per_s: Any  # (3,) k
    place: float  # m^2/s, of the pose itself
    heading: float  # rad^2/s
    gyro_bias: float  # (rad/s)^2/s
    accel_bias: float  # (m/s^2)^2/s
    is_carried: float  # 1.0: slip in proportion to speed; 0.0: as it is
    adapt: float  # gain of the factor on the slip's noise; 0.0 keeps it
    gate: Any  # (4,) largest normalised innovation squared of 0, 1, 2, 3 readings


@part
def _carry(noise, before, after):
    """g: by how much a slip grows with the speed that it is proportional to, the same however the time is cut."""
    floor = CARRY_FLOOR_MPS * CARRY_FLOOR_MPS
    grown = sqrt((after * after + floor) / (before * before + floor))
    return grown if noise.is_carried != 0.0 else 1.0


@compiled(nogil=True)
def follow(before, after, dt):
    """Fill L h and L D of `after`, in place: exact for a step of any length along which h runs straight.

    With tau = dt / T, E = exp(-tau) and m = (1 - E) / tau: (L h)+ = h+ - m (h+ - h) - D E and (L D)+ = (m - E) (h+ - h) +
    (L D + D tau) E. Readings may be a nanosecond apart, where slopes of h mean nothing and differences do.
    """
    tau = dt / STEADY_S
    keep, mean = exp(-tau), -expm1(-tau) / tau
    for j in range(3):
        change, away = after[3 + j] - before[3 + j], before[3 + j] - before[LAGGED_SPEED + j]
        after[LAGGED_SPEED + j] = after[3 + j] - mean * change - away * keep
        after[LAGGED_AWAY + j] = (mean - keep) * change + (before[LAGGED_AWAY + j] + away * tau) * keep


@part
def _departure(inputs, j):
    """d: zero at any constant acceleration."""
    return inputs[3 + j] - inputs[LAGGED_SPEED + j] - inputs[LAGGED_AWAY + j]


@part
def _mean_departure(before, after, j, dt):
    """Mean of d^2 over a step along which h runs straight, the integral of (exp(-tau x) (p + b x))^2 for x from 0 to 1: whichever
    readings cut the time between two readings of the rims, pieces add up to the same."""
    tau = dt / STEADY_S
    p = _departure(before, j)
    b = after[3 + j] - before[3 + j] - (before[3 + j] - before[LAGGED_SPEED + j]) * tau
    if tau < _SHORT:
        # The closed form is a difference of large numbers there.
        total = 0.0
        for x, weight in _GAUSS:
            value = exp(-tau * x) * (p + b * x)
            total += weight * value * value
        return total
    q, end = b / tau, p + b
    total = 2.0 * p * (p + q) + q * q - exp(-2.0 * tau) * (2.0 * end * (end + q) + q * q)
    return max(0.25 * total / tau, 0.0)


@part
def _slip_rate(noise, scale, dt, before, after, j):
    """Variance per second of a slip, on average over a step."""
    speed = 0.5 * (before[3 + j] + after[3 + j])
    away = _mean_departure(before, after, j, dt)
    return scale * (noise.floor[j] + noise.share[j] * speed * speed) + noise.change[j] * max(away - noise.usual, 0.0) / STEADY_S


@part
def _add_half_of_the_noise(noise, cov, rates, dt):
    half = 0.5
    cov[Q, Q] += half * rates[0] * dt
    cov[Q + 1, Q + 1] += half * rates[1] * dt
    cov[Q + 2, Q + 2] += half * rates[2] * dt
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
    before, after : (INPUTS,), at both ends: rim speeds, speeds that slips are proportional to, expected slips, L h and L D; three
        of each
    slopes : (N, N), filled with the transition's slopes; where a variance is at its ceiling they shrink with it, so that what
        comes later tells no more about the past than the covariance admits
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
    rates = (
        _slip_rate(noise, scale, dt, before, after, 0),
        _slip_rate(noise, scale, dt, before, after, 1),
        _slip_rate(noise, scale, dt, before, after, 2),
    )
    _add_half_of_the_noise(noise, cov, rates, dt)
    _transform(cov, slopes)
    _add_half_of_the_noise(noise, cov, rates, dt)
    for i in range(N):
        if cov[i, i] > LARGEST_VARIANCE:  # shrink row and column alike: the matrix stays one of a covariance
            shrink = (LARGEST_VARIANCE / cov[i, i]) ** 0.5
            for k in range(N):
                cov[i, k] *= shrink
                slopes[i, k] *= shrink
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
def is_usable(value, std):
    return (abs(value) < LARGEST_READING) & (std > 0.0) & (std < LARGEST_READING)  # False for NaN


@part
def _wrapped(angle):
    return angle - 2.0 * pi * np.floor((angle + pi) / (2.0 * pi))


@compiled(nogil=True)
def expect(model, kind, i, state, rims, since_s, h):
    """What reading i of an event is expected to be; its slopes go to h."""
    h[:] = 0.0
    if kind == POSE:
        h[i] = 1.0
        return state[i]
    twist, d = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
    u, v, r = twist
    if kind == ACCELEROMETER:
        (up, vp), dp = imu_velocity(model, twist, d)
        now, then, place = (up, state[U_THEN], U_THEN) if i == 0 else (vp, state[V_THEN], V_THEN)
        per = 1.0 / since_s
        centripetal = -vp * r if i == 0 else up * r
        for j in range(3):
            turning = -(vp * d[6 + j] + r * dp[3 + j]) if i == 0 else up * d[6 + j] + r * dp[j]
            h[Q + j] = dp[3 * i + j] * per + turning
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
    """u', v' become the velocity of the IMU's place now."""
    twist, slopes = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
    (state[U_THEN], state[V_THEN]), d = imu_velocity(model, twist, slopes)
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
        if is_usable(values[i], stds[i]):
            state[i] = values[i]
            for k in range(N):
                cov[i, k] = 0.0
                cov[k, i] = 0.0
            cov[i, i] = stds[i] * stds[i]


@part
def course_slopes(model, state, rims):
    """-da / dq, of the angle a = atan2(v, u) at which the robot goes."""
    (u, v, _), d = slip_twist(model, rims[0], rims[1], rims[2], state[Q], state[Q + 1], state[Q + 2])
    per = 1.0 / max(u * u + v * v, CARRY_FLOOR_MPS * CARRY_FLOOR_MPS)
    return (v * d[0] - u * d[3]) * per, (v * d[1] - u * d[4]) * per, (v * d[2] - u * d[5]) * per


@compiled(nogil=True)
def _start_by_course(model, state, cov, values, stds, rims):
    """A pose whose heading is a course less the angle a at which the robot goes by what is known of its slip: it errs with that.

    e_psi = e_course - sum_j (da / dq_j) e_j,    a = atan2(v, u)
    """
    _anchor(state, cov, values, stds)
    a0, a1, a2 = course_slopes(model, state, rims)
    for k in range(N):
        cov[PSI, k] = a0 * cov[Q, k] + a1 * cov[Q + 1, k] + a2 * cov[Q + 2, k]
    for k in range(N):
        cov[k, PSI] = a0 * cov[k, Q] + a1 * cov[k, Q + 1] + a2 * cov[k, Q + 2]
    cov[PSI, PSI] += stds[PSI] * stds[PSI]


@part
def _is_lost(kind, refused):
    """Whether so many refusals in a row are no outliers; those of an accelerometer always may be."""
    return ((kind == POSE) | (kind == VELOCITY)) & (refused >= PATIENCE) | ((kind == GYRO) & (refused >= GYRO_PATIENCE))


@compiled(nogil=True)
def open_up(noise, state, cov, kind, values, stds, rims, h):
    """Believe what was known as little as readings ask for that the gate refused again and again.

    A pose opens itself and slip, a velocity slip; a gyro opens slip only along h, the slopes of the yaw rate: P += V n n^T with
    n = h / |h| and V the variance along n, so that what it cannot tell stays as it was.
    """
    if kind == POSE:
        for i in range(3):
            if is_usable(values[i], stds[i]):
                apart = values[i] - state[i]
                apart = _wrapped(apart) if i == PSI else apart
                cov[i, i] += min(apart * apart, LARGEST_VARIANCE)
    along, size = 0.0, 1e-300
    for j in range(3):
        variance = LOST_S * (noise.floor[j] + noise.share[j] * rims[3 + j] * rims[3 + j])
        along += variance * h[Q + j] * h[Q + j]
        size += h[Q + j] * h[Q + j]
        if kind != GYRO:
            cov[Q + j, Q + j] += variance
    if kind == GYRO:
        for j in range(3):
            for m in range(3):
                cov[Q + j, Q + m] += along / size * h[Q + j] * h[Q + m] / size


@compiled(nogil=True)
def update(model, noise, state, cov, kind, values, stds, rims, since_s, refused, work):
    """Use up to three readings, in place: (normalised innovation squared, readings in it, what became of them).

    A reading that is not finite, or whose standard deviation is not a positive number, is left out. If all of them together are
    farther from what was expected than the gate allows, nothing changes. After `PATIENCE` refusals in a row the pose is believed
    again, with the spread that the difference asks for, and slip is open for anything (`LOST_S`); so it is after as many of a
    velocity, and for turning alone after `GYRO_PATIENCE` of a gyro, which tells nothing about the way ahead.

    Parameters
    ----------
    since_s : seconds since the last accelerometer reading; not above zero for the first one
    refused : how many readings of this kind in a row the gate refused before
    work : (N + 3, N), scratch: old covariance, old state, slopes, gains
    """
    if kind == ANCHOR:
        _anchor(state, cov, values, stds)
        return 0.0, 0.0, USED
    if kind == COURSE:
        _start_by_course(model, state, cov, values, stds, rims)
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
        if _is_lost(kind, refused):
            open_up(noise, state, cov, kind, values, stds, rims, work[N + 1])
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


@part
def most_readings(kind):
    """How many numbers an event of a kind may tell."""
    return 1 if kind == GYRO else 2 if kind == ACCELEROMETER else 3


@compiled(nogil=True)
def use_reading(model, state, cov, kind, i, values, stds, rims, since_s, h, column):
    """Use reading i of an event: (innovation, one by its variance); its slopes go to h, P h to `column`."""
    expected = expect(model, kind, i, state, rims, since_s, h)
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
    for k in range(N):
        gain = column[k] * per
        state[k] += gain * apart
        for m in range(N):
            cov[k, m] -= gain * column[m]
    return apart, per


@compiled(nogil=True)
def _innovated(model, state, cov, kind, values, stds, rims, since_s, h, column):
    """Readings one after another: the same as all at once, because their errors are independent."""
    nis, count = 0.0, 0.0
    for i in range(most_readings(kind)):
        if is_usable(values[i], stds[i]):
            apart, per = use_reading(model, state, cov, kind, i, values, stds, rims, since_s, h, column)
            nis += apart * apart * per
            count += 1.0
    for i in range(N):
        cov[i, i] = max(cov[i, i], 0.0)
    return nis, count, USED if count > 0.0 else SKIPPED


@compiled(nogil=True)
def write_row(model, state, cov, rims, nis, count, fate, scale, out):
    """One row of the record."""
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
    out[2 * N + 6], out[2 * N + 7], out[FATE], out[FACTOR] = nis, count, fate, scale


@compiled(nogil=True)
def run(model, noise, time_s, kinds, values, stds, inputs, state, cov, book, out, states, covs):
    """All events in their order; returns how many were behind the one before (they are used where the filter stands).

    Parameters
    ----------
    time_s, kinds : (n,), events in order of time
    values, stds : (n, 3), readings and their standard deviations
    inputs : (n, INPUTS), as `predict` takes them, at each event; L h and L D are filled here
    state, cov : (N,), (N, N), at `book[0]`; changed
    book : (BOOK,): time, factor on the slip's noise, time of the last accelerometer reading (`NEVER`: none), refusals in a row of
        poses, of gyro and of velocities, inputs of the last event; changed, so that a run can be continued
    out : (n, RECORD)
    states, covs : (n, N), (n, N, N) after each event, for the smoother; of no length where it is not wanted
    """
    slopes, work = np.empty((N, N)), np.empty((N + 3, N))
    before = book[AT_INPUTS:]
    late = 0
    for k in range(len(time_s)):
        dt = time_s[k] - book[0]
        late += dt < 0.0
        inputs[k, LAGGED_SPEED:] = before[LAGGED_SPEED:]
        if dt > 0.0:
            follow(before, inputs[k], dt)
            predict(model, noise, state, cov, book[1], dt, before, inputs[k], slopes)
            book[0] = time_s[k]
        before[:] = inputs[k]
        nis, count, fate = 0.0, 0.0, SKIPPED
        kind = kinds[k]
        if kind != NOTHING:
            since = book[0] - book[2] if book[2] > NEVER else 0.0
            line = 3 if kind == POSE else 4 if kind == GYRO else 5
            nis, count, fate = update(model, noise, state, cov, kind, values[k], stds[k], inputs[k], since, book[line], work)
            if kind == ACCELEROMETER:
                book[2] = book[0]
            if (kind == POSE) | (kind == GYRO) | (kind == VELOCITY):
                book[line] = book[line] + 1.0 if fate == GATED else 0.0
            if (kind == POSE) & (noise.adapt > 0.0) & (fate == USED):
                # The factor rises while innovations are larger than their covariance, and falls while they are smaller.
                surprise = min(nis / count, 4.0) - 1.0
                book[1] = min(max(book[1] * exp(noise.adapt * surprise), LEAST_FACTOR), LARGEST_FACTOR)
        write_row(model, state, cov, inputs[k], nis, count, fate, book[1], out[k])
        if len(states):
            states[k] = state
            covs[k] = cov
    return late
