"""The compiled slip filter: slopes, the linear case against another library, consistency, gate, ceilings, bad readings."""

from itertools import pairwise

import numpy as np
import pytest
from filterpy.kalman import KalmanFilter
from scipy.stats import chi2

from slipfit.estimation.settings import FilterSettings
from slipfit.vehicles import slip_filter as f
from slipfit.vehicles.kinematic import along_arc
from slipfit.vehicles.slip_filter import AT_INPUTS, BOOK, NEVER, RECORD, N
from slipfit.vehicles.slip_motion import RotationCentres, SlipVelocities
from slipfit.vehicles.slip_smoother import smooth

TRACK = 0.34
SIDES = SlipVelocities(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [-1.0 / TRACK, 1.0 / TRACK, 0.0]]))
BODY = SlipVelocities(np.eye(3))
NO_GATE = np.full(4, np.inf)


def noise(**changes):
    plain = f.SlipNoise(
        np.full(3, 1e-4), np.full(3, 4e-4), np.zeros(3), 0.0, np.zeros(3), 1e-8, 1e-8, 0.0, 0.0, 1.0, 0.0, NO_GATE
    )  # fmt: skip
    return plain._replace(**changes)


def inputs(left, right):
    """Rims of two sides that never moved otherwise, and nothing expected of slip."""
    speeds = (left, right, 0.5 * (left + right))
    return np.array([left, right, 0.0, *speeds, 0.0, 0.0, 0.0, *speeds, 0.0, 0.0, 0.0])


def ran(model, noise, time_s, kinds, values, stds, rows, state, cov, keep=False):
    n = len(time_s)
    book = np.zeros(BOOK)
    book[0], book[1], book[2], book[AT_INPUTS:] = 0.0, 1.0, NEVER, rows[0]
    out, states, covs = np.empty((n, RECORD)), np.empty((n if keep else 0, N)), np.empty((n if keep else 0, N, N))
    f.run(model, noise, time_s, kinds, values, stds, rows, state, cov, book, out, states, covs)
    return out, states, covs, book


@pytest.mark.parametrize("model", [SIDES, RotationCentres(0.02, 0.9, 0.95)], ids=["slip velocities", "rotation centres"])
def test_slopes_of_the_prediction_are_those_of_its_differences(model):
    """Central differences of the predicted state; the arc's heading is taken at its middle, which is off by (r dt)^2 / 24."""
    state = np.array([0.3, -0.2, 0.4, 0.05, -0.03, 0.02, 0.01, 0.1, 0.0, 0.4, 0.0])
    if isinstance(model, RotationCentres):
        state[3:6] = 0.25, -0.22, 0.03
    plain = noise(decay_per_s=np.full(3, 0.3))
    before, after, slopes, dt = inputs(0.5, 0.7), inputs(0.55, 0.72), np.empty((N, N)), 0.05
    f.predict(model, plain, state.copy(), np.zeros((N, N)), 1.0, dt, before, after, slopes)
    for k in range(N):
        ends = []
        for step in (1e-6, -1e-6):
            moved = state.copy()
            moved[k] += step
            f.predict(model, plain, moved, np.zeros((N, N)), 1.0, dt, before, after, np.empty((N, N)))
            ends.append(moved)
        assert slopes[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=2e-5)


def linear_case(rims, steps=60, seed=3):
    """Place and slip velocity along x and y of a body that does not turn: heading and its slip are known."""
    draw, dt, q, sigma = np.random.default_rng(seed), 0.1, np.array([1e-3, 2e-3]), 0.01
    time_s = np.arange(1, steps + 1) * dt
    slip, place, seen = np.array([0.05, -0.02]), np.zeros(2), []
    for _ in range(steps):
        half = draw.normal(size=(2, 2)) * np.sqrt(0.5 * q * dt)
        place = place + (rims - slip - half[0]) * dt
        slip = slip + half.sum(axis=0)
        seen.append(place + sigma * draw.normal(size=2))
    return dt, q, sigma, time_s, np.array(seen)


def ours_and_theirs(rims):
    dt, q, sigma, time_s, seen = linear_case(rims)
    n = len(time_s)
    plain = noise(floor=np.array([*q, 0.0]), share=np.zeros(3), place=0.0, heading=0.0, is_carried=0.0)
    rows = np.tile([*rims, 0.0, *rims, 0.0, 0.0, 0.0, 0.0, *rims, 0.0, 0.0, 0.0, 0.0], (n, 1))
    values, stds = np.column_stack([seen, np.full(n, np.nan)]), np.tile([sigma, sigma, np.nan], (n, 1))
    cov = np.diag([1e-4, 1e-4, 0.0, 0.01, 0.01, 0.0, *np.zeros(5)])
    out, states, covs, _ = ran(BODY, plain, time_s, np.full(n, f.POSE), values, stds, rows, np.zeros(N), cov, keep=True)
    back = np.empty_like(out)
    smooth(BODY, plain, time_s, np.full(n, f.POSE), values, stds, rows, out, states, covs, back, np.empty((0, N, N)))
    theirs = KalmanFilter(dim_x=4, dim_z=2, dim_u=2)
    theirs.F = np.block([[np.eye(2), -dt * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
    theirs.B, theirs.H = np.vstack([dt * np.eye(2), np.zeros((2, 2))]), np.eye(2, 4)
    half = np.diag([0.0, 0.0, *(0.5 * q * dt)])
    theirs.Q, theirs.R = theirs.F @ half @ theirs.F.T + half, sigma**2 * np.eye(2)
    theirs.x, theirs.P = np.zeros((4, 1)), np.diag([1e-4, 1e-4, 0.01, 0.01])
    xs, ps = [], []
    for z in seen:
        theirs.predict(u=rims[:, None])
        theirs.update(z[:, None])
        xs.append(theirs.x.copy())
        ps.append(theirs.P.copy())
    smoothed, spreads, *_ = theirs.rts_smoother(np.array(xs), np.array(ps))
    return out, back, np.array(xs)[:, :, 0], np.array(ps), smoothed[:, :, 0], spreads


def test_a_linear_case_is_that_of_another_library():
    """filterpy's KalmanFilter: the same numbers to rounding, states and spreads."""
    out, _, xs, ps, _, _ = ours_and_theirs(np.array([0.5, 0.1]))
    at = [0, 1, 3, 4]
    assert out[:, at] == pytest.approx(xs, rel=1e-9, abs=1e-12)
    assert out[:, [N + k for k in at]] == pytest.approx(np.sqrt(ps[:, range(4), range(4)]), rel=1e-9)


def test_the_smoother_is_that_of_another_library():
    """filterpy's rts_smoother, which knows no inputs: rims stand. The ridge of our solver is 1e-12 of the variances."""
    _, back, _, _, smoothed, spreads = ours_and_theirs(np.zeros(2))
    at = [0, 1, 3, 4]
    assert back[:, at] == pytest.approx(smoothed, rel=1e-6, abs=1e-9)
    assert back[:, [N + k for k in at]] == pytest.approx(np.sqrt(spreads[:, range(4), range(4)]), rel=1e-6)


def drawn_drive(draw, plain, steps, dt, cov0, sigma):
    """A drive whose truth is drawn from the filter's own noise: half before each step's motion, half after."""
    q = draw.normal(size=3) * np.sqrt(np.diag(cov0)[3:6])
    pose = draw.normal(size=3) * np.sqrt(np.diag(cov0)[:3])
    rows, truth, seen, old = [], [], [], None
    for k in range(steps):
        t = k * dt
        new = inputs(0.5 + 0.2 * np.sin(0.4 * t), 0.6 + 0.2 * np.cos(0.3 * t))
        if old is not None:
            speed = 0.5 * (old[3:6] + new[3:6])
            std = np.sqrt(0.5 * dt * (plain.floor + plain.share * speed**2))
            carry = np.hypot(new[3:6], f.CARRY_FLOOR_MPS) / np.hypot(old[3:6], f.CARRY_FLOOR_MPS)
            q = q + std * draw.normal(size=3)
            after = carry * q
            twist = SIDES.into_twist @ (0.5 * (old[:3] + new[:3]) - 0.5 * (q + after))
            half = np.sqrt(0.5 * dt * np.array([plain.place, plain.place, plain.heading]))
            pose = pose + half * draw.normal(size=3)
            pose = np.array(along_arc(*pose, *twist, dt)) + half * draw.normal(size=3)
            q = after + std * draw.normal(size=3)
        old = new
        rows.append(new)
        truth.append([*pose, *q])
        seen.append(pose + sigma * draw.normal(size=3))
    return np.array(rows), np.array(truth), np.array(seen)


def test_errors_are_as_large_as_the_filter_says():
    """Normalised estimation error squared, mean of 200 drives drawn from the filter's own Q and P0: chi-square with 6 x 200
    degrees of freedom over 200 at any moment, and 95 % of such means lie in its band. Moments a second apart are nearly
    independent: of 20 of them at most 3 are outside with a probability of 98 %."""
    draw, plain, steps, dt, drives = np.random.default_rng(11), noise(), 401, 0.05, 200
    sigma = np.array([0.002, 0.002, 0.002])
    cov0 = np.diag([1e-6, 1e-6, 1e-6, 2.5e-3, 2.5e-3, 2.5e-3, *np.zeros(5)])
    moments = np.arange(20, steps, 20)
    total = np.zeros(len(moments))
    for _ in range(drives):
        rows, truth, seen = drawn_drive(draw, plain, steps, dt, cov0, sigma)
        time_s, stds = np.arange(steps) * dt, np.tile(sigma, (steps, 1))
        kinds = np.full(steps, f.POSE)
        _, states, covs, _ = ran(SIDES, plain, time_s, kinds, seen, stds, rows, np.zeros(N), cov0.copy(), keep=True)
        for j, k in enumerate(moments):
            apart = states[k, :6] - truth[k]
            total[j] += apart @ np.linalg.solve(covs[k, :6, :6], apart)
    low, high = chi2.ppf([0.025, 0.975], 6 * drives) / drives
    means = total / drives
    assert ((means < low) | (means > high)).sum() <= 3
    assert low < means.mean() < high


def noise_of(speeds, dt):
    """Variance of the left side's slip that a run along rim speeds, alike on both sides, adds with c = 1 alone."""
    rows, n = np.array([inputs(w, w) for w in speeds]), len(speeds)
    alone = noise(floor=np.zeros(3), share=np.zeros(3), change=np.ones(3), is_carried=0.0)
    none = np.full((n, 3), np.nan)
    out, *_ = ran(SIDES, alone, np.arange(n) * dt, np.zeros(n, dtype=int), none, none, rows, np.zeros(N), np.zeros((N, N)))
    return out[:, N + 3] ** 2


@pytest.mark.parametrize("dt", [0.002, 0.01, 0.02, 0.05, 0.2])
def test_slip_is_doubted_where_rims_change_their_acceleration(dt):
    """Rims that begin to gather speed at a depart by d = a t exp(-t / T) from a steady ramp, so that the variance grows by
    the integral of d^2 / T = a^2 T^2 / 4, whatever the steps are; and not any more while a stays. Steps end where
    the ramp begins, so that nothing is lost in any."""
    a, time_s = 1.5, np.arange(0.0, 2.0, dt)
    added = noise_of(a * time_s, dt)
    assert added[-1] == pytest.approx(a**2 * f.STEADY_S**2 / 4.0, rel=1e-6)
    late = time_s > 1.0
    assert added[late][-1] - added[late][0] < 1e-6 * added[-1]


def test_a_jump_that_is_half_told_is_doubted_as_much_as_it_errs_with_two():
    """A speed that is told as a mean over T errs by a twelfth of a jump squared, on average over that time. In the middle of it
    the variance is c^2 (1/4 - 5/8 exp(-1)) of the jump squared, the integral of x^2 exp(-2 x) from 0 to 1/2; c = 2 is within 4 %
    of what makes both the same."""
    dt, jump = 0.001, 0.4
    time_s = np.arange(0.0, 0.3, dt)
    added = noise_of(jump * np.clip((time_s - 0.1) / f.STEADY_S, 0.0, 1.0), dt)
    half = np.interp(0.15, time_s, added)
    assert half == pytest.approx(jump**2 * (0.25 - 0.625 * np.exp(-1.0)), rel=0.02)
    assert FilterSettings().slip_change ** 2 * half == pytest.approx(jump**2 / 12.0, rel=0.05)


def test_departures_below_the_noise_of_the_rims_say_nothing():
    speeds = 0.5 + 0.02 * np.sign(np.sin(0.7 * np.arange(400)))
    rows, n = np.array([inputs(w, w) for w in speeds]), len(speeds)
    none, spreads = np.full((n, 3), np.nan), {}
    for usual in (0.0, 0.06**2):
        plain = noise(change=np.full(3, 4.0), usual=usual, is_carried=0.0)
        cov = np.zeros((N, N))
        out, *_ = ran(SIDES, plain, np.arange(n) * 0.02, np.zeros(n, dtype=int), none, none, rows, np.zeros(N), cov)
        spreads[usual] = out[-1, N + 3]
    walk = 1e-4 + 4e-4 * 0.5**2  # per second, for 8 s
    assert spreads[0.06**2] == pytest.approx((8.0 * walk) ** 0.5, rel=0.01)
    assert spreads[0.0] > 3.0 * spreads[0.06**2]


def test_a_reading_beyond_the_gate_changes_nothing_and_a_lasting_jump_is_followed():
    plain = noise(gate=np.array([np.inf, *chi2.ppf(0.999, [1, 2, 3])]))
    n = 40
    values = np.zeros((n, 3))
    values[5] = 3.0, 0.0, 0.0  # one outlier
    values[20:] = 5.0, 1.0, 0.0  # the map jumped
    rows = np.tile(inputs(0.0, 0.0), (n, 1))
    cov = np.diag([1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, *np.zeros(5)])
    stds, time_s = np.full((n, 3), 0.01), np.arange(n) * 0.1
    out, *_ = ran(SIDES, plain, time_s, np.full(n, f.POSE), values, stds, rows, np.zeros(N), cov)
    fates = out[:, 2 * N + 8]
    assert fates[5] == f.GATED
    assert abs(out[5, 0]) < 0.05
    assert f.RELOCATED in fates[20:32]
    assert out[-1, :2] == pytest.approx([5.0, 1.0], abs=0.1)


def test_headings_of_another_turn_and_far_places_are_the_same_readings():
    """A pose sensor may count headings beyond half a turn, and be far away: a turn of 2 pi is none, 10 m are 10 m."""
    n = 30
    rows, stds, kinds = np.tile(inputs(0.0, 0.0), (n, 1)), np.full((n, 3), 0.01), np.full(n, f.POSE)
    cov = np.diag([100.0, 100.0, *np.full(4, 1e-4), *np.zeros(5)])
    values = np.tile([0.0, 10.0, 0.1], (n, 1))
    near, *_ = ran(SIDES, noise(), np.arange(n) * 0.1, kinds, values, stds, rows, np.zeros(N), cov.copy())
    turned = values + np.array([0.0, 0.0, 2.0 * np.pi])
    other, *_ = ran(SIDES, noise(), np.arange(n) * 0.1, kinds, turned, stds, rows, np.zeros(N), cov.copy())
    assert near[-1, :3] == pytest.approx([0.0, 10.0, 0.1], abs=0.01)
    assert other[-1, :2] == pytest.approx(near[-1, :2], abs=1e-9)
    assert np.cos(other[-1, 2] - near[-1, 2]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_no_reading_makes_the_filter_forget_what_numbers_are(bad):
    n = 30
    values = np.zeros((n, 3))
    values[10:20] = bad
    rows, time_s = np.tile(inputs(0.5, 0.5), (n, 1)), np.arange(n) * 0.1
    values[:, 0] += 0.5 * time_s
    for kind in (f.POSE, f.GYRO, f.ACCELEROMETER, f.VELOCITY, f.ANCHOR):
        cov = np.diag([1e-4] * 9 + [0.0, 0.0])
        out, *_ = ran(SIDES, noise(), time_s, np.full(n, kind), values, np.full((n, 3), 0.1), rows, np.zeros(N), cov)
        assert np.isfinite(out).all(), kind


def test_standard_deviations_that_are_none_leave_a_reading_out():
    n = 5
    rows, time_s = np.tile(inputs(0.5, 0.5), (n, 1)), np.arange(n) * 0.1
    for std in (0.0, -1.0, np.nan, np.inf):
        cov = np.diag([1e-4] * 6 + [0.0] * 5)
        out, *_ = ran(SIDES, noise(), time_s, np.full(n, f.POSE), np.ones((n, 3)), np.full((n, 3), std), rows, np.zeros(N), cov)
        assert (out[:, 2 * N + 8] == f.SKIPPED).all()


def test_spreads_stay_finite_through_a_day_without_readings():
    n = 20
    rows = np.tile(inputs(3.0, 3.0), (n, 1))
    cov = np.diag([1e-4] * 9 + [0.0, 0.0])
    none = np.full((n, 3), np.nan)
    out, *_ = ran(SIDES, noise(), np.arange(n) * 4320.0, np.zeros(n, dtype=int), none, none, rows, np.zeros(N), cov)
    assert np.isfinite(out).all()
    assert out[:, N : 2 * N].max() <= 100.0 + 1e-9


def test_noise_adapts_to_slip_that_moves_more_than_was_supposed():
    """Slip swings by 0.3 m/s; the supposed noise allows a hundredth of that. With the factor innovations are as they should."""
    n, dt = 600, 0.05
    t = np.arange(n) * dt
    slip = 0.15 * np.sin(1.5 * t)
    x = np.concatenate([[0.0], np.cumsum((0.6 - 0.5 * (slip[1:] + slip[:-1])) * dt)])
    draw = np.random.default_rng(2)
    values = np.column_stack([x, np.zeros(n), np.zeros(n)]) + 0.002 * draw.normal(size=(n, 3))
    rows, means = np.tile(inputs(0.6, 0.6), (n, 1)), {}
    for adapt in (0.0, 0.05):
        cov = np.diag([1e-6, 1e-6, 1e-6, 1e-4, 1e-4, 1e-4, *np.zeros(5)])
        plain = noise(floor=np.full(3, 1e-5), share=np.zeros(3), adapt=adapt)
        out, *_ = ran(SIDES, plain, t, np.full(n, f.POSE), values, np.full((n, 3), 0.002), rows, np.zeros(N), cov)
        means[adapt] = out[200:, 2 * N + 6].mean() / 3.0
    assert means[0.0] > 3.0
    assert 0.6 < means[0.05] < 1.6


def test_a_run_continues_where_it_ended():
    """Ten events at once, or one after another with the book carried on: the same bits."""
    n = 10
    rows, time_s = np.array([inputs(0.5 + 0.01 * k, 0.6) for k in range(n)]), np.arange(n) * 0.1
    kinds = np.array([f.POSE, f.GYRO, f.ACCELEROMETER, f.POSE, f.NOTHING] * 2)
    values, stds = np.full((n, 3), 0.1), np.full((n, 3), 0.5)
    cov = np.diag([1e-2] * 9 + [0.0, 0.0])
    whole, *_ = ran(SIDES, noise(), time_s, kinds, values, stds, rows, np.zeros(N), cov.copy())
    state, book, row = np.zeros(N), np.zeros(BOOK), np.empty((1, RECORD))
    book[1], book[2], book[AT_INPUTS:] = 1.0, NEVER, rows[0]
    for k in range(n):
        one = slice(k, k + 1)
        f.run(SIDES, noise(), time_s[one], kinds[one], values[one], stds[one], rows[one], state, cov, book, row,
              np.empty((0, N)), np.empty((0, N, N)))  # fmt: skip
        assert row[0].tolist() == whole[k].tolist()


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_slip_grows_alike_with_the_rims_however_the_time_is_cut(steps):
    """From standing to 0.5 m/s: the slip and its spread grow as sqrt(h^2 + h_0^2), h_0 = 0.1 m/s, in any steps."""
    alone = noise(floor=np.zeros(3), share=np.zeros(3), place=0.0, heading=0.0)
    speeds = np.linspace(0.0, 0.5, steps + 1)
    state, cov, slopes = np.zeros(N), np.zeros((N, N)), np.empty((N, N))
    state[3], cov[3, 3] = 0.02, 1e-4
    for before, after in pairwise(speeds):
        f.predict(SIDES, alone, state, cov, 1.0, 1.0 / steps, inputs(before, before), inputs(after, after), slopes)
    assert state[3] == pytest.approx(0.02 * 26.0**0.5, rel=1e-9)
    assert cov[3, 3] ** 0.5 == pytest.approx(0.01 * 26.0**0.5, rel=1e-9)


def test_readings_a_nanosecond_apart_add_no_noise():
    """Rims that are read just after a pose jump by 0.1 m/s within 1e-9 s: d goes from 0 to 0.1, the mean of d^2 is a third of its
    square, and the variance grows by that over T, for a nanosecond: 3e-11 (m/s)^2."""
    alone = noise(floor=np.zeros(3), share=np.zeros(3), change=np.ones(3), place=0.0, heading=0.0, is_carried=0.0)
    state, cov, slopes = np.zeros(N), np.zeros((N, N)), np.empty((N, N))
    before, after = inputs(0.3, 0.3), inputs(0.4, 0.4)
    f.follow(before, after, 1e-9)
    f.predict(SIDES, alone, state, cov, 1.0, 1e-9, before, after, slopes)
    assert cov[3, 3] == pytest.approx(0.1**2 / 3.0 / 0.1 * 1e-9, rel=1e-6)
    assert after[f.LAGGED_SPEED] == pytest.approx(0.3, abs=1e-8)
    assert after[f.LAGGED_AWAY] == pytest.approx(0.0, abs=1e-8)
