"""Which topic of a bag becomes which channel: by message type, and by name where several fit."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipfit.errors import LogError
from slipfit.library.files import nearest
from slipfit.logs import channels as names

#: Our own message: numbers that no standard message carries to the bit.
EXACT_TYPE = "slipfit_msgs/msg/Channel"
EXACT_PREFIX = "/slipfit/"

JOINT_STATE = "sensor_msgs/msg/JointState"
IMU = "sensor_msgs/msg/Imu"
NAV_SAT_FIX = "sensor_msgs/msg/NavSatFix"
BATTERY_STATE = "sensor_msgs/msg/BatteryState"
ODOMETRY = "nav_msgs/msg/Odometry"
TWIST = "geometry_msgs/msg/Twist"
TWIST_STAMPED = "geometry_msgs/msg/TwistStamped"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
POSE_COVARIANCE = "geometry_msgs/msg/PoseWithCovarianceStamped"
TRANSFORM = "geometry_msgs/msg/TransformStamped"
WRENCH = "geometry_msgs/msg/WrenchStamped"
TF = "tf2_msgs/msg/TFMessage"
TF_ROS1 = "tf/msg/tfMessage"

#: Words of names that promise a better pose than the wheels give: first from outside the robot, then by its own sensors.
OUTSIDE: tuple[str, ...] = (
    *("ground_truth", "groundtruth", "truth", "true", "gt", "mocap", "motion_capture", "vicon", "optitrack", "qualisys"),
    *("natnet", "tracker", "p3d", "total_station", "leica", "aruco", "apriltag", "world"),
)
ABOARD = (
    *("icp", "slam", "amcl", "lidar", "rtk", "localization", "localisation", "rtabmap", "cartographer", "vio", "visual"),
    *("kiss", "lio", "loam", "vins", "orb", "zed", "stereo", "gps", "gnss"),
)
TRUTH = OUTSIDE + ABOARD
TOLD = ("cmd", "command", "commands", "setpoint", "desired", "reference")
WISHES = (*TOLD, "goal", "initialpose", "initial_pose", "target", "plan", "waypoint", "waypoints")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a bag."""

    name: str
    type: str
    count: int


@dataclass(frozen=True, slots=True)
class TopicUse:
    """A topic of a bag, its mean rate, and what it is used for."""

    name: str
    type: str
    count: int
    rate_hz: float
    use: str  # a channel, "pose source", "transforms", or "not used"


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of topic that may become a channel. Of those that fit, the one with the most points wins."""

    channel: str
    types: tuple[str, ...]
    needs: tuple[str, ...] = ()  # one of these words
    never: tuple[str, ...] = ()
    better: tuple[str, ...] = ()  # two points each
    worse: tuple[str, ...] = ()  # minus one point each
    points: int = 0

    def score(self, topic: Topic) -> int | None:
        """Points, or None where the topic does not fit."""
        if topic.type not in self.types:
            return None
        has = "_" + "_".join(words_of(topic.name)) + "_"
        if any(f"_{word}_" in has for word in self.never) or (self.needs and not any(f"_{word}_" in has for word in self.needs)):
            return None
        good, bad = (sum(f"_{word}_" in has for word in words) for words in (self.better, self.worse))
        return self.points + 2 * good - bad


_OTHER_IMUS = ("raw", "camera", "realsense", "zed", "oak", "ouster", "velodyne", "livox", "lidar", "phone", "mag", "arm")
_FUSED = ("filtered", "ekf", "ukf", "fused", "global", "gps", "camera", "zed", "map")
_MUXED = ("joy", "teleop", "nav", "key", "keyboard", "web", "rqt", "marker", "smooth", "smoothed", "raw", "auto", "mux", "out")

RULES = (
    Rule(names.ENCODERS, (JOINT_STATE,), never=(*TOLD, "target"), better=("joint_states",), worse=("dynamic", "arm", "gripper")),
    Rule(names.COMMANDS, (JOINT_STATE,), needs=(*TOLD, "target"), points=4),
    Rule(names.COMMANDS, (TWIST_STAMPED,), needs=TOLD, better=("controller",), worse=_MUXED, points=1),
    Rule(names.COMMANDS, (TWIST,), needs=TOLD, better=("controller",), worse=_MUXED),
    Rule(names.IMU, (IMU,), worse=_OTHER_IMUS),
    Rule(names.POSE, (ODOMETRY,), needs=OUTSIDE, points=20),
    Rule(names.POSE, (ODOMETRY,), needs=ABOARD, points=10),
    Rule(names.POSE, (ODOMETRY,), never=WISHES),
    Rule(names.POSE, (POSE_STAMPED, POSE_COVARIANCE, TRANSFORM), never=WISHES, needs=OUTSIDE, points=20),
    Rule(names.POSE, (POSE_STAMPED, POSE_COVARIANCE, TRANSFORM), never=WISHES, points=10),
    Rule(names.ODOMETRY, (ODOMETRY,), never=TRUTH, better=("wheel", "wheels", "encoder", "controller", "raw"), worse=_FUSED),
    Rule(names.GNSS, (NAV_SAT_FIX,), better=("fix",), worse=("raw", "secondary", "filtered")),
    Rule(names.DRAWBAR, (WRENCH,), better=("drawbar", "pull", "load_cell"), worse=("arm", "wrist", "gripper", "foot")),
    Rule(names.BATTERY, (BATTERY_STATE,)),
)

#: Types of transform trees, which hold poses among other things.
TRANSFORMS = (TF, TF_ROS1)

#: Channels for which all topics that fit are read: which joints are wheels, and which pose is independent of the wheels, is seen
#: in the messages only.
SEVERAL = (names.ENCODERS, names.POSE)

#: What each channel can be read from when a topic is named.
READABLE: dict[str, tuple[str, ...]] = {
    names.ENCODERS: (JOINT_STATE,),
    names.COMMANDS: (TWIST_STAMPED, TWIST, JOINT_STATE),
    names.IMU: (IMU,),
    names.POSE: (ODOMETRY, POSE_STAMPED, POSE_COVARIANCE, TRANSFORM, TF, TF_ROS1),
    names.ODOMETRY: (ODOMETRY, TF, TF_ROS1),
    names.GNSS: (NAV_SAT_FIX,),
    names.DRAWBAR: (WRENCH,),
    names.BATTERY: (BATTERY_STATE,),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A topic that becomes a channel. `fields` are (our column, path in the message); `frame` is the child frame in TF."""

    channel: str
    topic: str
    type: str
    fields: tuple[tuple[str, str], ...] = ()
    frame: str = ""


def words_of(name: str) -> list[str]:
    """Words of a name in small letters: /husky/cmdVel_raw -> husky, cmd, vel, raw."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return [word for word in re.split(r"[^a-z0-9]+", split.lower()) if word]


def choose(path: object, topics: Iterable[Topic], named: Mapping[str, str]) -> tuple[list[Choice], list[str]]:
    """What is read from a bag, best choice first for each channel, and notes on what was left out.

    Named topics are taken as they are. Then come our own messages, then the rules; a channel found once is not sought
    again, but all joint states and all pose-like topics are kept (`SEVERAL`).
    """
    spoken = {topic.name: topic for topic in topics if topic.count}
    silent = [topic.name for topic in topics if not topic.count]
    choices = _named(path, spoken, silent, named)
    taken = {choice.channel for choice in choices}
    for topic in spoken.values():
        channel = topic.name.removeprefix(EXACT_PREFIX)
        if topic.type == EXACT_TYPE and channel not in taken:
            choices.append(Choice(channel, topic.name, topic.type))
    taken |= {choice.channel for choice in choices}
    choices += _by_rules(spoken.values(), taken)
    used = {choice.topic for choice in choices}
    notes = [f"{name} has no messages" for name in silent if name not in used]
    left = [f"{t.name} ({t.type})" for t in spoken.values() if t.name not in used and t.type not in TRANSFORMS]
    if left:
        notes.append(f"left out: {', '.join(left[:12])}" + (f" and {len(left) - 12} more" if len(left) > 12 else ""))
    return choices, notes


def _by_rules(topics: Iterable[Topic], taken: set[str]) -> list[Choice]:
    fits: dict[str, list[tuple[int, int, str, str]]] = {}
    for rule in RULES:
        for topic in topics:
            score = None if rule.channel in taken else rule.score(topic)
            if score is not None:
                fits.setdefault(rule.channel, []).append((-score, -topic.count, topic.name, topic.type))
    chosen = []
    for channel, found in fits.items():
        ranked = list(dict.fromkeys((name, kind) for _, _, name, kind in sorted(found)))
        chosen += [Choice(channel, name, kind) for name, kind in (ranked if channel in SEVERAL else ranked[:1])]
    return chosen


def _named(path: object, topics: Mapping[str, Topic], silent: list[str], named: Mapping[str, str]) -> list[Choice]:
    """Choices that the caller made: 'imu': '/imu/data', or 'motors.left_current_a': '/status:left.current'."""
    choices = []
    columns: dict[str, list[tuple[str, str, str]]] = {}
    for key, value in named.items():
        channel, _, column = key.partition(".")
        if column:
            topic, _, field = value.partition(":")
            if not field:
                raise LogError(f"{path}: {key} is to come from {value!r}; expected a topic and a field, as /status:left.current")
            columns.setdefault(channel, []).append((column, topic, field))
            continue
        if channel not in READABLE:
            raise LogError(f"{path}: a topic is named for '{channel}'; {nearest(channel, READABLE)}, or name single columns")
        name, _, frame = value.partition("#")
        found = _find(path, topics, silent, name)
        if found.type not in (*READABLE[channel], EXACT_TYPE):
            raise LogError(
                f"{path}: topic {found.name} has messages of type {found.type}; {channel} is read from "
                f"{', '.join(READABLE[channel])}, or from single fields ('{channel}.<column>': '{found.name}:<field>')"
            )
        choices.append(Choice(channel, found.name, found.type, frame=frame))
    for channel, entries in columns.items():
        sources = {topic for _, topic, _ in entries}
        if len(sources) > 1:
            raise LogError(f"{path}: columns of {channel} are to come from {', '.join(sorted(sources))}; expected one topic")
        found = _find(path, topics, silent, sources.pop())
        choices.append(Choice(channel, found.name, found.type, fields=tuple((column, field) for column, _, field in entries)))
    twice = [c.channel for c in choices if [d.channel for d in choices].count(c.channel) > 1]
    if twice:
        raise LogError(f"{path}: {twice[0]} is named as a whole and by columns; expected one of both")
    return choices


def _find(path: object, topics: Mapping[str, Topic], silent: list[str], name: str) -> Topic:
    for spelt in (name, f"/{name}"):
        if spelt in topics:
            return topics[spelt]
        if spelt in silent:
            raise LogError(f"{path}: topic {spelt} has no messages; record the drive again, or name another topic")
    raise LogError(f"{path}: there is no topic {name}; {nearest(name, topics)}")
