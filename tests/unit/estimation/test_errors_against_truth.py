"""Errors against a known truth, normalised by what the filter says of itself (NEES): right, too sure, and withheld."""

from dataclasses import replace

import numpy as np
import pytest
from side_drives import RADIUS_M, stamps_of

from slipfit.errors import LogError
from slipfit.estimation import FilterSettings, SlipEstimate, estimate
from slipfit.estimation.record import StateConsistency
from slipfit.estimation.truth import Truth, _independent
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.provenance import with_truth
from slipfit.vehicles.kinematic import along_arc

HUSKY = find_robot("husky")
STEP_S = 0.01

#: Slip as a plain random walk, which is what the drives below are drawn from.
OWN = FilterSettings(
    pose_m=0.005, pose_rad=0.005, slip_floor_mps=0.05, slip_share=0.1, slip_change=0.0, first_slip=0.1, first_slip_mps=0.05,
    is_carried=False, gate_probability=0.999999,
)  # fmt: skip


def drawn(seed, settings=OWN, duration_s=40.0):
    """Truth and log of a drive whose slip, pose and readings have the noise that `settings` suppose."""
    draw, n = np.random.default_rng(seed), round(duration_s / STEP_S) + 1
    time_s = np.arange(n) * STEP_S
    rims = np.column_stack([0.6 + 0.2 * np.sin(0.3 * time_s), 0.6 + 0.2 * np.cos(0.4 * time_s)])
    speeds = np.column_stack([rims, rims.mean(axis=1)])
    rate = settings.slip_floor_mps**2 + (settings.slip_share * speeds) ** 2
    steps = np.sqrt(rate * STEP_S) * draw.standard_normal((n, 3))
    steps[0] = np.hypot(settings.first_slip_mps, settings.first_slip * speeds[0]) * draw.standard_normal(3)
    slip = np.cumsum(steps, axis=0)
    left, right = rims[:, 0] - slip[:, 0], rims[:, 1] - slip[:, 1]
    twist = np.column_stack([0.5 * (left + right), -slip[:, 2], (right - left) / HUSKY.track_m])
    shaken = np.sqrt(STEP_S) * np.array([settings.place_m, settings.place_m, settings.heading_rad]) * draw.standard_normal((n, 3))
    pose = np.zeros((n, 3))
    for k in range(n - 1):
        pose[k + 1] = along_arc(*pose[k], *(0.5 * (twist[k] + twist[k + 1])), STEP_S)
        pose[k + 1] += shaken[k]
    seen = pose[::5] + draw.standard_normal((len(pose[::5]), 3)) * [settings.pose_m, settings.pose_m, settings.pose_rad]
    wheels = Channel("encoders", stamps_of(time_s[::2]), rims[::2] / RADIUS_M, ("left_speed_radps", "right_speed_radps"))
    log = DriveLog(
        {"encoders": wheels, "pose": Channel("pose", stamps_of(time_s[::5]), seen, ("x_m", "y_m", "yaw_rad"))}, about="drawn"
    )
    return Truth("drawn", stamps_of(time_s) / 1e9, pose, twist), with_truth(log, "pose")  # slip of a random walk is smooth


def errors_of(seed, settings=OWN, **more):
    truth, log = drawn(seed)
    found = estimate(HUSKY, log, settings=settings, late_s={"pose": 0.0}, truth=truth, **more)
    return {(e.state, e.way): e for e in found.errors}


@pytest.fixture(scope="module")
def own():
    return [errors_of(seed) for seed in range(30)]


@pytest.mark.parametrize("way", ["forwards", "smoothed"])
@pytest.mark.parametrize("state", ["pose", "slip"])
def test_a_filter_whose_model_is_the_truth_is_as_far_off_as_it_says(own, state, way):
    """The mean is 1 by definition. Of 30 drives 95 % lie in their own 95 % band, and 97.5 % have enough moments in theirs: 24 and
    more have both with probability 0.98 at least; the band of moments holds 95 % of them.
    The mean of 30 drives with some 40 independent moments of 3 numbers each scatters by 0.024."""
    found = [e[state, way] for e in own]
    assert np.mean([e.mean for e in found]) == pytest.approx(1.0, abs=0.1)
    assert sum(e.is_consistent for e in found) >= 24
    assert np.mean([e.inside for e in found]) == pytest.approx(0.95, abs=0.02)


def test_too_little_noise_of_slip_is_shown_as_too_sure():
    """A tenth of the variance: every mean lies above its band."""
    less = replace(OWN, slip_floor_mps=OWN.slip_floor_mps / 10.0**0.5, slip_share=OWN.slip_share / 10.0**0.5)
    for seed in range(3):
        for found in errors_of(seed, less).values():
            assert found.verdict == "too sure"
            assert found.inside < 0.85
            assert "the filter is too sure" in str(found)


def test_too_much_noise_is_shown_as_too_unsure():
    """Sensors three times better than the filter supposes."""
    for found in errors_of(1, replace(OWN, pose_m=0.015, pose_rad=0.015)).values():
        if found.state == "pose":
            assert found.verdict == "too unsure"


def test_a_mean_that_is_right_by_chance_is_not_as_expected():
    """Errors far too large at some moments and far too small at others: a mean of 1, and 39 % of 36 moments inside, where an
    honest filter has 86 % or more: the 2.5 % quantile of a binomial distribution, 31 of 36."""
    found = StateConsistency("slip", "smoothed", 36, 36.0, 0.999, (0.73, 1.31), 0.39, (0.07, 3.12))
    assert found.least_inside == pytest.approx(31 / 36)
    assert not found.is_consistent
    assert "as expected" not in str(found)
    assert "too sure at some moments and too unsure at others" in str(found)
    assert replace(found, inside=0.95).verdict == "as expected"


def test_errors_that_follow_each_other_count_as_fewer():
    """Of x+ = a x + noise the autocorrelations sum to (1 + a) / (1 - a) [BarShalom2001]: 3 with a = 0.5, 9 with a = 0.8."""
    draw = np.random.default_rng(3).standard_normal(40000)
    for a in (0.0, 0.5, 0.8):
        series = np.empty(len(draw))
        series[0] = draw[0]
        for k in range(1, len(draw)):
            series[k] = a * series[k - 1] + draw[k]
        assert _independent(series) == pytest.approx(len(draw) * (1.0 - a) / (1.0 + a), rel=0.15)


def test_a_drive_without_places_is_compared_from_its_start(tmp_path):
    """Wheels and a gyro that is right: the truth is moved into the frame in which the filter starts."""
    truth, log = drawn(2)
    moved = np.exp(0.7j) * (truth.pose[:, 0] + 1j * truth.pose[:, 1]) + 100.0 - 50.0j
    elsewhere = replace(truth, pose=np.column_stack([moved.real, moved.imag, truth.pose[:, 2] + 0.7]))
    gyro = Channel("imu", stamps_of(np.arange(0.0, 40.0, 0.01)), truth.velocity[:4000, 2:], ("gyro_z_radps",))
    alone = DriveLog({"encoders": log["encoders"], "imu": gyro}, about="without places")
    means = [estimate(HUSKY, alone, settings=OWN, truth=t).errors[0].mean for t in (truth, elsewhere)]
    assert means[0] == pytest.approx(means[1], rel=1e-6)
    assert means[0] < 5.0


def test_a_pose_that_is_withheld_is_a_truth_with_noise():
    """The pose of the log itself against a filter with gyro and places: its own scatter, 5 mm and 5 mrad, counts. Places scatter
    by 30 mm, and the filter says so."""
    calm = replace(
        OWN, slip_floor_mps=0.01, slip_share=0.03, first_slip_mps=0.01, first_slip=0.05, gnss_m=0.03, gyro_radps=0.005,
        gyro_bias_radps=1e-4, gyro_bias_walk_radps=1e-6,
    )  # fmt: skip
    means = []
    for seed in range(8):
        truth, log = drawn(seed, calm)
        draw = np.random.default_rng(100 + seed)
        gyro = truth.velocity[:4000, 2:] + 0.005 * draw.standard_normal((4000, 1))
        places = truth.pose[::20, :2] + 0.03 * draw.standard_normal((201, 2))
        more = log.having(
            Channel("imu", stamps_of(np.arange(4000) * STEP_S), gyro, ("gyro_z_radps",)),
            Channel("gnss", stamps_of(np.arange(201) * 0.2), places, ("x_m", "y_m")),
        )
        held = Truth.of_log(more)
        assert held.pose_std == pytest.approx([0.005] * 3, rel=0.2)
        found = estimate(HUSKY, more, settings=calm, use=("gnss", "gyro"), late_s={"gyro": 0.0}, truth=held)
        assert [(e.state, e.way) for e in found.errors] == [("pose", "forwards"), ("pose", "smoothed")]
        means.append([e.mean for e in found.errors])
    # The heading errs alike all through a drive: of its 3 numbers one has 8 independent values, so that the mean scatters by
    # 0.17: three times that.
    assert np.mean(means, axis=0) == pytest.approx([1.0, 1.0], abs=0.5)


def test_a_truth_on_another_clock_is_a_sentence():
    truth, log = drawn(2)
    with pytest.raises(LogError, match="on the same clock"):
        estimate(HUSKY, log, settings=OWN, truth=replace(truth, time_s=truth.time_s + 1.7e9))
    with pytest.raises(LogError, match="no pose to compare with"):
        Truth.of_log(DriveLog({"encoders": log["encoders"]}, about="wheels"))


def test_errors_are_written_and_read_back(tmp_path):
    truth, log = drawn(2)
    found = estimate(HUSKY, log, settings=OWN, truth=truth)
    assert "mean NEES" in found.summary()
    found.save(tmp_path / "slip.json")
    assert SlipEstimate.load(tmp_path / "slip.json").errors == found.errors
