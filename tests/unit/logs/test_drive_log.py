"""Channels with their own stamps, and their files."""

import csv

import numpy as np
import pytest

from slipfit.errors import LogError, ParameterError
from slipfit.logs import Channel, DriveLog

STAMPS = np.array([1_000_000_000, 1_033_333_333, 1_066_666_667, 1_100_000_000])


def channel(values=None):
    values = np.arange(8.0).reshape(4, 2) if values is None else values
    return Channel("imu", STAMPS, values, ("accel_x_mps2", "gyro_z_radps"))


def test_time_starts_with_the_first_stamp_and_the_rate_is_the_mean():
    """Three intervals in 0.1 s are 30 Hz."""
    assert channel().time_s.tolist() == pytest.approx([0.0, 0.033333333, 0.066666667, 0.1])
    assert channel().rate_hz == pytest.approx(30.0)


def test_one_sample_has_no_rate():
    assert np.isnan(Channel("a", STAMPS[:1], np.zeros((1, 1)), ("x_m",)).rate_hz)


def test_a_column_is_found_by_name():
    assert channel().column("gyro_z_radps").tolist() == [1.0, 3.0, 5.0, 7.0]


def test_what_is_not_there_is_told_with_what_is():
    with pytest.raises(LogError, match="channel imu has no column 'gyro'; it has accel_x_mps2, gyro_z_radps"):
        channel().column("gyro")
    with pytest.raises(LogError, match="no channel 'gps'; it has imu"):
        DriveLog({"imu": channel()})["gps"]
    with pytest.raises(LogError, match="it has none"):
        DriveLog()["gps"]


@pytest.mark.parametrize("shape", [(4, 3), (3, 2), (8,)])
def test_values_fit_stamps_and_columns(shape):
    with pytest.raises(LogError, match="do not fit 4 stamps and 2 columns"):
        channel(np.zeros(shape))


def test_the_summary_has_a_line_per_channel():
    lines = DriveLog({"imu": channel()}, about="a drive").summary().splitlines()
    assert lines[0] == "a drive"
    assert lines[1].split()[:4] == ["imu", "4", "samples", "30.0"]


def test_a_single_sample_has_no_rate():
    one = Channel("pose", np.array([5]), np.zeros((1, 1)), ("x_m",))
    line = DriveLog({"pose": one}).summary()
    assert line.split() == ["pose", "1", "samples", "x_m"]


def test_files_give_back_the_same_bits(tmp_path):
    """Shortest representation that reads back exactly; stamps stay integers."""
    values = np.array([[0.1, 1 / 3], [np.nan, -0.0], [5e-324, 1.7976931348623157e308], [np.pi, np.inf]])
    (path,) = DriveLog({"imu": channel(values)}).save_csv(tmp_path / "new" / "folder")
    header, *rows = csv.reader(path.read_text().splitlines())
    assert header == ["stamp_ns", "accel_x_mps2", "gyro_z_radps"]
    assert [int(row[0]) for row in rows] == STAMPS.tolist()
    assert np.array([row[1:] for row in rows], dtype=float).tobytes() == values.tobytes()


def test_nothing_is_written_when_one_file_exists(tmp_path):
    log = DriveLog({"imu": channel(), "pose": channel()})
    (tmp_path / "pose.csv").write_text("mine")
    with pytest.raises(ParameterError, match=r"pose\.csv: exists already"):
        log.save_csv(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["pose.csv"]
    assert len(log.save_csv(tmp_path, force=True)) == 2
    assert (tmp_path / "pose.csv").read_text() != "mine"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot be a folder"):
        DriveLog({"imu": channel()}).save_csv(tmp_path / "file")


def test_numbers_of_pieces_that_are_none_are_a_piece_of_their_own():
    """A damaged column of a CSV file: not a warning of the machine's about a cast."""
    stamps = np.arange(4) * 10
    pieces = Channel("segments", stamps, np.array([[0.0], [np.nan], [1e300], [2.0]]), ("segment",))
    assert DriveLog({"segments": pieces}, about="damaged").segment_at(stamps + 5).tolist() == [0, -1, -1, 2]
