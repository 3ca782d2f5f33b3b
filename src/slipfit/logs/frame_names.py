"""Which coordinate frame is the robot's body and which is a world, by the names that REP 105 and drivers give them."""

from typing import NamedTuple

#: The robot's body, in the order of preference.
BODIES = ("base_link", "base_footprint", "base", "chassis", "robot", "body", "rover")

#: Frames that are fixed to the ground and in which something other than the wheels measures the robot.
POSE_WORLDS = ("map", "world", "mocap", "vicon", "optitrack", "qualisys")

#: Frames in which odometry counts from where the robot started; they drift.
ODOMETRY_WORLDS = ("odom", "odom_combined", "odometry")

#: Names that keep their meaning behind a prefix with an underscore, as robot1_base_link; camera_base or arm_body does not.
_PREFIXED = ("base_link", "base_footprint", "map", "world", "odom", "odom_combined")


class Known(NamedTuple):
    """A frame whose name is known: its place in the order of preference, and its namespace."""

    rank: int
    namespace: str


def known_as(frame: str, names: tuple[str, ...]) -> Known | None:
    """Whether a frame has one of these names, in capitals or not: base_link, robot1/base_link, robot1_base_link."""
    space, _, own = frame.lower().rpartition("/")
    if own in names:
        return Known(names.index(own), space)
    for name in sorted(_PREFIXED, key=len, reverse=True):
        if name in names and own.endswith(f"_{name}"):
            prefix = own.removesuffix(f"_{name}")
            return Known(names.index(name), f"{space}/{prefix}" if space else prefix)
    return None
