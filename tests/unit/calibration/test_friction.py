"""Friction coefficients: closed forms, truth recovered from logs, and intervals that cover it."""

import math

import numpy as np
import pytest

from robots import changed, ground_with
from slipfit.calibration import friction
from slipfit.calibration.friction_logs import braking_log, from_logs, pull_log, stall_log, tilt_log
from slipfit.errors import LogError, ParameterError
from slipfit.library import Parameter, find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.simulation import Scenario, simulate
from slipfit.twin import Status
from unit.twin.twins import example

MASS = Parameter("mass_kg", 20.0, std=0.2)
EXACT_MASS = Parameter("mass_kg", 20.0)
G = 9.81


# --- closed forms ----------------------------------------------------------------------------------------------------


def test_tilt_is_the_tangent():
    """tan 30° = 1/sqrt(3); one degree of error there is 0.01745 / cos² 30° = 0.02327."""
    result = friction.tilt([math.radians(30.0)], angle_std_rad=math.radians(1.0))
    assert result.mu.value == pytest.approx(1.0 / math.sqrt(3.0))
    assert result.mu.std == pytest.approx(0.02327, rel=1e-3)
    assert result.mu.interval_90[1] - result.mu.value == pytest.approx(1.6449 * result.mu.std, rel=1e-4)
    assert result.kind == "static"


def test_three_readings_have_students_interval():
    """Forces 90, 100, 110 N on 20 kg: mean 100, s = 10, t(0.95, 2) = 2.920 (any table)."""
    result = friction.pull([90.0, 100.0, 110.0], EXACT_MASS)
    weight = 20.0 * G
    assert result.mu.value == pytest.approx(100.0 / weight)
    assert result.mu.std == pytest.approx(10.0 / math.sqrt(3.0) / weight)
    assert result.mu.interval_90[1] - result.mu.value == pytest.approx(2.920 * 10.0 / math.sqrt(3.0) / weight, rel=1e-4)


def test_the_spread_of_the_mass_adds_in_quadrature():
    """1 % of mass beside 2 % of force: sqrt(5) %."""
    result = friction.pull([100.0], MASS, force_std_n=2.0)
    assert result.mu.std / result.mu.value == pytest.approx(math.hypot(0.01, 0.02))


def test_stall_is_torque_over_radius_and_load():
    """10.8 N m on wheels of 0.11 m under 20 kg."""
    radius = Parameter("radius_m", 0.11)
    result = friction.stall([10.8], EXACT_MASS, radius, torque_std_nm=0.1, relative_std=0.03)
    assert result.mu.value == pytest.approx(10.8 / (0.11 * 20.0 * G))
    assert result.mu.std / result.mu.value == pytest.approx(math.hypot(0.1 / 10.8, 0.03))


def test_stall_on_a_slope_is_torque_over_the_load_across_it():
    """14.2 N m on wheels of 0.09 m hold 157.8 N whatever the slope; 33 kg press on 6 degrees with 321.8 N: 0.490."""
    result = friction.stall(
        [14.2], Parameter("mass_kg", 33.0, std=0.0), Parameter("radius_m", 0.09), slope_rad=math.radians(6.0), torque_std_nm=0.1
    )
    assert result.mu.value == pytest.approx(14.2 / 0.09 / (33.0 * G * math.cos(math.radians(6.0))))
    assert result.mu.value == pytest.approx(0.490, abs=5e-4)


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.2])
def test_slopes_drop_out(slope):
    """Energy: m v²/2 = (mu cos a + sin a) m g d going up; statics: F = (mu cos a - sin a) m g pulling up. mu = 0.6."""
    d = 1.0 / (2.0 * G * (0.6 * math.cos(slope) + math.sin(slope)))
    f = 20.0 * G * (0.6 * math.cos(slope) - math.sin(slope))
    stopped = friction.braking([1.0], [d], slope_rad=slope, speed_std_mps=0.01)
    pulled = friction.pull([f], MASS, slope_rad=slope, force_std_n=1.0)
    assert stopped.mu.value == pytest.approx(0.6)
    assert pulled.mu.value == pytest.approx(0.6)
    assert (stopped.kind, pulled.kind) == ("sliding", "sliding")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda: friction.tilt([-0.1, 0.2]), "-5.7"),
        (lambda: friction.tilt([1.5]), "at most 80"),
        (lambda: friction.tilt([0.5]), "one reading has no scatter"),
        (lambda: friction.tilt([0.5, 0.5]), "all the same"),
        (lambda: friction.tilt([]), "no readings"),
        (lambda: friction.tilt([0.5], angle_std_rad=0.0), "more than 0"),
        (lambda: friction.pull([float("nan")], MASS), "nan N"),
        (lambda: friction.braking([1.0], [0.0]), "a distance of 0 m"),
        (lambda: friction.braking([1.0, 2.0], [0.1]), "2 speeds and 1 distances"),
        (lambda: friction.torque_constant(find_robot("p3at"), None), "no torque constant"),
    ],
)
def test_bad_readings_are_sentences(run, said):
    with pytest.raises(ParameterError, match=said):
        run()


# --- logs ------------------------------------------------------------------------------------------------------------


def channel(name, time_s, **columns):
    stamps = np.round(np.asarray(time_s) * 1e9).astype(np.int64)
    return Channel(name, stamps, np.column_stack(list(columns.values())), tuple(columns))


def log_of(*channels):
    return DriveLog({c.name: c for c in channels})


def tilted(mu_static, mu_sliding, *, end_deg=40.0, seed=0, noise=0.05, tilt_rad=0.02, rate_dps=2.0):
    """A robot on a table that tilts evenly, by statics: it feels g until it slides, then mu g cos(theta) along the table."""
    t = np.arange(0.0, 1.0 + end_deg / rate_dps, 0.01)
    theta = np.radians(np.clip(t - 1.0, 0.0, None) * rate_dps)
    slides = np.maximum.accumulate(np.tan(theta) > mu_static)
    along = np.where(slides, mu_sliding * np.cos(theta), np.sin(theta)) * G
    into = np.cos(theta) * G
    draw = np.random.default_rng(seed)
    c, s = math.cos(tilt_rad), math.sin(tilt_rad)  # the IMU sits askew
    x, z = c * along - s * into, s * along + c * into
    x, y, z = (column + noise * draw.standard_normal(len(t)) for column in (x, np.zeros_like(t), z))
    return log_of(channel("imu", t, accel_x_mps2=x, accel_y_mps2=y, accel_z_mps2=z))


@pytest.mark.parametrize("mu_sliding", [0.3, 0.5, 0.57, 0.59, 0.6])
def test_the_angle_of_sliding_is_found_with_and_without_a_drop(mu_sliding):
    (reading,) = tilt_log(tilted(0.6, mu_sliding))
    assert not reading.is_bound
    assert reading.mu == pytest.approx(0.6, abs=max(4.0 * reading.std, 0.003))
    assert reading.std < 0.012  # 2 %


def test_a_table_that_stops_before_sliding_gives_a_bound():
    """Up to 20 degrees: mu >= tan 20° = 0.364."""
    log = tilted(0.6, 0.5, end_deg=20.0)
    result = from_logs("tilt", tilt_log(log), [log])
    assert result.mu.status is Status.NOT_EXCITED
    assert result.mu.value is None
    assert result.mu.at_least == pytest.approx(math.tan(math.radians(20.0)), abs=0.01)


def pulling(mu, *, spins=True, seed=0):
    """A P3AT on a rope: the force rises for 2 s, then all wheels spin at 3 rad/s for 3 s."""
    t = np.arange(0.0, 5.0, 0.01)
    draw = np.random.default_rng(seed)
    force = np.minimum(t / 2.0, 1.0) * mu * 20.0 * G
    angle = np.where((t > 2.0) & spins, 3.0 * (t - 2.0), 0.0)
    wheels = {f"wheel_angle_{k}_rad": angle for k in range(4)}
    current = force * 0.11 / 4.0 / 0.5  # of each of four motors with 0.5 N m/A
    motors = {f"wheel_{k}_current_a": current + 0.05 * draw.standard_normal(len(t)) for k in range(4)}
    return log_of(
        channel("drawbar", t, force_n=force + 2.0 * draw.standard_normal(len(t))),
        channel("encoders", t, **wheels),
        channel("motors", t, **motors),
    )


def test_pull_and_stall_find_the_force_of_spinning_wheels():
    """Friction 0.55; noise of 2 N over 300 samples leaves 0.001."""
    robot = find_robot("p3at")
    (pulled,) = pull_log(pulling(0.55), robot, EXACT_MASS, G, 0.0)
    (stalled,) = stall_log(pulling(0.55), robot, Parameter("torque_constant_nm_per_a", 0.5), EXACT_MASS, G, 0.0)
    for reading in (pulled, stalled):
        assert not reading.is_bound
        assert reading.mu == pytest.approx(0.55, abs=max(5.0 * reading.std, 1e-3))
        assert reading.std < 0.003


def test_a_pull_in_which_nothing_slides_gives_a_bound():
    (reading,) = pull_log(pulling(0.4, spins=False), find_robot("p3at"), EXACT_MASS, G, 0.0)
    assert reading.is_bound
    assert reading.mu == pytest.approx(0.4, rel=0.02)


def stopping(mu, *, torque_nm=20.0, slope=0.0, sensors=("imu", "encoders"), v=1.5):
    """A simulated P3AT with strong motors that is told to stand at once."""
    every = {"imu": {"rate_hz": 200, "tilt_rad": [0.0, 0.02]}, "encoders": {"rate_hz": 100}, "pose": {"rate_hz": 50}}
    scenario = Scenario(
        start={"v_mps": v},
        ground={"slope_rad": slope},
        commands=[{"for_s": 1.0, "v_mps": v}, {"for_s": 2.0, "v_mps": 0.0}],
        sensors={name: every[name] for name in sensors},
    )
    robot = changed("p3at", powertrain={"kind": "speed_loop", "torque_limit_nm": torque_nm}, centre_of_mass_m=[0.0, 0.0, 0.1])
    return simulate(robot, scenario, ground=ground_with("wheel_slip_cone", mu=mu)).readings


def noisy(log, seed, accel=0.2):
    """The same log with white noise on its accelerations."""
    imu = log["imu"]
    values = imu.values.copy()
    values[:, :3] += accel * np.random.default_rng(seed).standard_normal((len(values), 3))
    return log.having(Channel("imu", imu.stamps_ns, values, imu.columns))


@pytest.mark.parametrize("slope", [0.0, 0.05])
def test_braking_finds_the_truth_of_a_simulated_stop(slope):
    """mu 0.5, IMU tilted by 0.02 rad: at 1.5 m/s the slide lasts 0.3 s."""
    (reading,) = braking_log(noisy(stopping(0.5, slope=slope), 1), find_robot("p3at"), G, slope)
    assert not reading.is_bound
    assert reading.mu == pytest.approx(0.5, abs=4.0 * reading.std)
    assert reading.std < 0.01


def test_braking_by_pose_alone():
    """Distance by pose from where the wheels lock; 7 %: 10 ms of 1.5 m/s are 15 mm of 229 mm."""
    (reading,) = braking_log(stopping(0.5, sensors=("encoders", "pose")), find_robot("p3at"), G, 0.0)
    assert reading.mu == pytest.approx(0.5, rel=0.07)
    assert reading.mu == pytest.approx(0.5, abs=3.0 * reading.std)


def test_a_soft_stop_is_a_bound():
    """Motors of 0.4 N m at four wheels decelerate 20 kg by 4 0.4 / 0.11 / 20 = 0.73 m/s²: nothing slides, no fast stop."""
    with pytest.raises(LogError, match="brake harder"):
        braking_log(stopping(0.9, torque_nm=0.4), find_robot("p3at"), G, 0.0)


def test_a_log_without_the_channel_is_a_sentence():
    with pytest.raises(LogError, match="imu"):
        tilt_log(pulling(0.5))


# --- twins -----------------------------------------------------------------------------------------------------------


def test_a_coefficient_goes_into_a_twin_and_a_bound_does_not_replace_it():
    result = friction.tilt([0.5, 0.52, 0.51])
    twin = result.into(example())
    assert twin.grounds["lab_floor"].parameter("mu") == result.mu
    assert twin.ground().values()["mu"] == result.mu.value
    log = tilted(0.6, 0.5, end_deg=20.0)
    with pytest.raises(ParameterError, match="only a bound"):
        from_logs("tilt", tilt_log(log), [log]).into(twin)


# --- coverage --------------------------------------------------------------------------------------------------------


def covered(interval, truth):
    return interval[0] <= truth <= interval[1]


@pytest.mark.slow
def test_ninety_percent_intervals_of_typed_readings_cover_the_truth():
    """200 tests of five pulls, noise 3 N, and a mass weighed to 1 %: 85 to 95 % of intervals hold the truth."""
    hits = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        weighed = Parameter("mass_kg", 20.0 * (1.0 + 0.01 * draw.standard_normal()), std=0.2)
        result = friction.pull(0.5 * 20.0 * G + 3.0 * draw.standard_normal(5), weighed)
        hits += covered(result.mu.interval_90, 0.5)
    assert 170 <= hits <= 190


@pytest.mark.slow
def test_ninety_percent_intervals_from_stops_cover_the_truth():
    """200 simulated stops with fresh noise of 0.2 m/s²."""
    clean, robot = stopping(0.5), find_robot("p3at")
    hits = 0
    for seed in range(200):
        log = noisy(clean, seed)
        hits += covered(from_logs("braking", braking_log(log, robot, G, 0.0), [log]).mu.interval_90, 0.5)
    assert 170 <= hits <= 190


@pytest.mark.slow
@pytest.mark.parametrize("mu_sliding", [0.5, 0.6])
def test_intervals_from_five_tilts_cover_the_truth(mu_sliding):
    """60 tests of five tilts each, whose surface varies by 0.01: between 85 and 97 % within two errors of counting."""
    hits = 0
    for seed in range(60):
        draw = np.random.default_rng(1000 + seed)
        truths = 0.6 + 0.01 * draw.standard_normal(5)
        logs = [tilted(mu, mu - 0.6 + mu_sliding, seed=7 * seed + k) for k, mu in enumerate(truths)]
        hits += covered(from_logs("tilt", [r for log in logs for r in tilt_log(log)], logs).mu.interval_90, 0.6)
    assert 49 <= hits <= 59
