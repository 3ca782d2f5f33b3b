"""Document 004, simulated: tracked robots on curbs and in sand, against the step oracle, statics and its own claims."""

import numpy as np
import pytest

from slipfit.simulate.climb import Verdict, climb_many, longest_step_s, simulate_climb
from slipfit.simulate.climb_scenario import ClimbScenario
from slipfit.vehicles.step_climb import friction_needed
from tracks import SHAPE, dropped, friction_found, plain_climber

SAND = "dry_sand"

#: Heights (m) and edge radii (m); the oracle is valid up to a friction of 1.
STEPS = [(0.025, 0.1016), (0.05, 0.1016), (0.1, 0.1016), (0.025, 0.0), (0.05, 0.0), (0.1, 0.0)]


@pytest.mark.parametrize(("height", "edge"), STEPS)
@pytest.mark.parametrize("nose_on_edge", [True, False], ids=["nose helped up", "without flipper"])
def test_slow_climbing_needs_the_friction_of_the_oracle(height, edge, nose_on_edge):
    """SPEC 5, step-climb oracle: within 3 % from 50 mm on, 5 % at 25 mm. At 10 mm/s, without cleats, static = dynamic friction,
    dents below 0.1 mm."""
    expected = float(friction_needed(SHAPE, height, edge, has_flippers=nose_on_edge))
    found = friction_found(expected, height, edge, nose_on_edge=nose_on_edge)
    assert found == pytest.approx(expected, rel=0.05 if height < 0.05 else 0.03)


def at_rest(**more):
    return ClimbScenario(mu_static=0.8, speed_mps=0.0, duration_s=1.5, record_s=0.1, **more)


def test_at_rest_hard_ground_bears_the_weight():
    """Statics: sum of all loads = m g, to 1e-6."""
    rest = simulate_climb(plain_climber(), at_rest())
    weight = plain_climber().mass_kg.value * 9.81
    assert rest["hard_load_left_n"][-1] + rest["hard_load_right_n"][-1] == pytest.approx(weight, rel=1e-6)


def test_at_rest_sand_bears_the_weight_where_the_pressure_curve_says():
    """Statics, and SPEC 5(b): 311.64 N on 2 x 0.07 x 0.508 m of dry sand sink 4.841 mm; the sprockets' arcs bear a little too."""
    rest = simulate_climb(plain_climber(), at_rest(soil=SAND))
    # Loads on the arcs lean; what bears upwards is the weight where nothing accelerates any more.
    upwards = np.diff(rest["vz_mps"])[-3:] / np.diff(rest["time_s"])[-3:] / 9.81
    assert np.abs(upwards).max() < 1e-6
    assert 1e3 * rest["sinkage_left_m"][-1] == pytest.approx(4.841, rel=0.01)
    assert rest["sinkage_left_m"][-1] < 4.841e-3


def test_what_is_dropped_never_gains_energy():
    """Belts at rest: kinetic, potential and pressed energy together only fall (SPEC 7.2); 5 cm lose at least 14 J.

    Recorded depths are those at the start of the last step, 1 ms older than the velocities: that much the sum may err.
    """
    energy = dropped(0.05)
    assert (np.diff(energy) <= 1e-4).all()
    assert energy[0] - energy[-1] > 14.0


def test_mirrored_climbs_are_mirrored():
    """SPEC 7.3: a curb turned to the other side; rounding grows with the stick-slip of the climb."""
    scenario = ClimbScenario(
        mu_static=0.9, obstacle={"kind": "curb", "height_m": 0.06, "edge_radius_m": 0.03, "distance_m": 0.1}, duration_s=1.2
    )
    both = climb_many("packbot", scenario, {"yaw_rad": np.array([0.2, -0.2])})
    left, right = both.run(0), both.run(1)
    for name, sign in (("x_m", 1.0), ("z_m", 1.0), ("y_m", -1.0)):
        assert left[name] == pytest.approx(sign * right[name], abs=1e-6)


def test_half_the_step_changes_the_sinkage_by_less_than_a_percent():
    """The step is chosen from this: 1 ms against 0.5 ms, deepest sinkage of the 117 mm curb's climb."""
    coarse, fine = (simulate_climb("packbot", _curb(step_s=step)) for step in (1e-3, 5e-4))
    assert coarse["deepest_m"].max() == pytest.approx(fine["deepest_m"].max(), rel=0.01)


def _curb(**more):
    obstacle = {"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.2}
    return ClimbScenario(mu_static=0.9, mu_dynamic=0.8, soil=SAND, obstacle=obstacle, starts_rolling=True, **more)


def test_without_slip_sinkage_the_robot_stands_and_climbs_higher():
    """The document's comparison: slip-sinkage digs the rear in, so that the run without it sinks less and its nose has less far
    to go."""
    both = climb_many("packbot", "curb_163mm", {"slip_sinkage": np.array([1.0, 0.0])})
    assert both.deepest_m[0] > 1.3 * both.deepest_m[1]
    highest = np.nanmax(np.where(both.time_s <= both.stopped_at_s.min(), both.records[:, :, 2], np.nan), axis=1)
    assert highest[1] > highest[0]


def test_lanes_agree_with_one_by_one():
    """One run alone has its segments side by side, eight runs each other: the same equations. A climb has kinks, where rounding
    moves switches by a step."""
    scenario = _curb(duration_s=1.0)
    alone, among = simulate_climb("packbot", scenario), climb_many("packbot", scenario, {"height_m": np.full(3, 0.117)}).run(1)
    for name in ("x_m", "z_m", "belt_left_mps"):
        assert alone[name] == pytest.approx(among[name], abs=2e-4)


def test_a_run_does_not_feel_its_neighbours():
    """To the last bit: the same run among others, and a NaN beside it."""
    scenario = _curb(duration_s=0.5)
    one = climb_many("packbot", scenario, {"height_m": np.array([0.1, 0.1])})
    other = climb_many("packbot", scenario, {"height_m": np.array([0.1, 0.16, np.nan])})
    assert (one.records[0] == other.records[0]).all()


class TestVerdicts:
    def test_ice_is_too_slippery(self):
        assert simulate_climb("packbot", "curb_117mm_ice").verdict is Verdict.SLIPPED

    def test_concrete_is_not(self):
        climb = simulate_climb("packbot", "curb_117mm_dry_concrete")
        assert climb.verdict is Verdict.CLIMBED
        assert climb.margin > 0.0

    def test_a_high_mass_tips_over_backwards(self):
        """Centre of mass half a metre up and behind: beyond the rear axle once the nose is up by 20 degrees."""
        scenario = ClimbScenario(
            mu_static=1.5, obstacle={"kind": "curb", "height_m": 0.16, "edge_radius_m": 0.02, "distance_m": 0.1}, duration_s=9.0
        )
        batch = climb_many(
            "packbot", scenario, {"centre_of_mass_height_m": np.array([0.5, 0.6]), "centre_of_mass_x_m": np.array([-0.12, -0.15])}
        )
        assert batch.verdicts == (Verdict.TIPPED_BACKWARDS, Verdict.TIPPED_BACKWARDS)

    def test_margins_have_the_sign_of_success_and_grow_with_friction(self):
        batch = climb_many("packbot", _curb_on_concrete(), {"mu_static": np.array([0.1, 0.3, 0.9, 1.1])}, ends_only=True)
        assert ((batch.margin > 0.0) == batch.has_climbed).all()
        assert batch.has_climbed.tolist() == sorted(batch.has_climbed.tolist())


def _curb_on_concrete():
    return ClimbScenario(mu_static=0.8, obstacle={"kind": "curb", "height_m": 0.117, "edge_radius_m": 0.0254, "distance_m": 0.1})


def test_the_turn_on_the_spot_stays_on_the_spot():
    """Zero-radius turn in sand: the middle moves less than a tenth of the tread, the heading by less than was told."""
    turn = simulate_climb("packbot", "turn_in_sand")
    assert abs(turn["x_m"][-1] - turn["x_m"][0]) < 0.034
    assert 0.5 < turn.heading_rad[-1] < 4.0


def test_a_step_too_long_is_refused_with_the_step_to_use():
    from slipfit.errors import ParameterError

    longest = longest_step_s(plain_climber())
    with pytest.raises(ParameterError, match=f"at most {longest:.2g} s"):
        simulate_climb(plain_climber(), ClimbScenario(mu_static=0.8, step_s=2.0 * longest))
