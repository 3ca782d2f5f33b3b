"""Document 004, simulated: tracked robots on curbs and in sand, against the step oracle, statics and its own claims."""

import re

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from slipfit.errors import ParameterError
from slipfit.library import TrackedRobot, find_ground, find_robot
from slipfit.simulation import simulate, simulate_many
from slipfit.simulation.climb import longest_step_s
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.scenario import find_scenario
from slipfit.simulation.track_kinematics import turn_on_the_spot
from slipfit.vehicles import track_verdict
from slipfit.vehicles.step_climb import friction_needed
from slipfit.vehicles.track_belts import Belt, loss_per_speed
from slipfit.vehicles.track_shape import Outline, track_tables
from slipfit.vehicles.tracked import TRACK_COLUMNS
from tracks import SHAPE, climb, driven, dropped, friction_found, mass_above_lowest_m, own_rest_m, plain_climber

SAND = "dry_sand"

#: Heights (m) and edge radii (m); the oracle is valid up to a friction of 1.
STEPS = [(0.025, 0.1016), (0.05, 0.1016), (0.1, 0.1016), (0.025, 0.0), (0.05, 0.0), (0.1, 0.0)]
HIGHER = [(0.075, 0.1016), (0.117, 0.1016), (0.125, 0.1016), (0.15, 0.1016), (0.075, 0.0), (0.117, 0.0), (0.125, 0.0)]
STEPS += [pytest.param(height, edge, marks=pytest.mark.slow) for height, edge in HIGHER]


@pytest.mark.parametrize(("height", "edge"), STEPS)
@pytest.mark.parametrize("nose_on_edge", [True, False], ids=["nose helped up", "without flipper"])
def test_slow_climbing_needs_the_friction_of_the_oracle(height, edge, nose_on_edge):
    """SPEC 5, step-climb oracle: within 3 % from 50 mm on, 5 % at 25 mm. At 10 mm/s, without cleats, static = dynamic friction,
    dents below 0.1 mm."""
    expected = float(friction_needed(SHAPE, height, edge, has_flippers=nose_on_edge))
    found = friction_found(expected, height, edge, nose_on_edge=nose_on_edge)
    print(f"{1e3 * height:.0f} mm, edge {1e3 * edge:.1f} mm: {found:.4f}, oracle {expected:.4f}, {found / expected - 1.0:+.2%}")
    assert found == pytest.approx(expected, rel=0.05 if height < 0.05 else 0.03)


def at_rest(**more):
    return climb(mu_static=0.8, speed_mps=0.0, duration_s=1.5, record_s=0.1, **more)


def test_at_rest_hard_ground_bears_the_weight():
    """Statics: sum of all loads = m g, to 1e-6."""
    rest = simulate(plain_climber(), at_rest())
    weight = plain_climber().mass_kg.value * 9.81
    assert rest["hard_load_left_n"][-1] + rest["hard_load_right_n"][-1] == pytest.approx(weight, rel=1e-6)


def _stands_still(robot, **more):
    """Record of a robot at rest, motors off: it never gains, nothing accelerates, and it stays where it was put down."""
    rest = simulate(robot, at_rest(soil=SAND, **more))
    assert (rest["energy_j"] <= rest["energy_j"][0] + 1e-6).all()
    # Loads on the arcs lean; what bears upwards is the weight where nothing accelerates any more.
    assert np.abs(np.diff(rest["vz_mps"]) / np.diff(rest["time_s"]) / 9.81).max() < 1e-6
    assert rest["z_m"] == pytest.approx(rest["z_m"][0], abs=1e-7)
    return rest


def test_at_rest_sand_bears_the_weight_where_the_pressure_curve_says():
    """Statics. SPEC 5(b): 311.64 N on 2 x 0.07 x 0.508 m alone sink 4.841 mm; the sprockets' arcs bear a little too."""
    rest = _stands_still(plain_climber())
    assert own_rest_m() < 4.841e-3
    assert rest["sinkage_left_m"][-1] == pytest.approx(own_rest_m(), rel=1e-6)


@pytest.mark.parametrize("layer_mm", [1.0, 2.0, 3.0, 5.0, 6.0, 8.0, 10.0])
def test_a_robot_stands_still_on_a_thin_layer_with_its_cleats(layer_mm):
    """Cleats of 6 mm, their tips and flanks at 5.1 mm: on 1 mm of sand they stand on the rigid base and the belts hang 4 mm above
    the sand, on 10 mm they end in the sand. (Begun with the belts on the base, it was thrown up with 25 to 170 J.)"""
    rest = _stands_still("packbot", soil_depth_m=1e-3 * layer_mm)
    own = own_rest_m(0.0051, 0.25, 1e-3 * layer_mm)
    assert rest["z_m"][-1] == pytest.approx(0.075 - own, abs=1e-8)
    if own < -0.0051 + 0.089 * (1.0 - np.cos(np.radians(7.5))):  # flat segments alone bear, and no load leans
        load = rest["soil_load_left_n"][-1] + rest["soil_load_right_n"][-1]
        assert load == pytest.approx(31.77 * 9.81, rel=1e-9)


@pytest.mark.parametrize("ground", ["lete_sand", "sandy_loam_lll_15", "heavy_clay_wes_25"])
def test_a_robot_stands_on_its_cleats_on_firm_soil(ground):
    """k (z + 5.1 mm)^n A_c = m g, and of the sprockets' arcs pieces of 15° that the tips reach: the belts hang in the air, at the
    start and at the end."""
    v, angles = find_ground(ground).values(), np.radians(np.arange(7.5, 90.0, 15.0))
    k, up = v["k_c"] / 0.07 + v["k_phi"], 0.089 * (1.0 - np.cos(angles))
    arcs = 4.0 * 0.089 * np.pi / 12.0 * np.cos(angles)

    def carried(tips_m):
        return 0.25 * 0.07 * k * (1.016 * tips_m ** v["n"] + arcs @ np.maximum(tips_m - up, 0.0) ** v["n"])

    tips_m = brentq(lambda z: carried(z) - 31.77 * 9.81, 0.0, 0.005, xtol=1e-15)
    rest = simulate("packbot", climb(mu_static=0.8, speed_mps=0.0, duration_s=1.5, record_s=0.1, soil=ground))
    assert rest["z_m"] == pytest.approx(0.075 + 0.0051 - tips_m, abs=2e-9)
    assert (rest["energy_j"] <= rest["energy_j"][0] + 1e-6).all()


#: What a step of a drop may gain, over the drop's energy: rounding of sums of some forty terms is 1e-14 of it, and what is left
#: of Newton's linearisation where a robot with free belts rolls on came to 6e-13 in 3000 drops (docs/theory/tracked, Strikes).
ROUNDING = 1e-11

#: Height of the mass (m), nose up and left side up (rad) of drops that gained energy once: a front that went into the ground
#: without a force while the rear struck (28 J); a motor at its limit that threw its belt to and fro (0.4 J from record to record,
#: 16 J in a step); undersides that slapped down at once (60 J, gone a step later, belts free); a roll that passed 45 degrees
#: while pressed in (1.5 J); friction, cut, that drove a belt (7 J, belts free).
ODD_DROPS = [
    (0.187 + 0.075, 0.7, 0.0),
    (0.548, 0.9, 0.8),
    (0.26407232564315136, -0.4934350288488161, 0.11900487695669104),
    (0.32308088398037094, 0.018258953492530594, -0.7964283420219838),
    (0.3810725912503575, 0.5408642722060616, 0.3789279796321847),
]


def _steps_that_gain(mass_height_m, pitch_up_rad, roll_rad, **more):
    """Largest gain of a step (J, over the energy let go with) of each drop, and its energies."""
    energy = dropped(mass_height_m, pitch_up_rad, roll_rad, **more)
    return np.nanmax(np.diff(energy, axis=1), axis=1) / energy[:, 0], energy


@pytest.mark.parametrize("are_belts_held", [True, False], ids=["belts held", "belts free"])
def test_what_is_dropped_never_gains_energy(are_belts_held):
    """Kinetic, potential and pressed energy together only fall (SPEC 7.2), in every step, whatever touches first: the odd drops,
    and six more. Standing again after 1 s on belts that are held it has lost at least 0.9 m g h."""
    plain = [(0.05, 0.1, 0.0), (0.2, 0.0, 0.3), (0.3, -0.5, 0.0), (0.3, -0.5, 0.3), (0.3, 0.7, -0.5), (0.3, 0.4, -0.6)]
    drops = np.array([*ODD_DROPS, *((height + 0.075, pitch, roll) for height, pitch, roll in plain)]).T
    gained, energy = _steps_that_gain(*drops, are_belts_held=are_belts_held)
    assert gained.max() < ROUNDING
    if are_belts_held:
        assert (energy[:, 0] - energy[:, -1] > 0.9 * 31.77 * 9.81 * (drops[0] - 0.075)).all()


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.1, 0.8, 2.0])
@pytest.mark.parametrize("are_belts_held", [True, False], ids=["belts held", "belts free"])
def test_none_of_220_drops_gains_energy(are_belts_held, mu):
    """As above: nose to 0.9 rad up or down, roll to 0.8 rad, the lowest place 0 to 0.3 m up, drawn with one seed, and the odd
    ones. Every step counts: records 10 ms apart hid gains of 60 J that damping took away within two steps. The bound is a
    share of the energy let go with."""
    rng = np.random.default_rng(220)
    pitch, roll, height = rng.uniform(-0.9, 0.9, 220), rng.uniform(-0.8, 0.8, 220), rng.uniform(0.0, 0.3, 220)
    drawn = np.array([height + mass_above_lowest_m(pitch, roll), pitch, roll])
    gained, _ = _steps_that_gain(*np.hstack([drawn, np.array(ODD_DROPS).T]), are_belts_held=are_belts_held, mu=mu)
    assert gained.max() < ROUNDING


#: Nose up and roll (rad), height of the lowest place (m), soil, its layer (m): what gained 8.7, 9.5, 33 and 106 J when a rigid
#: base below soil pushed along the normal of a track that leans.
ON_LAYERS = [
    (0.453, 0.696, 0.153, "heavy_clay_wes_40", 0.001),
    (0.069, -0.786, 0.019, "snow_sweden", 0.01),
    (0.0, 0.6, 0.2, SAND, 0.005),
    (0.161, -0.741, 0.082, "lete_sand", 0.001),
]


@pytest.mark.parametrize("step_s", [1e-3, 2.5e-4])
@pytest.mark.parametrize(("pitch", "roll", "height", "soil", "layer"), ON_LAYERS)
def test_what_is_dropped_on_a_layer_of_soil_never_has_more_than_it_was_let_go_with(pitch, roll, height, soil, layer, step_s):
    """Kinetic and potential energy together (SPEC 7.2). What is pressed into soil and base is not in the sum: a lower bound."""
    scenario = climb(mu_static=0.8, soil=soil, soil_depth_m=layer, speed_mps=0.0, duration_s=0.4, step_s=step_s)
    begin = {"z": float(mass_above_lowest_m(pitch, roll)) + 0.03 + height, "pitch_up": pitch, "roll": roll}
    records, _ = driven(find_robot("packbot"), scenario, alone=True, begin=begin)
    energy = records[0, :, TRACK_COLUMNS.index("energy_j")]
    runs = records[0, :, TRACK_COLUMNS.index("verdict")] == track_verdict.RUNNING
    assert (energy[1:][runs[1:]] <= energy[0] * (1.0 + ROUNDING)).all()
    assert runs[:50].all()


def test_a_belt_breaks_away_as_coulombs_friction_lets_it():
    """zeta (2 T + |drive|) is lost whatever the speed: a push p against r per speed leaves (p - loss) / (r + b), or nothing."""
    belt = Belt(2.0, 400.0, 600.0, 2500.0, 0.0, 150.0, 0.02, 10.0)
    lost = 0.02 * (300.0 + 8.0)
    for push in (1.01 * lost, 30.0, -30.0):
        speed = push / (2000.0 + loss_per_speed(belt, 8.0, push, 2000.0))
        assert speed == pytest.approx(np.sign(push) * (abs(push) - lost) / 2010.0, rel=1e-12)
    assert abs(0.99 * lost / (2000.0 + loss_per_speed(belt, 8.0, 0.99 * lost, 2000.0))) < 1e-6


def test_mirrored_climbs_are_mirrored():
    """SPEC 7.3: a curb turned to the other side; to the last bit, since left and right are summed alike."""
    scenario = climb(
        mu_static=0.9, obstacle={"kind": "curb", "height_m": 0.06, "edge_radius_m": 0.03, "distance_m": 0.1}, duration_s=1.2
    )
    both = simulate_many("packbot", scenario, {"yaw_rad": np.array([0.2, -0.2])})
    left, right = both.run(0), both.run(1)
    for name, sign in (("x_m", 1.0), ("z_m", 1.0), ("y_m", -1.0)):
        assert (left[name] == sign * right[name]).all()


def test_half_the_step_changes_the_sinkage_by_less_than_a_percent():
    """The step is chosen from this: 0.5 ms against 0.25 ms, deepest sinkage of the 117 mm curb's climb."""
    coarse, fine = (simulate("packbot", _curb(step_s=step)) for step in (5e-4, 2.5e-4))
    assert coarse["deepest_m"].max() == pytest.approx(fine["deepest_m"].max(), rel=0.01)


@pytest.mark.parametrize("name", ["curb_163mm", "curb_117mm_600mmps", "turn_in_sand"])
def test_half_the_step_changes_drives_of_the_library_as_little(name):
    """As above. Left out are climbs that meet the curb askew: one track spins, then the other, and the deepest changes by some
    percent (docs/theory/tracked)."""
    coarse, fine = (simulate("packbot", find_scenario(name).model_copy(update={"step_s": step})) for step in (5e-4, 2.5e-4))
    assert coarse["deepest_m"].max() == pytest.approx(fine["deepest_m"].max(), rel=0.01)


@pytest.mark.parametrize("has_cleats", [True, False], ids=["cleats", "plain belts"])
def test_half_the_step_changes_driving_on_level_sand_as_little(has_cleats):
    """As above, and what the belts have to give once the start is over. A segment that leans was taken to go in along its normal
    while it only goes ahead, and belts broke away by a factor per step: 2.3 % of the deepest, 7 % of the force."""
    robot = find_robot("packbot").to_mapping()
    for key in () if has_cleats else ("cleat_height_m", "cleat_share", "cleat_taper"):
        del robot["tracks"][key]
    robot = TrackedRobot.from_mapping(robot, where="tests")
    coarse, fine = (simulate(robot, climb(mu_static=0.8, soil=SAND, step_s=step, duration_s=6.0)) for step in (5e-4, 2.5e-4))
    assert coarse["deepest_m"].max() == pytest.approx(fine["deepest_m"].max(), rel=0.01)
    steady = coarse["time_s"] > 4.0
    assert coarse["drive_left_n"][steady].mean() == pytest.approx(fine["drive_left_n"][steady].mean(), rel=0.01)


def test_a_sprocket_in_sand_bears_as_much_as_its_circle():
    """Vertical pressure over an arc, b k int z(x)^n dx, against its stations, nose up by 10 to 50 degrees and 5 to 25 mm deep:
    within 7 %, where whole segments of 30 degrees were off by 30 %."""
    radius, width, k, n = 0.089, 0.07, 1e3 * (0.99 / 0.07 + 1528.43), 1.1
    outline = Outline(radius, 0.508, 0.34, width, 0.254, 0.075)
    table = track_tables(outline, 36, 1, has_flippers=False, has_belly=False).stations
    is_arc = (table.area[0] > 0.0) & (table.tz[0] < -1e-9) & (table.y[0] > 0.0)
    ahead, up, area = table.x[0][is_arc] + 0.254, table.z[0][is_arc] + 0.075 - radius, table.area[0][is_arc]
    lean = np.arctan2(table.tz[0][is_arc], table.tx[0][is_arc])
    for sunk_m in (0.005, 0.01, 0.0248):
        edge = np.arccos(1.0 - sunk_m / radius)
        for nose in np.radians(np.arange(10.0, 51.0, 5.0)):
            depth = sunk_m - radius - (ahead * np.sin(nose) + up * np.cos(nose))
            borne = np.sum(area * np.cos(lean + nose) * k * np.maximum(depth, 0.0) ** n)
            whole, _ = quad(
                lambda a, z=sunk_m: width * radius * np.cos(a) * k * max(z - radius * (1.0 - np.cos(a)), 0.0) ** n,
                -edge, min(nose, edge),
            )  # fmt: skip
            assert borne == pytest.approx(whole, rel=0.07)


def _curb(**more):
    obstacle = {"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.2}
    return climb(mu_static=0.9, mu_dynamic=0.8, soil=SAND, obstacle=obstacle, starts_rolling=True, **more)


def test_soil_loads_do_not_jump_where_cells_of_memory_end():
    """Nose on the curb, rear in the sand, third second: a load that met one cell after the other changed by 36 % (rms) of its
    mean in 10 ms, up and down again every 25 mm. Rocking on the steep line of unloading leaves a third of that."""
    climb = simulate("packbot", find_scenario("curb_117mm").model_copy(update={"record_s": 0.01}))
    third = climb["soil_load_left_n"][200:300]
    assert np.diff(third).std() < 0.18 * third.mean()


def test_without_slip_sinkage_the_robot_stands_and_climbs_higher():
    """The document's comparison: slip-sinkage digs the rear in, so that the run without it sinks less and its nose has less far
    to go."""
    both = simulate_many("packbot", "curb_163mm", {"slip_sinkage": np.array([1.0, 0.0])})
    assert both.deepest_m[0] > 1.3 * both.deepest_m[1]
    highest = np.nanmax(np.where(both.time_s <= both.stopped_at_s.min(), both.records[:, :, 2], np.nan), axis=1)
    assert highest[1] > highest[0]


def test_lanes_agree_with_one_by_one():
    """One run alone has its segments side by side, eight runs each other: the same equations. A climb has kinks, where rounding
    moves switches by a step. Runs of different heights bear and slip at different moments."""
    vary = {"height_m": np.linspace(0.112, 0.122, 8)}
    alone, among = (driven(find_robot("packbot"), _curb(duration_s=1.0), vary, alone=is_alone)[0] for is_alone in (True, False))
    for name in ("x_m", "z_m", "belt_left_mps"):
        column = TRACK_COLUMNS.index(name)
        assert alone[:, :, column] == pytest.approx(among[:, :, column], abs=2e-4)


def test_a_run_does_not_feel_its_neighbours():
    """To the last bit: the same run among others, and a NaN beside it."""
    scenario = _curb(duration_s=0.5)
    one = simulate_many("packbot", scenario, {"height_m": np.array([0.1, 0.1])})
    other = simulate_many("packbot", scenario, {"height_m": np.array([0.1, 0.16, np.nan])})
    assert (one.records[0] == other.records[0]).all()


@pytest.mark.parametrize("soil", [None, SAND])
def test_a_run_does_not_feel_who_stands_beside_it(soil):
    """To the last bit, over whole climbs of runs that touch, slide and lift off at moments of their own: the same sixteen in
    another order. (A contact that was cut to its friction and then lifted off was forgotten only where a neighbour's bore.)"""
    rng = np.random.default_rng(1)
    ranges = {"mu_static": (0.2, 1.8), "height_m": (0.06, 0.17), "edge_radius_m": (0.0, 0.05), "speed_mps": (0.1, 0.6)}
    runs = {name: rng.uniform(*ends, 16) for name, ends in ranges.items()}
    scenario, order = _curb_on_concrete().model_copy(update={"soil": soil}), rng.permutation(16)
    one, other = (simulate_many("maxxii", scenario, vary) for vary in (runs, {name: v[order] for name, v in runs.items()}))
    for k, i in enumerate(order):
        last = int(one.stopped_at_s[i] / 0.02)
        assert np.array_equal(one.records[i, : last + 1], other.records[k, : last + 1])
    assert np.array_equal(one.codes[order], other.codes)


class TestVerdicts:
    def test_ice_is_too_slippery(self):
        assert simulate("packbot", "curb_117mm_ice").outcome is Outcome.SLIPPED

    def test_concrete_is_not(self):
        climb = simulate("packbot", "curb_117mm_dry_concrete")
        assert climb.outcome is Outcome.CLIMBED
        assert climb.margin > 0.0

    def test_a_high_mass_tips_over_backwards(self):
        """Centre of mass half a metre up and behind: beyond the rear axle once the nose is up by 20 degrees."""
        scenario = climb(
            mu_static=1.5, obstacle={"kind": "curb", "height_m": 0.16, "edge_radius_m": 0.02, "distance_m": 0.15}, duration_s=9.0
        )
        batch = simulate_many(
            "packbot", scenario, {"centre_of_mass_height_m": np.array([0.5, 0.6]), "centre_of_mass_x_m": np.array([-0.12, -0.15])}
        )
        assert batch.outcomes == (Outcome.TIPPED_BACKWARDS, Outcome.TIPPED_BACKWARDS)

    def test_margins_have_the_sign_of_success_and_grow_with_friction(self):
        batch = simulate_many("packbot", _curb_on_concrete(), {"mu_static": np.array([0.1, 0.3, 0.9, 1.1])}, ends_only=True)
        assert ((batch.margin > 0.0) == batch.has_climbed).all()
        assert batch.has_climbed.tolist() == sorted(batch.has_climbed.tolist())


def _curb_on_concrete():
    return climb(mu_static=0.8, obstacle={"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.1})


def test_the_turn_on_the_spot_stays_on_the_spot():
    """Zero-radius turn in sand: soil is pushed by the front of one track and the rear of the other, so nothing drives the middle
    along; flippers and their tips are all that differs ahead and behind. A hundredth of the tread, and less heading than told."""
    turn = simulate("packbot", "turn_in_sand")
    assert np.hypot(turn["x_m"] - turn["x_m"][0], turn["y_m"]).max() < 0.0034
    assert 0.5 < turn.heading_rad[-1] < 4.0


def test_a_robot_of_equal_ends_goes_back_as_it_goes_ahead():
    """The plain climber's front and rear are alike: told the opposite speed in sand it goes the opposite way, sinks and drives
    alike. Rounding differs, and the belts' memory is carried in the order of the segments: 2 %."""
    ahead, back = (
        simulate(plain_climber(), climb(mu_static=0.6, soil=SAND, speed_mps=speed, duration_s=2.0)) for speed in (0.3, -0.3)
    )
    assert back["x_m"][-1] == pytest.approx(-ahead["x_m"][-1], rel=0.02)
    assert back["drive_left_n"][-50:].mean() == pytest.approx(-ahead["drive_left_n"][-50:].mean(), rel=0.05)
    assert back["deepest_m"].max() == pytest.approx(ahead["deepest_m"].max(), rel=0.05)


def _steady_turn(robot, **more):
    """Moment of the drive (N m), yaw rate (rad/s) and torques over the second half of a turn on the spot, told 1 rad/s."""
    turn = simulate(robot, climb(mu_static=0.6, speed_mps=0.0, yaw_rate_radps=1.0, duration_s=4.0, **more))
    late = turn["time_s"] > 2.0
    drive = 0.5 * 0.34 * (turn["drive_right_n"] - turn["drive_left_n"])[late].mean()
    return drive, turn["yaw_rate_radps"][late].mean(), turn


def test_a_turn_on_hard_ground_takes_the_moment_of_the_closed_form():
    """docs/theory/tracked, eq. (spot), the same friction along and across. On hard ground a belt of 36 segments stands on the 10
    inner ones of its underside and on its two sprockets in place of the outer ones: 12 equal loads. Within 2 % of a line's
    uniform load, 19.9 N m; below mu W L / 4 = 23.7 N m."""
    places = [*((np.arange(1, 11) + 0.5) / 12 * 0.508 - 0.254), -0.254, 0.254]
    given = {"mu": 0.6, "load_n": 31.77 * 9.81, "length_m": 0.508, "tread_m": 0.34}
    expected = turn_on_the_spot(**given, places_m=places)
    moment, rate, _ = _steady_turn(plain_climber())
    assert moment == pytest.approx(expected.moment_nm, rel=1e-3)
    assert rate == pytest.approx(expected.rate_share, rel=1e-3)
    assert moment == pytest.approx(turn_on_the_spot(**given).moment_nm, rel=0.02)
    assert moment < 0.6 * 31.77 * 9.81 * 0.508 / 4.0


def test_motors_that_are_weaker_than_the_resistance_do_not_turn_the_robot():
    """5 N m on a sprocket are 56.2 N and 19.1 N m, below the 20.3 N m that sliding takes: held. 6.5 N m suffice."""
    held, turning = (_steady_turn(plain_climber(powertrain__torque_limit_nm=limit))[1] for limit in (5.0, 6.5))
    assert abs(held) < 1e-3
    assert turning > 0.5


def test_a_turn_in_sand_takes_the_soils_strength():
    """In soil mu W becomes A c + W tan phi: (0.0711 x 1040 + 311.7 tan 28°) L / 4 = 30.4 N m; 15 % for belts that slip
    along (less) and for walls of pushed soil (more).

    Sinkage between the 4.84 mm of rest and four times that, K_ss of full slip (SPEC 5)."""
    moment, rate, turn = _steady_turn(plain_climber(), soil=SAND)
    assert moment == pytest.approx(30.4, rel=0.15)
    assert 0.3 < rate < 0.8
    assert 4.84e-3 < turn["deepest_m"].max() < 4.0 * 4.84e-3


def _near(height_m, distance_m, **more):
    obstacle = {"kind": "curb", "height_m": height_m, "distance_m": distance_m}
    return climb(mu_static=0.8, obstacle=obstacle, duration_s=0.05, **more)


def test_a_robot_that_would_begin_inside_the_curb_is_refused_with_the_distance_to_use():
    """Flippers 0.3 m long at 0.6 rad: tip 258 mm up, radius 51 mm with cleats, so 207 mm free and clear of a curb of 190 mm; its
    underside falls to the tracks and crosses 190 mm of height within the first 0.25 m. Whatever distance is told is enough, and
    2 mm less is not."""
    with pytest.raises(ParameterError, match=r"begin \d+ mm inside the curb; .* take 0\.\d+ m or more") as refused:
        simulate("packbot", _near(0.19, 0.1))
    told = float(re.search(r"take ([0-9.]+) m", str(refused.value))[1])
    assert 0.1 < told < 0.3 - 0.089 + 0.045  # no further than the tips reach
    assert simulate("packbot", _near(0.19, told)).outcome is Outcome.TIMED_OUT
    with pytest.raises(ParameterError, match="inside the curb"):
        simulate("packbot", _near(0.19, told - 0.002))


def test_flippers_may_begin_over_the_curb():
    """At 50 mm of height their underside, 50 mm up at most 0.1 m ahead of the tracks, is free."""
    assert simulate("packbot", _near(0.05, 0.1)).outcome is Outcome.TIMED_OUT


def test_a_step_too_long_is_refused_with_the_step_to_use():
    longest = longest_step_s(plain_climber())
    with pytest.raises(ParameterError, match=f"at most {longest:.2g} s"):
        simulate(plain_climber(), climb(mu_static=0.8, step_s=2.0 * longest))
