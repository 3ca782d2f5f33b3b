"""The report of a drive shows what the records hold: poses, slips, commands; and stays a small page."""

import json
import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from slipfit.errors import SlipfitError
from slipfit.library import find_ground, find_robot
from slipfit.report.drive_figures import commanded_speeds, over_time
from slipfit.report.drive_report import drive_page, write_drive_report
from slipfit.report.playing import MOST_FRAMES
from slipfit.report.top_view import drawn_robot, frame_places, rigid_wheels, slip_speed, top_view
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.outcome import Outcome

P3AT, OHIO, MECANUM = find_robot("p3at"), find_robot("ohio_omni"), find_robot("optiodom_mecanum")
TURN = Scenario(commands=[{"for_s": 2.0, "v_mps": 0.5, "yaw_rate_radps": 1.0}])
ASLANT = Scenario(ground={"surface": "ohio_carpet"}, step_s=0.0005, commands=[{"for_s": 2.0, "v_mps": 0.1, "vy_mps": 0.05}])
DRIVES = {"p3at": (P3AT, TURN), "ohio_omni": (OHIO, ASLANT), "optiodom_mecanum": (MECANUM, ASLANT)}


@pytest.fixture(scope="module", params=list(DRIVES))
def drive(request):
    robot, scenario = DRIVES[request.param]
    return simulate(robot, scenario), robot, scenario


def rolling(drive, robot, vx, vy, yaw_rate, wheel_speeds):
    """The record as if the robot had rolled like this."""
    ones = np.ones(len(drive.time_s))
    speeds = np.tile(wheel_speeds, (len(ones), 1))
    return drive.with_columns(vx_mps=vx * ones, vy_mps=vy * ones, yaw_rate_radps=yaw_rate * ones, wheel_speed_radps=speeds)


def pose(figure, k):
    """Origin and heading of the robot in a frame, from the arrow on its body: tail and tip are its first points after the gap."""
    frame = figure["frames"][k]
    body = next(e for e, i in zip(frame["data"], frame["traces"], strict=True) if figure["data"][i]["name"] == "body")
    x, y = np.array(body["x"]), np.array(body["y"])
    tail = int(np.flatnonzero(np.isnan(x))[0]) + 1
    return x[tail], y[tail], np.arctan2(y[tail + 1] - y[tail], x[tail + 1] - x[tail])


def test_first_and_last_frame_have_the_poses_of_the_record(drive):
    """Points are rounded to 0.01 mm, so that a heading read off 0.05 m is good to 3e-4 rad."""
    t, robot, _ = drive
    figure = top_view(t, robot)
    assert len(figure["frames"]) <= MOST_FRAMES
    for k in (0, -1):
        x, y, heading = pose(figure, k)
        assert (x, y) == pytest.approx((t.x_m[k], t.y_m[k]), abs=1.1e-5)
        assert np.remainder(heading - t.heading_rad[k] + np.pi, 2 * np.pi) - np.pi == pytest.approx(0.0, abs=3e-4)
        assert float(figure["frames"][k]["name"]) == pytest.approx(t.time_s[k])


def test_the_slider_has_every_frame(drive):
    t, robot, _ = drive
    figure = top_view(t, robot)
    names = [frame["name"] for frame in figure["frames"]]
    assert [step["args"][0][0] for step in figure["layout"]["sliders"][0]["steps"]] == names
    assert len(set(names)) == len(names)
    assert np.array_equal(frame_places(t)[[0, -1]], [0, len(t.time_s) - 1])


def test_a_robot_that_rolls_does_not_slip():
    """Wheel speeds of the kinematics at some body velocity: no contact moves over the ground. A tyre that turns slips across."""
    t = simulate(P3AT, TURN)
    straight = rolling(t, P3AT, 0.4, 0.0, 0.0, np.full(4, 0.4 / 0.11))
    assert np.abs(slip_speed(straight, P3AT)).max() < 1e-12
    for robot in (OHIO, MECANUM):
        t = simulate(robot, ASLANT)
        speeds = robot.wheel_map() @ (0.2, -0.1, 0.7)
        rolls = rolling(t, robot, 0.2, -0.1, 0.7, speeds)
        on_rollers = ~rigid_wheels(rolls, robot)
        assert on_rollers.any()
        assert np.abs(slip_speed(rolls, robot)[on_rollers]).max() < 1e-12


def test_a_spinning_tyre_slips_with_the_speed_of_its_contact():
    """P3-AT, wheels held, turning with 1 rad/s about its origin: every contact moves with hypot(0.125, 0.201) m/s."""
    t = rolling(simulate(P3AT, TURN), P3AT, 0.0, 0.0, 1.0, np.zeros(4))
    assert slip_speed(t, P3AT) == pytest.approx(np.hypot(0.125, 0.201))


def test_a_rigid_part_slips_across_where_a_roller_rolls():
    """Ohio's wheel 3 rolls along -x: at 0.1 m/s to the left it stands still, its roller rolls, its rigid part slips."""
    t = simulate(OHIO, ASLANT)
    t = rolling(t, OHIO, 0.0, 0.1, 0.0, np.zeros(3))
    slip, rigid = slip_speed(t, OHIO)[:, 2], rigid_wheels(t, OHIO)[:, 2]
    assert rigid.any()
    assert not rigid.all()
    assert slip[rigid] == pytest.approx(0.1)
    assert np.abs(slip[~rigid]).max() < 1e-9


def test_wheels_lie_in_their_rolling_direction():
    """A wheel of the P3-AT is 0.22 m long ahead and 0.075 m wide; Ohio's wheel 1, 15° from the y axis, is turned by its angle."""
    first = drawn_robot(P3AT).wheels[0]
    assert np.ptp(first, axis=0) == pytest.approx([0.22, 0.075])
    edge = drawn_robot(OHIO).wheels[0]
    along = edge[0] - edge[3]
    assert np.arctan2(*along[::-1]) == pytest.approx(-1.308996939)
    assert np.hypot(*along) == pytest.approx(2 * 0.0254)


def test_wheels_on_a_rigid_part_have_an_edge_of_their_own():
    t = simulate(OHIO, ASLANT)
    figure, rigid = top_view(t, OHIO), rigid_wheels(t, OHIO)[frame_places(t)]
    drawn = np.array([["orange" in e["line"]["color"] for e in frame["data"] if "line" in e] for frame in figure["frames"]])
    assert np.array_equal(drawn, np.hstack([rigid, rigid]))  # far and near


def test_commands_are_those_of_the_scenario():
    """0.5 m/s and 1 rad/s with wheels of 0.11 m, 0.201 m to the side: (0.5 ∓ 0.201)/0.11 rad/s. A motor's are at no load."""
    asked = commanded_speeds(P3AT, TURN, np.array([0.0, 1.9]))
    assert asked[-1] == pytest.approx(np.array([0.299, 0.701, 0.299, 0.701]) / 0.11)
    robotino = find_robot("robotino")
    ahead = Scenario(ground={"surface": "ohio_carpet"}, commands=[{"for_s": 1.0, "v_mps": 0.2, "profile": "step"}])
    # Wheel at 60°, rolling along 150°: cos(150°) 0.2 / 0.04.
    assert commanded_speeds(robotino, ahead, np.array([1.0]))[0, 0] == pytest.approx(np.cos(np.radians(150.0)) * 5.0)


def test_figures_are_what_plotly_reads(drive):
    """Plotly's own classes check every entry."""
    t, robot, scenario = drive
    for figure in (top_view(t, robot), over_time(t, robot, scenario)):
        text = json.dumps(figure).replace("NaN", "null")
        go.Figure(json.loads(re.sub(r"var\(--[a-z]+\)", "#123456", text)))


def test_every_curve_has_its_unit(drive):
    t, robot, scenario = drive
    layout = over_time(t, robot, scenario)["layout"]
    units = [layout[key]["title"]["text"] for key in layout if key.startswith("yaxis") and "title" in layout[key]]
    assert units == ["m/s", "rad/s", "rad/s", "mm/s", "N", "N"]
    assert [layout[key]["title"]["text"] for key in layout if key.startswith("xaxis") and "title" in layout[key]] == ["time [s]"]


def test_the_page_tells_the_drive_and_its_numbers(drive, tmp_path):
    t, robot, scenario = drive
    page = tmp_path / "drive.html"
    write_drive_report(t, robot, find_ground(t.ground), scenario, page, notes=["mu was assumed"])
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 6e6
    for wanted in (t.summary().splitlines()[0], "mu was assumed", "mass_kg", robot.mass_kg.source, "gravity_mps2"):
        assert wanted in text
    with pytest.raises(SlipfitError, match="exists"):
        write_drive_report(t, robot, find_ground(t.ground), scenario, page)


def test_a_long_drive_stays_below_6_mb():
    """Ten minutes of a noisy six-wheeler, more than a screen can show."""
    t = simulate(P3AT, TURN)
    noise = np.random.default_rng(1)
    body = {name: noise.normal(size=60_000) for name in ("x_m", "y_m", "heading_rad", "vx_mps", "vy_mps", "yaw_rate_radps")}
    wheels = {
        name: noise.normal(50.0, 1.0, size=(60_000, 6))
        for name in ("wheel_speed_radps", "wheel_angle_rad", "load_n", "force_x_n", "force_y_n", "effort", "lowest_load_n")
    }
    wide = replace(P3AT.wheels.at_m, value=((0.3, 0.2), (0.3, -0.2), (0.0, 0.2), (0.0, -0.2), (-0.3, 0.2), (-0.3, -0.2)))
    robot = P3AT.model_copy(update={"wheels": P3AT.wheels.model_copy(update={"at_m": wide})})
    long = t.with_columns(time_s=0.01 * np.arange(60_000), **body, **wheels)
    scenario = Scenario(commands=[{"for_s": 600.0, "v_mps": 0.5}])
    assert len(drive_page(long, robot, find_ground("lab_floor"), scenario).encode()) < 6.0e6


def test_a_run_that_diverged_is_shown_as_far_as_it_went():
    t = simulate(P3AT, TURN)
    broken = {name: np.where(t.time_s > 1.0, np.nan, getattr(t, name)) for name in ("x_m", "y_m", "heading_rad", "vx_mps")}
    t = replace(t.with_columns(**broken), outcome=Outcome.DIVERGED)
    assert float(top_view(t, P3AT)["frames"][-1]["name"]) == pytest.approx(1.0)
    assert "stopped being finite" in drive_page(t, P3AT, find_ground("lab_floor"), TURN)
