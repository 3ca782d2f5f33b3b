"""Mistakes put into good simulated logs are found, named and undone; good logs are left alone."""

from dataclasses import replace

import numpy as np
import pytest

from drives import MUTILATIONS, cases, drive
from slipfit.library import find_robot
from slipfit.logs import DriveLog, Severity, inspect_log

P3AT = find_robot("p3at")


@pytest.fixture(scope="module")
def good():
    return drive().readings


@pytest.mark.parametrize("names", cases(), ids=" + ".join)
def test_mutilations_are_found_named_and_undone(good, names):
    """The truth is the log before: numbers to 1e-9, stamps to 5 ms."""
    draw = np.random.default_rng(sum(map(ord, "".join(names))))
    bad = good
    for name in names:
        bad = MUTILATIONS[name][0](bad, draw)
    inspection = inspect_log(bad, P3AT)
    for channel in ("encoders", "imu", "pose"):
        every = 2 if channel == "pose" and "half the poses" in names else 1
        got, truth = inspection.corrected[channel], good[channel]
        np.testing.assert_allclose(got.values, truth.values[::every], atol=1e-9)
        assert np.abs(got.stamps_ns - truth.stamps_ns[::every]).max() < 5e6
    for name in names:
        for channel, kind in MUTILATIONS[name][1]:
            assert inspection.of_kind(kind, channel), (name, inspection.summary())


@pytest.mark.parametrize("robot", ["p3at", "jackal", "warthog", "atrv_jr"])
@pytest.mark.parametrize(("noise", "bias"), [(0.05, 0.02), (0.2, 0.05)])
def test_good_logs_are_left_alone(robot, noise, bias):
    log = drive(robot, accel_noise_mps2=noise, accel_bias_mps2=bias).readings
    inspection = inspect_log(log, find_robot(robot))
    assert inspection.worst is Severity.INFO, inspection.summary()
    assert inspection.corrections == ()
    for channel in log.channels.values():
        assert inspection.corrected[channel.name].values is channel.values


def test_bias_and_lever_arm_are_what_the_sensor_had():
    """Truth: the scenario's bias (0.02 rad/s, 0.1 and -0.05 m/s²) and arm (0.15, -0.1 m); three stated spreads are allowed."""
    log = drive(gyro_bias_radps=0.02, accel_bias_mps2=(0.1, -0.05), lever_arm_m=(0.15, -0.1)).readings
    inspection = inspect_log(log, P3AT)
    for column, truth in (("gyro_z", 0.02), ("accel_x", 0.1), ("accel_y", -0.05)):
        (finding,) = inspection.of_kind(f"bias of {column}")
        std = (finding.interval_90[1] - finding.interval_90[0]) / (2 * 1.6449)
        assert finding.value == pytest.approx(truth, abs=3 * std)
    assert "bias of gyro_z_radps 0.020 rad/s" in inspection.corrections
    (arm,) = inspection.of_kind("lever arm")
    std = (arm.interval_90[1] - arm.interval_90[0]) / (2 * 1.6449)
    assert arm.value == pytest.approx(np.hypot(0.15, 0.1), abs=3 * std)


@pytest.mark.parametrize(("force_mps2", "lifts"), [(7.0, False), (8.5, True)])
def test_load_transfer_that_lifts_a_wheel_is_found_when_it_happens(good, force_mps2, lifts):
    """Closed form: the front wheels carry nothing from f_x = g l_r / h = 9.81 · 0.125 / 0.16 = 7.66 m/s² on (P3AT)."""
    imu = good["imu"]
    values = imu.values.copy()
    pushed = (imu.time_s > 10.0) & (imu.time_s < 10.2)
    values[pushed, 0] = force_mps2
    inspection = inspect_log(good.having(replace(imu, values=values)), P3AT)
    assert bool(inspection.of_kind("wheel lift")) == lifts
    if lifts:
        ((begin, end),) = inspection.lifted_s
        assert (begin, end) == pytest.approx((10.0, 10.2), abs=0.05)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda log: replace(log, channels={n: c for n, c in log.channels.items() if n != "encoders"}), "missing"),
        (lambda log: replace(log, channels={"encoders": log["encoders"]}), "missing"),
        (lambda log: log.having(replace(log["encoders"], values=np.zeros_like(log["encoders"].values))), "standing"),
        (lambda log: replace(log, notes=("joints steer_left steer: this robot does not turn by slip alone",)), "steered"),
        (lambda _: DriveLog(), "missing"),
    ],
)
def test_what_calibration_cannot_use_is_fatal(good, change, kind):
    inspection = inspect_log(change(good), P3AT)
    assert inspection.worst is Severity.FATAL
    assert inspection.fatal.kind == kind


def test_rows_in_disorder_are_put_right(good):
    """Rows exchanged, doubled and made NaN: what is left is the good log without the NaN rows."""
    imu = good["imu"]
    order = np.arange(len(imu.stamps_ns))
    order[[100, 101]] = [101, 100]
    order = np.insert(order, 500, 500)
    values = imu.values.copy()
    values[700] = np.nan
    bad = replace(imu, stamps_ns=imu.stamps_ns[order], values=values[order])
    inspection = inspect_log(good.having(bad), P3AT)
    kept = np.arange(len(imu.stamps_ns)) != 700
    assert inspection.corrected["imu"].stamps_ns.tolist() == imu.stamps_ns[kept].tolist()
    np.testing.assert_array_equal(inspection.corrected["imu"].values, imu.values[kept])
    assert {f.kind for f in inspection.findings} >= {"not finite", "backward stamps", "duplicated stamps"}


def test_held_poses_are_left_out(good):
    """Every pose written twice: a source of 10 Hz written at 20 Hz."""
    pose = good["pose"]
    held = replace(pose, values=pose.values[np.arange(len(pose.values)) // 2 * 2])
    inspection = inspect_log(good.having(held), P3AT)
    (finding,) = inspection.of_kind("held", "pose")
    assert finding.value == pytest.approx(10.0, rel=0.1)


def test_a_drive_without_turn_is_told():
    log = drive(commands=[{"for_s": 1.0, "v_mps": 0.0}, {"for_s": 4.0, "v_mps": 0.8, "profile": "linear"}]).readings
    assert inspect_log(log, P3AT).of_kind("no spin")


@pytest.mark.slow
def test_intervals_of_the_clock_cover_the_truth():
    """90 % intervals over 100 drives with fresh noise, pose late by 50 ms: 80 to 97 % must cover it."""
    covered = 0
    for seed in range(100):
        log = drive(seed=seed).readings
        log = log.having(replace(log["pose"], stamps_ns=log["pose"].stamps_ns + 50_000_000))
        (finding,) = inspect_log(log, P3AT).of_kind("clock offset", "pose")
        covered += finding.interval_90[0] <= 0.05 <= finding.interval_90[1]
    assert 80 <= covered <= 97
