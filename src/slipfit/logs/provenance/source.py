"""A pose-like topic as it was recorded, and what its name and frames promise."""

import re
from dataclasses import dataclass
from enum import Enum

from slipfit.logs.drive_log import Channel
from slipfit.logs.topics import ABOARD, OUTSIDE, POSE_COVARIANCE, POSE_STAMPED, words_of

_OUTSIDE = (*OUTSIDE, "vrpn", "gazebo")
_ODOMETRY_WORDS = ("odom", "odometry", "wheel", "wheels", "encoder", "encoders", "controller", "dead", "reckoning")
_FUSED_WORDS = ("filtered", "ekf", "ukf", "fused", "global")
_FIXED_FRAMES = ("map", "world", "earth", "utm", "enu", "mocap", "vicon", "optitrack", "vrpn")

#: Prefixes that say nothing of where a pose comes from: gz-sim's topics, and the package that makes fused odometry.
_NO_HINT = re.compile(r"^/world/[^/]+/model/[^/]+/|robot_localization")


class Origin(Enum):
    """Where a pose comes from."""

    INDEPENDENT = "independent"
    WHEELS = "wheel odometry"
    FUSED = "fused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False, slots=True)
class PoseSource:
    """A pose-like topic or column group as it was recorded: its name, message type, frames, and poses."""

    name: str
    channel: Channel  # x_m, y_m, yaw_rad, and more
    type: str = ""
    frame: str = ""
    child_frame: str = ""
    step_m: float = 0.0  # resolution of positions and headings before they were moved to the body; 0 where they were not
    step_rad: float = 0.0

    @property
    def is_named_outside(self) -> bool:
        """Whether the name promises motion capture or a simulator's truth."""
        return self._has(_OUTSIDE)

    @property
    def is_called_odometry(self) -> bool:
        """Whether its name is odometry's, or its frame where the message type is: poses without a speed are of other nodes."""
        by_name = self._has((*_ODOMETRY_WORDS, *_FUSED_WORDS))
        return self.hint in (Origin.WHEELS, Origin.FUSED) and (by_name or self.type not in (POSE_STAMPED, POSE_COVARIANCE))

    @property
    def hint(self) -> Origin:
        """What name and frames promise; unknown where they promise nothing. Words of odometry outweigh those of sensors aboard:
        a robot may be called after its lidar."""
        if self.is_named_outside:
            return Origin.INDEPENDENT
        if self._has(_FUSED_WORDS):
            return Origin.FUSED
        if self._has(ABOARD) and not self._has(_WHEEL_WORDS):
            return Origin.INDEPENDENT
        if "odom" in self._frames or self._has(_ODOMETRY_WORDS):
            return Origin.WHEELS
        return Origin.INDEPENDENT if self._frames & set(_FIXED_FRAMES) else Origin.UNKNOWN

    def _has(self, words: tuple[str, ...]) -> bool:
        own = "_" + "_".join(words_of(_NO_HINT.sub("/", self.name.split("#")[0]))) + "_"
        return any(f"_{word}_" in own for word in words)

    @property
    def _frames(self) -> set[str]:
        words = words_of(self.frame)
        return {"_".join(words), words[-1]} if words else set()


_WHEEL_WORDS = tuple(word for word in _ODOMETRY_WORDS if word not in ("odom", "odometry"))
