"""Bags of transforms that tests write, and the trees read from them."""

from typing import NamedTuple

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from slipfit.logs.bag_reader import Bag
from slipfit.logs.transforms import TransformTree

START_NS = 1_700_000_000_000_000_000
TF, TF_ROS1 = "tf2_msgs/msg/TFMessage", "tf/msg/tfMessage"

STORE2 = get_typestore(Stores.ROS2_HUMBLE)
STORE1 = get_typestore(Stores.ROS1_NOETIC)
STORE1.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms\n", TF_ROS1))


class Sent(NamedTuple):
    """One transform of a message; times in seconds from the start, received when stamped unless given."""

    parent: str
    child: str
    at_s: float
    translation: tuple = (0.0, 0.0, 0.0)
    quaternion: tuple = (0.0, 0.0, 0.0, 1.0)
    received_s: float | None = None
    topic: str = "/tf"


def ns(seconds):
    return START_NS + round(seconds * 1e9)


def about_z(yaw):
    return (0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2))


def moving(parent, child, at_s, poses, *, later_s=0.0, latency_s=0.0, topic="/tf"):
    """One message per row of planar poses (N, 3), stamped later than taken, and received after a latency."""
    return [
        Sent(parent, child, t + later_s, (x, y, 0.0), about_z(yaw), t + latency_s, topic)
        for t, (x, y, yaw) in zip(at_s, poses, strict=True)
    ]


def static(parent, child, translation=(0.0, 0.0, 0.0), quaternion=(0.0, 0.0, 0.0, 1.0)):
    return [Sent(parent, child, 0.0, translation, quaternion, topic="/tf_static")]


def tree_of(tmp_path, *sent, ros1=False):
    """The tree of transforms, each written as a message of its own."""
    messages = sorted((one for part in sent for one in part), key=lambda m: m.at_s if m.received_s is None else m.received_s)
    path = tmp_path / ("run.bag" if ros1 else "run")
    store, kind = (STORE1, TF_ROS1) if ros1 else (STORE2, TF)
    writer = Writer1(path) if ros1 else Writer2(path, version=9, storage_plugin=StoragePlugin.MCAP)
    with writer:
        topics = {
            topic: writer.add_connection(topic, kind, typestore=store) for topic in dict.fromkeys(m.topic for m in messages)
        }
        for k, m in enumerate(messages):
            data = message(store, kind, [m], k)
            raw = store.serialize_ros1(data, kind) if ros1 else store.serialize_cdr(data, kind)
            writer.write(topics[m.topic], ns(m.at_s if m.received_s is None else m.received_s), raw)
    bag = Bag(path, "bag" if ros1 else "folder")
    try:
        return TransformTree.from_messages(bag.read(dict.fromkeys(topics, kind)), "run")
    finally:
        bag.close()


def message(store, kind, transforms, number=0):
    """A TF message."""
    types = store.types
    rows = []
    for one in transforms:
        time = types["builtin_interfaces/msg/Time"](*divmod(ns(one.at_s), 10**9))
        header = types["std_msgs/msg/Header"]
        head = header(number, time, one.parent) if store is STORE1 else header(time, one.parent)
        moved = types["geometry_msgs/msg/Vector3"](*map(float, one.translation))
        turned = types["geometry_msgs/msg/Quaternion"](*map(float, one.quaternion))
        rows.append(
            types["geometry_msgs/msg/TransformStamped"](head, one.child, types["geometry_msgs/msg/Transform"](moved, turned))
        )
    return types[kind](rows)


def circle(at_s, *, radius_m=2.0, yaw_rate_radps=0.5):
    """x, y, yaw of a circle through the origin, to the left: x = r sin(ωt), y = r (1 - cos ωt)."""
    yaw = yaw_rate_radps * np.asarray(at_s)
    return np.column_stack([radius_m * np.sin(yaw), radius_m * (1.0 - np.cos(yaw)), yaw])


def planar_product(first, second):
    """Planar poses composed, row by row: the rule of SE(2), written out."""
    x, y, yaw = np.broadcast_arrays(*np.atleast_2d(first).T)
    u, v, w = np.atleast_2d(second).T
    return np.column_stack([x + np.cos(yaw) * u - np.sin(yaw) * v, y + np.sin(yaw) * u + np.cos(yaw) * v, yaw + w])


def wrapped(angle):
    return np.arctan2(np.sin(angle), np.cos(angle))


def assert_same_poses(got, expected, *, atol=1e-9):
    """Rows of x, y, yaw, yaw but for whole turns."""
    assert got.shape == expected.shape
    np.testing.assert_allclose(got[:, :2], expected[:, :2], rtol=0, atol=atol)
    np.testing.assert_allclose(wrapped(got[:, 2] - expected[:, 2]), 0.0, rtol=0, atol=atol)
