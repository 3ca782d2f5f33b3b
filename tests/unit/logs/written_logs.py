"""Logs that tests write, and how they compare them."""

import numpy as np

from slipfit.logs import Channel, DriveLog
from slipfit.logs import channels as names

START_NS = 1_700_000_000_123_456_789

ALL = {
    "encoders": names.wheel_columns("angle", 4),
    "commands": names.COMMAND_COLUMNS,
    "imu": names.IMU_COLUMNS,
    "pose": names.POSE_COLUMNS,
    "odometry": names.ODOMETRY_COLUMNS,
    "gnss": names.GNSS_COLUMNS,
    "motors": ("left_current_a", "right_current_a", "left_voltage_v", "right_voltage_v"),
    "battery": names.BATTERY_COLUMNS,
    "drawbar": names.DRAWBAR_COLUMNS,
    "segments": names.SEGMENT_COLUMNS,
    "tyre_pressures": ("front_pa", "rear_pa"),
}


def channel(name, columns=None, *, count=20, step_ns=10_000_000, seed=0, start_ns=START_NS):
    """Random numbers at an even rate."""
    columns = tuple(columns or ALL[name])
    stamps = start_ns + step_ns * np.arange(count, dtype=np.int64)
    return Channel(name, stamps, np.random.default_rng(seed).standard_normal((count, len(columns))), columns)


def drive_log(*kinds, count=20):
    """A log of the channels named, or of all."""
    kinds = kinds or tuple(ALL)
    return DriveLog({kind: channel(kind, seed=k, count=count) for k, kind in enumerate(kinds)})


def assert_same(got, expected):
    """The same channels, columns, stamps and values to the bit."""
    assert set(got.channels) == set(expected.channels)
    for name, one in expected.channels.items():
        other = got[name]
        assert other.columns == one.columns, name
        assert other.stamps_ns.dtype == np.int64
        assert other.stamps_ns.tolist() == one.stamps_ns.tolist(), name
        assert other.values.tobytes() == np.ascontiguousarray(one.values).tobytes(), name
