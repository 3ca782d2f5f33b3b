"""Which topic becomes which channel, and what is said about bags that do not hold a drive."""

import shutil

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from slipfit.errors import LogError
from slipfit.logs import read_log, write_bag1, write_bag2, write_mcap
from slipfit.logs.topics import Topic, choose
from slipfit.logs.wheels import joint_names, wheel_order
from unit.logs.written_logs import START_NS, drive_log

STORE = get_typestore(Stores.ROS2_HUMBLE)
STORE.register(
    get_types_from_msg("std_msgs/Header header\nfloat32 left_current\nfloat64[] data\nstring state\n", "x_msgs/msg/Status")
)
T = STORE.types


def header(k, frame="base_link", stamp_ns=None):
    stamp = START_NS + 10_000_000 * k if stamp_ns is None else stamp_ns
    return T["std_msgs/msg/Header"](T["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9), frame)


def vector(x=0.0, y=0.0, z=0.0):
    return T["geometry_msgs/msg/Vector3"](x, y, z)


def joints(k, names, position=(), velocity=()):
    arrays = (np.array(position, dtype=float), np.array(velocity, dtype=float), np.zeros(0))
    return T["sensor_msgs/msg/JointState"](header(k), list(names), *arrays)


def pose(x, y, yaw):
    at = T["geometry_msgs/msg/Point"](x, y, 0.0)
    return T["geometry_msgs/msg/Pose"](at, T["geometry_msgs/msg/Quaternion"](0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)))


def odometry(k, x):
    with_pose = T["geometry_msgs/msg/PoseWithCovariance"](pose(x, 0.0, 0.5), np.zeros(36))
    twist = T["geometry_msgs/msg/Twist"](vector(1.0), vector(z=0.1))
    return T["nav_msgs/msg/Odometry"](
        header(k), "base_link", with_pose, T["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36))
    )


def transform(k, parent, child, x):
    turn = T["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    moved = T["geometry_msgs/msg/Transform"](vector(x), turn)
    return T["geometry_msgs/msg/TransformStamped"](header(k, parent), child, moved)


@pytest.fixture
def bag(tmp_path):
    """Writes topics, given as name: (type, messages), and returns the path of the bag."""

    def write(topics, received_ns=None):
        path = tmp_path / "run"
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            for topic, (kind, messages) in topics.items():
                connection = writer.add_connection(topic, kind, typestore=STORE)
                for k, message in enumerate(messages):
                    received = START_NS + 10_000_000 * k + 7_000 if received_ns is None else received_ns[k]
                    writer.write(connection, received, STORE.serialize_cdr(message, kind))
        return path

    return write


# --- stamps -----------------------------------------------------------------------------------------------------------


def test_the_header_counts_not_the_receipt(bag):
    path = bag({"/odom": ("nav_msgs/msg/Odometry", [odometry(k, float(k)) for k in range(3)])})
    assert read_log(path)["odometry"].stamps_ns.tolist() == [START_NS + 10_000_000 * k for k in range(3)]


def test_without_header_the_receipt_counts_and_this_is_said(bag):
    twists = [T["geometry_msgs/msg/Twist"](vector(0.5), vector(z=0.1 * k)) for k in range(3)]
    log = read_log(bag({"/cmd_vel": ("geometry_msgs/msg/Twist", twists)}))
    assert log["commands"].stamps_ns[0] == START_NS + 7_000
    assert log["commands"].columns == ("v_mps", "yaw_rate_radps")
    assert any("no header" in note for note in log.notes)


def test_headers_that_were_never_filled_do_not_count(bag):
    messages = [joints(k, joint_names(4), np.zeros(4)) for k in range(3)]
    for message in messages:
        message.header.stamp.sec = message.header.stamp.nanosec = 0
    log = read_log(bag({"/joint_states": ("sensor_msgs/msg/JointState", messages)}))
    assert log["encoders"].stamps_ns[0] == START_NS + 7_000
    assert any("time 0" in note for note in log.notes)


# --- wheels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("joint_list", "order", "wheels"),
    [
        (["front_left_wheel", "front_right_wheel", "rear_left_wheel", "rear_right_wheel"], [0, 1, 2, 3], 4),
        (
            ["rear_right_wheel_joint", "rear_left_wheel_joint", "front_right_wheel_joint", "front_left_wheel_joint"],
            [3, 2, 1, 0],
            4,
        ),
        (["fl_joint", "fr_joint", "rl_joint", "rr_joint"], [0, 1, 2, 3], 4),
        (["wheel_lf", "wheel_rf", "wheel_lb", "wheel_rb"], [0, 1, 2, 3], 4),
        (["back_leftWheel", "back_rightWheel", "front_leftWheel", "front_rightWheel"], [2, 3, 0, 1], 4),
        (["arm_1", "right_wheel_joint", "left_wheel_joint"], [2, 1], 0),
        (["front_left_hub", "front_left_wheel", "front_right_wheel", "rear_left_wheel", "rear_right_wheel"], [1, 2, 3, 4], 4),
        ([f"{row}_{side}" for row in ("front", "middle", "rear") for side in ("left", "right")], [0, 1, 2, 3, 4, 5], 6),
        (["wheel_1", "wheel_2", "wheel_3"], [0, 1, 2], 3),
    ],
)
def test_joints_are_known_by_their_names(joint_list, order, wheels):
    assert wheel_order(joint_list) == (order, wheels)


@pytest.mark.parametrize("joint_list", [["shoulder", "elbow"], ["front_left_wheel", "rear_right_wheel"], [], ["left_wheel"]])
def test_joints_that_are_no_wheels_or_not_all_are_not_guessed(joint_list):
    assert wheel_order(joint_list) is None


@pytest.mark.parametrize("wheels", [0, 3, 4, 6])
def test_our_own_names_are_understood(wheels):
    assert wheel_order(joint_names(wheels)) == (list(range(wheels or 2)), wheels)


def test_wheels_come_in_our_order_and_other_joints_stay_out(bag):
    """An arm publishes on the same topic; one message names the wheels in another order."""
    order = joint_names(4)
    messages = [
        joints(0, order, [1, 2, 3, 4], [10, 20, 30, 40]),
        joints(1, ["arm"], [9.0], [9.0]),
        joints(2, order[::-1], [4, 3, 2, 1], [40, 30, 20, 10]),
    ]
    got = read_log(bag({"/joint_states": ("sensor_msgs/msg/JointState", messages)}))["encoders"]
    assert got.columns[0] == "wheel_angle_0_rad"
    assert got.columns[4] == "wheel_speed_0_radps"
    assert got.values.tolist() == [[1, 2, 3, 4, 10, 20, 30, 40]] * 2
    assert got.stamps_ns.tolist() == [START_NS, START_NS + 20_000_000]


def test_joint_states_that_tell_more_wheels_win(bag):
    two = [joints(k, ["left_wheel", "right_wheel"], [1.0, 2.0]) for k in range(5)]
    four = [joints(k, joint_names(4), np.arange(4.0)) for k in range(2)]
    arm = [joints(0, ["elbow"], [0.0])]
    kind = "sensor_msgs/msg/JointState"
    log = read_log(bag({"/a/joint_states": (kind, two), "/b/wheels": (kind, four), "/arm/joint_states": (kind, arm)}))
    assert len(log["encoders"].columns) == 4
    assert any("elbow" in note and "not known as wheels" in note for note in log.notes)


# --- choice of topics -------------------------------------------------------------------------------------------------

ODOM, TWIST, IMU = "nav_msgs/msg/Odometry", "geometry_msgs/msg/Twist", "sensor_msgs/msg/Imu"


@pytest.mark.parametrize(
    ("channel", "topics", "chosen"),
    [
        ("imu", [("/imu/data_raw", IMU), ("/imu/data", IMU), ("/camera/imu", IMU)], "/imu/data"),
        ("odometry", [("/odometry/filtered", ODOM), ("/wheel/odom", ODOM)], "/wheel/odom"),
        ("pose", [("/odom", ODOM), ("/ground_truth/odom", ODOM), ("/icp_odom", ODOM)], "/ground_truth/odom"),
        ("pose", [("/odom", ODOM), ("/goal_pose", "geometry_msgs/msg/PoseStamped"), ("/icp/odom", ODOM)], "/icp/odom"),
        (
            "pose",
            [("/vicon/robot", "geometry_msgs/msg/TransformStamped"), ("/amcl_pose", "geometry_msgs/msg/PoseStamped")],
            "/vicon/robot",
        ),
        (
            "commands",
            [("/joy_teleop/cmd_vel", TWIST), ("/husky_velocity_controller/cmd_vel", TWIST)],
            "/husky_velocity_controller/cmd_vel",
        ),
        ("commands", [("/velocity", TWIST), ("/cmd_vel", TWIST)], "/cmd_vel"),
    ],
)
def test_of_several_topics_the_better_name_wins(channel, topics, chosen):
    choices, notes = choose("run", [Topic(name, kind, 10) for name, kind in topics], {})
    assert next(c.topic for c in choices if c.channel == channel) == chosen
    assert all(any(name in note for note in notes) for name, _ in topics if name not in {c.topic for c in choices})


def test_odometry_is_no_pose_of_its_own_accord_and_this_is_said(bag):
    """Wheel odometry is not ground truth; without encoders its origin is unknown, and the name decides."""
    path = bag({"/odom": (ODOM, [odometry(k, float(k)) for k in range(3)])})
    log = read_log(path)
    assert log["odometry"].column("x_m").tolist() == [0.0, 1.0, 2.0]
    assert "pose" not in log
    assert "no pose is independent of the wheels: /odom is unknown" in log.truth.sentence()
    assert read_log(path, truth="/odom")["pose"].column("x_m").tolist() == [0.0, 1.0, 2.0]
    assert "pose" not in read_log(path, truth="none")
    with pytest.raises(LogError, match=r"run: --truth /odometry: there is no such pose; .*/odom"):
        read_log(path, truth="/odometry")


def test_transforms_are_composed_from_world_to_robot(bag):
    """Two transforms in one message: the robot in the world, and a wheel 9 m ahead of it."""
    tf = [
        T["tf2_msgs/msg/TFMessage"]([transform(k, "base_link", "wheel", 9.0), transform(k, "/map", "base_link", float(k))])
        for k in range(3)
    ]
    path = bag({"/tf": ("tf2_msgs/msg/TFMessage", tf)})
    log = read_log(path)
    assert log["pose"].column("x_m").tolist() == [0.0, 1.0, 2.0]
    assert log.truth.name == "/tf#map:base_link"
    assert read_log(path, topics={"pose": "/tf#wheel"})["pose"].column("x_m").tolist() == [9.0, 10.0, 11.0]
    assert read_log(path, topics={"pose": "/tf#base_link:wheel"})["pose"].column("x_m").tolist() == [9.0] * 3
    with pytest.raises(LogError, match=r"run: its transforms have no frame foot; expected one of .*map->base_link"):
        read_log(path, topics={"pose": "/tf#foot"})


def test_single_fields_of_any_message_can_be_named(bag):
    """A type that nobody knows, with a text that changes its length."""
    status = [T["x_msgs/msg/Status"](header(k), 0.5 * k, np.array([1.0, 2.0 + k]), "ok" * k) for k in range(4)]
    path = bag({"/status": ("x_msgs/msg/Status", status)})
    log = read_log(path, topics={"motors.left_current_a": "/status:left_current", "motors.right_current_a": "/status:data[1]"})
    assert log["motors"].values.tolist() == [[0.0, 2.0], [0.5, 3.0], [1.0, 4.0], [1.5, 5.0]]
    assert log["motors"].stamps_ns[1] == START_NS + 10_000_000
    for wrong in ("left", "data[2]", "data[x]", "state"):
        with pytest.raises(LogError, match=r"run: topic /status .* has no number .*; it has header.stamp.sec"):
            read_log(path, topics={"motors.left_current_a": f"/status:{wrong}"})
    with pytest.raises(LogError, match=r"none of its 1 topics is of a type that is known here: /status \(x_msgs/msg/Status\)"):
        read_log(path)


def test_fixes_are_projected_and_lost_ones_are_nan(bag):
    """One second of latitude at 45° is 30.87 m on the ellipsoid (meridian radius 6367382 m there, WGS 84)."""
    fixes = []
    for k, lat in enumerate([45.0, 45.0 + 1 / 3600, 0.0]):
        status = T["sensor_msgs/msg/NavSatStatus"](-1 if k == 2 else 0, 1)
        fixes.append(T["sensor_msgs/msg/NavSatFix"](header(k), status, lat, 8.0, 100.0, np.zeros(9), 0))
    log = read_log(bag({"/gps/fix": ("sensor_msgs/msg/NavSatFix", fixes)}))
    gnss = log["gnss"]
    assert gnss.column("latitude_rad")[0] == np.radians(45.0)
    assert gnss.column("y_m")[1] == pytest.approx((6_367_382.0 + 100.0) * np.radians(1 / 3600), rel=1e-5)
    assert gnss.column("x_m")[1] == pytest.approx(0.0, abs=1e-6)
    assert np.isnan(gnss.values[2]).all()
    assert any("1 of 3 messages are without fix" in note for note in log.notes)


# --- what is wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topics", "sentence"),
    [
        ({"imu": "/imu/dat"}, "there is no topic /imu/dat; did you mean '/imu/data'"),
        (
            {"imu": "/cmd_vel"},
            "topic /cmd_vel has messages of type geometry_msgs/msg/TwistStamped; imu is read from sensor_msgs/msg/Imu",
        ),
        ({"imux": "/imu/data"}, "a topic is named for 'imux'; did you mean 'imu'"),
        ({"motors.left_current_a": "/imu/data"}, "expected a topic and a field"),
        ({"motors.a_a": "/imu/data:x", "motors.b_a": "/cmd_vel:y"}, "expected one topic"),
        ({"imu": "/imu/data", "imu.gyro_z_radps": "/imu/data:angular_velocity.z"}, "as a whole and by columns"),
    ],
)
def test_topics_that_cannot_be_are_told(topics, sentence, tmp_path):
    write_mcap(drive_log("imu", "commands"), tmp_path / "run.mcap")
    with pytest.raises(LogError, match=sentence) as caught:
        read_log(tmp_path / "run.mcap", topics=topics)
    assert "run.mcap: " in str(caught.value)


def test_a_bag_without_messages_is_told(bag):
    with pytest.raises(LogError, match="has no messages on its 1 topics; record the drive again"):
        read_log(bag({"/imu": (IMU, [])}))
    shutil.rmtree(bag.__closure__[0].cell_contents / "run")
    with pytest.raises(LogError, match="the bag has no topics"):
        read_log(bag({}))


def test_a_named_topic_without_messages_is_told(bag):
    path = bag({"/imu": (IMU, []), "/odom": (ODOM, [odometry(0, 0.0)])})
    with pytest.raises(LogError, match="topic /imu has no messages"):
        read_log(path, topics={"imu": "/imu"})
    assert "imu" not in read_log(path)


@pytest.mark.parametrize(("name", "write"), [("run.mcap", write_mcap), ("run.bag", write_bag1), ("run", write_bag2)])
def test_a_bag_that_was_cut_off_is_told_with_a_remedy(name, write, tmp_path):
    write(drive_log(count=200), tmp_path / name)
    path = tmp_path / name if name != "run" else tmp_path / "run" / "run.db3"
    data = path.read_bytes()
    for share in (0.3, 0.6, 0.9, 0.999):
        path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(LogError, match=r"(damaged|cut off): record it again, or try `"):
            read_log(tmp_path / name)


def test_metadata_that_lack_a_key_are_told_in_words(tmp_path):
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information:\n  version: 5\n")
    with pytest.raises(LogError, match="'relative_file_paths'") as raised:
        read_log(tmp_path)
    assert "KeyError" not in str(raised.value)


@pytest.mark.parametrize("name", ["run.mcap", "run.bag", "run.db3", "run.csv", "run.csv.gz", "run.xyz"])
def test_empty_and_alien_files_are_told(name, tmp_path):
    path = tmp_path / name
    with pytest.raises(LogError, match="there is no such file"):
        read_log(path)
    path.write_bytes(b"")
    with pytest.raises(LogError, match="the file is empty"):
        read_log(path)
    path.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(LogError, match=name.replace(".", r"\.")):
        read_log(path)


def test_folders_that_hold_no_log_are_told(tmp_path):
    with pytest.raises(LogError, match="neither a ROS 2 bag"):
        read_log(tmp_path)
    write_mcap(drive_log("imu"), tmp_path / "a.mcap")
    assert "imu" in read_log(tmp_path)
    write_mcap(drive_log("imu"), tmp_path / "b.mcap")
    with pytest.raises(LogError, match="2 bag files, but no metadata"):
        read_log(tmp_path)


def test_a_wrong_ending_does_not_matter(tmp_path):
    write_mcap(drive_log("imu"), tmp_path / "run.mcap")
    (tmp_path / "run.mcap").rename(tmp_path / "run.db3")
    assert "imu" in read_log(tmp_path / "run.db3")
