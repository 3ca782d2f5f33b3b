"""Recordings of real robots become drive logs; what their SOURCE.md says about rates, counts and units comes out."""

from pathlib import Path

import numpy as np
import pytest

from slipfit.logs import join_logs, read_log, write_mcap

COLUMNS = Path(__file__).parents[2] / "examples" / "columns"


def read(path, columns):
    return read_log(path, columns=COLUMNS / f"{columns}.yaml")


def runs(recordings, pattern, *, without=()):
    found = [path for path in sorted(recordings.glob(pattern)) if not any(word in path.name for word in without)]
    assert found, pattern
    return found


def test_drive_warthog_and_husky(recordings):
    """SOURCE: horizons of 40 samples at 20 Hz; the pose is relative to the start of its horizon; gravity along z."""
    without = (".raw.", ".authors_body_vel.", ".horizons.")
    for path in runs(recordings, "drive_warthog_husky/*.csv.gz", without=without):
        log = read(path, "drive")
        assert {"encoders", "commands", "imu", "pose", "segments"} == set(log.channels)
        index = log["segments"].column("index")
        starts = np.flatnonzero(np.diff(index, prepend=np.nan) != 0)
        assert np.all(np.diff(starts) == 40), path.name
        assert np.all(np.diff(log["imu"].stamps_ns) == 50_000_000), path.name  # horizons lie end to end
        assert log["imu"].rate_hz == pytest.approx(20.0)
        # A pose relative to its own start is zero there; ICP's first reading differs by rounding only.
        assert np.abs(log["pose"].values[starts]).max() < 1e-6
        assert np.median(log["imu"].column("accel_z_mps2")) == pytest.approx(9.8, abs=0.3)
        assert "end to end" in log.notes[0]


def test_drive_raw_frames(recordings):
    """SOURCE: 20 Hz with voltages and currents; a first row of zeros, which the map skips. Stamps are nanoseconds since 1970,
    too long for a float: the first stamp of the grass recording stands in the file as 1721335045320405150."""
    for path in runs(recordings, "drive_warthog_husky/*.raw.csv.gz"):
        log = read(path, "drive_raw")
        assert np.median(np.diff(log["imu"].stamps_ns)) == pytest.approx(50e6, rel=0.01)
        assert log["motors"].columns == ("left_current_a", "right_current_a", "left_voltage_v", "right_voltage_v")
        assert log["motors"].column("left_voltage_v").max() > 5.0
        assert log["pose"].columns == ("x_m", "y_m", "yaw_rad")
    grass = read(recordings / "drive_warthog_husky/warthog_wheels_grass.raw.csv.gz", "drive_raw")
    assert grass["imu"].stamps_ns[0] == 1721335045320405150


def test_borealtc_imu_and_wheels(recordings):
    """SOURCE: imu 100 Hz, pro 6.5 Hz; wheel speeds in m/s of a wheel of 0.165 m."""
    for path in runs(recordings, "borealtc_husky/*/imu_*.csv.gz")[::4]:
        imu = read(path, "borealtc_imu")["imu"]
        assert imu.rate_hz == pytest.approx(100.0, rel=1e-3)
        assert len(imu.columns) == 6
    for path in runs(recordings, "borealtc_husky/*/pro_*.csv"):
        log = read(path, "borealtc_pro")
        assert log["encoders"].rate_hz == pytest.approx(6.5, rel=1e-3)
        assert log["motors"].columns == ("left_current_a", "right_current_a")
    first = read(recordings / "borealtc_husky/ASPHALT/pro_01.csv", "borealtc_pro")["encoders"]
    # First row of the file: velL 0.1496062992125984 m/s.
    assert first.column("left_speed_radps")[0] == pytest.approx(0.1496062992125984 / 0.165, rel=1e-15)


@pytest.mark.parametrize(("robot", "rate_hz", "wheels"), [("diff", 20.0, 2), ("omni3", 25.0, 3), ("omni4", 100.0, 4)])
def test_optiodom(recordings, robot, rate_hz, wheels):
    """SOURCE: 20, 25 and 100 Hz; increments per cycle, which are added up; the pose starts at the origin."""
    for path in runs(recordings, f"optiodom_umbmark/{robot}/*/*/*_run-*.csv.gz"):
        log = read(path, f"optiodom_{robot}")
        assert np.median(np.diff(log["pose"].stamps_ns)) == pytest.approx(1e9 / rate_hz, rel=0.02)
        assert log["encoders"].values.shape[1] == wheels
        if robot != "omni4":
            assert np.all(log["encoders"].values == np.round(log["encoders"].values))  # whole ticks


def test_robotino_on_four_surfaces(recordings):
    """SOURCE: 72, 72, 216 and 216 runs, about 31 ms apart, gear of 16, currents are magnitudes."""
    counts = {"table": 72, "brown": 72, "gray": 216, "green": 216}
    for surface, count in counts.items():
        paths = runs(
            recordings, f"robotino_slip/datasets/for_research_movement_direction/one_surface_type/{surface}_surface/*.csv.gz"
        )
        assert len(paths) == count
        for path in paths[::24]:
            log = read(path, "robotino")
            assert np.median(np.diff(log["encoders"].stamps_ns)) == pytest.approx(31e6, rel=0.1)
            assert log["motors"].columns == ("wheel_0_current_a", "wheel_1_current_a", "wheel_2_current_a")
            assert log["motors"].values.min() >= 0.0
            assert np.abs(log["commands"].column("v_mps")).max() < 0.31
            assert np.abs(log["pose"].column("yaw_rad")).max() < 2.01 * np.pi  # degrees became radians


def test_robotino_motors(recordings):
    """SOURCE: 6 logs; two are driven like a robot, the others motor by motor. Motor 1 of validation_data is set to 125.89."""
    folder = recordings / "robotino_slip/datasets/dc_motor_model_identification"
    paths = runs(folder, "*.csv.gz")
    assert len(paths) == 6
    for path in paths:
        assert len(read(path, "robotino_motor")["encoders"].columns) == 3
    log = read(folder / "validation_data.csv.gz", "robotino_motor")
    assert log["commands"].column("wheel_speed_0_radps")[0] == pytest.approx(125.89 / 16.0)


def test_maxxii(recordings):
    """SOURCE: 270 rows without header; the first is -10,-160,0.037475,-0.028885,3.0974; gear of 34.45."""
    log = read(recordings / "tracked_maxxii/ident_wheels_real_indoor.csv", "maxxii")
    assert len(log["track_slip"].stamps_ns) == 270
    assert log["track_slip"].values[0].tolist() == [0.037475, -0.028885, 3.0974]
    assert log["encoders"].values[0] == pytest.approx([-10 / 34.45, -160 / 34.45], rel=1e-6)


def test_soil_rigs(recordings):
    """SOURCE: 189 averages, penetration at 100 Hz; plates.csv names the trials."""
    wheel = read(recordings / "cmu_single_wheel/single_wheel_smooth.csv", "single_wheel")
    assert len(wheel["drawbar"].stamps_ns) == 189
    assert wheel["wheel"].column("load_n").mean() == pytest.approx(22.5, abs=2.5)  # SOURCE: load about 20-25 N
    for path in runs(recordings, "cmu_single_wheel/penetration_*.csv.gz"):
        log = read(path, "penetration")
        assert np.median(np.diff(log["plate"].stamps_ns)) == pytest.approx(10e6, rel=0.01)
        assert log["segments"].column("index")[0] == 0.0


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("drive_warthog_husky/warthog_wheels_grass.csv.gz", "drive"),
        ("drive_warthog_husky/warthog_wheels_grass.raw.csv.gz", "drive_raw"),
        ("optiodom_umbmark/diff/circular/231220200146/231220200146_run-02.csv.gz", "optiodom_diff"),
    ],
)
def test_a_recording_goes_through_a_bag_and_csv_to_the_same_bits(recordings, name, columns, tmp_path):
    log = read(recordings / name, columns)
    write_mcap(log, tmp_path / "run.mcap")
    log.save_csv(tmp_path / "run")
    for again in (read_log(tmp_path / "run.mcap"), read_log(tmp_path / "run")):
        assert set(again.channels) == set(log.channels)
        for channel in log.channels.values():
            other = again[channel.name]
            assert other.columns == channel.columns
            assert other.stamps_ns.tobytes() == channel.stamps_ns.tobytes()
            assert other.values.tobytes() == channel.values.tobytes()


def test_a_husky_recorded_in_two_files_is_one_drive(recordings):
    """BorealTC's SOURCE: wheels at 6.5 Hz in pro_*.csv, IMU at 100 Hz in imu_*.csv, stamps of one clock."""
    folder = recordings / "borealtc_husky" / "ASPHALT"
    joined = join_logs(read(folder / "imu_01.csv.gz", "borealtc_imu"), read(folder / "pro_01.csv", "borealtc_pro"))
    assert joined["imu"].rate_hz == pytest.approx(100.0, rel=1e-3)
    assert joined["encoders"].rate_hz == pytest.approx(6.5, rel=1e-3)
    assert joined.duration_s == pytest.approx(max(channel.time_s[-1] for channel in joined.channels.values()), abs=0.5)
