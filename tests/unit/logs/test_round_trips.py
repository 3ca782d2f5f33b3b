"""What is written reads back to the same bits, whatever the format, and other tools find standard messages in it."""

import hashlib

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from slipfit.errors import LogError, ParameterError
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog, read_log, write_bag1, write_bag2, write_mcap
from slipfit.logs import channels as names
from unit.logs.written_logs import START_NS, assert_same, channel, drive_log

WRITERS = {"run.mcap": write_mcap, "run.bag": write_bag1, "run": write_bag2, "csv": lambda log, path: log.save_csv(path)}


@pytest.fixture(params=WRITERS)
def again(request, tmp_path):
    """Writes a log and reads it."""

    def write_and_read(log, **how):
        path = tmp_path / request.param
        WRITERS[request.param](log, path)
        return read_log(path, **how)

    return write_and_read


def test_every_channel_comes_back(again):
    log = drive_log()
    assert_same(again(log), log)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("encoders", names.rotation_columns(("angle", "speed"), 4)),
        ("encoders", names.rotation_columns(("speed",), 6)),
        ("encoders", names.rotation_columns(("angle",), 3)),
        ("encoders", names.rotation_columns(("angle", "speed"), 0)),
        ("encoders", names.rotation_columns(("ticks",), 0)),
        ("encoders", ("wheel_speed_0_radps", "wheel_angle_0_rad")),
        ("commands", names.rotation_columns(("speed",), 4)),
        ("commands", names.OMNI_COMMAND_COLUMNS),
        ("commands", ("yaw_rate_radps", "v_mps")),
        ("imu", (*names.IMU_COLUMNS, *names.ORIENTATION_COLUMNS)),
        ("imu", ("gyro_z_radps",)),
        ("pose", ("x_m", "y_m")),
        ("gnss", ("longitude_rad", "latitude_rad")),
        ("drawbar", ("force_n", "angle_rad")),
    ],
)
def test_every_shape_of_a_channel_comes_back(again, name, columns):
    log = DriveLog({name: channel(name, columns)})
    assert_same(again(log), log)


def test_strange_numbers_come_back(again):
    """NaN of either sign, infinities, the smallest and largest floats, minus zero."""
    strange = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
    values = np.array([np.roll(strange, k)[:6] for k in range(8)])
    stamps = START_NS + np.arange(8)
    log = DriveLog(
        {
            "imu": Channel("imu", stamps, values, names.IMU_COLUMNS),
            "odometry": Channel("odometry", stamps, values, names.ODOMETRY_COLUMNS),
            "encoders": Channel("encoders", stamps, values[:, :4], names.wheel_columns("angle", 4)),
        }
    )
    assert_same(again(log), log)


def test_a_clock_that_runs_backwards_or_stands_still_comes_back(again):
    """Readers sort messages by the time of receipt; the header keeps what the sensor's clock said."""
    stamps = START_NS + np.array([0, 5, 5, 3, 3, 10, 1, 12, 12, 12]) * 1_000_000
    log = DriveLog({n: Channel(n, stamps, channel(n, count=10).values, channel(n).columns) for n in ("imu", "pose", "encoders")})
    assert_same(again(log), log)


def test_simulated_stamps_from_zero_come_back(again):
    log = DriveLog({n: channel(n, start_ns=0) for n in ("imu", "pose")})
    assert_same(again(log), log)


@pytest.mark.parametrize("name", ["run.mcap", "run.bag"])
def test_the_digest_is_that_of_the_file(name, tmp_path):
    WRITERS[name](drive_log("imu"), tmp_path / name)
    log = read_log(tmp_path / name)
    assert log.digest == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert log.source == name


def test_a_folder_has_the_digest_of_its_one_data_file(tmp_path):
    write_bag2(drive_log("imu"), tmp_path / "run")
    inside = tmp_path / "run" / "run.db3"
    assert read_log(tmp_path / "run").digest == read_log(inside).digest == hashlib.sha256(inside.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["run.mcap", "run.bag", "run"])
def test_other_tools_find_standard_messages(name, tmp_path):
    """rosbags' own decoder is the witness: names of joints, heading of the pose, degrees of the fix."""
    log = drive_log()
    WRITERS[name](log, tmp_path / name)
    last = {}
    with AnyReader([tmp_path / name]) as reader:
        for connection, _, raw in reader.messages():
            last[connection.topic] = reader.deserialize(raw, connection.msgtype)
    joints = last["/joint_states"]
    assert joints.name == [f"{row}_{side}_wheel_joint" for row in ("front", "rear") for side in ("left", "right")]
    assert joints.position.tolist() == log["encoders"].values[-1].tolist()
    x, y, yaw = log["pose"].values[-1]
    pose = last["/ground_truth/odom"].pose.pose
    assert (pose.position.x, pose.position.y) == (x, y)
    assert 2.0 * np.arctan2(pose.orientation.z, pose.orientation.w) == pytest.approx(yaw, abs=1e-12)
    stamp = last["/imu/data"].header.stamp
    assert stamp.sec * 1_000_000_000 + stamp.nanosec == log["imu"].stamps_ns[-1]
    assert last["/imu/data"].linear_acceleration.y == log["imu"].values[-1, 1]
    assert last["/cmd_vel"].twist.angular.z == log["commands"].values[-1, 1]
    assert last["/gnss/fix"].latitude == pytest.approx(np.degrees(log["gnss"].values[-1, 0]), rel=1e-15)
    assert last["/drawbar"].wrench.force.x == log["drawbar"].values[-1, 0]


@pytest.mark.parametrize("name", ["run.mcap", "run.bag", "run"])
def test_the_standard_messages_alone_give_the_same_log_to_rounding(name, tmp_path):
    """As if another tool had written them: the heading goes through a quaternion, the fix through degrees."""
    log = drive_log("encoders", "commands", "imu", "pose", "odometry", "gnss")
    WRITERS[name](log, tmp_path / name)
    topics = {"pose": "/ground_truth/odom", "odometry": "odom", "gnss": "/gnss/fix"}
    got = read_log(tmp_path / name, topics=topics)
    np.testing.assert_allclose(got["pose"].values, log["pose"].values, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(got["odometry"].values, log["odometry"].values, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(got["gnss"].values[:, :3], log["gnss"].values[:, :3], rtol=1e-14)


def test_a_simulated_drive_makes_a_bag_that_reads_without_flags(tmp_path):
    from slipfit.simulation import Scenario, simulate

    sensors = {"imu": {"rate_hz": 100}, "encoders": {"rate_hz": 100, "counts_per_turn": 4096}, "pose": {"rate_hz": 20}}
    drive = simulate(find_robot("p3at"), Scenario(commands=[{"for_s": 0.5, "yaw_rate_radps": 1.0}], sensors=sensors))
    drive.readings.save(tmp_path / "run.mcap")
    assert_same(DriveLog.load(tmp_path / "run.mcap"), drive.readings)


def test_nothing_is_overwritten_without_force(tmp_path):
    log = drive_log("imu")
    for name in ("run.mcap", "run.bag", "run"):
        WRITERS[name](log, tmp_path / name)
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises((LogError, ParameterError), match="exists already"):
            WRITERS[name](log, tmp_path / name)
        assert sorted(tmp_path.rglob("*")) == before
    write_mcap(log, tmp_path / "run.mcap", force=True)
    write_bag2(log, tmp_path / "run", force=True)
    (tmp_path / "run" / "mine.txt").write_text("precious")
    with pytest.raises(LogError, match="exists already"):
        write_bag2(log, tmp_path / "run", force=True)


@pytest.mark.parametrize("stamp", [-1, 2**31 * 1_000_000_000])
def test_times_that_ros_cannot_tell_are_refused(stamp, tmp_path):
    log = DriveLog({"imu": channel("imu", count=1, start_ns=stamp)})
    with pytest.raises(LogError, match=r"run\.mcap: channel imu has a stamp of -?\d+ ns"):
        write_mcap(log, tmp_path / "run.mcap")
    assert not list(tmp_path.iterdir())


def test_endings_and_empty_logs_are_refused(tmp_path):
    with pytest.raises(LogError, match=r"cannot write '\.txt'"):
        drive_log("imu").save(tmp_path / "run.txt")
    with pytest.raises(ParameterError, match=r"ends in \.mcap"):
        write_mcap(drive_log("imu"), tmp_path / "run.db3")
    with pytest.raises(LogError, match="nothing to write"):
        write_mcap(DriveLog(), tmp_path / "run.mcap")
