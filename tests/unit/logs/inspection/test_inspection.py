"""Each kind of finding, on a good simulated log with one thing changed."""

from dataclasses import replace

import numpy as np
import pytest

from drives import drive
from slipfit.errors import SlipfitError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog, Severity, inspect_log

P3AT = find_robot("p3at")


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


def counted_speeds(log):
    """Speeds of left and right as a driver makes them: counts of 4096 a turn since the row before, over its 10 ms."""
    wheels = log["encoders"]
    counts = np.rint(wheels.values[:, :2] * 4096 / (2 * np.pi))
    rpm = np.diff(counts, axis=0, prepend=counts[:1]) * 60.0 * 100.0 / 4096
    return Channel("encoders", wheels.stamps_ns, rpm * np.pi / 30.0, ("left_speed_radps", "right_speed_radps"))


def test_speeds_in_coarse_steps_that_repeat_are_no_held_rows():
    """A step is 1.46 rpm: at a steady speed 27 % of the rows repeat by resolution, a few at a time, and all of them are kept."""
    turn = {"for_s": 6.0, "yaw_rate_radps": 0.9, "profile": "quintic"}
    ahead = {"for_s": 6.0, "v_mps": 0.35, "profile": "linear", "ramp_s": 2.0}
    log = drive(commands=[{"for_s": 1.0, "v_mps": 0.0}, ahead, turn, {"for_s": 1.0, "v_mps": 0.0}]).readings
    inspection = inspect_log(log.having(counted_speeds(log)), P3AT)
    assert not inspection.of_kind("held", "encoders")
    assert len(inspection.corrected["encoders"].stamps_ns) == len(log["encoders"].stamps_ns)


def test_fine_speeds_that_are_held_are_left_out(good):
    """Truth: every second row repeats the row before, so the source has 50 Hz."""
    counted = counted_speeds(good)
    fine = counted.values + np.random.default_rng(1).normal(0.0, 0.02, counted.values.shape)
    held = replace(counted, values=fine[np.arange(len(fine)) // 2 * 2])
    (finding,) = inspect_log(good.having(held), P3AT).of_kind("held", "encoders")
    assert finding.value == pytest.approx(50.0, rel=0.1)


def test_a_drive_without_turn_is_told():
    log = drive(commands=[{"for_s": 1.0, "v_mps": 0.0}, {"for_s": 4.0, "v_mps": 0.8, "profile": "linear"}]).readings
    assert inspect_log(log, P3AT).of_kind("no spin")


@pytest.mark.parametrize(
    ("mounted", "said"),
    [
        (lambda x, y, z: (x, -y, -z), "-z"),
        (lambda x, y, z: (x, z, -y), "+y"),
        (lambda x, y, z: (x, -z, y), "-y"),
        (lambda x, y, z: (z, y, -x), "+x"),
        (lambda x, y, z: (-z, y, x), "-x"),
    ],
)
def test_an_imu_on_its_back_or_side_is_turned_up(good, mounted, said):
    """The truth is the log before; x or y stayed where it was."""
    imu = good["imu"]
    values = np.hstack([np.column_stack(mounted(*imu.values[:, part].T)) for part in (slice(0, 3), slice(3, 6))])
    inspection = inspect_log(good.having(replace(imu, values=values)), P3AT)
    (finding,) = inspection.of_kind("axes", "imu")
    assert f"along {said}" in finding.found
    np.testing.assert_allclose(inspection.corrected["imu"].values, imu.values, atol=1e-12)


def test_a_saturated_gyro_is_told(good):
    """A range of 0.4 rad/s, which spin and arcs exceed."""
    imu = good["imu"]
    values = imu.values.copy()
    values[:, 5] = np.clip(values[:, 5], -0.4, 0.4)
    inspection = inspect_log(good.having(replace(imu, values=values)), P3AT)
    assert {finding.value for finding in inspection.of_kind("saturated", "imu")} == {0.4, -0.4}


@pytest.mark.parametrize(("channel", "begin_s", "end_s"), [("imu", 9.0, 11.5), ("pose", 9.0, 11.5), ("encoders", 21.5, 23.5)])
def test_a_frozen_channel_is_told_and_left_out(good, channel, begin_s, end_s):
    """Rows that repeat one while the robot drives an arc, or spins."""
    frozen = good[channel]
    rows = (frozen.time_s > begin_s) & (frozen.time_s < end_s)
    values = frozen.values.copy()
    values[rows] = values[np.argmax(rows) - 1]
    inspection = inspect_log(good.having(replace(frozen, values=values)), P3AT)
    (finding,) = inspection.of_kind("frozen", channel)
    assert finding.value == pytest.approx(np.count_nonzero(rows), abs=1)
    left = inspection.corrected[channel].time_s
    assert not ((left > begin_s + 0.1) & (left < end_s - 0.1)).any()


def test_gaps_are_told_and_not_filled(good):
    """1.2 s of the IMU are missing from 12 s on."""
    imu = good["imu"]
    kept = (imu.time_s < 12.0) | (imu.time_s > 13.2)
    inspection = inspect_log(good.having(replace(imu, stamps_ns=imu.stamps_ns[kept], values=imu.values[kept])), P3AT)
    (finding,) = inspection.of_kind("gaps", "imu")
    assert finding.value == pytest.approx(1.2, abs=0.021)
    assert finding.severity is Severity.WARNING
    assert len(inspection.corrected["imu"].stamps_ns) == np.count_nonzero(kept)


def test_jitter_is_told_and_nothing_is_made_of_it(good):
    """Stamps off by up to 40 % of the period to both sides, evenly: the periods' spread is 1.48 · 0.8 (1 - 1/√2) = 35 %."""
    pose = good["pose"]
    off = np.random.default_rng(2).uniform(-0.4, 0.4, len(pose.stamps_ns)) * 50e6
    inspection = inspect_log(good.having(replace(pose, stamps_ns=pose.stamps_ns + off.astype(np.int64))), P3AT)
    (finding,) = inspection.of_kind("jitter", "pose")
    assert finding.value == pytest.approx(0.35, abs=0.06)
    assert inspection.corrections == ()


def test_ticks_need_their_number_per_turn(good):
    """4096 in truth; the wheels slip by a few per cent of the path."""
    wheels = good["encoders"]
    ticks = np.round(wheels.values * 4096 / (2 * np.pi))
    channel = Channel("encoders", wheels.stamps_ns, ticks, tuple(f"wheel_{k}_ticks" for k in range(4)))
    (finding,) = inspect_log(good.having(channel), P3AT).of_kind("ticks", "encoders")
    assert finding.severity is Severity.ERROR
    assert finding.value == pytest.approx(4096, rel=0.1)


def sides(log, factor=1.0):
    """The same drive with speeds of both sides instead of angles of four wheels."""
    wheels = log["encoders"]
    speed = np.gradient(wheels.values, wheels.time_s, axis=0)
    values = factor * np.column_stack([speed[:, [0, 2]].mean(axis=1), speed[:, [1, 3]].mean(axis=1)])
    return log.having(Channel("encoders", wheels.stamps_ns, values, ("left_speed_radps", "right_speed_radps")))


def test_speeds_of_two_sides_will_do(good):
    inspection = inspect_log(sides(good), P3AT)
    assert inspection.worst is Severity.INFO, inspection.summary()
    assert inspection.corrections == ()


@pytest.mark.parametrize("with_pose", [True, False])
def test_rpm_are_found_and_undone(good, with_pose):
    """60 / 2 pi times too large; with the IMU as the only other witness, too."""
    log = sides(good, 60.0 / (2.0 * np.pi))
    if not with_pose:
        log = replace(log, channels={name: channel for name, channel in log.channels.items() if name != "pose"})
    inspection = inspect_log(log, P3AT)
    assert "minute" in inspection.of_kind("unit", "encoders")[0].found
    np.testing.assert_allclose(inspection.corrected["encoders"].values, sides(good)["encoders"].values, atol=1e-9)


def test_a_column_that_is_never_finite_is_left_out_alone(good):
    """Drivers fill what they do not know with NaN: the rest of the row is as good as before."""
    imu = good["imu"]
    values = imu.values.copy()
    values[:, 3] = np.nan
    inspection = inspect_log(good.having(replace(imu, values=values)), P3AT)
    assert "gyro_x_radps never says" in inspection.of_kind("not finite", "imu")[0].found
    kept = [k for k in range(6) if k != 3]
    np.testing.assert_array_equal(inspection.corrected["imu"].values, imu.values[:, kept])


def test_a_channel_of_nan_is_as_good_as_none(good):
    bad = replace(good["encoders"], values=np.full_like(good["encoders"].values, np.nan))
    inspection = inspect_log(good.having(bad), P3AT)
    assert inspection.fatal.kind == "missing"


def mishap(channel, draw):
    """The channel after something that happens to files, or none."""
    stamps, values, columns = channel.stamps_ns.copy(), channel.values.copy(), channel.columns
    some = draw.random(len(stamps)) < 0.3 * draw.random()
    some[0] = True
    match draw.integers(0, 10):
        case 0:
            return None
        case 1:
            values, stamps = values[: (few := int(draw.choice([1, 2, 3, 5, 10, 50])))], stamps[:few]
        case 2:
            values[:, draw.integers(0, values.shape[1])] = draw.choice([0.0, np.nan])
        case 3:
            values[:] = 0.0
        case 4:
            values[some] = draw.choice([np.nan, np.inf, 1e9])
        case 5:
            values, stamps = values[some], stamps[some]
        case 6:
            stamps[:] = stamps[0]
        case 7:
            stamps = draw.permutation(stamps) + int(draw.choice([0, 20, 10**9])) * 10**9
        case 8:
            values *= float(draw.choice([1e-12, 1e12, 1e300]))
        case 9:
            kept = [0, *(k for k in range(1, len(columns)) if draw.random() < 0.6)]
            values, columns = values[:, kept], tuple(columns[k] for k in kept)
    return replace(channel, stamps_ns=stamps, values=values, columns=columns)


@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 500), marks=pytest.mark.slow)], ids=["few", "many"])
def test_whatever_happens_to_a_log_it_is_inspected(good, seeds):
    """Findings, not a stack trace; warnings of NumPy are errors here."""
    for seed in seeds:
        draw, channels = np.random.default_rng(seed), dict(good.channels)
        for name in draw.choice(["imu", "encoders", "pose"], draw.integers(1, 4)):
            if name in channels:
                channels[name] = mishap(channels[name], draw)
                channels = {n: c for n, c in channels.items() if c is not None}
        inspection = inspect_log(replace(good, channels=channels), P3AT)
        assert inspection.findings
        for channel in inspection.corrected.channels.values():
            assert np.isfinite(channel.values).all()


def test_paths_and_names_are_taken_in_place_of_records(good, tmp_path):
    """What the file and the library hold is what the records are."""
    good.save(tmp_path / "drive")
    by_name, by_record = inspect_log(str(tmp_path / "drive"), "p3at"), inspect_log(good, P3AT)
    assert [f.kind for f in by_name.findings] == [f.kind for f in by_record.findings]


@pytest.mark.parametrize(("log", "robot", "said"), [(3, P3AT, "log is of type int"), (DriveLog(), 3, "robot is of type int")])
def test_something_else_is_refused_with_a_sentence(log, robot, said):
    with pytest.raises(SlipfitError, match=f"{said}; expected a"):
        inspect_log(log, robot)


def test_what_needs_no_remedy_shows_none(good):
    inspection = inspect_log(good, P3AT)
    assert any(f.remedy == "nothing" for f in inspection.findings)
    assert "-> nothing" not in inspection.summary()
    assert not any(str(f).endswith("nothing") for f in inspection.findings)
