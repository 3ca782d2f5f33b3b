"""Runs made here, with a known track and known clocks: both are found again. All truths are drawn below."""

from dataclasses import replace

import numpy as np
import pytest

from slipfit.calibration.ladder.pooled import TOLD_S, fit_pooled, run_of, yaw_icr, yaw_track
from slipfit.errors import LogError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import ENCODERS, IMU
from slipfit.logs.rims import rims_of

HUSKY = find_robot("husky")
TRACK_M = 0.81


def made_run(seed, *, end_s=60.0, late_s=lambda t: 0.0 * t, track_m=TRACK_M, sway=0.25, turn=0.1, ratio=1.0, stuck_from_s=np.inf):
    """Wheels that sway slowly at random, told at 6.5 Hz by a clock that is late; a gyro at 100 Hz with a cheap one's noise."""
    rng = np.random.default_rng(seed)
    phases, periods = rng.uniform(0, 6.28, 5), rng.uniform(4.0, 17.0, 5)

    def rims(t):
        bend = turn + sway * sum(np.sin(6.28 * t / p + q) for p, q in zip(periods, phases, strict=True)) / 2.0
        return 0.3 - 0.5 * track_m * bend, (0.3 + 0.5 * track_m * bend) / ratio, bend

    imu_s = np.arange(0.0, end_s, 0.01)
    gyro = np.where(imu_s < stuck_from_s, rims(imu_s)[2], 0.0) + 0.005 * rng.standard_normal(len(imu_s))
    wheel_s = np.arange(0.0, end_s, 1 / 6.5)
    taken = wheel_s.copy()
    for _ in range(20):  # a sample numbered t shows the wheels when the gyro's clock says t + late
        taken = wheel_s + late_s(taken)
    left, right, _ = rims(taken)
    per = 1.0 / HUSKY.wheels.radius_m.value
    wheels = np.column_stack([left, right]) * per + 0.01 * rng.standard_normal((len(wheel_s), 2))
    return DriveLog(
        {
            ENCODERS: Channel(ENCODERS, (wheel_s * 1e9).astype(np.int64), wheels, ("left_speed_radps", "right_speed_radps")),
            IMU: Channel(IMU, (imu_s * 1e9).astype(np.int64), gyro[:, None], ("gyro_z_radps",)),
        },
        source=f"run {seed}",
    )


def runs(*logs):
    return [run_of(log, HUSKY) for log in logs]


def test_track_and_offsets_are_found_again():
    offsets = (0.4, -0.7, 1.3)
    fit = fit_pooled(yaw_track(HUSKY), runs(*(made_run(k, late_s=lambda t, o=o: o + 0.0 * t) for k, o in enumerate(offsets))))
    low, high = fit.interval_90("effective_track_m")
    assert low < TRACK_M < high
    assert high - low < 0.02
    assert not fit.wanders
    # The sample is late by the offset: means over 0.6 s of lines through 6.5 Hz tell it within some hundredths.
    assert [run.offset_s for run in fit.runs] == pytest.approx(offsets, abs=0.03)
    assert all(run.is_told for run in fit.runs)


def test_a_clock_that_wanders_is_followed():
    def wander(t):
        return 0.8 * np.sin(t / 25.0)

    pair = runs(*(made_run(k, end_s=120.0, late_s=wander) for k in range(3)))
    fit = fit_pooled(yaw_track(HUSKY), pair)
    assert fit.wanders
    assert fit.value("effective_track_m") == pytest.approx(TRACK_M, rel=0.01)
    for run in fit.runs:
        assert np.abs(run.late_s - wander(run.at_s)).max() < 0.2
    plain = replace(fit, wanders=False).score(pair)
    assert all(run.rmse_radps < 0.3 * other.rmse_radps for run, other in zip(fit.runs, plain, strict=True))


def test_constant_turns_tell_the_track_but_no_clock():
    fit = fit_pooled(yaw_track(HUSKY), runs(*(made_run(k, sway=0.0, turn=0.3) for k in range(3))))
    assert fit.value("effective_track_m") == pytest.approx(TRACK_M, rel=0.005)
    assert all(run.offset_std_s > TOLD_S and not run.is_told for run in fit.runs)
    assert "not told" in fit.summary()


def test_gains_of_the_sides_are_told_by_driving():
    fit = fit_pooled(yaw_icr(HUSKY), runs(*(made_run(k, ratio=1.03) for k in range(3))))
    low, high = fit.interval_90("gain_ratio")
    assert low < 1.03 < high
    assert high - low < 0.03


def test_a_gyro_that_counts_clockwise_and_a_robot_that_digs_in():
    """The second run stands from 40 s on, with its wheels turning: 20 s that no track explains."""
    logs = [made_run(0), made_run(1, sway=0.05, turn=0.3, stuck_from_s=40.0), made_run(2)]
    turned = []
    for log in logs:
        imu = log[IMU]
        turned.append(replace(log, channels={**log.channels, IMU: replace(imu, values=-imu.values)}))
    fit = fit_pooled(yaw_track(HUSKY), runs(*turned))
    assert fit.gyro_sign == -1.0
    assert fit.value("effective_track_m") == pytest.approx(TRACK_M, rel=0.01)
    assert fit.runs[1].stuck_s == pytest.approx(20.0, abs=1.5)


def test_intervals_hold_floors_that_differ_between_runs():
    """Tracks of eight runs scatter by 3 %: the interval is of their mean, about 1.9 x 3 % / sqrt(8) to each side."""
    tracks = TRACK_M * (1.0 + 0.03 * np.random.default_rng(5).standard_normal(8))
    fit = fit_pooled(yaw_track(HUSKY), runs(*(made_run(k, track_m=b, end_s=40.0) for k, b in enumerate(tracks))))
    low, high = fit.interval_90("effective_track_m")
    assert low < tracks.mean() < high
    assert 0.5 * (high - low) == pytest.approx(1.9 * tracks.std(ddof=1) / np.sqrt(8), rel=0.5)


def test_straight_driving_tells_nothing():
    with pytest.raises(LogError, match="expected runs that turn"):
        fit_pooled(yaw_track(HUSKY), runs(made_run(0, sway=0.0, turn=0.0)))


def test_a_steady_speed_stays_steady_between_two_far_changes():
    """Three different values in 90 s: the rim speed is what each sample says, not a line between distant changes."""
    log = made_run(0)
    encoders = log[ENCODERS]
    speeds = np.full((len(encoders.stamps_ns), 2), 0.5)
    speeds[0], speeds[-1] = 0.3, 0.2
    rims = rims_of(replace(log, channels={ENCODERS: replace(encoders, values=speeds)}), HUSKY)
    middle = (rims.time_s > 0.2) & (rims.time_s < encoders.time_s[-2])
    assert rims.left_mps[middle] == pytest.approx(0.5 * HUSKY.wheels.radius_m.value)
