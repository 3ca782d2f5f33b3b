"""Two driven wheels and casters: loads by statics, motion as two wheels give it, refusals with their reason."""

import numpy as np
import pytest

from robots import busy_scenario, ground_with
from slipfit.contact import LAWS
from slipfit.errors import SlipfitError
from slipfit.library import Robot, find_robot
from slipfit.simulation import simulate, simulate_many

BURGER, G = "turtlebot3_burger", 9.81
MASS_KG, BEHIND_M, HEIGHT_M, CASTER_M, TRACK_M = 1.0017, 0.004, 0.031, 0.081, 0.16


def burger(**changes):
    """The library's robot with other entries of its file."""
    return Robot.from_mapping(find_robot(BURGER).to_mapping() | changes, where="burger.yaml")


def given(value):
    return {"value": value, "source": "assumed"}


def rest(**ground):
    return {"commands": [{"for_s": 0.05, "v_mps": 0.0}], "ground": ground}


def test_loads_at_rest_are_statics():
    """Moments about the axle: the caster carries m g x / l, the wheels share what is left."""
    loads = simulate(BURGER, rest()).load_n[0]
    assert loads == pytest.approx(np.full(2, 0.5 * MASS_KG * G * (1.0 - BEHIND_M / CASTER_M)), rel=1e-12)


@pytest.mark.parametrize("nose_up", [True, False])
def test_loads_on_a_slope_are_statics(nose_up):
    """Uphill the resultant moves back by h tan(a), to the caster; downhill to the wheels."""
    slope = 0.05
    loads = simulate(BURGER, rest(slope_rad=slope, uphill_rad=0.0 if nose_up else np.pi)).load_n[0]
    behind = BEHIND_M + (1.0 if nose_up else -1.0) * HEIGHT_M * np.tan(slope)
    assert loads.sum() == pytest.approx(MASS_KG * G * np.cos(slope) * (1.0 - behind / CASTER_M), rel=1e-12)


def test_the_lower_wheel_carries_more_across_a_slope():
    """(N_right - N_left) T / 2 = m g sin(a) h: the caster on the center line has no part in it."""
    slope = 0.05
    left, right = simulate(BURGER, rest(slope_rad=slope, uphill_rad=np.pi / 2)).load_n[0]
    assert (right - left) * 0.5 * TRACK_M == pytest.approx(MASS_KG * G * np.sin(slope) * HEIGHT_M, rel=1e-12)


def test_two_casters_share_as_equal_springs():
    """Symmetric, with the mass in the middle: a quarter each for wheels at (0, +-b) and casters at (+-l, 0)."""
    robot = burger(casters_m=given([[0.08, 0.0], [-0.08, 0.0]]), centre_of_mass_m=given([0.0, 0.0, 0.031]))
    assert simulate(robot, rest()).load_n[0] == pytest.approx(np.full(2, 0.25 * MASS_KG * G), rel=1e-12)


@pytest.mark.parametrize("ahead_m", [0.05, 0.07, -0.06])
def test_with_one_of_two_casters_off_the_ground_the_rest_is_statics(ahead_m):
    """Wheels at x = 0, casters at +-l: past l / 2 equal springs would pull at one caster. It lifts off, moments about the axle
    give the other m g x / l, and each wheel has half of what is left."""
    robot = burger(casters_m=given([[0.08, 0.0], [-0.08, 0.0]]), centre_of_mass_m=given([ahead_m, 0.0, 0.031]))
    left = 0.5 * MASS_KG * G * (1.0 - abs(ahead_m) / 0.08)
    assert simulate(robot, rest()).load_n[0] == pytest.approx(np.full(2, left), rel=1e-9)


def test_with_a_wheel_off_the_ground_the_rest_is_statics():
    """Casters on the center line, a mass at y > b / 2: the right wheel lifts off, and moments give the left one m g y / b."""
    robot = burger(casters_m=given([[0.08, 0.0], [-0.08, 0.0]]), centre_of_mass_m=given([0.0, 0.06, 0.031]))
    drive = simulate(robot, rest())
    assert drive.load_n[0] == pytest.approx([MASS_KG * G * 0.06 / 0.08, 0.0], rel=1e-9, abs=1e-12)
    assert list(drive.lifted_wheels) == [1]


def test_casters_at_the_corners_behind():
    """A trapezoid of supports with the mass near a wheel: the caster on the other side lifts off, and three balances remain,
    solved here for the places of the three."""
    casters, (x, y) = [[-0.1, 0.04], [-0.1, -0.04]], (-0.01, 0.06)
    robot = burger(casters_m=given(casters), centre_of_mass_m=given([x, y, 0.031]))
    on = np.array([[0.0, 0.08], [0.0, -0.08], casters[0]])
    shares = np.linalg.solve(np.vstack([np.ones(3), on.T]), [1.0, x, y])
    assert (shares > 0.0).all()
    springs = np.linalg.pinv(np.vstack([np.ones(4), np.vstack([on, casters[1]]).T])) @ [1.0, x, y]
    assert springs[3] < 0.0  # that caster would be pulled at
    assert simulate(robot, rest()).load_n[0] == pytest.approx(MASS_KG * G * shares[:2], rel=1e-9)


def test_weight_that_a_lifted_caster_leaves_goes_to_the_wheels():
    """Hard braking moves the resultant ahead of the axle: the caster is off, and wheels carry all of the weight."""
    robot = burger(centre_of_mass_m=given([-0.002, 0.0, 0.08]))
    commands = [{"for_s": 0.5, "v_mps": 0.4, "profile": "linear", "ramp_s": 0.4}, {"for_s": 0.1, "v_mps": 0.0}]
    drive = simulate(robot, {"commands": commands, "record_s": 0.001}, ground=ground_with("coulomb"))
    assert drive.load_n.sum(axis=1).max() == pytest.approx(MASS_KG * G, rel=1e-12)


@pytest.mark.parametrize("turn", [0.0, 0.7, -1.3])
def test_wheels_that_hardly_slip_follow_the_unicycle(turn):
    """v t and omega t, where two wheels with a common axle leave nothing to skid: closed form of an arc."""
    from slipfit.library import Ground

    floor = {"schema": Ground.kind(), "name": "grippy", "law": "wheel_slip",
             "parameters": {"c_long": given(1e-7), "c_lat": given(1e-7), "mu": given(0.9)}}  # fmt: skip
    start = {"v_mps": 0.1, "yaw_rate_radps": turn}
    drive = simulate(
        BURGER, {"commands": [{"for_s": 2.0, **start}], "start": start}, ground=Ground.from_mapping(floor, where="x")
    )
    x = 0.2 if turn == 0.0 else 0.1 / turn * np.sin(2.0 * turn)
    assert drive.x_m[-1] == pytest.approx(x, abs=2e-5)
    assert drive.heading_rad[-1] == pytest.approx(2.0 * turn, abs=1e-5)


@pytest.mark.parametrize("law", LAWS)
def test_runs_do_not_feel_their_neighbors(law):
    """Alone, among eight, in any order: the same bits."""
    draw = np.random.default_rng(5)
    vary = {
        "mass_kg": draw.uniform(0.5, 3.0, 11),
        "slope_rad": draw.uniform(0.0, 0.2, 11),
        "uphill_rad": draw.uniform(-3.0, 3.0, 11),
    }
    scenario = busy_scenario(commands=[{"for_s": 0.3, "v_mps": 0.2, "yaw_rate_radps": 1.0}])
    order = draw.permutation(11)
    told = simulate_many(BURGER, scenario, vary, ground=ground_with(law))
    mixed = simulate_many(BURGER, scenario, {name: entry[order] for name, entry in vary.items()}, ground=ground_with(law))
    np.testing.assert_array_equal(mixed.records, told.records[order])


def test_mirrored_commands_move_mirrored():
    commands = [{"for_s": 1.0, "v_mps": 0.15, "yaw_rate_radps": 1.0}]
    other = [commands[0] | {"yaw_rate_radps": -1.0}]
    left, right = (simulate(BURGER, {"commands": each}) for each in (commands, other))
    assert left.y_m[-1] == pytest.approx(-right.y_m[-1], abs=1e-12)


def test_a_route_and_its_energy():
    """What comes in stays or goes: the balance of energy closes."""
    scenario = {"route": {"waypoints_m": [[0.5, 0.0], [0.8, 0.3]], "speed_mps": 0.15, "acceptance_m": 0.05}}
    drive = simulate(BURGER, scenario)
    assert drive.outcome.is_success
    assert drive.x_m[-1] == pytest.approx(0.8, abs=0.06)


def test_tip_over_margin_is_that_of_wheels_and_caster():
    """At rest atan(d / h) of the nearest edge of the triangle of supports: the axle, 4 mm ahead of the center of mass."""
    drive = simulate(BURGER, rest() | {"energy": True})
    assert drive.smallest_tip_over_margin_rad == pytest.approx(np.arctan(BEHIND_M / HEIGHT_M), rel=1e-9)


def test_tip_over_margin_across_the_edge_from_wheel_to_caster():
    """A mass near the left wheel: the nearest edge joins it with the caster, its distance by the formula of a line."""
    at = np.array([-0.03, 0.045])
    robot = burger(centre_of_mass_m=given([*at.tolist(), HEIGHT_M]))
    wheel, caster = np.array([0.0, 0.5 * TRACK_M]), np.array([-CASTER_M, 0.0])
    along, to = caster - wheel, at - wheel
    distance_m = abs(along[0] * to[1] - along[1] * to[0]) / np.hypot(*along)
    drive = simulate(robot, rest() | {"energy": True})
    assert drive.smallest_tip_over_margin_rad == pytest.approx(np.arctan(distance_m / HEIGHT_M), rel=1e-9)


def test_terrain_and_soil_are_refused_with_the_reason():
    with pytest.raises(SlipfitError, match=r"stands on casters.*on a terrain they would sink"):
        simulate(BURGER, "crater_rim")
    with pytest.raises(SlipfitError, match="dry_sand, which is soil"):
        simulate(BURGER, rest(), ground="dry_sand")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"casters_m": given([[0.0, 0.0]])}, "caster on the axle"),
        ({"casters_m": given([[-0.1, 0.0], [0.1, 0.0], [0.1, 0.1]])}, "casters_m has 3 casters; expected one or 2"),
        ({"centre_of_mass_m": given([0.01, 0.0, 0.03])}, "outside wheels and casters"),
        ({"mass_kg": given(1001.7)}, None),
    ],
)
def test_files_that_do_not_stand(changes, sentence):
    if sentence is None:  # heavy, but who knows
        assert "is it in grams?" in burger(**changes).summary()
        return
    with pytest.raises(SlipfitError, match=sentence):
        burger(**changes)


def test_four_wheels_are_no_differential_drive():
    wheels = find_robot(BURGER).to_mapping()["wheels"] | {"at_m": given([[0.1, 0.1], [0.1, -0.1], [-0.1, 0.1], [-0.1, -0.1]])}
    with pytest.raises(SlipfitError, match="two that are driven, casters stand in casters_m"):
        burger(wheels=wheels)
