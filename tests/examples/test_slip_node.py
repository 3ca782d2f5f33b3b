"""The ROS 2 node, with stand-ins for rclpy and its messages: slip of a robot whose wheels outrun it comes out."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest

NODE = Path(__file__).parents[2] / "examples" / "ros2" / "slip_node.py"


class Message(SimpleNamespace):
    """Any message: fields that nobody set are messages too."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, Message())
        return getattr(self, name)


class Publisher:
    def __init__(self):
        self.sent = []

    def publish(self, message):
        self.sent.append(message)


class Node:
    parameters: ClassVar[dict[str, object]] = {}

    def __init__(self, name):
        self.heard = {}

    def declare_parameter(self, name, default):
        return SimpleNamespace(value=self.parameters.get(name, default))

    def create_publisher(self, kind, topic, depth):
        return Publisher()

    def create_subscription(self, kind, topic, callback, depth):
        self.heard[topic] = callback


@pytest.fixture
def slip_node(monkeypatch):
    rclpy, node = ModuleType("rclpy"), ModuleType("rclpy.node")
    node.Node = Node
    modules = {"rclpy": rclpy, "rclpy.node": node}
    for package, names in {
        "geometry_msgs": ["Vector3Stamped"], "nav_msgs": ["Odometry"], "sensor_msgs": ["Imu", "JointState"], "std_msgs": ["Bool"],
    }.items():  # fmt: skip
        modules[package], messages = ModuleType(package), ModuleType(f"{package}.msg")
        for name in names:
            setattr(messages, name, Message)
        modules[f"{package}.msg"] = messages
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("slip_node", NODE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stamped(time_s, **fields):
    whole = int(time_s)
    return Message(header=Message(stamp=Message(sec=whole, nanosec=round((time_s - whole) * 1e9))), **fields)


def pose_at(time_s, x_m):
    pose = Message(position=Message(x=x_m, y=0.0), orientation=Message(x=0.0, y=0.0, z=0.0, w=1.0))
    return stamped(time_s, pose=Message(pose=pose, covariance=[1e-6] + [0.0] * 6 + [1e-6] + [0.0] * 27 + [1e-6]))


@pytest.mark.parametrize(
    ("twin", "names", "speeds"),
    [
        ("husky", ["front_left_wheel", "front_right_wheel", "rear_left_wheel", "rear_right_wheel"], [0.5 / 0.1651] * 4),
        ("packbot", ["left_wheel_joint", "right_wheel_joint"], [0.5 / 0.089] * 2),
    ],
    ids=["husky", "packbot"],
)
def test_slip_of_a_robot_that_goes_four_fifths_of_what_its_wheels_say(slip_node, twin, names, speeds):
    """Rims at 0.5 m/s, the body at 0.4 m/s by poses of 1 mm: slip is 0.2 on both sides."""
    Node.parameters = {"twin": twin}
    node = slip_node.SlipNode()
    for k in range(300):
        t = 100.0 + 0.02 * k
        node.heard["joint_states"](stamped(t, name=names, velocity=speeds))
        node.heard["imu/data"](stamped(t, angular_velocity=Message(z=0.0)))
        if k % 5 == 0:
            node.heard["pose"](pose_at(t, 20.0 + 0.4 * 0.02 * k))
    last = node.slip.sent[-1].vector
    assert (last.x, last.y) == (pytest.approx(0.2, abs=0.03), pytest.approx(0.2, abs=0.03))
    assert last.z == pytest.approx(0.0, abs=0.05)
    assert not node.stuck.sent[-1].data


def test_joints_of_an_arm_are_no_wheels(slip_node):
    Node.parameters = {"twin": "husky"}
    node = slip_node.SlipNode()
    node.heard["joint_states"](stamped(1.0, name=["shoulder", "elbow"], velocity=[0.1, 0.2]))
    assert node.slip.sent == []
