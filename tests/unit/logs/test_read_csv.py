"""Somebody's CSV file and a column map make a drive log in our units; what does not fit is told with its line."""

import gzip
import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from slipfit.errors import LogError, ParameterError
from slipfit.library.schemas import schema_path, schema_text
from slipfit.logs import ColumnMap, read_log
from slipfit.logs.units import factor
from unit.logs.written_logs import assert_same, drive_log

SIMPLE = "t,l,r\n0.0,1,2\n0.1,3,4\n"


def column_map(**entries):
    return ColumnMap.from_mapping({"schema": "slipfit/columns/1", "time": {"column": "t"}, **entries}, where="map.yaml")


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, **entries):
        path = tmp_path / "run.csv"
        path.write_text(text, encoding="utf-8")
        return read_log(path, columns=column_map(**entries))

    return write_and_read


def test_the_example_of_the_documentation(tmp_path, read):
    """FILES: one file, sides, yaw rate, pose, segments."""
    text = "t,left_wheel_vel,right_wheel_vel,imu_yaw,icp_x,icp_y,icp_yaw,horizon\n0,1,2,3,4,5,6,0\n0.05,1,2,3,4,5,6,0\n"
    log = read(
        text,
        left_wheel_speed={"column": "left_wheel_vel", "unit": "rad/s"},
        right_wheel_speed={"column": "right_wheel_vel", "unit": "rad/s"},
        yaw_rate={"column": "imu_yaw", "unit": "rad/s"},
        pose={"x": "icp_x", "y": "icp_y", "yaw": "icp_yaw", "unit": "m", "angle_unit": "rad"},
        segments={"column": "horizon"},
    )
    assert log["encoders"].columns == ("left_speed_radps", "right_speed_radps")
    assert log["imu"].columns == ("gyro_z_radps",)
    assert log["pose"].values[0].tolist() == [4.0, 5.0, 6.0]
    assert log["segments"].stamps_ns.tolist() == [0, 50_000_000]


@pytest.mark.parametrize(
    ("unit", "to", "expected"),
    [
        ("rpm", "rad/s", 2 * np.pi / 60),
        ("deg/s", "rad/s", np.pi / 180),
        ("°/s", "rad/s", np.pi / 180),
        ("turn", "rad", 2 * np.pi),
        ("in", "m", 0.0254),
        ("km/h", "m/s", 1 / 3.6),
        ("g", "m/s**2", 9.80665),
        ("m/s^2", "m/s**2", 1.0),
        ("mA", "A", 1e-3),
        ("lbf", "N", 4.4482216152605),
    ],
)
def test_units(unit, to, expected):
    """Definitions: inch 25.4 mm, standard gravity 9.80665 m/s², pound 0.45359237 kg."""
    assert factor(unit, to) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("unit", ["parsnip", "kg", "9**9**9", "m" * 41, "", "os.system", "Hz", "m^99", "__", "()", "m//s"])
def test_units_that_do_not_measure_it_are_told(unit):
    with pytest.raises(ParameterError, match="unit"):
        factor(unit, "rad/s")


def test_times_are_read_in_whole_numbers(read):
    """Seconds since 1970 with nanoseconds have 19 digits; floats hold 15."""
    text = "t,l\n1721335045.320405150,1\n1721335045.320405151,2\n"
    log = read(text, left_wheel_speed="l")
    assert log["encoders"].stamps_ns.tolist() == [1721335045320405150, 1721335045320405151]
    log = read("t,l\n0.5,1\n1e3,2\n", time={"column": "t", "unit": "ms"}, left_wheel_speed="l")
    assert log["encoders"].stamps_ns.tolist() == [500_000, 1_000_000_000]
    log = read("t,l\n0.5,1\n1e3,2\n", time={"column": "t", "unit": "us"}, left_wheel_speed="l")
    assert log["encoders"].stamps_ns.tolist() == [500, 1_000_000]
    log = read("t,l\n5,1\n1e3,2\n", time={"column": "t", "unit": "ns"}, left_wheel_speed="l")
    assert log["encoders"].stamps_ns.tolist() == [5, 1_000]
    log = read("l\n1\n2\n", time={"rate_hz": 20}, left_wheel_speed="l")
    assert log["encoders"].stamps_ns.tolist() == [0, 50_000_000]


def test_scale_increments_and_rim_speeds(read):
    """Cell · scale in the unit; increments add up; a speed at the rim is divided by the radius."""
    log = read(
        "t,l,r,w\n0,1,2,0.5\n1,1,-2,1.0\n",
        left_wheel_ticks={"column": "l", "increments": True, "scale": -1},
        right_wheel_ticks={"column": "r", "increments": True},
        left_wheel_speed={"column": "w", "unit": "m/s"},
        wheel_radius_m=0.25,
    )["encoders"]
    assert log.column("left_ticks").tolist() == [-1.0, -2.0]
    assert log.column("right_ticks").tolist() == [2.0, 0.0]
    assert log.column("left_speed_radps").tolist() == [2.0, 4.0]


def test_rows_in_which_a_sensor_did_not_speak_are_no_samples_of_it(read):
    log = read("t,l,x,y\n0,1,,\n1,2,3,nan\n2,3,nan,nan\n", left_wheel_speed="l", pose={"x": "x", "y": "y"})
    assert len(log["encoders"].stamps_ns) == 3
    assert log["pose"].stamps_ns.tolist() == [1_000_000_000, 2_000_000_000]  # a sensor that says nan has spoken
    assert any("1 rows with empty cells" in note for note in log.notes)


def test_segments_whose_clock_starts_anew_lie_end_to_end(read):
    log = read("t,s,l\n0,a,1\n0.1,a,2\n0,b,3\n0.1,b,4\n0.0,c,5\n", left_wheel_speed="l", segments={"column": "s"})
    assert (log["encoders"].stamps_ns // 100_000_000).tolist() == [0, 1, 2, 3, 4]
    assert log["segments"].column("index").tolist() == [0, 0, 1, 1, 2]
    assert "3 segments" in log.notes[0]


def test_header_rows_separators_and_places(read):
    text = "Time;Left;\ns;rad/s;\nt;l;\n0;1;\n1;2;\n"
    assert read(text, separator=";", header_rows=3, left_wheel_speed="l")["encoders"].values.tolist() == [[1.0], [2.0]]
    assert read(text, separator=";", header_rows=3, name_row=1, time={"column": "Time"}, left_wheel_speed="Left")
    log = read("0,1\n1,2\n", header_rows=0, time={"column": 0}, left_wheel_speed=1)
    assert log["encoders"].values.tolist() == [[1.0], [2.0]]


def test_gzip_and_marks_of_byte_order_are_read(tmp_path):
    path = tmp_path / "run.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + SIMPLE.encode()))
    assert read_log(path, columns=column_map(left_wheel_speed="l"))["encoders"].values.tolist() == [[1.0], [3.0]]


def test_fixes_are_projected(read):
    """One second of longitude on the equator is 30.922 m (6378137 m · 1″)."""
    log = read(f"t,la,lo\n0,0,8\n1,0,{8 + 1 / 3600}\n", gnss={"latitude": "la", "longitude": "lo"})
    assert log["gnss"].column("x_m")[1] == pytest.approx(6_378_137.0 * np.radians(1 / 3600), rel=1e-9)


@pytest.mark.parametrize(
    ("text", "entries", "sentence"),
    [
        (SIMPLE, {"left_wheel_speed": "lef"}, r"run\.csv: there is no column 'lef', .* map .--columns. names; did you mean 'l'"),
        (SIMPLE, {"left_wheel_speed": 7}, "there is no column 7; the file has 3"),
        ("t,l,l\n0,1,2\n", {"left_wheel_speed": "l"}, "stands 2 times in the header"),
        ("0,1\n", {"header_rows": 0, "left_wheel_speed": "l", "time": {"column": 0}}, "without header"),
        ("t,l\n0,1\n1,x\n", {"left_wheel_speed": "l"}, "line 3, column l: found 'x'; expected a number"),
        ("t,l\n0,1\nnan,2\n", {"left_wheel_speed": "l"}, "line 3, column t: found 'nan'; expected a time"),
        ("t,l\n0,1\n1e400,2\n", {"left_wheel_speed": "l"}, "expected a time"),
        ("t,l\n0,1\n1\n2,3\n", {"left_wheel_speed": "l"}, "line 3 has 1 cells"),
        ("t,l\n", {"left_wheel_speed": "l"}, "there are no samples"),
        ("t,l\n0,\n", {"left_wheel_speed": "l"}, "all columns that the map names are empty"),
        ("t,l\n0,\0\n", {"left_wheel_speed": "l"}, r"run\.csv"),
    ],
)
def test_files_that_do_not_fit_are_told(read, text, entries, sentence):
    with pytest.raises(LogError, match=sentence):
        read(text, **entries)


def rows(times):
    return "t,l\n" + "".join(f"{t:.3f},1\n" for t in times)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (np.floor(np.arange(200) / 50), "98 % of the stamps repeat the one before"),  # whole seconds of 50 Hz
        (np.zeros(100), "100 % of the stamps repeat"),
        (np.sin(np.arange(200)), "% of the stamps run backward"),  # a sensor's reading
    ],
    ids=["whole seconds", "constant", "a reading"],
)
def test_a_column_that_is_no_time_is_told_with_its_remedy(read, times, said):
    with pytest.raises(LogError, match=rf"run\.csv: column 't' is no time of encoders: .*{said}.*--columns.*rate_hz"):
        read(rows(times), left_wheel_speed="l")


@pytest.mark.parametrize(
    "times",
    [
        np.repeat(np.arange(100) * 0.02, 2),  # two publishers
        np.arange(200)[::-1] * 0.02,  # written backward
        np.concatenate([np.arange(100), np.arange(100)]) * 0.02,  # the clock was set once
        (np.arange(200) + 1.5 * (np.arange(200) % 2)) * 0.02,  # neighbours exchanged by a queue
    ],
    ids=["doubled", "backward", "set back", "jittery"],
)
def test_stamps_with_flaws_are_read_and_left_to_inspection(read, times):
    assert len(read(rows(times), left_wheel_speed="l")["encoders"].stamps_ns) == 200


def test_a_last_line_that_was_cut_off_is_left_out(read):
    log = read("t,l\n0,1\n1,2\n2", left_wheel_speed="l")
    assert len(log["encoders"].stamps_ns) == 2
    assert "cut off" in log.notes[0]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"left_wheel_sped": "l"}, "unknown key 'left_wheel_sped'; did you mean 'left_wheel_speed'"),
        ({}, "no column but the time is named"),
        ({"left_wheel_speed": {"column": "l", "unit": "kg"}}, "encoders.left_speed_radps: unit 'kg' does not measure"),
        ({"left_wheel_speed": {"column": "l", "unit": "m/s"}}, "give wheel_radius_m"),
        ({"left_wheel_speed": True}, "left_wheel_speed"),
        ({"time": {"column": "t", "rate_hz": 5}, "yaw_rate": "g"}, "either a column or a rate_hz"),
        ({"time": {"column": "t", "unit": "min"}, "yaw_rate": "g"}, "time.unit"),
        ({"yaw_rate": "g", "gyro": {"z": "h"}}, "mean the same"),
        ({"pose": {"x": "x", "yaw": "a", "quaternion": ["a", "b", "c", "d"]}}, "not both"),
        ({"separator": "ab", "yaw_rate": "g"}, "separator"),
        ({"header_rows": 1, "name_row": 2, "yaw_rate": "g"}, "names stand in the header"),
        ({"other": {"x": {"y": {"column": "z", "unit": "m"}}}}, "the name has none"),
        ({"yaw_rate": "g", "other": {"imu": {"gyro_z_radps": "h"}}}, "would come from two columns"),
    ],
)
def test_maps_that_cannot_be_are_told(entries, sentence):
    with pytest.raises(ParameterError, match=sentence) as caught:
        column_map(**entries)
    assert str(caught.value).startswith("map.yaml: ")


def test_without_a_map_only_our_own_files_are_understood(tmp_path):
    (tmp_path / "run.csv").write_text(SIMPLE)
    with pytest.raises(LogError, match="give a column map"):
        read_log(tmp_path / "run.csv")
    with pytest.raises(LogError, match=r"topics .--topic. are for bags"):
        read_log(tmp_path / "run.csv", topics={"imu": "/imu"})
    log = drive_log("imu", "pose")
    imu, _ = log.save_csv(tmp_path / "own")
    assert_same(read_log(imu), drive_log("imu"))
    imu.write_text(imu.read_text() + "1,2\n")
    with pytest.raises(LogError, match=r"imu\.csv: line 22 has 2 cells"):
        read_log(tmp_path / "own")


def test_a_map_is_a_file_too(tmp_path):
    column_map(left_wheel_speed={"column": "l", "unit": "rpm"}).save(tmp_path / "map.yaml")
    (tmp_path / "run.csv").write_text(SIMPLE)
    log = read_log(tmp_path / "run.csv", columns=tmp_path / "map.yaml")
    assert log["encoders"].values[0, 0] == pytest.approx(2 * np.pi / 60)


def test_the_kept_schema_is_current():
    """Written anew by schema_text(ColumnMap)."""
    assert schema_path(ColumnMap).read_text(encoding="utf-8") == schema_text(ColumnMap)
    check = Draft202012Validator(json.loads(schema_text(ColumnMap)))
    good = {"schema": "slipfit/columns/1", "time": {"column": "t"}, "left_wheel_speed": {"column": 3, "unit": "rpm"}}
    assert check.is_valid(good)
    assert not check.is_valid({**good, "left_wheel_sped": "l"})
    assert not check.is_valid({**good, "left_wheel_speed": {"column": -3}})
