"""Tables of wheel forces: what is read, and what is refused with which sentence."""

import numpy as np
import pytest

from slipfit.calibration.tyre import TyreColumns, read_tyre_data
from slipfit.errors import LogError, ParameterError

HEADER = "slip,angle,load,fx,fy,run\n"
ROWS = ["0.1,0.0,50,10,0,1", "0.2,0.1,50,15,-7,1", "-0.3,0.0,50,-20,0,2", "0.0,0.2,50,0,-15,2"]
MAP = {"slip": "slip", "slip_angle": "angle", "load": "load", "force_along": "fx", "force_across": "fy", "repeat": "run"}


def columns(**changes):
    entries = {key: entry for key, entry in (MAP | changes).items() if entry is not None}
    return TyreColumns.from_mapping({"schema": TyreColumns.kind()} | entries, where="map")


@pytest.fixture
def table(tmp_path):
    def write(rows=ROWS, header=HEADER):
        path = tmp_path / "forces.csv"
        path.write_text(header + "\n".join(rows) + "\n")
        return path

    return write


def test_slip_and_slip_angle_become_slip_velocities(table):
    """Driving with 20 % and 0.1 rad: V is the rim's, u = .8 V, s_y = -.8 tan(.1). Braking: V is the ground's."""
    data = read_tyre_data(table(), columns())
    assert data.slip[1] == pytest.approx([0.2, -0.8 * np.tan(0.1)])
    assert data.slip[2] == pytest.approx([-0.3, 0.0])
    assert data.repeat.tolist() == [0, 0, 1, 1]


def test_speeds_tell_the_same(table):
    """Rim 1 m/s, ground .8 m/s along: 20 % slip; travel .8 / cos(.1) m/s under 0.1 rad has the same u."""
    rows = [f"{0.8 / np.cos(0.1)},0.1,50,15,-7,1"] * 2
    given = columns(slip=None, rim_speed={"column": "load", "unit": "m/s", "scale": 0.02}, travel_speed="slip")
    data = read_tyre_data(table(rows), given)
    assert data.slip[0] == pytest.approx([0.2, -0.8 * np.tan(0.1)])


def test_slip_over_ground_speed_is_turned_into_ours(table):
    """(w - u) / u = .25 is (w - u) / w = .2; braking is the same in both."""
    data = read_tyre_data(table(["0.25,0,50,10,0,1", "-0.3,0,50,-9,0,1"]), columns(slip_over="ground"))
    assert data.slip[:, 0] == pytest.approx([0.2, -0.3])


def test_settings_that_repeat_are_repeats(table):
    """Spread within cells: (10, 12) and (20, 26): pooled variance (2 + 18) / 2."""
    rows = ["0.1,0,50,10,0,x", "0.2,0,50,20,0,x", "0.1,0,50,12,0,x", "0.2,0,50,26,0,x"]
    data = read_tyre_data(table(rows), columns(repeat=None, settings=["slip"], force_across=None))
    assert data.repeat.tolist() == [0, 0, 1, 1]
    assert data.spread_within_cells() == {"along": pytest.approx(np.sqrt(10.0))}


def test_rows_with_empty_cells_are_left_out_and_said(table):
    data = read_tyre_data(table([*ROWS, "0.4,0,50,,0,2", "nan,0,50,10,0,2"]), columns())
    assert len(data) == 4
    assert data.findings == ("2 of 6 rows have empty cells or NaN and are left out, the first in line 6",)


@pytest.mark.parametrize(
    ("rows", "changes", "words"),
    [
        (["35,0,50,10,0,1"], {}, r"slip reaches 35; .* in percent, write scale: 0\.01"),
        (["0.1,20,50,10,-3,1"], {}, r"slip angle reaches 20 rad; .* write unit: deg"),
        (["0.1,0,-50,10,0,1"], {}, r"a load of -50 N; .* write scale: -1"),
        (["0.1,0,50,-10,0,1"], {}, r"force_along drives the slip .* write scale: -1 beside its column"),
        (["0.1,0.2,50,10,5,1"], {}, r"force_across drives the slip"),
        (["0.1,0,50,,0,1"], {}, r"every row has an empty cell or NaN"),
        (["0.1,1.5707963,50,10,-5,1"], {}, r"90 degrees has no slip ratio; name rim_speed and travel_speed"),
        (["-1.2,0,50,-10,0,1"], {"slip_over": "ground"}, r"goes down to -1\.2; a locked wheel has -1"),
    ],
)
def test_readings_that_cannot_be_right(table, rows, changes, words):
    with pytest.raises(LogError, match=words):
        read_tyre_data(table(rows), columns(**changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"load": None}, "found no load; expected the column `load`, or `load_n`"),
        ({"load_n": 20}, "found load and load_n"),
        ({"force_along": None, "force_across": None}, "no force is named"),
        ({"slip_angle": None}, "force_across is named, but no slip_angle"),
        ({"slip": None, "rim_speed": "w"}, "rim_speed and travel_speed go together"),
        ({"rim_speed": "w", "travel_speed": "v"}, "slip and rim_speed tell the same"),
        ({"slip": {"column": "slip", "unit": "m"}}, "unit 'm' of a slip; expected none, or percent"),
        ({"load": {"column": "load", "unit": "m"}}, "load: unit 'm' does not measure"),
        ({"lode": "load"}, "unknown key 'lode'"),
    ],
)
def test_maps_that_cannot_be_right(changes, words):
    with pytest.raises(ParameterError, match=words):
        columns(**changes)


def test_percent_is_a_unit_of_slip(table):
    data = read_tyre_data(table(["20,0,50,10,0,1"] * 2), columns(slip={"column": "slip", "unit": "percent"}))
    assert data.slip[:, 0] == pytest.approx([0.2, 0.2])
