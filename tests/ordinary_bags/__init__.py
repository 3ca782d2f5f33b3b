"""Realistic ROS 2 bags: what robots with encoders, IMUs, odometry, filters and pose sensors record, and what is true of them.

`write(case, folder)` writes a bag; `confusion_cases()` and `calibration_cases(count)` are the cases; `write_bad(name, folder)`
writes bags that lead to errors. Topics are what ROS 2 stacks publish, written with rosbags and without slipfit's reader or
writer. The wheels' angles and the robot's motion come from slipfit's simulation; everything follows from the case's seed.
"""

from ordinary_bags.broken import BAD_BAGS, write_bad
from ordinary_bags.cases import (
    FUSED,
    INDEPENDENT,
    WHEEL_ODOMETRY,
    Body,
    Case,
    Controller,
    Drive,
    Fused,
    Imu,
    Joints,
    Kind,
    Nav2,
    PoseSource,
    Slip,
    WheelOdometry,
)
from ordinary_bags.catalogue import calibration_cases, confusion_cases
from ordinary_bags.drives import Motion, motion, true_robot
from ordinary_bags.writing import write

__all__ = [
    "BAD_BAGS", "FUSED", "INDEPENDENT", "WHEEL_ODOMETRY", "Body", "Case", "Controller", "Drive", "Fused", "Imu", "Joints",
    "Kind", "Motion", "Nav2", "PoseSource", "Slip", "WheelOdometry", "calibration_cases", "confusion_cases", "motion",
    "true_robot", "write", "write_bad",
]  # fmt: skip
