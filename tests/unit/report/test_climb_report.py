"""Pages, pictures and replays of climbs show what the records hold: places, attitudes, links that move with the belt, ruts."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy.spatial.transform import Rotation

from slipfit.library import find_robot
from slipfit.report.climb_picture import draw_climb
from slipfit.report.climb_profile import Profile, climb_profile, hard_ground
from slipfit.report.climb_replay import climb_scene
from slipfit.report.climb_report import over_time, write_climb_report
from slipfit.report.replay import write_replay
from slipfit.report.side_view import link_places, ruts, side_shape, side_view, stage, travelled_m
from slipfit.simulation.climb import climb_numbers
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.scenario import find_scenario
from slipfit.simulation.trajectory import Trajectory
from slipfit.vehicles.tracked import TRACK_COLUMNS
from tracks import climb

PACKBOT = find_robot("packbot")
CURB = find_scenario("curb_117mm")

#: packbot's file: radius 0.089, axles 0.508 apart, mass in their middle and 0.075 up.
RADIUS_M, LENGTH_M, HEIGHT_M = 0.089, 0.508, 0.075


def made_up(count=50, sunk_m=0.01, nose_up_rad=0.0):
    """A robot that goes ahead at 0.3 m/s, as deep in the soil and with its nose as high as told, belts at 0.4 m/s."""
    t = np.arange(count) * 0.02
    columns = {name: np.zeros(count) for name in TRACK_COLUMNS}
    columns |= {"x_m": 0.3 * t, "z_m": np.full(count, HEIGHT_M - sunk_m), "vx_mps": np.full(count, 0.3)}
    columns |= {"belt_left_mps": np.full(count, 0.4), "belt_right_mps": np.full(count, 0.4)}
    columns |= {"qw": np.full(count, np.cos(0.5 * nose_up_rad)), "qy": np.full(count, -np.sin(0.5 * nose_up_rad))}
    columns |= {"sinkage_left_m": np.full(count, sunk_m), "sinkage_right_m": np.full(count, sunk_m)}
    columns |= {"drive_left_n": np.full(count, 100.0)}
    return Trajectory(
        {"time_s": t} | columns,
        robot="packbot",
        scenario="made up",
        drive="tracked",
        outcome=Outcome.TIMED_OUT,
        margin=-0.5,
        stopped_at_s=float(t[-1]),
    )


def trace(figure, name, frame=None):
    at = next(k for k, entry in enumerate(figure["data"]) if entry["name"] == name)
    entry = figure["data"][at] if frame is None else figure["frames"][frame]["data"][figure["frames"][frame]["traces"].index(at)]
    return np.array([entry["x"], entry["y"]], dtype=float)


def test_a_level_robot_is_drawn_where_it_is_and_as_large_as_its_file_says():
    """Stadium of 0.508 + 2 x 0.089 m by 0.178 m, its underside 10 mm below the surface; at the end 0.3 m/s x 0.98 s further."""
    figure = side_view(made_up(), PACKBOT, CURB)
    x, z = trace(figure, "right track", 0)
    assert (x.max() - x.min(), z.max() - z.min()) == pytest.approx((LENGTH_M + 2 * RADIUS_M, 2 * RADIUS_M), abs=1e-3)
    assert (0.5 * (x.max() + x.min()), z.min()) == pytest.approx((0.0, -0.01), abs=2e-4)
    last, _ = trace(figure, "right track", -1)
    assert last.mean() - x.mean() == pytest.approx(0.3 * 0.98, abs=2e-4)


def test_a_raised_nose_is_drawn_raised():
    """A body turned by 0.5 rad about its centre of mass has its front axle sin 0.5 of half the axles' distance higher."""
    seen_from = stage(made_up(nose_up_rad=0.5), Profile(0.0))
    (rear, front) = seen_from.seen(0, np.array([(-0.254, 0.0), (0.254, 0.0)]), 0.0)
    assert front - rear == pytest.approx(LENGTH_M * np.array([np.cos(0.5), np.sin(0.5)]), abs=1e-9)


def test_links_on_the_underside_stand_still_without_slip():
    """A belt that has run as far as the robot went: a link's end on the underside has moved to the rear by as much."""
    shape = side_shape(PACKBOT)
    before, after = link_places(shape, 36, 0.0), link_places(shape, 36, 0.02)
    assert (before[1] - after[1]) == pytest.approx([0.02, 0.0], abs=1e-12)
    assert before[1, 1] == pytest.approx(-HEIGHT_M)
    assert travelled_m(made_up(), "right")[-1] == pytest.approx(0.4 * 0.98)


def test_the_rut_is_as_deep_as_the_belts_were_and_ends_at_the_curb():
    climb, shape = made_up(), side_shape(PACKBOT)
    _, curb_m = hard_ground(CURB, climb_numbers(PACKBOT, CURB), Profile(0.0), -2.0, 3.0)
    places, height = ruts(climb, shape, stage(climb, Profile(0.0)), curb_m)
    passed = (places > -0.2) & (places < 0.2)
    assert height[-1][passed] == pytest.approx(-0.01, abs=1e-6)
    assert height[-1][places > 0.3 + 0.254 + 0.089].max() == 0.0
    assert (np.diff(height, axis=0) <= 0.0).all()
    assert places.max() < curb_m == pytest.approx(0.5 * LENGTH_M + RADIUS_M + 0.006 + 0.45)


@pytest.mark.parametrize("name", ["curb_117mm", "stairs", "ramp_20deg", "ditch", "turn_in_sand", "curb_117mm_yaw_30deg"])
def test_figures_are_what_plotly_reads_and_start_by_themselves(name):
    climb, scenario = made_up(), find_scenario(name)
    figure = side_view(climb, PACKBOT, scenario)
    go.Figure({key: figure[key] for key in ("data", "layout", "frames")})
    go.Figure(over_time(climb, PACKBOT))
    assert figure["layout"]["meta"]["opens"] == "playing"
    assert [float(frame["name"]) for frame in figure["frames"]] == pytest.approx(climb["time_s"].tolist())
    assert "packbot" in draw_climb(climb, PACKBOT, scenario).axes[0].get_title(loc="left")


def test_curves_have_units_and_the_torque_of_the_drive():
    """100 N on a belt are 8.9 N m at a sprocket of 89 mm."""
    figure = over_time(made_up(), PACKBOT)
    titles = [entry["title"]["text"] for key, entry in figure["layout"].items() if key.startswith("yaxis")]
    assert titles == ["nose up [°]", "slip [-]", "sinkage [mm]", "torque [N m]", "load [N]"]
    scene = climb_scene(made_up(), PACKBOT, CURB)
    assert scene.numbers["numbers/torque_left_nm"] == pytest.approx(8.9)
    assert scene.numbers["numbers/slip"] == pytest.approx(0.25)


def test_a_page_tells_the_verdict(tmp_path):
    write_climb_report(replace(made_up(), notes=("high",)), PACKBOT, CURB, tmp_path / "climb.html")
    page = (tmp_path / "climb.html").read_text(encoding="utf-8")
    assert Outcome.TIMED_OUT.value in page
    assert "<li>high</li>" in page


def test_a_replay_has_the_robot_the_ground_and_the_numbers(tmp_path):
    scene = climb_scene(made_up(), PACKBOT, CURB)
    assert scene.bodies["world/robot"].places_m[-1] == pytest.approx([0.3 * 0.98, 0.0, HEIGHT_M - 0.01])
    assert {"world/hard_ground", "world/soil", "world/robot/track_left", "world/robot/flipper_right"} <= set(scene.still)
    assert scene.still["world/hard_ground"].corners_m[:, 2].max() == pytest.approx(0.117)
    assert scene.changing["world/ruts"][-1][1].lines_m[0][-1] == pytest.approx([0.3 * 0.96 - 0.254, 0.17, -0.01], abs=0.01)
    write_replay(scene, tmp_path / "climb.rrd")
    data = (tmp_path / "climb.rrd").read_bytes()
    assert data[:3] == b"RRF"  # the format's own mark
    for place in ("world/robot", "numbers/slip", "world/ruts"):
        assert place.encode() in data


# --- terrain --------------------------------------------------------------------------------------------------------------------

#: Heading up the terrain slope_20deg aslant: its height is x tan 20 degrees, so along a heading it rises by cos(heading) of that.
RISE, HEADING_RAD, START_M = np.tan(np.radians(20.0)), 0.5, (-1.0, 0.4)


def field(*, soil=None, soil_depth_m=1000.0):
    obstacle = {"kind": "field", "terrain": "slope_20deg", "start_m": START_M, "heading_rad": HEADING_RAD, "run_m": 1.0}
    return climb(mu_static=0.8, soil=soil, soil_depth_m=soil_depth_m, obstacle=obstacle)


def up_the_slope(sunk_m=0.01, count=50):
    """Goes along the heading at 0.3 m/s, its axes those of the slope's plane, belts `sunk_m` below it (straight down)."""
    flat = made_up(count)
    normal = np.array([-RISE, 0.0, 1.0]) / np.hypot(RISE, 1.0)
    ahead = np.array([np.cos(HEADING_RAD), np.sin(HEADING_RAD), RISE * np.cos(HEADING_RAD)])
    axes = np.column_stack([ahead / np.linalg.norm(ahead), np.cross(normal, ahead / np.linalg.norm(ahead)), normal])
    qx, qy, qz, qw = Rotation.from_matrix(axes).as_quat()
    start = np.array([*START_M, RISE * START_M[0] - sunk_m]) + HEIGHT_M * normal
    places = start + 0.3 * flat["time_s"][:, None] * ahead
    moved = dict(zip(("x_m", "y_m", "z_m"), places.T, strict=True))
    turned = {name: np.full(count, value) for name, value in (("qx", qx), ("qy", qy), ("qz", qz), ("qw", qw))}
    return replace(flat, columns=flat.columns | moved | turned)


def test_terrain_is_drawn_along_the_start_line():
    """A plane along a heading is a straight line; the start is the origin, at the height x tan 20 degrees."""
    figure = side_view(up_the_slope(), PACKBOT, field())
    xi, z = trace(figure, "hard ground")[:, :-3]
    assert z == pytest.approx(RISE * (START_M[0] + np.cos(HEADING_RAD) * xi), abs=2e-4)
    assert xi[0] < -0.5 < 0.5 < xi[-1]
    assert "heading" in figure["layout"]["xaxis"]["title"]["text"]
    assert not any(entry["name"] == "soil" for entry in figure["data"])


def test_soil_covers_the_terrain_and_lies_on_its_base():
    """50 mm of soil: its surface is the terrain, what is hard lies 50 mm lower everywhere."""
    figure = side_view(up_the_slope(), PACKBOT, field(soil="dry_sand", soil_depth_m=0.05))
    hard, sand = trace(figure, "hard ground")[:, :-3], trace(figure, "soil")
    assert hard[1] == pytest.approx(RISE * (START_M[0] + np.cos(HEADING_RAD) * hard[0]) - 0.05, abs=2e-4)
    assert sand[:, : hard.shape[1]] == pytest.approx(hard + np.array([[0.0], [0.05]]), abs=3e-4)


def test_a_rut_is_told_from_the_terrain():
    """Both belts 10 mm below a plane that also falls sideways: each track has its own ground below it, and the rut is 10 mm deep
    in the picture, whichever track made it."""
    climb, scenario = up_the_slope(), field(soil="dry_sand")
    profile = climb_profile(scenario, climb_numbers(PACKBOT, scenario))
    places, below = ruts(climb, side_shape(PACKBOT), stage(climb, profile), np.inf)
    assert below[-1][(places > 0.0) & (places < 0.2)] == pytest.approx(-0.01, abs=1e-6)
    assert below[-1].min() == pytest.approx(-0.01, abs=1e-6)
    figure = side_view(climb, PACKBOT, scenario)
    xi, z = trace(figure, "rut", -1)
    made = np.isfinite(z)
    assert z[made].min() < z[made].max() - 0.1  # it follows the slope
    assert (z - RISE * (START_M[0] + np.cos(HEADING_RAD) * xi))[made].min() == pytest.approx(-0.01, abs=3e-4)


@pytest.mark.parametrize("soil", [None, "dry_sand"], ids=["hard", "soft"])
def test_a_terrain_is_seen_whole_in_pictures_and_replays(soil, tmp_path):
    climb, scenario = up_the_slope(), field(soil=soil, soil_depth_m=0.05)
    axes = draw_climb(climb, PACKBOT, scenario).axes[0]
    (low, high), centre = axes.get_ylim(), climb["z_m"]
    assert low < centre.min() < centre.max() < high
    scene = climb_scene(climb, PACKBOT, scenario)
    x, _, z = scene.still["world/soil" if soil else "world/hard_ground"].corners_m.T
    assert z == pytest.approx(RISE * x, abs=1e-6)
    assert x.min() < climb["x_m"].min() - 1.0
    assert x.max() > climb["x_m"].max() + 1.0
    if soil:
        base = scene.still["world/hard_ground"].corners_m
        assert base[:, 2] == pytest.approx(z - 0.05, abs=1e-6)
        left, right = scene.changing["world/ruts"][-1][1].lines_m
        assert min(len(left), len(right)) > 40
    write_replay(scene, tmp_path / "climb.rrd")


def test_a_level_robot_is_not_told_to_look_down_by_nothing():
    (told,) = side_view(made_up(nose_up_rad=-1e-5), PACKBOT, CURB)["frames"][0]["data"][-1]["text"]
    assert "nose up 0.0°" in told


def test_what_is_told_of_a_climb_counts_from_its_start():
    """0.3 m/s for 0.98 s along the heading, wherever on the map it began."""
    assert "place    0.294 m ahead" in up_the_slope().summary()
