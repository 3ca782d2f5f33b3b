"""Files of one drive become one log; what cannot be one is refused with a sentence."""

import numpy as np
import pytest

from slipfit.errors import LogError
from slipfit.logs import Channel, DriveLog, join_logs


def channel(name, start_s=0.0, columns=("gyro_z_radps",), rate_hz=100.0, count=200):
    stamps = np.round((start_s + np.arange(count) / rate_hz) * 1e9).astype(np.int64)
    return Channel(name, stamps, np.arange(float(count * len(columns))).reshape(count, -1), columns)


def log(source, *channels):
    return DriveLog({c.name: c for c in channels}, source=source, digest=source, notes=(f"from {source}",))


WHEELS = ("left_angle_rad", "right_angle_rad")


def test_channels_of_all_files_stand_side_by_side_untouched():
    imu, wheels = channel("imu"), channel("encoders", 0.5, WHEELS, 20.0)
    joined = join_logs(log("imu.csv", imu), log("wheels.csv", wheels))
    assert joined["imu"] is imu
    assert joined["encoders"] is wheels
    assert joined.source == "imu.csv + wheels.csv"
    assert joined.notes == ("imu.csv: from imu.csv", "wheels.csv: from wheels.csv")
    assert len(joined.digest) == 64


def test_accelerometer_and_gyro_of_one_clock_become_one_imu():
    """As phones write them: a file each. Columns come in the order of the standard names."""
    gyro, accel = channel("imu"), channel("imu", columns=("accel_x_mps2", "accel_y_mps2"))
    joined = join_logs(log("gyro.csv", gyro), log("accel.csv", accel))["imu"]
    assert joined.columns == ("accel_x_mps2", "accel_y_mps2", "gyro_z_radps")
    assert np.array_equal(joined.column("gyro_z_radps"), gyro.column("gyro_z_radps"))
    assert np.array_equal(joined.column("accel_y_mps2"), accel.column("accel_y_mps2"))


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (
            channel("encoders", 10.0, WHEELS),
            "imu.csv is stamped 0.000 to 1.990 s and other.csv is stamped 10.000 to .* no moment",
        ),
        (channel("imu"), "both have imu.gyro_z_radps"),
        (channel("imu", 0.003, ("accel_x_mps2",)), "not at the same stamps"),
    ],
    ids=["no overlap", "twice the same", "other stamps"],
)
def test_what_cannot_be_one_drive_is_refused(second, said):
    with pytest.raises(LogError, match=said):
        join_logs(log("imu.csv", channel("imu")), log("other.csv", second))
