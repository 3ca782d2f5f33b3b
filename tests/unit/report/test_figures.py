"""Figures show what the records hold, with titles and units."""

import itertools

import numpy as np
import pytest

from slipfit.contact import LAWS
from slipfit.errors import SlipfitError
from slipfit.library import find_robot
from slipfit.report.figures import draw_demo, draw_drive, draw_laws, law_curve, save_figure
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.record import wheel_names
from slipfit.simulation.showcase import showcase

P3AT = find_robot("p3at")
TURN = Scenario(commands=[{"for_s": 0.3, "v_mps": 0.5, "yaw_rate_radps": 1.0}])


@pytest.fixture(scope="module")
def drive():
    return simulate(P3AT, TURN)


@pytest.fixture(scope="module")
def story():
    return showcase()


def lines(axes):
    """What was handed to the axes, by label: x and y."""
    return {line.get_label(): line.get_data() for line in axes.get_lines()}


def labels(axes):
    return axes.get_xlabel(), axes.get_ylabel()


def test_a_drive_is_drawn_from_above(drive):
    path = draw_drive(drive, P3AT).axes[0]
    assert path.get_title("left") == "p3at on lab_floor, from above"
    assert labels(path) == ("x [m]", "y [m]")
    ((x, y),) = lines(path).values()
    assert np.array_equal(x, drive.x_m)
    assert np.array_equal(y, drive.y_m)


def test_its_velocities_are_those_of_the_record(drive):
    speed = draw_drive(drive, P3AT).axes[1]
    shown = lines(speed)
    assert speed.get_xlabel() == "time [s]"
    for label, column in [
        ("ahead [m/s]", drive.vx_mps),
        ("to the left [m/s]", drive.vy_mps),
        ("yaw rate [rad/s]", drive.yaw_rate_radps),
    ]:
        assert np.array_equal(shown[label], (drive.time_s, column))


def test_slip_is_rim_speed_less_ground_speed_of_each_wheel(drive):
    """P3AT: wheel radius 0.11 m, left wheels at y = 0.201 m, where the ground passes at u - r y."""
    slip = draw_drive(drive, P3AT).axes[2]
    assert labels(slip) == ("time [s]", "rim - ground speed [m/s]")
    expected = 0.11 * drive.wheel_speed_radps[:, 0] - (drive.vx_mps - 0.201 * drive.yaw_rate_radps)
    assert lines(slip)["front left"][1] == pytest.approx(expected, abs=1e-12)


def test_loads_are_those_of_the_record(drive):
    load = draw_drive(drive, P3AT).axes[3]
    assert labels(load) == ("time [s]", "load [N]")
    assert list(lines(load)) == ["front left", "front right", "rear left", "rear right"]
    for w, (time_s, loads) in enumerate(lines(load).values()):
        assert np.array_equal((time_s, loads), (drive.time_s, drive.load_n[:, w]))


def test_wheels_are_named_by_axle_and_side():
    assert wheel_names(6)[2:4] == ["middle left", "middle right"]
    assert wheel_names(8)[-1] == "axle 4 right"


def test_the_demo_shows_three_paths_and_the_commanded_rate(story):
    path, rate = draw_demo(story).axes
    assert (labels(path), labels(rate)) == (("x [m]", "y [m]"), ("time [s]", "yaw rate [rad/s]"))
    assert path.get_title("left")
    assert rate.get_title("left")
    assert list(lines(path)) == ["no slip (what odometry believes)", "slip on the floor", "slip on a side slope"]
    assert np.array_equal(lines(path)["no slip (what odometry believes)"], story.without_slip[:, :2].T)
    floor = story.drives["slip_on_the_floor"]
    assert np.array_equal(lines(rate)["slip on the floor"], (floor.time_s, floor.yaw_rate_radps))
    assert np.array_equal(lines(rate)["commanded"][1], story.commanded_yaw_rate_radps)


def test_no_robot_is_drawn_over_another(story):
    """Each is four wheels and a body; a spin on the spot and paths that cross would put them over each other."""
    for axes in (draw_demo(story).axes[0], draw_drive(next(iter(story.drives.values())), P3AT).axes[0]):
        parts = [patch.get_path() for patch in axes.patches]
        robots = [parts[k : k + 5] for k in range(0, len(parts), 5)]
        assert len(robots) >= 4
        for one, other in itertools.combinations(robots, 2):
            assert not any(a.intersects_path(b) for a in one for b in other)


def test_every_law_is_drawn_under_its_name():
    figure = draw_laws()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title("left") for axes in shown] == list(LAWS)
    assert {labels(axes) for axes in shown} == {("slip velocity / rim speed [-]", "force / load [-]")}
    assert "0.5 m/s" in figure.get_suptitle()
    assert "50 N" in figure.get_suptitle()


@pytest.mark.parametrize(("lateral", "slope"), [(False, 4.0), (True, 0.4)])
def test_the_curve_of_wheel_slip_is_a_line_up_to_its_limit(lateral, slope):
    """F / N = s / (c w N), s = slip · w: 1 / (0.005 · 50) = 4 along, 0.4 across, at most mu = 0.8."""
    slips = np.linspace(0.0, 1.0, 11)
    curve = law_curve(LAWS["wheel_slip"], slips, lateral=lateral)
    assert curve == pytest.approx(np.minimum(slope * slips, 0.8), abs=1e-6)


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_the_format_follows_the_name(drive, tmp_path, suffix, magic):
    path = tmp_path / f"drive{suffix}"
    save_figure(draw_drive(drive, P3AT), path)
    assert path.read_bytes().startswith(magic)
    with pytest.raises(SlipfitError, match="exists already"):
        save_figure(draw_drive(drive, P3AT), path)


@pytest.mark.parametrize("name", ["drive.jpg", "drive", "drive.html"])
def test_other_formats_are_refused(drive, tmp_path, name):
    with pytest.raises(SlipfitError, match=r"expected a name that ends in \.png, \.svg, \.pdf"):
        save_figure(draw_drive(drive, P3AT), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_diverged_can_be_drawn(tmp_path):
    broken = simulate_many(P3AT, TURN, {"mass_kg": [np.nan]}).run(0)
    save_figure(draw_drive(broken, P3AT), tmp_path / "broken.png")
    assert (tmp_path / "broken.png").stat().st_size > 0
