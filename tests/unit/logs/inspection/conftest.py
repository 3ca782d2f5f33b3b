"""Simulated logs that the tests of inspection share: driven once."""

from dataclasses import replace

import pytest

from drives import COMMANDS, drive


@pytest.fixture(scope="session")
def good():
    """28.5 s of a P3AT with encoders and IMU at 100 Hz, and a pose at 20 Hz."""
    return drive().readings


@pytest.fixture(scope="session")
def long():
    """The same for a minute."""
    return drive(commands=[*COMMANDS, *COMMANDS[1:], {"for_s": 4.5, "v_mps": 0.0}]).readings


@pytest.fixture(scope="session")
def without_pose(long):
    """A minute with encoders and IMU only: two witnesses, of which nobody knows who is wrong."""
    return replace(long, channels={name: channel for name, channel in long.channels.items() if name != "pose"})
