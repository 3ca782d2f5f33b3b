"""The compiled smoother against a smoother after Rauch, Tung and Striebel that is written here, and against drawn drives."""

import numpy as np
import pytest
from scipy.stats import chi2

from slipfit.vehicles import slip_filter as f
from slipfit.vehicles.slip_filter import AT_INPUTS, BOOK, FATE, NEVER, RECORD, N, Q
from slipfit.vehicles.slip_motion import SlipVelocities
from slipfit.vehicles.slip_smoother import smooth

TRACK = 0.5
INTO_TWIST = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [-1.0 / TRACK, 1.0 / TRACK, 0.0]])
IMU = (0.2, -0.1)  # m, ahead and to the left
RIMS = np.array([0.5, 0.6, 0.0])
SPEEDS = np.array([0.5, 0.6, 0.55])  # of both sides, and their mean
GATE = np.array([np.inf, *chi2.ppf(0.9999, [1, 2, 3])])

#: Variances per second: of the slips at any speed and for each (m/s)^2, of place, heading and biases.
FLOOR, SHARE, PLACE, HEADING, GYRO_BIAS, ACCEL_BIAS = 1e-4, 4e-4, 1e-6, 1e-6, 1e-8, 1e-6
PER_SECOND = np.array([PLACE, PLACE, HEADING, *(FLOOR + SHARE * SPEEDS**2), GYRO_BIAS, ACCEL_BIAS, ACCEL_BIAS, 0.0, 0.0])
FIRST = np.diag([1e-4, 1e-4, 1e-4, 2.5e-3, 2.5e-3, 2.5e-3, 1e-4, 2.5e-3, 2.5e-3, 0.0, 0.0])
POSE_STD, GYRO_STD, ACCEL_STD, VELOCITY_STD = 0.005, 0.01, 0.1, 0.02
PATIENCE_OF = {f.POSE: 3, f.VELOCITY: 3, f.GYRO: 10}  # refusals in a row after which a reading is followed, and
LOST_S = 100.0  # so many seconds' noise is then added to slip: docs/theory/estimation


def twist(q):
    return INTO_TWIST @ (RIMS - q)


def imu_velocity(q):
    u, v, r = twist(q)
    return np.array([u - r * IMU[1], v + r * IMU[0]])


def drawn(seconds, seed, sensors, jump=None, lost=None):
    """Events (time, kind, values, stds, true slip) of a drive drawn from the noise above; sensors speak at different stamps, and
    some at the same. `jump` is (when, where to): the map's; `lost` (when, q): slip jumps by q."""
    draw, dt = np.random.default_rng(seed), 0.001
    n = round(seconds / dt)
    q = np.array([0.05, -0.05, 0.05]) * draw.normal(size=3)
    pose, biases, events, then = 0.01 * draw.normal(size=3), np.array([0.01, 0.05, 0.05]) * draw.normal(size=3), [], None
    walk = np.sqrt(PER_SECOND * dt)
    for i in range(n):
        t = i * dt
        if lost is not None and i == round(lost[0] / dt):
            q = q + lost[1]
        u, v, r = twist(q)
        if "pose" in sensors and i % 50 == 12:
            moved = 0.0 if jump is None or t < jump[0] else np.array(jump[1])
            events.append((t, f.POSE, pose + moved + POSE_STD * draw.normal(size=3), np.full(3, POSE_STD), q))
        if "velocity" in sensors and i % 50 == 30:
            events.append((t, f.VELOCITY, twist(q) + VELOCITY_STD * draw.normal(size=3), np.full(3, VELOCITY_STD), q))
        if "gyro" in sensors and i % 20 == 7:
            said = np.array([r + biases[0] + GYRO_STD * draw.normal(), np.nan, np.nan])
            events.append((t, f.GYRO, said, np.array([GYRO_STD, np.nan, np.nan]), q))
        if "accelerometer" in sensors and i % 20 == 12:
            now = imu_velocity(q)
            change = 0.0 if then is None else (now - then[1]) / (t - then[0])
            felt = change + r * np.array([-now[1], now[0]]) + biases[1:] + ACCEL_STD * draw.normal(size=2)
            events.append((t, f.ACCELEROMETER, np.array([*felt, np.nan]), np.array([ACCEL_STD, ACCEL_STD, np.nan]), q))
            then = (t, now)
        middle = pose[2] + 0.5 * r * dt
        c, s = np.cos(middle), np.sin(middle)
        pose = pose + dt * np.array([u * c - v * s, u * s + v * c, r]) + walk[:3] * draw.normal(size=3)
        q = q + walk[3:6] * draw.normal(size=3)
        biases = biases + walk[6:9] * draw.normal(size=3)
    return events


def columns(events):
    return (np.array([e[0] for e in events]), np.array([e[1] for e in events]),
            np.array([e[2] for e in events]), np.array([e[3] for e in events]))  # fmt: skip


def ours(events):
    """Forward record, smoothed record, smoothed covariances."""
    model = SlipVelocities(INTO_TWIST, *IMU)
    noise = f.SlipNoise(
        np.full(3, FLOOR), np.full(3, SHARE), np.zeros(3), 0.0, np.zeros(3), PLACE, HEADING, GYRO_BIAS, ACCEL_BIAS, 1.0, 0.0, GATE
    )
    stream, n = columns(events), len(events)
    rows = np.tile([*RIMS, *SPEEDS, 0.0, 0.0, 0.0, *SPEEDS, 0.0, 0.0, 0.0], (n, 1))
    book = np.zeros(BOOK)
    book[0], book[1], book[2], book[AT_INPUTS:] = events[0][0], 1.0, NEVER, rows[0]
    out, states, covs = np.empty((n, RECORD)), np.empty((n, N)), np.empty((n, N, N))
    f.run(model, noise, *stream, rows, np.zeros(N), FIRST.copy(), book, out, states, covs)
    back, back_covs = np.empty_like(out), np.empty_like(covs)
    smooth(model, noise, *stream, rows, out, states, covs, back, back_covs)
    return out, back, back_covs


def slopes_of(g, x):
    """Central differences."""
    steps = 1e-6 * np.eye(len(x))
    return np.column_stack([(g(x + step) - g(x - step)) / 2e-6 for step in steps])


def moved(x, dt):
    u, v, r = twist(x[3:6])
    a = r * dt
    chord = dt * np.sinc(0.5 * a / np.pi)
    c, s = np.cos(x[2] + 0.5 * a), np.sin(x[2] + 0.5 * a)
    return x + np.array([chord * (u * c - v * s), chord * (u * s + v * c), a, *np.zeros(8)])


def remembered(x):
    return np.array([*x[:9], *imu_velocity(x[3:6])])


def expected(kind, x, since_s):
    u, v, r = twist(x[3:6])
    if kind == f.POSE:
        return x[:3]
    if kind == f.GYRO:
        return np.array([r + x[6]])
    if kind == f.VELOCITY:
        return np.array([u, v, r])
    now = imu_velocity(x[3:6])
    return (now - x[9:11]) / since_s + r * np.array([-now[1], now[0]]) + x[7:9]


def updated(kind, x, cov, z, stds, since_s):
    """(x, cov, normalised innovation squared), one number after another, as docs/theory/estimation says."""
    total = 0.0
    for i in range(len(expected(kind, x, since_s))):
        h = slopes_of(lambda y, i=i: expected(kind, y, since_s)[i : i + 1], x)
        apart, size = z[i] - expected(kind, x, since_s)[i], float((h @ cov @ h.T)[0, 0]) + stds[i] ** 2
        gain = (cov @ h.T)[:, 0] / size
        left = np.eye(11) - np.outer(gain, h)
        x, cov = x + gain * apart, left @ cov @ left.T + stds[i] ** 2 * np.outer(gain, gain)
        total += apart**2 / size
    return x, cov, total


def opened(kind, x, cov, z):
    """The covariance after refusals: slip as after LOST_S without readings, along the yaw rate's slopes alone for a gyro."""
    cov, lost = cov.copy(), LOST_S * PER_SECOND[3:6]
    if kind == f.GYRO:
        n = -INTO_TWIST[2] / np.linalg.norm(INTO_TWIST[2])
        cov[3:6, 3:6] += (n @ np.diag(lost) @ n) * np.outer(n, n)
        return cov
    cov[3:6, 3:6] += np.diag(lost)
    if kind == f.POSE:
        cov[:3, :3] += np.diag((z - x[:3]) ** 2)
    return cov


def rauch_tung_striebel(events):
    """Smoothed states and covariances after each event. Steps are moves, with noise half before and half after, and memories of
    a velocity, without any; a gain is P F^T (F P F^T + Q)^-1, its inverse that of the part that has any variance."""
    x, cov, then, since, refused = np.zeros(11), FIRST.copy(), events[0][0], None, dict.fromkeys(PATIENCE_OF, 0)
    filtered, steps, at = [], [], []  # (x, P) after each step; (F, x, P) before its readings
    for t, kind, z, stds, _ in events:
        dt, then = t - then, t
        move = slopes_of(lambda y, dt=dt: moved(y, dt), x)
        half = np.diag(0.5 * dt * PER_SECOND)
        x, cov = moved(x, dt), move @ (cov + half) @ move.T + half
        if kind != f.ACCELEROMETER or since is not None:
            after = updated(kind, x, cov, z, stds, t - since if since is not None else None)
            readings = 1 if kind == f.GYRO else 2 if kind == f.ACCELEROMETER else 3
            if after[2] > GATE[readings]:
                if kind in PATIENCE_OF and refused[kind] >= PATIENCE_OF[kind]:
                    cov = opened(kind, x, cov, z)
                    after, refused[kind] = updated(kind, x, cov, z, stds, None), 0
                else:
                    after = (x, cov)
                    refused[kind] = refused.get(kind, 0) + 1
            else:
                refused[kind] = 0
        else:
            after = (x, cov)
        steps.append((move, x, cov))
        x, cov = after[:2]
        filtered.append((x, cov))
        if kind == f.ACCELEROMETER:
            memory = slopes_of(remembered, x)
            x, cov, since = remembered(x), memory @ cov @ memory.T, t
            steps.append((memory, x, cov))
            filtered.append((x, cov))
        at.append(len(filtered) - 1)
    found = [filtered[-1]]
    for k in range(len(filtered) - 2, -1, -1):
        slopes, ahead, spread = steps[k + 1]
        size = np.sqrt(np.maximum(np.diag(spread), 1e-30))
        inverse = np.linalg.pinv(spread / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(size, size)
        gain = filtered[k][1] @ slopes.T @ inverse
        later, later_cov = found[-1]
        found.append((filtered[k][0] + gain @ (later - ahead), filtered[k][1] + gain @ (later_cov - spread) @ gain.T))
    found.reverse()
    return np.array([found[k][0] for k in at]), np.array([found[k][1] for k in at])


JUMPS = {
    "no jump": {},
    "map jumps": {"jump": (2.0, (0.8, -0.6, 0.3))},
    "grip is lost": {"lost": (2.0, (0.4, 0.5, 0.0))},
    "turning is lost": {"lost": (2.0, (-0.3, 0.3, 0.0))},
}
SENSORS = (("pose",), ("pose", "gyro"), ("gyro", "accelerometer"), ("pose", "gyro", "accelerometer"), ("velocity", "gyro"))


@pytest.mark.parametrize("event", JUMPS)
@pytest.mark.parametrize("sensors", SENSORS, ids=" and ".join)
def test_smoothed_estimates_are_those_of_rauch_tung_and_striebel(sensors, event):
    """[BarShalom2001], all eleven states, written out above. Poses and accelerations have the same stamps, gyro and velocities
    others. Equal to two thousandths of their own spread: the arc's slopes are taken at its middle, off by (r dt)^2 / 24."""
    events = drawn(4.0, 5, sensors, **JUMPS[event])
    out, back, covs = ours(events)
    states, theirs = rauch_tung_striebel(events)
    is_seen = event in ("grip is lost", "turning is lost") or (event == "map jumps" and "pose" in sensors)
    assert (out[:, FATE] == f.RELOCATED).any() == is_seen
    spread = np.sqrt(theirs[:, range(9), range(9)])
    assert (np.abs(back[:, :9] - states[:, :9]) / spread).max() < 2e-3
    assert back[:, N : N + 9] == pytest.approx(spread, rel=2e-3)
    assert (np.abs(covs[:, :9, :9] - theirs[:, :9, :9]) / (spread[:, :, None] * spread[:, None, :])).max() < 4e-3


def test_smoothed_errors_with_an_accelerometer_are_as_large_as_the_smoother_says():
    """Mean normalised error squared of slip is 1 [BarShalom2001]. Of 20 drives with 5 moments each, 0.8 s apart and so nearly
    independent, it lies within chi-square's 99.9 % band for 300 numbers; a smoother that leaves out the velocity which
    accelerations refer to had 1.2. Its errors are smaller than those forwards."""
    total, ahead = [], []
    for seed in range(20):
        events = drawn(4.8, 100 + seed, ("pose", "gyro", "accelerometer"))
        out, back, covs = ours(events)
        time_s, truth = columns(events)[0], np.array([e[4] for e in events])
        for k in np.searchsorted(time_s, [0.8, 1.6, 2.4, 3.2, 4.0]):
            apart = back[k, Q : Q + 3] - truth[k]
            total.append(apart @ np.linalg.solve(covs[k, Q : Q + 3, Q : Q + 3], apart) / 3.0)
            ahead.append([np.sum(apart**2), np.sum((out[k, Q : Q + 3] - truth[k]) ** 2)])
    low, high = chi2.ppf([0.0005, 0.9995], 300) / 300
    assert low < np.mean(total) < high
    smoothed, forwards = np.sqrt(np.mean(ahead, axis=0))
    assert smoothed < 0.8 * forwards


@pytest.mark.parametrize("jump", [-3.0, -1.0, 1.0])
def test_a_map_that_jumps_is_no_slip_in_hindsight(jump):
    """The robot goes on as before: smoothed slip stays within four of its spreads of the truth, before, at and after the jump."""
    events = drawn(6.0, 7, ("pose",), jump=(3.0, (jump, 0.0, 0.0)))
    _, back, _ = ours(events)
    truth = np.array([e[4] for e in events])
    assert (np.abs(back[:, Q : Q + 3] - truth) < 4.0 * back[:, N + Q : N + Q + 3]).all()
