"""Figures of a rover's drive hold what its record holds: places in the world, slip, heights, joules; axes have units."""

import base64
import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest

from slipfit.library import find_ground, find_robot, find_terrain
from slipfit.report.rover_figures import energy_over_time, energy_parts, falls, roll_and_pitch_rad, rover_over_time
from slipfit.report.rover_picture import draw_rover
from slipfit.report.rover_report import rover_page, told_rows, verdict
from slipfit.report.rover_scene import MOST_HEIGHTS, MOST_PLACES, coloured_path, scene, slip_top, worst_slip
from slipfit.simulation import simulate
from slipfit.simulation.energy import Energy
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.scenario import Scenario, find_scenario
from slipfit.simulation.torque_model import TorqueModelRun

ROVER = find_robot("lynxmotion_4wd3")
SLOPE_DEG = 20.0
UPHILL = Scenario(
    ground={"surface": "rover_tyre", "slope_rad": np.radians(SLOPE_DEG), "uphill_rad": 0.5},
    step_s=0.0005,
    route={"waypoints_m": [(0.6, 0.2), (1.0, 0.0)], "speed_mps": 0.3, "at_most_s": 8.0},
)
CRATER = find_scenario("crater_rim").model_copy(
    update={"route": find_scenario("crater_rim").route.model_copy(update={"waypoints_m": [(-6.4, -0.9)]})}
)


@pytest.fixture(scope="module")
def uphill():
    return simulate(ROVER, UPHILL)


@pytest.fixture(scope="module")
def crater():
    return simulate(ROVER, CRATER)


def unpacked(entry):
    values = np.frombuffer(base64.b64decode(entry["bdata"]), dtype="<f4").astype(float)
    return values.reshape([int(n) for n in entry["shape"].split(",")]) if "shape" in entry else values


def trace(figure, name):
    return next(entry for entry in figure["data"] if entry.get("name") == name)


def places(entry):
    return np.column_stack([unpacked(entry[axis]) for axis in "xyz"])


def height_above(slope_rad, uphill_rad, x, y, z):
    """Distance from a plane through the origin that rises towards `uphill`: its normal leans back by the slope."""
    n = np.array([-np.sin(slope_rad) * np.cos(uphill_rad), -np.sin(slope_rad) * np.sin(uphill_rad), np.cos(slope_rad)])
    return np.stack([x, y, z], axis=-1) @ n


# --- in space ---------------------------------------------------------------------------------------------------------


def test_a_plane_is_drawn_with_its_slope_in_the_world(uphill):
    """Every point of the surface lies in the plane, and the path a little above it: closed form by the plane's normal. Single
    precision over 2 m is good to 1e-6 m."""
    figure = scene(uphill, UPHILL)
    x, y, z = (unpacked(trace(figure, "ground")[axis]) for axis in "xyz")
    slope = np.radians(SLOPE_DEG)
    assert np.abs(height_above(slope, 0.5, x, y, z)).max() < 1e-6
    away = height_above(slope, 0.5, *places(trace(figure, "path")).T)
    assert away == pytest.approx(away[0], abs=1e-6)
    assert 0.0 < away[0] < 0.02
    rise = np.ptp(z) / np.ptp(x * np.cos(0.5) + y * np.sin(0.5))
    assert rise == pytest.approx(np.tan(slope), abs=1e-6)


def test_the_path_shows_every_peak_of_slip(uphill):
    """Points show the largest slip since the one before: none is lost, however many records there are."""
    time_s, where, slip = coloured_path(uphill)
    assert (time_s[0], time_s[-1]) == (uphill.time_s[0], uphill.time_s[-1])
    assert where[-1] == pytest.approx(uphill.world_xyz_m()[-1])
    assert slip.max() == np.abs(uphill.slip).max()
    long = uphill.with_columns(
        **{name: np.repeat(getattr(uphill, name), 9, axis=0) for name in ("x_m", "y_m", "z_m", "rim_mps", "slip_x_mps")}
    )
    long = long.with_columns(time_s=np.arange(len(long.x_m)) * 0.001)
    assert len(coloured_path(long)[0]) <= MOST_PLACES
    assert coloured_path(long)[2].max() == np.abs(long.slip).max()


def test_colours_stay_within_one(uphill):
    """A rim that runs against the ground has a slip of up to 2; the scale ends at 1, a wheel that spins on the spot."""
    backwards = uphill.with_columns(slip_x_mps=2.0 * uphill.rim_mps)
    assert slip_top(backwards) == 1.0
    rolling = uphill.with_columns(slip_x_mps=np.zeros_like(uphill.slip_x_mps))
    assert slip_top(rolling) == pytest.approx(0.05)
    line = trace(scene(uphill, UPHILL), "path")["line"]
    assert (line["cmin"], line["cmax"]) == (0.0, slip_top(uphill))
    assert line["colorbar"]["title"]["text"] == "largest slip of a wheel [-]"
    assert unpacked(line["color"]) == pytest.approx(coloured_path(uphill)[2], abs=1e-6)


def test_waypoints_have_the_circles_that_count_as_reached(uphill):
    """Every point of a ring is 0.15 m from its waypoint, the default; in the plane's own axes, which are turned back here."""
    figure = scene(uphill, UPHILL)
    middles, rings = places(trace(figure, "waypoints")), places(trace(figure, "reached within"))
    gaps = np.flatnonzero(np.isnan(rings[:, 0]))
    for middle, begin, end in zip(middles, [0, *gaps[:-1] + 1], gaps, strict=True):
        assert np.linalg.norm(rings[begin:end] - middle, axis=1) == pytest.approx(0.15, abs=1e-5)
    assert trace(figure, "waypoints")["text"] == ["1", "2"]


def test_a_metre_is_as_long_along_every_axis(uphill, crater):
    for figure in (scene(uphill, UPHILL), scene(crater, CRATER, find_terrain("crater_rim"))):
        layout = figure["layout"]["scene"]
        spans = [np.ptp(layout[f"{axis}axis"]["range"]) / layout["aspectratio"][axis] for axis in "xyz"]
        assert spans == pytest.approx([spans[0]] * 3)
        assert [layout[f"{axis}axis"]["title"]["text"] for axis in "xyz"] == ["x [m]", "y [m]", "height [m]"]


def test_a_terrain_is_drawn_from_its_own_heights(crater):
    """No more of them than 200 x 200, each at its place; the path lies nowhere below the ground."""
    terrain = find_terrain("crater_rim")
    figure = scene(crater, CRATER, terrain)
    ground = trace(figure, "ground")
    x, y, z = (unpacked(ground[axis]) for axis in "xyz")
    assert max(z.shape) <= MOST_HEIGHTS
    assert z == pytest.approx(terrain.height_at(x[None, :], y[:, None]), abs=1e-6)
    path = places(trace(figure, "path"))
    assert (path[:, 2] > terrain.height_at(path[:, 0], path[:, 1])).all()
    assert x.min() <= path[:, 0].min()
    assert x.max() >= path[:, 0].max()


def test_a_large_map_is_shown_around_the_drive_only(crater):
    """A kilometre of map, a drive of half a metre: the surface reaches half a metre beyond the drive, and one spacing at most."""
    terrain = find_terrain("crater_rim")
    wide = replace(terrain, heights_m=np.zeros((1001, 1001)), spacing_m=1.0, origin_m=(-500.0, -500.0))
    x, _, z = (unpacked(trace(scene(crater, CRATER, wide), "ground")[axis]) for axis in "xyz")
    assert x.min() >= np.floor(crater.x_m.min() - 0.5)
    assert max(z.shape) < 10


def test_the_torque_model_is_drawn_until_it_breaks_down(uphill):
    t = np.linspace(0.0, 8.0, 801)
    nothing = np.zeros_like(t)
    run = TorqueModelRun(
        t, 0.1 * t, nothing, nothing, 0.1 + nothing, nothing, nothing, nothing, nothing, nothing, 1.5, None, "rover", 0.3
    )
    drawn = places(trace(scene(uphill, UPHILL, beside=run), "torque model"))
    assert np.linalg.norm(drawn[-1] - drawn[0]) == pytest.approx(0.15, abs=2e-3)  # 0.1 m/s for 1.5 s
    first = trace(rover_over_time(uphill, ROVER, run), "torque model, ahead")
    assert unpacked(first["x"]).max() == pytest.approx(1.5, abs=0.02)
    page = rover_page(uphill, ROVER, find_ground("rover_tyre"), UPHILL, beside=run)
    assert "It broke down at 1.50 s" in page


# --- over time --------------------------------------------------------------------------------------------------------


def test_every_row_has_its_unit(uphill, crater):
    """With motors volts and amperes; wheels that lift get a row of their own."""

    def units(figure):
        layout = figure["layout"]
        return [layout[key]["title"]["text"] for key in layout if key.startswith("yaxis") and "title" in layout[key]]

    assert units(rover_over_time(uphill, ROVER)) == ["m/s", "m/s", "-", "°", "N", "V", "A", "m", "°", "°"]
    layout = rover_over_time(uphill, ROVER)["layout"]
    assert [layout[key]["title"]["text"] for key in layout if key.startswith("xaxis") and "title" in layout[key]] == ["time [s]"]
    titles = [note["text"] for note in rover_over_time(crater, ROVER)["layout"]["annotations"]]
    assert crater.lifted_wheels
    assert titles[-1] == "off the ground"


def test_rows_hold_the_record(uphill):
    """Ground speed under a wheel is its rim's less the slip; margins are in degrees."""
    figure = rover_over_time(uphill, ROVER)
    under = trace(figure, "ground under front left")
    k = np.searchsorted(uphill.time_s, unpacked(under["x"])[100] - 1e-6)
    assert unpacked(under["y"])[100] == pytest.approx((uphill.rim_mps - uphill.slip_x_mps)[k, 0], abs=1e-6)
    margin = unpacked(trace(figure, "tip-over margin")["y"])
    assert margin.min() == pytest.approx(np.degrees(uphill.tip_over_margin_rad).min(), abs=1e-4)
    told = [entry for entry in figure["data"] if entry["yaxis"] == "y6"]
    assert [entry["name"] for entry in told] == ["front left", "front right"]  # the rear wheels are told the same


@pytest.mark.parametrize(
    ("heading_deg", "roll_deg", "pitch_deg"),
    [(0, 0, -20), (180, 0, 20), (90, -20, 0), (-90, 20, 0)],
    ids=["up", "down", "left", "right"],
)
def test_roll_and_pitch_are_against_the_horizontal(uphill, heading_deg, roll_deg, pitch_deg):
    """Facing uphill the nose is up (pitch below zero); facing left of it the right side is uphill, which leans the robot to its
    left: roll below zero."""
    turned = uphill.with_columns(heading_rad=np.full(len(uphill.time_s), 0.5 + np.radians(heading_deg)))
    roll, pitch = (np.degrees(angle) for angle in roll_and_pitch_rad(turned))
    assert roll == pytest.approx(roll_deg, abs=1e-9)
    assert pitch == pytest.approx(pitch_deg, abs=1e-9)


def sunk(motion, pitch_rad=0.0):
    """The same drive as if it had been on soil: wheels 10 to 40 mm deep, the body leaning against the plane."""
    depth = np.linspace(0.01, 0.04, motion.load_n.shape[1])
    n = len(motion.time_s)
    return motion.with_columns(sinkage_m=np.tile(depth, (n, 1)), pitch_rad=np.full(n, pitch_rad), z_m=np.full(n, -0.025))


@pytest.mark.parametrize(("lean_deg", "wanted_deg"), [(-3.0, -23.0), (3.0, -17.0)], ids=["rear deeper", "front deeper"])
def test_pitch_on_soil_is_that_of_plane_and_body(uphill, lean_deg, wanted_deg):
    """Facing straight uphill both angles are about the same axis and add up."""
    facing = sunk(uphill, np.radians(lean_deg)).with_columns(heading_rad=np.full(len(uphill.time_s), 0.5))
    roll, pitch = (np.degrees(angle) for angle in roll_and_pitch_rad(facing))
    assert pitch == pytest.approx(wanted_deg, abs=1e-9)
    assert roll == pytest.approx(0.0, abs=1e-9)


def test_body_axes_are_those_of_the_quaternions(uphill):
    """Columns of the rotation of w, x, y, z, written down from the definition q v q*."""
    from scipy.spatial.transform import Rotation

    n = len(uphill.time_s)
    leaning = uphill.with_columns(roll_rad=np.full(n, 0.2), pitch_rad=np.full(n, -0.3))
    wanted = Rotation.from_quat(leaning.quaternions_xyzw()).as_matrix()
    assert leaning.body_axes() == pytest.approx(np.swapaxes(wanted, 1, 2), abs=1e-12)


def test_on_soil_sinkage_is_drawn_wheel_by_wheel(uphill):
    """In the page's rows, the told numbers and the picture; on hard ground there is none of it."""
    deep = sunk(uphill)
    titles = [note["text"] for note in rover_over_time(deep, ROVER)["layout"]["annotations"]]
    assert "sinkage of each wheel below the untouched surface" in titles
    assert ["sinkage of wheels", "median 25.0 mm, at most 40.0 mm"] in told_rows(deep)
    drawn = next(axes for axes in draw_rover(deep, ROVER, UPHILL).axes if axes.get_ylabel() == "sinkage [mm]")
    assert [line.get_ydata()[0] for line in drawn.lines] == pytest.approx([10.0, 20.0, 30.0, 40.0])
    assert drawn.yaxis_inverted()
    assert not any("sinkage" in note["text"] for note in rover_over_time(uphill, ROVER)["layout"]["annotations"])


def test_on_soil_the_path_is_not_hidden_below_the_surface(uphill):
    figure = scene(sunk(uphill), UPHILL)
    path = next(entry for entry in figure["data"] if entry["type"] == "scatter3d" and entry["mode"] == "lines")
    assert height_above(np.radians(SLOPE_DEG), 0.5, *places(path).T).min() > 0.0


# --- energy -----------------------------------------------------------------------------------------------------------

BOOKS = Energy(100.0, 110.0, 0.0, 60.0, 15.0, 20.0, 0.0, 0.0, 0.5, 1.0, 0.0, -2.0, 0.0, 0.0, 0.0)


def test_bars_lead_from_the_supply_to_nothing():
    """100 J less 60, 20, 15 and 0.5 J of heat, plus 2 J from height, less 1 J of motion: 5.5 J are not explained."""
    bars = falls(BOOKS)
    assert [bar.word for bar in bars[:5]] == [
        "from the supply", "motors' resistance", "wheels sliding over the ground", "bearings and shafts", "air",
    ]  # fmt: skip
    assert [bar.end_j for bar in bars[:-1]] == pytest.approx([100.0, 40.0, 20.0, 5.0, 4.5, 6.5, 5.5])
    assert all(after.begin_j == before.end_j for before, after in pairwise(bars[:-1]))
    assert (bars[-1].word, bars[-1].joules, bars[-1].begin_j) == ("not explained", pytest.approx(5.5), pytest.approx(5.5))
    assert [bar.colour for bar in bars[1:-1]] == ["var(--orange)"] * 4 + ["var(--green)"] * 2
    figure = energy_parts(BOOKS)
    drawn = figure["data"][0]
    assert drawn["x"] == pytest.approx([100.0, 60.0, 20.0, 15.0, 0.5, 2.0, 1.0, 5.5])
    assert drawn["base"] == pytest.approx([0.0, 40.0, 20.0, 5.0, 4.5, 4.5, 5.5, 0.0])
    assert figure["layout"]["xaxis"]["title"]["text"] == "J"


def test_the_books_add_up_at_every_moment(uphill):
    """What was supplied is what the other lines sum up to, within the 0.1 % of the throughput that issue 8 allows."""
    data = energy_over_time(uphill)["data"]
    ends = {entry["name"]: unpacked(entry["y"])[-1] for entry in data}
    supplied = ends.pop("from the supply")
    assert supplied == pytest.approx(uphill.energy.supplied_j, rel=1e-6)
    assert sum(ends.values()) == pytest.approx(supplied, abs=2e-3 * uphill.energy.throughput_j)


# --- the page and the picture -------------------------------------------------------------------------------------------


def test_figures_are_what_plotly_reads(uphill, crater):
    """Plotly's own classes check every entry."""
    figures = [scene(uphill, UPHILL), scene(crater, CRATER, find_terrain("crater_rim")), rover_over_time(crater, ROVER)]
    for figure in [*figures, energy_parts(BOOKS), energy_over_time(uphill)]:
        text = json.dumps(figure).replace("NaN", "null")
        go.Figure(json.loads(re.sub(r"var\(--[a-z]+\)", "#123456", text)))


def test_the_page_tells_verdict_numbers_and_scenario(uphill):
    page = rover_page(uphill, ROVER, find_ground("rover_tyre"), UPHILL, notes=["mu was assumed"])
    assert uphill.outcome is Outcome.ARRIVED
    for wanted in (verdict(uphill), "2 of 2", "20°", "mu was assumed", "mass_kg", "SarahSwintonMEng", "waypoints_m"):
        assert wanted in page
    assert len(page.encode()) < 6e6
    assert ["gravity", "9.81 m/s²"] in told_rows(uphill)


def test_a_long_drive_stays_below_6_mb(crater):
    """Twenty minutes over a large map: more than a screen can show."""
    noise = np.random.default_rng(1)
    count = 120_000
    drawn = {
        name: noise.normal(size=count) if column.ndim == 1 else noise.normal(50.0, 1.0, size=(count, 4))
        for name, column in crater.columns.items()
    }
    long = crater.with_columns(**drawn | {"time_s": 0.01 * np.arange(count)})
    assert len(rover_page(long, ROVER, find_ground("rover_tyre"), CRATER).encode()) < 6e6


def test_a_failed_run_is_a_doubtful_verdict_with_its_time(uphill):
    tipped = replace(uphill, outcome=Outcome.TIPPED_OVER, stopped_at_s=1.25)
    assert verdict(tipped) == "The robot tipped over. It happened at 1.25 s."
    assert '<div class="verdict doubt">' in rover_page(tipped, ROVER, find_ground("rover_tyre"), UPHILL)


def test_the_picture_has_path_speeds_loads_and_energy(uphill, crater):
    figure = draw_rover(uphill, ROVER, UPHILL)
    path, speed, load, energy = figure.axes[:4]
    drawn = path.collections[-1] if path.collections[-1].get_array() is not None else path.collections[0]
    assert np.nanmax(np.asarray(drawn.get_array())) == pytest.approx(worst_slip(uphill)[1:].max())
    assert [axes.get_xlabel() for axes in (path, speed, load, energy)] == ["x [m]", "time [s]", "time [s]", "J"]
    assert [patch.get_radius() for patch in path.patches] == [0.15, 0.15]
    assert path.get_title(loc="left") == "lynxmotion_4wd3 on rover_tyre at 20°"
    assert draw_rover(crater, ROVER, CRATER).axes[0].get_title(loc="left") == "lynxmotion_4wd3 on rover_tyre over crater_rim"
