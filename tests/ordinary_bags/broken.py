"""Bags that cannot be calibrated, or only after the user has decided something: one for each error message."""

from dataclasses import replace
from pathlib import Path

from ordinary_bags.cases import Case, Drive, Nav2, PoseSource, WheelOdometry
from ordinary_bags.streams import streams
from ordinary_bags.writing import write_streams

_PLAIN = Case("plain", seed=77, drive=Drive("teleop", duration_s=40.0), has_other_topics=False)
_WITH_TF = replace(_PLAIN, odometry=(WheelOdometry(has_tf=True),))

#: The cases of each bag; several are recorded together.
BAD_BAGS: dict[str, tuple[Case, ...]] = {
    "encoders_and_wheel_odometry_only": (replace(_PLAIN, imu=None, odometry=(WheelOdometry(),)),),
    "two_robots": (
        replace(_WITH_TF, namespace="/robot1", poses=(PoseSource("/mocap/pose"),)),
        replace(_WITH_TF, namespace="/robot2", poses=(PoseSource("/mocap/pose"),), robot="husky", seed=78),
    ),
    "tf_loop": (replace(_WITH_TF, fault="tf loop"),),
    "frame_with_two_parents": (replace(_WITH_TF, fault="two parents"),),
    "tf_gap": (replace(_WITH_TF, fault="tf gap", nav2=Nav2()),),
    "imu_frame_without_transform": (replace(_WITH_TF, fault="no imu frame"),),
    "clock_reset": (replace(_WITH_TF, fault="clock reset", poses=(PoseSource(),)),),
    "wheels_never_move": (replace(_WITH_TF, drive=Drive("parked", duration_s=40.0), poses=(PoseSource(),)),),
}


def write_bad(name: str, folder: Path) -> Path:
    """Write one of `BAD_BAGS`: the path of its .mcap file."""
    published = [stream for case in BAD_BAGS[name] for stream in streams(case)]
    return write_streams(published, Path(folder), name)
