"""A log of another robot than the one that is named: told where way or turns contradict wheel radius and track, and never guessed
where slip explains them."""

from dataclasses import replace

import numpy as np
import pytest

from drives import drive
from slipfit.library import find_robot
from slipfit.logs import Severity, inspect_log

KIND = "another robot?"


@pytest.mark.parametrize(("named", "ratio"), [("husky", 0.110 / 0.1651), ("warthog", 0.110 / 0.3), ("jackal", 0.110 / 0.098)])
def test_a_log_of_another_robot_is_told(good, named, ratio):
    """A P3AT's log: its wheels have 0.110 m, those of the robot that is named another radius; the body goes the quotient of the
    two for each metre, less a slip of some percent."""
    (finding,) = inspect_log(good, find_robot(named)).of_kind(KIND)
    assert finding.value == pytest.approx(ratio, rel=0.05)
    assert finding.severity is Severity.WARNING
    for words in (named, "expected 0.7 to 1.1"):
        assert words in finding.found
    assert "name the robot that drove" in finding.remedy


@pytest.mark.parametrize("named", ["p3at", "husky", "jackal"])
def test_a_robots_own_log_is_not_doubted(named):
    assert not inspect_log(drive(named).readings, find_robot(named)).of_kind(KIND)


def test_turns_that_no_track_explains_are_told(good):
    """A gyro and a yaw that say one and a half times what a P3AT's wheels do: more than any skid-steer robot turns. Its own share
    is 0.96 by the ratio of both track widths; times 1.5 is outside of 0.2 to 1.25."""
    imu, pose = good["imu"], good["pose"]
    turning = [name == "gyro_z_radps" for name in imu.columns]
    heading = [name == "yaw_rad" for name in pose.columns]
    faster = good.having(
        replace(imu, values=np.where(turning, 1.5 * imu.values, imu.values)),
        replace(pose, values=np.where(heading, 1.5 * np.unwrap(pose.values, axis=0), pose.values)),
    )
    told = [f for f in inspect_log(faster, find_robot("p3at")).of_kind(KIND) if f.channel == "encoders"]
    assert len(told) == 1
    assert told[0].value > 1.25


def test_slip_that_comes_and_goes_is_no_other_robot(good):
    """Half of the time the robot gets 0.5 of its way: slip, because the ratio is not alike throughout the drive."""
    pose = good["pose"]
    way = np.diff(pose.values[:, :2], axis=0, prepend=pose.values[:1, :2])
    slow = np.where((np.arange(len(way)) // 20) % 2, 0.45, 1.0)[:, None] * way
    slipping = good.having(replace(pose, values=np.column_stack([np.cumsum(slow, axis=0), pose.values[:, 2:]])))
    assert not [f for f in inspect_log(slipping, find_robot("p3at")).of_kind(KIND) if f.channel == "pose"]
