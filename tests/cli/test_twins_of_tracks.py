"""Twins of tracked robots on the command line: who writes them, who reads them, who refuses."""

import json
from pathlib import Path

import numpy as np
import pytest

from slipfit.twin import TrackedTwin
from track_drives import PACKBOT, turning_log
from unit.twin.tracked_twins import twin

FORCES = ("--newton-per-ampere", "20", "--newton-per-ampere-std", "0.4")


@pytest.fixture(scope="module")
def log_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("drive") / "yard.mcap"
    turning_log(0.6).save(path)
    return path


def saved(path="packbot.twin.yaml"):
    twin().save(path)


def test_a_drive_becomes_a_twin_that_is_driven_and_estimated_with(slipfit, log_file):
    """Friction 0.6 of the simulator, in the interval."""
    words = ("estimate", "packbot", log_file, *FORCES, "--twin", "p.twin.yaml", "--new-ground", "yard", "--pose-std-m", "0.003")
    result = slipfit(*words)
    assert (result.code, result.said) == (0, [])
    assert "wrote p.twin.yaml" in result.out
    mu = TrackedTwin.load("p.twin.yaml").grounds["yard"].parameters["mu_static"]
    assert mu.interval_90[0] <= 0.6 <= mu.interval_90[1]
    shown = slipfit("twin", "p.twin.yaml")
    assert "mu_lateral" in shown.out
    climbed = json.loads(slipfit("simulate", "p.twin.yaml", "--scenario", "curb_117mm_dry_concrete", "--json").out)
    assert climbed["notes"] == ["surface: ground yard of the twin"]
    again = slipfit("estimate", "p.twin.yaml", log_file, "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["robot"] == "packbot"


def test_a_ground_of_that_name_is_lost_with_force_only(slipfit, refused, log_file):
    saved()
    words = ("estimate", "packbot.twin.yaml", log_file, "--ground", "floor", *FORCES, "--twin", "packbot.twin.yaml")
    assert "exists already" in refused(*words, "--new-ground", "floor")
    assert slipfit(*words, "--new-ground", "yard").code == 0
    assert list(TrackedTwin.load("packbot.twin.yaml").grounds) == ["floor", "sand", "yard"]
    assert slipfit(*words, "--new-ground", "floor", "--force").code == 0
    assert TrackedTwin.load("packbot.twin.yaml").grounds["floor"].parameter("mu").value != 0.62


def states_file(path="states.csv", gear_ratio=1.0):
    """Each belt loses a tenth of the difference, and a hundredth of a mm/s: T = tread / 0.8."""
    draw, radius = np.random.default_rng(1), PACKBOT.tracks.sprocket_radius_m.value
    left, right = draw.uniform(-0.4, 0.4, (2, 60))
    slips = (0.1 * (left - right) + 1e-5 * draw.normal(size=60), 0.1 * (right - left) + 1e-5 * draw.normal(size=60))
    rows = np.column_stack([left * gear_ratio / radius, right * gear_ratio / radius, *slips])
    np.savetxt(path, rows, delimiter=",", header="left_radps,right_radps,slip_left_mps,slip_right_mps", comments="")


def test_steady_states_are_tabulated_with_what_they_are_and_drawn(slipfit):
    states_file()
    result = slipfit("tracks", "states.csv", "--robot", "packbot", "--plot", "tracks.svg")
    assert (result.code, result.said) == (0, [])
    assert "root mean square errors on the half that a model was not fitted to" in result.out
    assert "wrote tracks.svg" in result.out
    assert Path("tracks.svg").stat().st_size > 1000
    assert slipfit("tracks", "states.csv", "--robot", "packbot", "--plot", "tracks.gif").code == 2


def test_steady_states_become_kinematics_of_a_twin(slipfit):
    states_file()
    result = slipfit("tracks", "states.csv", "--robot", "packbot", "--twin", "p.twin.yaml", "--ground", "lab")
    assert (result.code, result.said) == (0, [])
    found = TrackedTwin.load("p.twin.yaml")
    assert found.grounds["lab"].kinematics.effective_track_m.value == pytest.approx(0.34 / 0.8, rel=1e-3)
    assert found.provenance.logs[0].name == "states.csv"
    saved()
    words = ("tracks", "states.csv", "--robot", "packbot.twin.yaml", "--twin", "packbot.twin.yaml", "--ground", "floor")
    assert slipfit(*words, "--force").code == 0
    floor = TrackedTwin.load("packbot.twin.yaml").grounds["floor"]
    assert floor.parameter("mu").value == 0.62  # what the states do not tell stays
    assert floor.kinematics.effective_track_m.value == pytest.approx(0.34 / 0.8, rel=1e-3)


def test_speeds_of_motors_without_their_gear_ratio_are_noticed(refused):
    """A motor geared 50 to 1: belts at up to 0.4 m/s would be belts at 20 m/s."""
    states_file("motors.csv", gear_ratio=50.0)
    assert "--gear-ratio" in refused("tracks", "motors.csv", "--robot", "packbot")


def test_a_twin_of_a_robot_and_grounds_files(slipfit, refused):
    assert slipfit("twin", "packbot", "--ground", "dry_sand", "-o", "p.twin.yaml").code == 0
    assert slipfit("twin", "p.twin.yaml", "--ground", "wet_concrete", "-o", "q.twin.yaml").code == 0
    assert TrackedTwin.load("q.twin.yaml").values("wet_concrete")["mu_dynamic"] == 0.8
    assert "has a ground dry_sand already" in refused("twin", "p.twin.yaml", "--ground", "dry_sand", "-o", "r.twin.yaml")
    assert "law arctan" in refused("twin", "packbot", "--ground", "ohio_paper")
    assert slipfit("twin", "robotino", "--ground", "ohio_paper", "-o", "omni.twin.yaml").code == 0
    assert "3 wheels" in slipfit("twin", "omni.twin.yaml").out


def test_a_test_of_friction_goes_into_it(slipfit):
    """tan 31° by tilting is static; 0.5 by pulling slides, and stands beside it."""
    saved()
    slipfit(
        "friction",
        "tilt",
        "--angle-deg",
        "35",
        "--angle-deg",
        "35.2",
        "--into",
        "packbot.twin.yaml",
        "--ground",
        "floor",
        "-o",
        "a.yaml",
    )
    assert TrackedTwin.load("a.yaml").values("floor")["mu_static"] == pytest.approx(np.tan(np.radians(35.1)), rel=1e-3)
    pulled = ("friction", "pull", "--force-n", "155.8", "--force-std-n", "1", "--mass-kg", "31.77", "--mass-std-kg", "0.1")
    slipfit(*pulled, "--into", "a.yaml", "--ground", "floor", "-o", "b.yaml")
    values = TrackedTwin.load("b.yaml").values("floor")
    assert values["mu_dynamic"] == pytest.approx(0.5, rel=1e-3)
    assert values["mu_static"] > 0.69


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "packbot.twin.yaml", "x.mcap"),
        ("export", "packbot.twin.yaml", "--to", "gz"),
        ("verify", "packbot.twin.yaml", "--engine", "ode"),
        ("plan", "packbot.twin.yaml"),
        ("drive", "x.yaml", "--twin", "packbot.twin.yaml", "--port", "sim"),
        ("circle", "--twin", "packbot.twin.yaml"),
        ("odometry", "x.yaml", "--robot", "p3at", "--twin", "packbot.twin.yaml"),
        ("compare", "x.csv", "--robot", "husky", "--twin", "packbot.twin.yaml"),
        ("friction", "stall", "--robot", "packbot.twin.yaml", "--torque-nm", "10"),
        ("calibrate", "x.mcap", "--robot", "packbot.twin.yaml"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_for_robots_on_wheels_refuse_it(refused, arguments):
    saved()
    said = refused(*arguments)
    why = ("packbot.twin.yaml: a twin of a tracked robot", "packbot: drive is tracked", "expected 'slipfit/robot/1'")
    assert any(part in said for part in why)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("twin", "packbot.twin.yaml", "--payload-kg", "3"), "a payload is put on skid-steer robots"),
        (("simulate", "packbot.twin.yaml", "--ground", "ice"), "has no ground 'ice'; it has floor, sand"),
        (("simulate", "packbot.twin.yaml", "--slope-deg", "3"), "--slope-deg"),
        (("simulate", "packbot", "--ground", "floor"), "--ground"),
        (("estimate", "p3at", "x.mcap", "--twin", "t.yaml"), "such twins are written of tracked robots"),
        (("estimate", "packbot", "x.mcap", "--twin", "t.yaml", "--new-ground", "A b"), "expected a name of a-z"),
        (("estimate", "packbot", "x.mcap", "--soil", "dry_sand"), "--soil is given without --contact-area-m2"),
        (("tracks", "x.csv", "--robot", "maxxii", "--twin", "packbot.twin.yaml"), "a twin of packbot, and this is maxxii"),
        (("tracks", "x.csv", "--robot", "husky"), "works with tracked robots"),
    ],
)
def test_what_cannot_be_done_with_it_is_one_sentence(refused, arguments, said):
    saved()
    assert said in refused(*arguments)
